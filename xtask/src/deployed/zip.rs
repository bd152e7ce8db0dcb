//! The zip of a system for this machine, made as users make theirs: by `cargo lambda build`.

use std::fs;
use std::path::{Path, PathBuf};

use super::timed;
use crate::failure::{Doing, Failure};
use crate::python::{self, environment};

/// A processor that Lambda has.
#[derive(Debug)]
pub struct Architecture {
    /// In AWS's words.
    pub name: &'static str,
    /// What `cargo lambda build` calls it.
    option: &'static str,
}

/// This machine's.
pub const ARCHITECTURE: Architecture = if cfg!(target_arch = "aarch64") {
    Architecture { name: "arm64", option: "--arm64" }
} else {
    Architecture { name: "x86_64", option: "--x86-64" }
};

/// Builds the program of a system and packs it. With this machine's own compiler and linker, so Zig is not needed: that
/// is for other processors and older versions of glibc.
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

/// Where it is.
pub fn path(root: &Path, system: &str) -> PathBuf {
    root.join(format!("target/lambda/{system}/bootstrap.zip"))
}
