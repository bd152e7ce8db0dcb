//! Errors at the start of the platform.

use std::fmt::Display;
use std::path::Path;

/// A failed start, for the user: what happened and what to do. Both are sentences without a final full stop.
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

    /// Creates the error of a file or folder that cannot be used.
    pub fn folder(path: &Path, reason: impl Display) -> Self {
        Self::new(
            format!("`{}` cannot be used: {reason}", path.display()),
            "Check that you may write to it and that the disk is not full",
        )
    }
}
