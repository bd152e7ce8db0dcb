//! Events that are no requests: records of a stream, objects, schedules, deployments. A function that serves the whole system tells
//! them apart by what they hold.

use table::schema::System;

use super::invoke::Invoke;
use super::watch::Watch;
use crate::events;
use crate::failure::{Doing, Failure};
use crate::rehearsal::Answered;

/// Invokes the function with the sample of each source; returns how many there are. Each must reach its handler, and
/// be answered as is kept beside it.
pub(super) async fn invoke(system: &System, invoke: &Invoke<'_>, watch: &Watch) -> Result<usize, Failure> {
    for source in system.sources {
        let handler = source.handler();
        let event = events::kept(crate::root(), system.name, handler)?;
        let answer = invoke.event(&event).await.doing(handler)?;
        if !watch.log().contains(&format!(r#""system":"{}","operation":"{handler}""#, system.name)) {
            return Err(Failure::new(format!("the event of {handler} went elsewhere")));
        }
        if let Some(fault) = Answered::event(handler, answer).fault(crate::root(), system.name) {
            return Err(Failure::new(fault));
        }
    }
    Ok(system.sources.len())
}
