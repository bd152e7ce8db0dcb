//! The rebuild of a deployed index by its state machine, with the command of the docs.

use std::path::Path;

use serde::Deserialize;
use tokio::process::Command;

use super::emulator::{ACCOUNT, Emulator, REGION};
use crate::failure::{Doing, Failure};
use crate::python::{run, without_configuration};

/// The state that the command prints, with the needed members only.
#[derive(Deserialize)]
struct State {
    indexes: Vec<Index>,
}

#[derive(Deserialize)]
struct Index {
    index: String,
    phase: String,
}

/// Rebuilds the index of a system, and tests that the new one serves alone.
pub async fn rebuild(root: &Path, emulator: &Emulator, search: &str, system: &str) -> Result<(), Failure> {
    let mut command = without_configuration(Command::new("cargo"));
    command.current_dir(root).args(["run", "--quiet", "--package", "cairn", "--"]);
    command.args(["rebuild", "start", system, "--in-cloud", "--finish", "--json"]);
    command.envs(emulator.variables());
    command.env("CAIRN_PREFIX", "cairn-").env("CAIRN_BUCKET_SUFFIX", format!("-{ACCOUNT}-{REGION}"));
    command.env("CAIRN_SEARCH_ENDPOINT", search).env("CAIRN_CURSOR_SECRETS", "any");
    let said = run(command).await?;
    let state: State = serde_json::from_str(&said).doing("parsing the state of the rebuild")?;
    let expected = format!("cairn-{system}-000002");
    match state.indexes.as_slice() {
        [Index { index, phase }] if *index == expected && phase == "serving" => Ok(()),
        _ => Err(Failure::new(format!("{expected} should serve alone: {said}"))),
    }
}
