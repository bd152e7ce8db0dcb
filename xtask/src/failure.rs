//! Why a command of this tool did not do what it was asked: what happened, and what to do.

use std::fmt;

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Failure(String);

impl Failure {
    pub fn new(message: impl fmt::Display) -> Self {
        Self(message.to_string())
    }
}

/// Whatever goes wrong becomes a failure with what was being done before it.
pub trait Doing<T> {
    fn doing(self, what: impl fmt::Display) -> Result<T, Failure>;
}

impl<T, E: fmt::Display> Doing<T> for Result<T, E> {
    fn doing(self, what: impl fmt::Display) -> Result<T, Failure> {
        self.map_err(|error| Failure(format!("{what}: {error}")))
    }
}
