//! The output of `cargo local` before a first build, with `echo` in place of cargo.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests say what they expect by unwrapping it")]

use std::path::Path;
use std::process::{Command, Output};

/// Runs the launcher in this folder as `cargo local --sample` does.
fn launch(folder: &Path) -> Output {
    let launcher = folder.join("launcher");
    if !launcher.exists() {
        std::fs::copy(env!("CARGO_BIN_EXE_launcher"), &launcher).unwrap();
    }
    Command::new(launcher).arg("--sample").env("CARGO", "echo").output().unwrap()
}

#[test]
fn first_build_is_announced_and_later_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let first = launch(folder.path());
    assert_eq!(String::from_utf8(first.stdout).unwrap(), "run --package cairn -- local --sample\n");
    let said = String::from_utf8(first.stderr).unwrap();
    assert!(said.starts_with("Building Cairn for the first time: about "), "{said}");
    std::fs::write(folder.path().join("cairn"), "").unwrap();
    let later = launch(folder.path());
    assert_eq!((later.status.success(), String::from_utf8(later.stderr).unwrap()), (true, String::new()));
}
