//! Events that are no requests: records of a stream, objects, schedules, deployments. A function that serves the whole system tells
//! them apart by what they hold.

use bytes::Bytes;
use local::Platform;
use table::schema::System;
use tokio::time::{Duration, Instant};

use super::invoke::Invoke;
use super::watch::Watch;
use crate::events;
use crate::failure::{Doing, Failure};

/// Invokes the function with the sample of each source; returns how many there are. Each must reach its handler, and
/// be answered as the platform's own handler answers the same event.
pub(super) async fn invoke(
    platform: &Platform,
    system: &System,
    invoke: &Invoke<'_>,
    watch: &Watch,
) -> Result<usize, Failure> {
    let app = platform.app(system.name).ok_or_else(|| Failure::new(format!("{} does not run", system.name)))?;
    for source in system.sources {
        let handler = source.handler();
        let event = events::kept(crate::root(), system.name, handler)?;
        let answer = invoke.event(&event).await.doing(handler)?;
        if !watch.log().contains(&format!(r#""system":"{}","operation":"{handler}""#, system.name)) {
            return Err(Failure::new(format!("the event of {handler} went elsewhere")));
        }
        let deadline = Instant::now() + Duration::from_secs(60);
        let expected = app.event(handler, Bytes::from(event), deadline).await.doing(handler)?;
        if answer.trim_end().as_bytes() != expected {
            let expected = String::from_utf8_lossy(&expected);
            return Err(Failure::new(format!("{handler} answers {answer}; the platform's own answers {expected}")));
        }
    }
    Ok(system.sources.len())
}
