//! Amazon's DynamoDB Local, from Maven Central.

pub mod empty_maps;

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::Duration;

use crate::error::StartError;
use crate::install::maven::{Installed, Recipe};
use crate::missing_file::unless_missing;
use crate::process::Process;

/// The jars that Maven downloads.
pub const RECIPE: Recipe = Recipe {
    name: "DynamoDB Local",
    stage: "DynamoDB Local's jars",
    folder: "dynamodb-local-3.1.0",
    pom: include_str!("../../java/dynamodb/pom.xml"),
    launcher: include_str!("../../java/dynamodb/Launcher.java"),
    training_run: None,
};

/// Java's options. The second compiler is off, since it does not pay off in the usual runtime of a platform.
const OPTIONS: [&str; 3] = ["-XX:TieredStopAtLevel=1", "-Xmx1g", "--enable-native-access=ALL-UNNAMED"];

/// Starts DynamoDB Local with its data in `folder`, or in memory. Returns its endpoint.
///
/// It listens on every address of the machine, since it has no option for one.
pub async fn start(installed: &Installed, folder: Option<&Path>, log: &Path) -> Result<(Process, String), StartError> {
    // Another program may take the port before Java listens on it.
    match start_once(installed, folder, log).await {
        Err(error) => {
            tracing::warn!(%error, "DynamoDB Local did not start; trying another port");
            start_once(installed, folder, log).await
        }
        started => started,
    }
}

async fn start_once(installed: &Installed, folder: Option<&Path>, log: &Path) -> Result<(Process, String), StartError> {
    let port = free_port().map_err(|error| {
        StartError::new(
            format!("Finding a port for DynamoDB Local failed: {error}"),
            "Check the machine's network settings",
        )
    })?;
    let libraries = format!("-Djava.library.path={}", installed.folder.join("jars").display());
    let temporary = empty_folder(&log.with_extension("tmp"))?;
    let mut command = installed.launch(&[&[libraries.as_str(), temporary.as_str()], &OPTIONS[..]].concat());
    command.args(["-port", &port.to_string(), "-sharedDb", "-disableTelemetry"]);
    match folder {
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(|error| StartError::folder(folder, error))?;
            command.arg("-dbPath").arg(folder);
        }
        None => {
            command.arg("-inMemory");
        }
    }
    let ready = |line: &str| (line == "ready").then(|| format!("http://127.0.0.1:{port}"));
    Process::start("DynamoDB Local", command, log, Duration::from_secs(30), ready).await
}

/// Empties the folder for temporary files, and returns the option that names it. SQLite's library is copied into it at
/// every start (0.9 MB), and stays when the process is killed.
fn empty_folder(folder: &Path) -> Result<String, StartError> {
    unless_missing(std::fs::remove_dir_all(folder))
        .and_then(|()| std::fs::create_dir_all(folder))
        .map_err(|error| StartError::folder(folder, error))?;
    Ok(format!("-Djava.io.tmpdir={}", folder.display()))
}

/// Returns a free port, since DynamoDB Local cannot choose one. The operating system does not reuse it soon.
fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?.local_addr()?.port())
}
