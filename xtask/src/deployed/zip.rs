//! The zip of a system for this machine, built by `cargo lambda build` as users build theirs.

use std::fs;
use std::path::{Path, PathBuf};

use super::timed;
use crate::failure::{Doing, Failure};
use crate::python::{self, environment};

/// A processor architecture of Lambda.
#[derive(Debug)]
pub struct Architecture {
    /// The name of AWS.
    pub name: &'static str,
    /// The option of `cargo lambda build`.
    option: &'static str,
}

/// The architecture of this machine.
pub const ARCHITECTURE: Architecture = if cfg!(target_arch = "aarch64") {
    Architecture { name: "arm64", option: "--arm64" }
} else {
    Architecture { name: "x86_64", option: "--x86-64" }
};

/// Builds the zip of a system with this machine's compiler and linker. Zig is only needed for other architectures and
/// older versions of glibc.
pub async fn build(root: &Path, system: &str) -> Result<(), Failure> {
    let tools = environment(root, "cargo-lambda").await?;
    let option = ARCHITECTURE.option;
    let line = format!("cargo lambda build --release {option} --compiler cargo --output-format zip --bin {system}");
    let mut command = tools.script(&line)?;
    command.current_dir(root);
    timed(&line, python::run(command)).await?;
    let zip = path(root, system);
    println!("{} has {} bytes", zip.display(), fs::metadata(&zip).doing(zip.display())?.len());
    Ok(())
}

/// Returns the path of a system's zip.
pub fn path(root: &Path, system: &str) -> PathBuf {
    root.join(format!("target/lambda/{system}/bootstrap.zip"))
}
