//! `cargo lambda watch`, as docs/cargo-lambda.md prints it, as long as it is needed.

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

/// cargo-lambda's own port, since the guide names no other.
const PORT: u16 = 9000;

/// How long the first build of a system may take, with all that it depends on.
const BUILDS_WITHIN: Duration = Duration::from_secs(30 * 60);

/// How much of its log a failure tells.
const LAST_LINES: usize = 10;

/// A running one.
pub(super) struct Watch {
    process: Process,
    log: PathBuf,
}

impl Watch {
    pub async fn start(bench: &Bench<'_>, block: &Block) -> Result<Self, Failure> {
        TcpListener::bind(("127.0.0.1", PORT)).doing(format!("port {PORT}, which `cargo lambda watch` takes"))?;
        // Every change of a file starts the functions anew, and what they are doing then is lost: whoever works on the
        // repository meanwhile is not to disturb. It builds what is there when it begins.
        let nothing = bench.folder.join("ignored");
        fs::write(&nothing, "*\n").doing(nothing.display())?;
        // It is told to end when our end of its input closes, also when we are killed.
        let line = block.line("cargo lambda watch ")?;
        let script = block.script(&format!("{line} >&2 &\necho begun\ncat >/dev/null\nkill $!\nwait $!"));
        let mut command = bench.python.script(&script)?;
        command.current_dir(bench.root).env("CARGO_LAMBDA_IGNORE_FILES", &nothing);
        let log = bench.folder.join("watch.log");
        let begun = |line: &str| (line == "begun").then_some(());
        let (process, ()) =
            Process::start("cargo lambda watch", command, &log, Duration::from_secs(10), begun).await.doing("sh")?;
        Ok(Self { process, log })
    }

    /// Waits until a system has been built and tells its health.
    pub async fn answers(&self, invoke: &Invoke<'_>) -> Result<(), Failure> {
        let until = Instant::now() + BUILDS_WITHIN;
        loop {
            // Until it listens, the command fails at once; until the function is built, it waits.
            let told = timeout_at(until, invoke.health()).await.doing("`cargo lambda watch` builds too long")?;
            match told {
                Ok((200, _)) => return Ok(()),
                Ok((status, body)) => return Err(Failure::new(format!("{}: {status} {body}", invoke.system))),
                Err(failure) if Instant::now() > until => return Err(failure),
                Err(_) => sleep(Duration::from_millis(200)).await,
            }
        }
    }

    /// What it and its functions have said.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// A failure with the end of the log, which is gone when this ends.
    pub fn blamed(&self, failure: &Failure) -> Failure {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        let last = lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default();
        Failure::new(format!("{failure}\n`cargo lambda watch` said last:\n{}", last.join("\n")))
    }

    pub async fn stop(self) {
        self.process.stop().await;
    }
}
