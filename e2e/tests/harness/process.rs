//! `cairn local` as a separate process, which can be killed and restarted on its state folder.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::OnceCell;

use super::engines::{self, Set};
use super::{Description, User};

/// A running `cairn local`, which is killed when dropped.
pub struct Process {
    child: Child,
    url: String,
    /// The search engine that it has started.
    pub search: String,
    token: String,
}

/// The folder of the compiled programs.
static PROGRAMS: OnceCell<PathBuf> = OnceCell::const_new();

/// The build of the programs: its start, and how long it took once it is done.
static BUILD: Mutex<Option<(Instant, Option<Duration>)>> = Mutex::new(None);

impl Process {
    /// Starts a process on the folder and waits until it is ready. It aborts at the failpoint, if there is one. The
    /// jobs of a killed process are resumed after a second.
    pub async fn start(state: &Path, failpoint: Option<&str>) -> Self {
        let (search, dynamodb) = match engines::set() {
            Set::Embedded => ("opensearch", "dynoxide"),
            Set::Real => ("opensearch", "local"),
            Set::WithoutJava => ("osmem", "dynoxide"),
        };
        let mut command = Command::new(program("cairn").await);
        command
            .args(["local", "--port", "0", "--search", search, "--dynamodb", dynamodb, "--lease", "1", "--state"])
            .arg(state);
        // The process lives only for seconds, too short for Java's second compiler.
        command.env("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        match failpoint {
            Some(failpoint) => command.env("CAIRN_FAILPOINT", failpoint),
            None => command.env_remove("CAIRN_FAILPOINT"),
        };
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (mut search, mut url) = (String::new(), None);
        while url.is_none() {
            let line = tokio::time::timeout(Duration::from_secs(120), lines.next_line()).await;
            let line = line.expect("cairn is not ready after two minutes").unwrap();
            let Some(line) = line else {
                let said = child.wait_with_output().await.unwrap().stderr;
                panic!("cairn did not start: {}", String::from_utf8_lossy(&said));
            };
            if let Some(endpoint) = line.strip_prefix("search ") {
                search = endpoint.trim().to_owned();
            }
            url = line.strip_prefix("ready ").map(str::to_owned);
        }
        // The output must be read, since the process blocks when the pipe is full.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let url = url.unwrap();
        let token =
            Command::new(program("cairn").await).args(["token", "parks-admin", "--state"]).arg(state).output().await;
        let token = String::from_utf8(token.unwrap().stdout).unwrap().trim().to_owned();
        let process = Self { child, url, search, token };
        Description::keep("parks", &process.visitor().get("/parks/openapi.json").await.is(200).body);
        process
    }

    pub fn administrator(&self) -> User {
        User::outside(&self.url, "administrator", Some(format!("Bearer {}", self.token)))
    }

    pub fn visitor(&self) -> User {
        User::outside(&self.url, "visitor", None)
    }

    /// Kills the process, which writes nothing more, as after a power cut.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Waits until the process has aborted.
    pub async fn died(mut self) {
        let end = tokio::time::timeout(Duration::from_secs(60), self.child.wait()).await;
        let end = end.expect("it did not come to its failpoint").unwrap();
        assert!(!end.success(), "{end}");
    }

    /// Stops the process as Ctrl-C does.
    pub async fn stop(mut self) {
        let id = self.child.id().unwrap().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().await.unwrap().success());
        assert!(self.child.wait().await.unwrap().success());
    }
}

/// Returns the path of a compiled program: the command, or the program of a system.
pub async fn program(name: &str) -> PathBuf {
    let build = async || {
        let began = Instant::now();
        *BUILD.lock().unwrap() = Some((began, None));
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        // The packages are those of the tests, since another selection would compile the dependencies again.
        build.args(["build", "--quiet", "--workspace", "--bins", "--tests"]).current_dir(env!("CARGO_MANIFEST_DIR"));
        assert!(build.status().await.unwrap().success(), "the programs do not build");
        *BUILD.lock().unwrap() = Some((began, Some(began.elapsed())));
        // The programs are next to the folder of the test's program.
        let tests = std::env::current_exe().unwrap();
        tests.parent().and_then(Path::parent).unwrap().to_owned()
    };
    PROGRAMS.get_or_init(build).await.join(name)
}

/// Returns how long the build of the programs has taken so far. It does not count towards a test's timeout.
pub fn build_time() -> Duration {
    let build = *BUILD.lock().unwrap();
    build.map_or(Duration::ZERO, |(began, took)| took.unwrap_or_else(|| began.elapsed()))
}
