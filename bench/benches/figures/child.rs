//! A platform in a process of its own, whose memory is nobody else's, and its DynamoDB in another. Both are this program
//! in other modes.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use local::engine::dynoxide::Dynoxide;
use local::identity::Identity;
use local::process::Process;
use local::search::Choice;
use local::{Dynamodb, Options};
use serde::{Deserialize, Serialize};
use table::{Clock, Config, Engines};
use tempfile::TempDir;
use tokio::process::Command;

use crate::Failure;
use crate::gateway::Gateway;
use crate::platform::{Platform, options, progress};
use crate::tenant::{ADMINISTRATOR, Tenant};

/// The argument that makes this program a platform; a system, a folder, the URLs of a DynamoDB and an OpenSearch and a
/// prefix follow.
pub const PLATFORM: &str = "--platform";

/// The argument that makes this program a dynoxide; its file follows.
pub const DYNAMODB: &str = "--dynamodb";

const START: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub struct Child {
    platform: Service,
    dynamodb: Service,
    state: TempDir,
}

/// A process that serves.
#[derive(Debug)]
pub struct Service {
    process: Process,
    ready: Ready,
}

/// What the process says of itself.
#[derive(Debug, Serialize, Deserialize)]
struct Ready {
    id: u32,
    url: String,
}

/// Resident in a process, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    pub idle: usize,
    pub peak: usize,
}

/// Runs a platform with one system until the standard input ends.
pub async fn platform([system, folder, dynamodb, search, prefix]: [&str; 5]) -> Result<(), Failure> {
    let options = Options {
        dynamodb: Dynamodb::Url(dynamodb.to_owned()),
        ..options(system, Path::new(folder), Choice::Url(search.to_owned()), prefix)
    };
    let platform = local::Platform::start(options, &progress()).await?;
    ready(&platform.url).await?;
    platform.stop().await;
    Ok(())
}

/// Runs a dynoxide until the standard input ends.
pub async fn dynamodb(file: &str) -> Result<(), Failure> {
    let dynoxide = Dynoxide::start(Some(Path::new(file))).await?;
    ready(&dynoxide.endpoint).await?;
    dynoxide.stop().await;
    Ok(())
}

/// Says where it serves, and returns when the standard input ends.
async fn ready(url: &str) -> Result<(), Failure> {
    let ready = Ready { id: std::process::id(), url: url.to_owned() };
    println!("{}", serde_json::to_string(&ready)?);
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    Ok(())
}

impl Child {
    /// Starts one with this system that searches with the same OpenSearch, under this prefix.
    pub async fn beside(platform: &Platform, system: &str, prefix: &str) -> Result<Self, Failure> {
        let state = tempfile::tempdir()?;
        let folder = state.path().join("state");
        let file = state.path().join("dynamodb.sqlite");
        let dynamodb = Service::start("dynoxide", state.path(), [DYNAMODB.as_ref(), file.as_os_str()]).await?;
        let search = &platform.engines().config.search;
        let url = dynamodb.ready.url.as_ref();
        let arguments = [PLATFORM.as_ref(), system.as_ref(), folder.as_os_str(), url, search.as_ref(), prefix.as_ref()];
        let platform = Service::start("platform", state.path(), arguments).await?;
        Ok(Self { platform, dynamodb, state })
    }

    pub fn platform(&self) -> &Service {
        &self.platform
    }

    pub fn dynamodb(&self) -> &Service {
        &self.dynamodb
    }

    /// Its gateway, for an administrator of parks.
    pub async fn gateway(&self) -> Result<Gateway, Failure> {
        Gateway::open(&self.platform.ready.url, self.token("bench", &["parks-admin"])?).await
    }

    /// A tenant of tracker.
    pub async fn tenant(&self) -> Result<Tenant, Failure> {
        let (subject, roles) = ADMINISTRATOR;
        Tenant::open(&self.platform.ready.url, self.token(subject, roles)?).await
    }

    fn token(&self, subject: &str, roles: &[&str]) -> Result<String, Failure> {
        Ok(Identity::open(&self.state.path().join("state"))?.token(subject, roles, &Clock::system())?)
    }

    /// Its DynamoDB, for tables whose names begin with this.
    pub fn engines(&self, platform: &Platform, prefix: &str) -> Arc<Engines> {
        let config = platform.engines().config.clone();
        let dynamodb = Some(self.dynamodb.ready.url.clone());
        Engines::new(Config { dynamodb, prefix: prefix.to_owned(), ..config }, Clock::system())
    }

    pub async fn stop(self) -> Result<(), Failure> {
        self.platform.process.stop().await;
        self.dynamodb.process.stop().await;
        Ok(self.state.close()?)
    }
}

impl Service {
    /// Starts this program with these arguments; what it logs goes to the folder.
    async fn start<const N: usize>(name: &'static str, folder: &Path, arguments: [&OsStr; N]) -> Result<Self, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(arguments);
        let log = folder.join(format!("{name}.log"));
        let ready = |line: &str| serde_json::from_str::<Ready>(line).ok();
        let (process, ready) = Process::start(name, command, &log, START, ready).await?;
        Ok(Self { process, ready })
    }

    /// The most memory that was resident since this was asked last, in bytes; none where the system does not say it as
    /// Linux does.
    pub fn peak(&self) -> Option<usize> {
        let of = |file: &str| format!("/proc/{}/{file}", self.ready.id);
        let status = std::fs::read_to_string(of("status")).ok()?;
        // The most is from now on what there is now. (proc_pid_clear_refs(5))
        std::fs::write(of("clear_refs"), "5").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        Some(line.trim().strip_suffix(" kB")?.parse::<usize>().ok()? * 1024)
    }
}

impl Memory {
    /// As it is now, from which the most is counted; none where the system does not say it.
    pub fn begin(service: &Service) -> Option<Self> {
        service.peak();
        service.peak().map(|idle| Self { idle, peak: idle })
    }

    pub fn end(self, service: &Service) -> Option<Self> {
        service.peak().map(|peak| Self { peak, ..self })
    }

    /// How much more than idle it was at most.
    pub fn above_idle(self) -> usize {
        self.peak.saturating_sub(self.idle)
    }
}
