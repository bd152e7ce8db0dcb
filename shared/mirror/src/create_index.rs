//! A system's first index as a custom resource of its stack.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep, sleep_until};
use web::{Event, EventFailure, EventHandler};

use crate::first_index::{Progress, create_first_index};
use crate::mirrored::{ENGINES, Mirrored};
use crate::ports::Fault;

/// The name of the handler, in every system.
pub const CREATE_INDEX: &str = "createIndex";

/// How long the deployment waits for a step forward. What a role of the same deployment allows is known everywhere
/// before.
const PATIENCE: Duration = Duration::from_secs(120);

/// In MB: what Lambda gives a whole processor with ("Configure Lambda function memory").
const WHOLE_PROCESSOR: u64 = 1769;

/// After a fault.
const PAUSE: Duration = Duration::from_secs(1);

/// The event handler by which a deployment makes the first index. Where an index serves already, nothing changes.
pub fn create_index<M: Mirrored>() -> EventHandler {
    let handler = web::deployment(CREATE_INDEX, on_deployment::<M>).patterns(M::PATTERNS).engines(ENGINES);
    handler.timeout(Duration::from_secs(15 * 60)).memory(WHOLE_PROCESSOR)
}

async fn on_deployment<M: Mirrored>(event: Event) -> Result<Value, EventFailure> {
    let (documents, shapes) = (M::default(), M::shapes(event.access().clone()));
    let forward = Forward::default();
    let step = |progress| {
        // The others come with each attempt.
        if let Progress::Scanned { .. } = progress {
            forward.went();
        }
    };
    let made = persist(&forward, || create_first_index(&documents, &shapes, event.engines(), step)).await;
    made.map(|generation| json!({ "Index": generation.index })).map_err(EventFailure::new)
}

/// What an attempt makes, the next after each that fails; or the last fault, once nothing went forward any more.
async fn persist<T, A, F>(forward: &Forward, attempt: A) -> Result<T, String>
where
    A: Fn() -> F,
    F: Future<Output = Result<T, Fault>>,
{
    let mut reason = format!("an engine has not answered for {} s", PATIENCE.as_secs());
    let attempts = async {
        loop {
            match attempt().await {
                Ok(made) => return made,
                Err(fault) => {
                    tracing::warn!(%fault, "the first index is not there yet");
                    reason = fault.to_string();
                }
            }
            sleep(PAUSE).await;
        }
    };
    let made = tokio::select! {
        made = attempts => Some(made),
        () = forward.stuck() => None,
    };
    made.ok_or(reason)
}

/// When something last went forward.
#[derive(Debug)]
struct Forward(Mutex<Instant>);

impl Default for Forward {
    fn default() -> Self {
        Self(Mutex::new(Instant::now()))
    }
}

impl Forward {
    fn went(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Ends when nothing has gone forward for too long.
    async fn stuck(&self) {
        loop {
            let until = *self.0.lock().unwrap_or_else(PoisonError::into_inner) + PATIENCE;
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

    fn refused() -> Fault {
        Fault::lasting("search", "it answers 403")
    }

    #[tokio::test(start_paused = true)]
    async fn what_fails_for_good_is_told() {
        let begun = Instant::now();
        let made: Result<(), _> = persist(&Forward::default(), async || Err(refused())).await;
        assert_eq!((made, begun.elapsed()), (Err(refused().to_string()), PATIENCE));
    }

    #[tokio::test(start_paused = true)]
    async fn what_never_answers_is_given_up() {
        let made: Result<(), _> = persist(&Forward::default(), pending).await;
        assert_eq!(made, Err("an engine has not answered for 120 s".to_owned()));
    }

    #[tokio::test(start_paused = true)]
    async fn what_goes_forward_is_waited_for() {
        let (forward, attempts) = (Forward::default(), AtomicU32::default());
        let begun = Instant::now();
        let made = persist(&forward, async || {
            sleep(PATIENCE / 2).await;
            forward.went();
            if attempts.fetch_add(1, Ordering::SeqCst) < 9 { Err(refused()) } else { Ok("made") }
        });
        assert_eq!(made.await, Ok("made"));
        assert!(begun.elapsed() > 4 * PATIENCE);
    }
}
