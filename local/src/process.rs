//! An engine that runs as a process of its own, and dies with this one.
//!
//! Its standard input stays open as long as we live: its launcher ends when that closes, which the system sees to even
//! when we are killed.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{oneshot, watch};

use crate::error::StartError;

/// A running engine. Dropped, it is ended the hard way.
#[derive(Debug)]
pub struct Process {
    name: &'static str,
    log: PathBuf,
    stdin: Option<ChildStdin>,
    ended: watch::Receiver<Option<ExitStatus>>,
    kill: Option<oneshot::Sender<()>>,
}

/// An engine that ended without being asked to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} {end}; its log is {}", .log.display())]
pub struct Death {
    pub name: &'static str,
    /// `ended with exit code 1`, `was ended by signal 9`.
    pub end: String,
    pub log: PathBuf,
}

impl Process {
    /// Starts `command` and waits until `ready` makes something of a line of its standard output. All else that it
    /// says goes to `log`.
    pub async fn start<T>(
        name: &'static str,
        mut command: Command,
        log: &Path,
        limit: Duration,
        ready: impl Fn(&str) -> Option<T>,
    ) -> Result<(Self, T), StartError> {
        let output = File::create(log).map_err(|error| StartError::folder(log, error))?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(output).kill_on_drop(true);
        // Ctrl-C in a terminal goes to its whole process group; batches in flight still need the engines.
        #[cfg(unix)]
        command.process_group(0);
        let program = command.as_std().get_program().to_owned();
        let mut child = command.spawn().map_err(|error| {
            let remedy = if error.kind() == ErrorKind::NotFound {
                "Check that it is installed and on the PATH"
            } else {
                "Check that it may be run"
            };
            StartError::new(format!("{name} did not start: `{}`: {error}", program.display()), remedy)
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
                    // Read on, or the engine stops when the pipe is full.
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
                Err(StartError::new(death.to_string(), last_words(log)))
            }
            Err(_) => Err(StartError::new(
                format!("{name} was not ready after {} s", limit.as_secs()),
                format!("Its log is {}", log.display()),
            )),
        }
    }

    /// Waits until it has ended, by itself or not.
    pub async fn died(&self) -> Death {
        let mut ended = self.ended.clone();
        let end = match ended.wait_for(Option::is_some).await {
            Ok(status) => status.as_ref().map_or_else(String::new, describe),
            Err(_) => "is gone".to_owned(),
        };
        Death { name: self.name, end, log: self.log.clone() }
    }

    /// Lets it end by closing its standard input; by force after five seconds.
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
        return format!("was ended by signal {signal}");
    }
    match status.code() {
        Some(code) => format!("ended with exit code {code}"),
        None => "ended".to_owned(),
    }
}

/// The end of a log, for a message: where an engine says why it gave up.
fn last_words(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("at ")).collect();
    let tail = lines.get(lines.len().saturating_sub(5)..).unwrap_or_default().join("\n  ");
    format!("It last said:\n  {tail}")
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
    async fn it_is_ready_when_it_says_so_and_ends_when_its_input_closes() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("engine.log");
        let (process, port) = start("echo hello; echo ready 17; echo noise >&2; cat >/dev/null", &log).await.unwrap();
        assert_eq!(port, "17");
        process.stop().await;
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "noise\n");
    }

    #[tokio::test]
    async fn one_that_ignores_its_input_is_ended_by_force() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("engine.log");
        let (process, _) = start("echo ready 1; exec sleep 600", &log).await.unwrap();
        tokio::time::timeout(Duration::from_secs(8), process.stop()).await.unwrap();
    }

    #[tokio::test]
    async fn a_death_names_the_engine_its_exit_code_and_its_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("engine.log");
        let (process, _) = start("echo ready 1; exit 7", &log).await.unwrap();
        let death = process.died().await.to_string();
        assert_eq!(death, format!("The engine ended with exit code 7; its log is {}", log.display()));
    }

    #[tokio::test]
    async fn one_that_never_gets_ready_says_its_last_words() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("engine.log");
        let error = start("echo no memory >&2; exit 3", &log).await.unwrap_err();
        assert!(error.happened.contains("exit code 3"), "{error}");
        assert!(error.remedy.contains("no memory"), "{error}");
    }
}
