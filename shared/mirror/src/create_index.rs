//! The event handler that creates a system's indexes: the first one as a custom resource, when its stack is deployed, and
//! another one for each call of a rebuild by functions.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use table::schema::EventSource;
use tokio::time::{Instant, sleep, sleep_until};
use web::{Event, EventFailure, EventHandler};

use crate::first_index::create_first_index;
use crate::mirrored::{ENGINES, Mirrored, ONE_VCPU_MEMORY};
use crate::ports::Fault;
use crate::rebuild::Progress;
use crate::rebuild_function::{DEFINITION, is_rebuild_call, on_rebuild_call};

/// The handler's name in every system.
pub const CREATE_INDEX: &str = "createIndex";

/// The name of the state machine that calls the handler, in every system.
pub const REBUILD_MACHINE: &str = "rebuildIndex";

/// The state machine that rebuilds a system's index, for its event sources.
pub const REBUILDS: EventSource =
    EventSource::StateMachine { name: REBUILD_MACHINE, definition: DEFINITION, handler: CREATE_INDEX };

/// How long a deployment waits for progress. A role of the same deployment takes effect sooner.
const STALL_TIMEOUT: Duration = Duration::from_secs(120);

/// The pause after a fault.
const PAUSE: Duration = Duration::from_secs(1);

/// Creates the event handler by which a deployment creates the first index, and a rebuild the others. For a deployment it
/// does nothing if an index serves already.
pub fn create_index<M: Mirrored>() -> EventHandler {
    let handler = EventHandler::new(CREATE_INDEX, on_event::<M>).patterns(M::PATTERNS).engines(ENGINES);
    handler.timeout(Duration::from_secs(15 * 60)).memory(ONE_VCPU_MEMORY)
}

async fn on_event<M: Mirrored>(event: Event) -> Result<Bytes, EventFailure> {
    if is_rebuild_call(&event.payload) {
        on_rebuild_call::<M>(event).await
    } else {
        web::respond_to_deployment(event, on_deployment::<M>).await
    }
}

async fn on_deployment<M: Mirrored>(event: Event) -> Result<Value, EventFailure> {
    let (documents, shapes) = (M::default(), M::shapes(event.access().clone()));
    let last_progress = LastProgress::default();
    let step = |progress| {
        // Each attempt reports the other steps, so they are not progress.
        if let Progress::Scanned { .. } = progress {
            last_progress.note();
        }
    };
    // A step that fails fails the attempt, so that the last fault is known.
    let attempt = || create_first_index(&documents, &shapes, event.engines(), Duration::ZERO, step);
    let created = retry_until_stalled(&last_progress, attempt).await;
    created.map(|generation| json!({ "Index": generation.index })).map_err(EventFailure::new)
}

/// Retries until an attempt succeeds or is refused. Returns the last fault if there is no progress for
/// [`STALL_TIMEOUT`].
async fn retry_until_stalled<T, A, F>(last_progress: &LastProgress, attempt: A) -> Result<T, String>
where
    A: Fn() -> F,
    F: Future<Output = Result<T, Fault>>,
{
    let mut reason = format!("an engine has not answered for {} s", STALL_TIMEOUT.as_secs());
    let attempts = async {
        loop {
            match attempt().await {
                Ok(created) => return Ok(created),
                Err(fault) if fault.refused => return Err(fault.to_string()),
                Err(fault) => {
                    tracing::warn!(%fault, "creating the first index failed; will retry");
                    reason = fault.to_string();
                }
            }
            sleep(PAUSE).await;
        }
    };
    let ended = tokio::select! {
        ended = attempts => Some(ended),
        () = last_progress.stalled() => None,
    };
    ended.unwrap_or(Err(reason))
}

/// The time of the last progress.
#[derive(Debug)]
struct LastProgress(Mutex<Instant>);

impl Default for LastProgress {
    fn default() -> Self {
        Self(Mutex::new(Instant::now()))
    }
}

impl LastProgress {
    fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Completes when there was no progress for [`STALL_TIMEOUT`].
    async fn stalled(&self) {
        loop {
            let until = *self.0.lock().unwrap_or_else(PoisonError::into_inner) + STALL_TIMEOUT;
            if until <= Instant::now() {
                return;
            }
            sleep_until(until).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn denied() -> Fault {
        Fault::lasting("search", "it answers 403")
    }

    #[tokio::test(start_paused = true)]
    async fn permanent_fault_is_returned_after_the_timeout() {
        let started = Instant::now();
        let created: Result<(), _> = retry_until_stalled(&LastProgress::default(), async || Err(denied())).await;
        assert_eq!((created, started.elapsed()), (Err(denied().to_string()), STALL_TIMEOUT));
    }

    #[tokio::test(start_paused = true)]
    async fn refusal_is_returned_at_once() {
        let (started, refusal) = (Instant::now(), Fault::refused("the rebuild is paused"));
        let created: Result<(), _> = retry_until_stalled(&LastProgress::default(), async || Err(refusal.clone())).await;
        assert_eq!((created, started.elapsed()), (Err(refusal.to_string()), Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn attempt_without_a_response_fails_after_the_timeout() {
        let created: Result<(), _> = retry_until_stalled(&LastProgress::default(), pending).await;
        assert_eq!(created, Err("an engine has not answered for 120 s".to_owned()));
    }

    #[tokio::test(start_paused = true)]
    async fn attempts_continue_while_there_is_progress() {
        let (last_progress, attempts) = (LastProgress::default(), AtomicU32::default());
        let started = Instant::now();
        let created = retry_until_stalled(&last_progress, async || {
            sleep(STALL_TIMEOUT / 2).await;
            last_progress.note();
            if attempts.fetch_add(1, Ordering::SeqCst) < 9 { Err(denied()) } else { Ok("created") }
        });
        assert_eq!(created.await, Ok("created"));
        assert!(started.elapsed() > 4 * STALL_TIMEOUT);
    }
}
