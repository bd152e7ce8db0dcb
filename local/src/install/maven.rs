//! Engines written in Java: their jars by Maven, and the launcher that ties them to this process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use super::java::{self, Java};
use super::{Cache, FETCHING, Filling, Tools, jar};
use crate::error::StartError;
use crate::progress::{Progress, Stage};

/// An engine as Maven knows it.
#[derive(Debug)]
pub struct Recipe {
    /// For people: `OpenSearch`.
    pub name: &'static str,
    /// What is being fetched, for people: `OpenSearch's jars`.
    pub stage: Stage,
    /// The folder in the cache: `opensearch-2.19.1`.
    pub folder: &'static str,
    pub pom: &'static str,
    pub launcher: &'static str,
    /// The launcher's arguments for a rehearsal in a folder, by which later starts get quicker.
    pub rehearsal: Option<fn(&Path) -> Vec<OsString>>,
}

/// An engine ready to be started.
#[derive(Clone, Debug)]
pub struct Installed {
    java: Java,
    pub folder: PathBuf,
}

/// Why an engine written in Java cannot be had.
#[derive(Debug)]
pub enum Unavailable {
    /// Java or Maven is not there: something else may serve. Says which.
    Missing(String),
    Failed(StartError),
}

const REHEARSING: Stage = "a rehearsal of its start";

/// The longest that a rehearsal may take: it is only there to save time.
const REHEARSAL: Duration = Duration::from_secs(120);

/// What lies where in the folder; changed whenever that changes, so that folders of another layout are left alone.
const LAYOUT: &str = "jars, launcher.jar";
const LAUNCHER: &str = "Launcher.class";
const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";
const COMPILER: &str = "org.eclipse.jdt.internal.compiler.batch.Main";

impl Recipe {
    /// Finds Java, and fetches and compiles what is not in the cache yet; the latter alone needs Maven.
    pub async fn install(&self, tools: &Tools, cache: &Cache, progress: &Progress) -> Result<Installed, Unavailable> {
        let java = java::find(tools).await.map_err(Unavailable::Missing)?;
        let place = cache.folder(self.folder, &[LAYOUT, self.pom, self.launcher]);
        let fetching = FETCHING.lock().await;
        if !place.is_dir() {
            let Some(maven) = tools.find("mvn") else {
                return Err(Unavailable::Missing("there is no Maven (`mvn`) on the PATH".to_owned()));
            };
            self.fetch(&java, &maven, &place, progress).await.map_err(Unavailable::Failed)?;
        }
        drop(fetching);
        let installed = Installed { java, folder: place };
        if let Some(arguments) = self.rehearsal
            && !installed.classes().exists()
        {
            progress.started(REHEARSING);
            installed.rehearse(arguments).await;
            progress.finished(REHEARSING, "later starts are quicker");
        }
        Ok(installed)
    }

    async fn fetch(&self, java: &Java, maven: &Path, place: &Path, progress: &Progress) -> Result<(), StartError> {
        progress.started(self.stage);
        let filling = Filling::begin(place)?;
        let jars = filling.partial.join("jars");
        let mut command = Command::new(maven);
        command.arg("-B").arg("-f").arg(filling.write("pom.xml", self.pom)?).arg(COPY);
        command.arg(format!("-DoutputDirectory={}", jars.display())).env("JAVA_HOME", &java.home);
        self.run(command, progress).await?;

        let launcher = filling.write("Launcher.java", self.launcher)?;
        let mut compile = Command::new(&java.command);
        compile.arg("-cp").arg(jars.join("*")).arg(COMPILER).arg("-17").arg("-nowarn").arg("-d");
        let classes = filling.partial.join("classes");
        compile.arg(&classes).arg(launcher);
        self.run(compile, progress).await?;
        let compiled = classes.join(LAUNCHER);
        let class = std::fs::read(&compiled).map_err(|error| StartError::folder(&compiled, error))?;
        let jar = filling.partial.join("launcher.jar");
        std::fs::write(&jar, jar::with_one_file(LAUNCHER, &class)).map_err(|error| StartError::folder(&jar, error))?;
        let _ = std::fs::remove_dir_all(&classes);
        let count = std::fs::read_dir(&jars).map_or(0, Iterator::count);
        filling.done()?;
        progress.finished(self.stage, format!("{count} files in {}", place.display()));
        Ok(())
    }

    /// Runs a tool to its end, counting the files that it says it downloaded.
    async fn run(&self, mut command: Command, progress: &Progress) -> Result<(), StartError> {
        let failed = |happened: String| {
            StartError::new(
                format!("{} could not be fetched: {happened}", self.name),
                "Maven needs to reach its repository once; check the network and ~/.m2/settings.xml, then try again",
            )
        };
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let mut complaint = None;
        if let Some(stdout) = child.stdout.take() {
            let mut lines = BufReader::new(stdout).lines();
            let mut downloaded = 0;
            while let Ok(Some(line)) = lines.next_line().await {
                if line.contains("Downloaded from") {
                    downloaded += 1;
                    progress.advanced(self.stage, downloaded, None);
                } else if let Some((_, error)) = line.split_once("[ERROR] ") {
                    complaint.get_or_insert_with(|| error.to_owned());
                }
            }
        }
        let status = child.wait().await.map_err(|error| failed(error.to_string()))?;
        if status.success() { Ok(()) } else { Err(failed(complaint.unwrap_or_else(|| status.to_string()))) }
    }
}

impl Installed {
    /// The launcher, with these options for Java.
    pub fn launch(&self, options: &[&str]) -> Command {
        let mut shared = OsString::from("-XX:SharedArchiveFile=");
        shared.push(self.classes());
        let mut command = self.java();
        // Without the archive, or with one that does not fit, Java reads the classes from the jars.
        command.args(self.classes().exists().then_some(shared)).args(options).arg("Launcher");
        command
    }

    fn java(&self) -> Command {
        let mut path = self.folder.join("launcher.jar").into_os_string();
        path.push(":");
        path.push(self.folder.join("jars/*"));
        let mut command = Command::new(&self.java.command);
        command.arg("-cp").arg(path);
        command
    }

    /// Where the classes lie that a start loads, checked and laid out for this Java.
    fn classes(&self) -> PathBuf {
        self.folder.join(format!("classes-{}.jsa", self.java.build))
    }

    /// Starts the engine once and ends it, to make the archive of its classes ("Application Class-Data Sharing"),
    /// which saves a third of every later start. Where that does not work, starts are slower and nothing else.
    async fn rehearse(&self, arguments: fn(&Path) -> Vec<OsString>) {
        let partial = self.folder.join(format!("classes.{}.partial", std::process::id()));
        let folder = self.folder.join(format!("rehearsal.{}", std::process::id()));
        let mut archive = OsString::from("-XX:ArchiveClassesAtExit=");
        archive.push(&partial);
        let mut command = self.java();
        command.arg(archive).arg("-Xlog:disable").arg("-Xlog:all=off:stderr").arg("Launcher").args(arguments(&folder));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let rehearsal = async {
            let mut child = command.spawn().ok()?;
            let stdin = child.stdin.take();
            let mut lines = BufReader::new(child.stdout.take()?).lines();
            while !lines.next_line().await.ok()??.starts_with("ready") {}
            drop(stdin);
            child.wait().await.ok()
        };
        if let Ok(Some(_)) = tokio::time::timeout(REHEARSAL, rehearsal).await {
            let _ = std::fs::rename(&partial, self.classes());
        }
        let _ = std::fs::remove_file(&partial);
        let _ = std::fs::remove_dir_all(&folder);
    }
}
