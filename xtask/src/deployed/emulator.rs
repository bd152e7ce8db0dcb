//! MiniStack, the emulated cloud, on loopback, with the permissions of roles enforced.

use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

use crate::failure::{Doing, Failure};
use crate::python::Environment;

/// A running emulator, killed when dropped.
#[derive(Debug)]
pub struct Emulator {
    pub port: u16,
    _process: Child,
}

pub const REGION: &str = "ca-central-1";

/// The account of the emulator.
pub const ACCOUNT: &str = "000000000000";

const START_TIMEOUT: Duration = Duration::from_secs(60);

impl Emulator {
    /// Starts the emulator with a clean environment, since it reads a hundred variables.
    pub async fn start(ministack: &Environment, folder: &Path) -> Result<Self, Failure> {
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .doing("listening on a port")?
            .port();
        let log = std::fs::File::create(folder.join("ministack.log")).doing(folder.display())?;
        let errors = log.try_clone().doing("its log")?;
        let mut command = Command::new(ministack.program("python"));
        command.arg(crate::root().join("infra/python/emulator.py"));
        command.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command
            .env("HOME", folder)
            .env("TMPDIR", folder)
            .env("BIND_HOST", "127.0.0.1")
            .env("GATEWAY_PORT", port.to_string())
            .env("AWS_ENDPOINT_URL", endpoint(port))
            .env("LAMBDA_EXECUTOR", "local")
            // A rebuild waits 4.8 s instead of 16 minutes.
            .env("SFN_WAIT_SCALE", "0.005")
            .env("IOT_MTLS_ENABLED", "0")
            .env("SFTP_ENABLED", "0")
            .env("AUTH", "true");
        let process = command.stdin(Stdio::null()).stdout(log).stderr(errors).kill_on_drop(true).spawn();
        let emulator = Self { port, _process: process.doing("MiniStack")? };
        let until = Instant::now() + START_TIMEOUT;
        while reqwest::get(format!("{}/_ministack/health", endpoint(port))).await.is_err() {
            if Instant::now() > until {
                return Err(Failure::new(format!("MiniStack did not start; see {}/ministack.log", folder.display())));
            }
            sleep(Duration::from_millis(100)).await;
        }
        Ok(emulator)
    }

    pub fn endpoint(&self) -> String {
        endpoint(self.port)
    }

    /// Returns the environment variables of an AWS client with the account's permissions.
    pub fn variables(&self) -> [(&'static str, String); 5] {
        [
            ("AWS_ENDPOINT_URL", self.endpoint()),
            ("AWS_REGION", REGION.to_owned()),
            ("AWS_DEFAULT_REGION", REGION.to_owned()),
            ("AWS_ACCESS_KEY_ID", "test".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "test".to_owned()),
        ]
    }
}

fn endpoint(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}
