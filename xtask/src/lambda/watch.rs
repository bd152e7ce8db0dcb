//! `cargo lambda watch` of docs/cargo-lambda.md.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::Duration;

use local::process::Process;
use tokio::time::{Instant, sleep, timeout_at};

use super::bench::Bench;
use super::guide::Block;
use super::invoke::Invoke;
use crate::failure::{Doing, Failure};

/// The default port of cargo-lambda, which the guide uses.
const PORT: u16 = 9000;

/// The timeout of the first build of a system with its dependencies.
const BUILD_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// The number of log lines in a failure.
const LAST_LINES: usize = 10;

/// A running `cargo lambda watch`.
pub(super) struct Watch {
    process: Process,
    log: PathBuf,
}

impl Watch {
    pub async fn start(bench: &Bench<'_>, block: &Block) -> Result<Self, Failure> {
        TcpListener::bind(("127.0.0.1", PORT))
            .doing(format!("listening on port {PORT}, which `cargo lambda watch` needs"))?;
        // A change of a file would restart the functions and lose their requests, so all files are ignored.
        let nothing = bench.folder.join("ignored");
        fs::write(&nothing, "*\n").doing(nothing.display())?;
        // The script ends when its input closes, even if this process is killed.
        let line = block.line("cargo lambda watch ")?;
        let script = block.script(&format!("{line} >&2 &\necho begun\ncat >/dev/null\nkill $!\nwait $!"));
        let mut command = bench.python.script(&script)?;
        command.current_dir(bench.root).env("CARGO_LAMBDA_IGNORE_FILES", &nothing);
        // Scheduled events that find nothing to do log at the level debug, and their lines show which handler they reached.
        command.env("RUST_LOG", "info,web::log=debug");
        let log = bench.folder.join("watch.log");
        let begun = |line: &str| (line == "begun").then_some(());
        let (process, ()) =
            Process::start("cargo lambda watch", command, &log, Duration::from_secs(10), begun).await.doing("sh")?;
        Ok(Self { process, log })
    }

    /// Waits until a system is built and healthy.
    pub async fn answers(&self, invoke: &Invoke<'_>) -> Result<(), Failure> {
        let until = Instant::now() + BUILD_TIMEOUT;
        loop {
            // The command fails until the port is open, and then waits for the build of the function.
            let told =
                timeout_at(until, invoke.health()).await.doing("waiting for the build of `cargo lambda watch`")?;
            match told {
                Ok((200, _)) => return Ok(()),
                Ok((status, body)) => return Err(Failure::new(format!("{}: {status} {body}", invoke.system))),
                Err(failure) if Instant::now() > until => return Err(failure),
                Err(_) => sleep(Duration::from_millis(200)).await,
            }
        }
    }

    /// Returns the log of the command and its functions.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// Adds the end of the log to a failure, since the log is deleted at the end.
    pub fn with_log(&self, failure: &Failure) -> Failure {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        let last = lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default();
        Failure::new(format!("{failure}\nThe last lines of `cargo lambda watch` are:\n{}", last.join("\n")))
    }

    pub async fn stop(self) {
        self.process.stop().await;
    }
}
