//! Events other than requests: stream records, objects, schedules and deployments. A function that serves a whole
//! system distinguishes them by their content.

use table::schema::System;

use super::invoke::Invoke;
use super::watch::Watch;
use crate::events;
use crate::failure::{Doing, Failure};
use crate::rehearsal::Answered;

/// Invokes the function with the sample event of each source, and returns their number. Each must reach its handler and
/// have the expected response.
pub(super) async fn invoke(system: &System, invoke: &Invoke<'_>, watch: &Watch) -> Result<usize, Failure> {
    for source in system.sources {
        let handler = source.handler();
        let event = events::read(crate::root(), system.name, handler)?;
        let answer = invoke.event(&event).await.doing(handler)?;
        if !watch.log().contains(&format!(r#""system":"{}","operation":"{handler}""#, system.name)) {
            return Err(Failure::new(format!("the event of {handler} did not reach it")));
        }
        if let Some(fault) = Answered::event(handler, answer).fault(crate::root(), system.name) {
            return Err(Failure::new(fault));
        }
    }
    Ok(system.sources.len())
}
