//! The failure of a command of this tool.

use std::fmt;

/// A message for the user: what failed, why, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Failure(String);

impl Failure {
    pub fn new(message: impl fmt::Display) -> Self {
        Self(message.to_string())
    }
}

/// Converts an error into a failure that begins with the failed step.
pub trait Doing<T> {
    fn doing(self, what: impl fmt::Display) -> Result<T, Failure>;
}

impl<T, E: fmt::Display> Doing<T> for Result<T, E> {
    fn doing(self, what: impl fmt::Display) -> Result<T, Failure> {
        self.map_err(|error| Failure(format!("{what}: {error}")))
    }
}
