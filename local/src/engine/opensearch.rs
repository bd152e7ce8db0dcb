//! A real OpenSearch, from Maven Central, with one node on 127.0.0.1.

use std::path::Path;
use std::time::Duration;

use crate::error::StartError;
use crate::install::maven::{Installed, Recipe};
use crate::process::Process;

/// The jars that Maven downloads.
pub const RECIPE: Recipe = Recipe {
    name: "OpenSearch",
    stage: "OpenSearch's jars",
    folder: "opensearch-2.19.1",
    pom: include_str!("../../java/opensearch/pom.xml"),
    launcher: include_str!("../../java/opensearch/Launcher.java"),
    training_run: Some(|folder| vec![folder.into(), "0".into()]),
};

/// The timeout of a start, which takes 3 to 5 s on two cores.
const START_TIMEOUT: Duration = Duration::from_secs(90);

/// Java's options.
const OPTIONS: [&str; 4] = ["-Xms256m", "-Xmx1g", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED"];

/// The intended runtime of a node, which decides whether Java's second compiler pays off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// Hours. The second compiler makes indexing far faster.
    Long,
    /// Minutes, as in tests. The second compiler would take a sixth of the CPU time.
    Short,
}

/// Starts a node with its data in `folder`, on a free port. Returns its URL.
pub async fn start(
    installed: &Installed,
    lifetime: Lifetime,
    folder: &Path,
    log: &Path,
) -> Result<(Process, String), StartError> {
    std::fs::create_dir_all(folder).map_err(|error| StartError::folder(folder, error))?;
    let mut options = OPTIONS.to_vec();
    if lifetime == Lifetime::Short {
        options.push("-XX:TieredStopAtLevel=1");
    }
    let mut command = installed.launch(&options);
    command.arg(folder).arg("0");
    let ready = |line: &str| line.strip_prefix("ready ").map(|port| format!("http://127.0.0.1:{port}"));
    Process::start("OpenSearch", command, log, START_TIMEOUT, ready).await
}
