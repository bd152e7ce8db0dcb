//! A platform in a process of its own, whose memory is nobody else's. The process is this program in another mode.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use local::identity::Identity;
use local::process::Process;
use local::search::Choice;
use serde::{Deserialize, Serialize};
use table::{Clock, Config, Engines};
use tempfile::TempDir;
use tokio::process::Command;

use crate::Failure;
use crate::gateway::Gateway;
use crate::platform::{Platform, options, progress};

/// The argument that makes this program a platform; a folder, the URL of an OpenSearch and a prefix follow.
pub const MODE: &str = "--platform";

const START: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub struct Child {
    process: Process,
    ready: Ready,
    gateway: Gateway,
    state: TempDir,
}

/// What the process says of itself.
#[derive(Debug, Serialize, Deserialize)]
struct Ready {
    id: u32,
    url: String,
    dynamodb: String,
}

/// Runs a platform until the standard input ends.
pub async fn run(folder: &str, search: &str, prefix: &str) -> Result<(), Failure> {
    let options = options(Path::new(folder), Choice::Url(search.to_owned()), prefix);
    let platform = local::Platform::start(options, &progress()).await?;
    let dynamodb = platform.engines.config.dynamodb.clone().unwrap_or_default();
    let ready = Ready { id: std::process::id(), url: platform.url.clone(), dynamodb };
    println!("{}", serde_json::to_string(&ready)?);
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    platform.stop().await;
    Ok(())
}

impl Child {
    /// Starts one that searches with the same OpenSearch, under this prefix.
    pub async fn beside(platform: &Platform, prefix: &str) -> Result<Self, Failure> {
        let state = tempfile::tempdir()?;
        let folder = state.path().join("state");
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(MODE).arg(&folder).arg(&platform.engines().config.search).arg(prefix);
        let ready = |line: &str| serde_json::from_str::<Ready>(line).ok();
        let log = state.path().join("log");
        let (process, ready) = Process::start("The platform", command, &log, START, ready).await?;
        let token = Identity::open(&folder)?.token("bench", &["parks-admin"], &Clock::system())?;
        let gateway = Gateway::open(&ready.url, token).await?;
        Ok(Self { process, ready, gateway, state })
    }

    pub fn gateway(&self) -> &Gateway {
        &self.gateway
    }

    /// Its DynamoDB, for tables whose names begin with this.
    pub fn engines(&self, platform: &Platform, prefix: &str) -> Arc<Engines> {
        let config = platform.engines().config.clone();
        let dynamodb = Some(self.ready.dynamodb.clone());
        Engines::new(Config { dynamodb, prefix: prefix.to_owned(), ..config }, Clock::system())
    }

    /// The most memory that was resident since this was asked last, in bytes; none where the system does not say it as
    /// Linux does. The platform's alone: engines that are other processes are not in it.
    pub fn peak(&self) -> Option<usize> {
        let of = |file: &str| format!("/proc/{}/{file}", self.ready.id);
        let status = std::fs::read_to_string(of("status")).ok()?;
        // The most is from now on what there is now. (proc_pid_clear_refs(5))
        std::fs::write(of("clear_refs"), "5").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        Some(line.trim().strip_suffix(" kB")?.parse::<usize>().ok()? * 1024)
    }

    pub async fn stop(self) -> Result<(), Failure> {
        self.process.stop().await;
        Ok(self.state.close()?)
    }
}
