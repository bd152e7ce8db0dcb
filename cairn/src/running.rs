//! Endpoints of a running platform, in a file of its state folder for the operators' commands.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use aws_config::Region;
use aws_config::default_provider::credentials::DefaultCredentialsChain;
use aws_credential_types::provider::SharedCredentialsProvider;
use local::Platform;
use serde::{Deserialize, Serialize};
use table::{Clock, Config, Engines};

use crate::failure::Failure;

/// The endpoints of a running platform.
#[derive(Debug, Serialize, Deserialize)]
struct Endpoints {
    gateway: String,
    dynamodb: String,
    s3: String,
    search: String,
    /// The longest time in seconds that an invocation of a mirror takes.
    mirror_timeout: u64,
}

/// Announces a running platform until it is dropped.
#[derive(Debug)]
pub struct Running {
    file: PathBuf,
}

fn file(folder: &Path) -> PathBuf {
    folder.join(local::state::RUNNING)
}

impl Running {
    /// Writes the platform's endpoints into its state folder.
    pub fn announce(platform: &Platform, folder: &Path) -> Result<Self, Failure> {
        let endpoints = Endpoints {
            gateway: platform.url.clone(),
            dynamodb: platform.dynamodb().to_owned(),
            s3: platform.s3().to_owned(),
            search: platform.engines.config.search.clone(),
            mirror_timeout: platform.mirror_timeout.as_secs(),
        };
        let file = file(folder);
        let text = serde_json::to_vec(&endpoints).map_err(Failure::new)?;
        std::fs::write(&file, text)
            .map_err(|error| Failure::new(format!("Writing `{}` failed: {error}.", file.display())))?;
        Ok(Self { file })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}

/// Returns the gateway of the platform that runs on a state folder.
pub fn gateway(folder: &Path) -> Result<String, Failure> {
    match endpoints(folder) {
        Ok(endpoints) => Ok(endpoints.gateway),
        Err(failure) => Err(Failure::new(format!("{failure}\nOr pass the gateway of a deployment with `--url`."))),
    }
}

fn endpoints(folder: &Path) -> Result<Endpoints, Failure> {
    let none = || {
        Failure::new(format!(
            "No platform runs on `{}`.\nStart one with `cargo local`, or set CAIRN_SEARCH_ENDPOINT, AWS_REGION, \
             CAIRN_PREFIX and CAIRN_CURSOR_SECRETS to a deployment's.",
            folder.display()
        ))
    };
    // A platform that was killed leaves the file, which may be of another version.
    if !local::state::is_locked(folder) {
        return Err(none());
    }
    let file = file(folder);
    let text = std::fs::read(&file).map_err(|_| none())?;
    let endpoints: Endpoints = serde_json::from_slice(&text).map_err(|error| {
        Failure::new(format!(
            "Reading `{}` failed: {error}.\nIf a platform of another version runs there, stop it and start it again.",
            file.display()
        ))
    })?;
    // The next platform has the lock before it deletes the file.
    if is_listening(&endpoints.gateway) { Ok(endpoints) } else { Err(none()) }
}

/// Whether a server listens at this address of the machine, `http://127.0.0.1:8080`.
fn is_listening(gateway: &str) -> bool {
    let address = gateway.strip_prefix("http://").and_then(|address| address.parse().ok());
    address.is_some_and(|address| TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok())
}

/// Returns how long a rebuild waits until every invocation of the mirror from before has ended.
pub fn wait(folder: &Path) -> Result<Duration, Failure> {
    if is_deployment() {
        return Ok(mirror::AWAIT_BATCHES);
    }
    Ok(Duration::from_secs(endpoints(folder)?.mirror_timeout + 1))
}

/// Whether the environment names a deployment.
pub fn is_deployment() -> bool {
    std::env::var_os("CAIRN_SEARCH_ENDPOINT").is_some()
}

/// Returns the engines of the deployment in the environment, or else of the platform that runs on the state folder.
pub async fn engines(folder: &Path) -> Result<Arc<Engines>, Failure> {
    let config = if is_deployment() {
        Config::from_env().map_err(Failure::new)?
    } else {
        let endpoints = endpoints(folder)?;
        let (id, secret) = local::platform::CREDENTIALS;
        Config {
            dynamodb: Some(endpoints.dynamodb),
            s3: Some(endpoints.s3),
            credentials: Some((id.to_owned(), secret.to_owned())),
            ..Config::new("local", &endpoints.search)
        }
    };
    if config.credentials.is_some() {
        return Ok(Engines::new(config, Clock::system()));
    }
    let chain = DefaultCredentialsChain::builder().region(Region::new(config.region.clone())).build().await;
    Ok(Engines::signed(config, Clock::system(), SharedCredentialsProvider::new(chain)))
}

#[cfg(test)]
mod tests {
    use local::state::{RUNNING, State};

    use super::*;

    #[test]
    fn file_of_a_killed_platform_of_another_version_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        drop(State::open(folder.path()).unwrap());
        std::fs::write(folder.path().join(RUNNING), "{}").unwrap();
        let failure = endpoints(folder.path()).unwrap_err().to_string();
        assert!(failure.starts_with("No platform runs on"), "{failure}");
        let _locked = State::open(folder.path()).unwrap();
        std::fs::write(folder.path().join(RUNNING), "{}").unwrap();
        let failure = endpoints(folder.path()).unwrap_err().to_string();
        assert!(failure.contains("a platform of another version"), "{failure}");
    }
}
