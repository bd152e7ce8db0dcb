//! Operations on files and folders that may be missing.

use std::io::{ErrorKind, Result};

/// Returns the error of an operation on a file or folder, unless it does not exist.
pub fn unless_missing(result: Result<()>) -> Result<()> {
    match result {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
