//! Events other than requests: stream records, objects, schedules, deployments and sockets. A function that serves a whole
//! system distinguishes them by their content.

use table::schema::{EventSource, System};

use super::invoke::Invoke;
use super::watch::Watch;
use crate::events;
use crate::failure::{Doing, Failure};
use crate::rehearsal::Answered;

/// Invokes the function with the sample event of each source, and returns their number. Each must reach its handler and
/// have the expected response.
pub(super) async fn invoke(system: &System, invoke: &Invoke<'_>, watch: &Watch) -> Result<usize, Failure> {
    let mut invoked = 0;
    // Records reach a whole system's function once, so that only the mirror handles them.
    let sources = system.sources.iter().filter(|source| !matches!(source, EventSource::Records { .. }));
    for (name, handler) in sources.flat_map(events::names) {
        let event = events::read(crate::root(), system.name, name)?;
        let answer = invoke.event(&event).await.doing(handler)?;
        if !watch.log().contains(&format!(r#""system":"{}","operation":"{handler}""#, system.name)) {
            return Err(Failure::new(format!("the event of {handler} did not reach it")));
        }
        if let Some(fault) = Answered::event(name, answer).fault(crate::root(), system.name) {
            return Err(Failure::new(fault));
        }
        invoked += 1;
    }
    Ok(invoked)
}
