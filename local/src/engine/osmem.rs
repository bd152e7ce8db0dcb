//! osmem, an OpenSearch in memory without Java, whose shape queries are not exact.

use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use tokio::process::Command;

use crate::error::StartError;
use crate::install::pip::Recipe;
use crate::process::Process;

/// The wheel that pip downloads.
pub const RECIPE: Recipe = Recipe {
    name: "osmem",
    stage: "osmem's wheel",
    folder: "osmem-0.1.6",
    requirements: include_str!("../../python/osmem.txt"),
    program: "osmem_server/bin/osmem-server",
    remedy: "Install Java 17 or newer and Maven (better), or Python 3 with pip",
};

#[derive(Deserialize)]
struct Ready {
    url: String,
}

/// Starts an empty osmem on a free port. Returns its URL.
pub async fn start(program: &Path, log: &Path) -> Result<(Process, String), StartError> {
    let mut command = Command::new(program);
    command.args(["--addr", "127.0.0.1:0", "--no-ja"]);
    let ready = |line: &str| serde_json::from_str(line).ok().map(|Ready { url }| url);
    Process::start("osmem", command, log, Duration::from_secs(30), ready).await
}
