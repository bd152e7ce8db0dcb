//! An engine in a child process that never outlives this one.
//!
//! Its standard input stays open as long as this process lives. Its launcher exits when the input closes, which the
//! operating system does even if this process is killed.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{oneshot, watch};

use crate::error::StartError;
use crate::log_file;

/// A running engine, killed when dropped.
#[derive(Debug)]
pub struct Process {
    name: &'static str,
    log: PathBuf,
    stdin: Option<ChildStdin>,
    ended: watch::Receiver<Option<ExitStatus>>,
    kill: Option<oneshot::Sender<()>>,
}

/// The unexpected end of an engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} {end}; see its log {}", .log.display())]
pub struct Death {
    pub name: &'static str,
    /// Such as `exited with code 1` or `was killed by signal 9`.
    pub end: String,
    pub log: PathBuf,
}

impl Process {
    /// Starts `command`, and waits until `ready` returns a value for a line of its standard output. Standard error goes
    /// to `log`; the log of the last run is kept with the extension `.previous.log`.
    pub async fn start<T>(
        name: &'static str,
        mut command: Command,
        log: &Path,
        limit: Duration,
        ready: impl Fn(&str) -> Option<T>,
    ) -> Result<(Self, T), StartError> {
        let output = log_file::create(log).map_err(|error| StartError::folder(log, error))?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(output).kill_on_drop(true);
        // Ctrl-C goes to the terminal's process group, and batches in progress still need the engine.
        #[cfg(unix)]
        command.process_group(0);
        let program = command.as_std().get_program().to_owned();
        let mut child = command.spawn().map_err(|error| {
            let remedy = if error.kind() == ErrorKind::NotFound {
                "Check that it is installed and on the PATH"
            } else {
                "Check that it is executable"
            };
            StartError::new(format!("Starting {name} failed: `{}`: {error}", program.display()), remedy)
        })?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take();
        let (tell_end, ended) = watch::channel(None);
        let (kill, killed) = oneshot::channel();
        tokio::spawn(watch_over(child, killed, tell_end));
        let process = Self { name, log: log.to_owned(), stdin, ended, kill: Some(kill) };

        let first = async {
            let mut lines = BufReader::new(stdout?).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                if let Some(value) = ready(&line) {
                    // Without a reader the engine would block when the pipe is full.
                    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
                    return Some(value);
                }
            }
            None
        };
        match tokio::time::timeout(limit, first).await {
            Ok(Some(value)) => Ok((process, value)),
            Ok(None) => {
                let death = process.died().await;
                Err(StartError::new(death.to_string(), last_lines(log)))
            }
            Err(_) => Err(StartError::new(
                format!("{name} was not ready after {} s", limit.as_secs()),
                format!("See its log {}", log.display()),
            )),
        }
    }

    /// Waits until the engine has ended.
    pub async fn died(&self) -> Death {
        let mut ended = self.ended.clone();
        let end = match ended.wait_for(Option::is_some).await {
            Ok(status) => status.as_ref().map(describe),
            Err(_) => None,
        };
        let end = end.unwrap_or_else(|| "disappeared".to_owned());
        Death { name: self.name, end, log: self.log.clone() }
    }

    /// Stops the engine by closing its standard input, and kills it after five seconds.
    pub async fn stop(mut self) {
        drop(self.stdin.take());
        if tokio::time::timeout(Duration::from_secs(5), self.died()).await.is_err() {
            if let Some(kill) = self.kill.take() {
                let _ = kill.send(());
            }
            self.died().await;
        }
    }
}

async fn watch_over(mut child: Child, killed: oneshot::Receiver<()>, tell: watch::Sender<Option<ExitStatus>>) {
    let status = tokio::select! {
        status = child.wait() => status,
        _ = killed => {
            let _ = child.start_kill();
            child.wait().await
        }
    };
    if let Ok(status) = status {
        let _ = tell.send(Some(status));
    }
}

fn describe(status: &ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(status) {
        return format!("was killed by signal {signal}");
    }
    match status.code() {
        Some(code) => format!("exited with code {code}"),
        None => "exited".to_owned(),
    }
}

/// Returns the last lines of a log, for an error message.
fn last_lines(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("at ")).collect();
    let tail = lines.get(lines.len().saturating_sub(5)..).unwrap_or_default().join("\n  ");
    format!("The last lines of its log are:\n  {tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    async fn start(script: &str, log: &Path) -> Result<(Process, String), StartError> {
        let ready = |line: &str| line.strip_prefix("ready ").map(str::to_owned);
        Process::start("The engine", shell(script), log, Duration::from_secs(10), ready).await
    }

    #[tokio::test]
    async fn process_is_ready_at_its_line_and_ends_when_its_input_closes() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("engine.log");
        let (process, port) = start("echo hello; echo ready 17; echo noise >&2; cat >/dev/null", &log).await.unwrap();
        assert_eq!(port, "17");
        process.stop().await;
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "noise\n");
    }

    #[tokio::test]
    async fn process_that_ignores_its_input_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("engine.log");
        let (process, _) = start("echo ready 1; exec sleep 600", &log).await.unwrap();
        tokio::time::timeout(Duration::from_secs(8), process.stop()).await.unwrap();
    }

    #[tokio::test]
    async fn death_has_engine_exit_code_and_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("engine.log");
        let (process, _) = start("echo ready 1; exit 7", &log).await.unwrap();
        let death = process.died().await.to_string();
        assert_eq!(death, format!("The engine exited with code 7; see its log {}", log.display()));
    }

    #[tokio::test]
    async fn failed_start_has_the_last_lines_of_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("engine.log");
        let error = start("echo no memory >&2; exit 3", &log).await.unwrap_err();
        assert!(error.happened.contains("exited with code 3"), "{error}");
        assert!(error.remedy.contains("no memory"), "{error}");
    }
}
