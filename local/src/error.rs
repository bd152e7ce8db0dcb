//! Why the platform did not start.

use std::fmt::Display;
use std::path::Path;

/// What happened, and what to do about it: both are sentences without a final full stop, shown to the user as they are.
#[derive(Debug, thiserror::Error)]
#[error("{happened}. {remedy}.")]
pub struct StartError {
    pub happened: String,
    pub remedy: String,
}

impl StartError {
    pub fn new(happened: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { happened: happened.into(), remedy: remedy.into() }
    }

    /// A file or folder that cannot be used.
    pub fn folder(path: &Path, reason: impl Display) -> Self {
        Self::new(
            format!("`{}` cannot be used: {reason}", path.display()),
            "Check that it is yours to write and that the disk is not full",
        )
    }
}
