//! Isolation of handlers: neither a panic nor an endless computation stops the caller.

use std::fmt;
use std::future::Future;

use tokio::time::Instant;
use tracing::Instrument;

use crate::Problem;
use crate::event::EventFailure;

/// The reason why a handler did not finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    Panicked,
    OutOfTime,
}

/// Runs a handler as a separate task until a deadline, so that a panic or an endless computation ends only the task.
pub(crate) async fn run<T, E>(call: impl Future<Output = Result<T, E>> + Send + 'static, until: Instant) -> Result<T, E>
where
    T: Send + 'static,
    E: From<Stopped> + Send + 'static,
{
    let mut task = tokio::spawn(call.in_current_span());
    match tokio::time::timeout_at(until, &mut task).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Err(Stopped::Panicked.into()),
        Err(_) => {
            task.abort();
            Err(Stopped::OutOfTime.into())
        }
    }
}

impl From<Stopped> for Problem {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Panicked => Self::internal(stopped),
            Stopped::OutOfTime => Self::out_of_time().caused_by(stopped),
        }
    }
}

impl From<Stopped> for EventFailure {
    fn from(stopped: Stopped) -> Self {
        Self::new(stopped)
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Panicked => "the handler panicked",
            Self::OutOfTime => "the handler was stopped before its function's timeout",
        })
    }
}
