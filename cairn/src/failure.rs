//! The failure of a command.

use std::fmt;

/// A message for the user: what failed, why, and what to do.
#[derive(Debug)]
pub struct Failure(String);

impl Failure {
    pub fn new(message: impl fmt::Display) -> Self {
        Self(message.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<local::StartError> for Failure {
    fn from(error: local::StartError) -> Self {
        Self::new(error)
    }
}
