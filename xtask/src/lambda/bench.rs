//! The place where the commands of docs/cargo-lambda.md run.

use std::path::Path;

use super::guide::Values;
use crate::python::Environment;

/// Runs the guide's commands from the repository's root, with cargo-lambda on the path.
#[derive(Debug)]
pub struct Bench<'a> {
    pub root: &'a Path,
    pub python: &'a Environment,
    pub guide: &'a str,
    pub values: Values,
    /// Folder for logs and for copies of events.
    pub folder: &'a Path,
}
