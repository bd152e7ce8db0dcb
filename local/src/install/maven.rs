//! Engines written in Java: their jars from Maven, and the launcher that ties them to this process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use super::java::{self, Java};
use super::{
    Cache, INSTALLING, Installation, PARTIAL, TRAINING, Tools, delete_abandoned, delete_unused_versions, jar, mark_used,
};
use crate::error::StartError;
use crate::progress::{Progress, Stage};

/// The installation of an engine by Maven.
#[derive(Debug)]
pub struct Recipe {
    /// The name for the user, such as `OpenSearch`.
    pub name: &'static str,
    /// The step for the user, such as `OpenSearch's jars`.
    pub stage: Stage,
    /// The folder in the cache, such as `opensearch-2.19.1`.
    pub folder: &'static str,
    pub pom: &'static str,
    pub launcher: &'static str,
    /// The launcher's arguments for a training run in a folder, which makes later starts faster.
    pub training_run: Option<fn(&Path) -> Vec<OsString>>,
}

/// An installed engine.
#[derive(Clone, Debug)]
pub struct Installed {
    java: Java,
    pub folder: PathBuf,
}

/// Why an engine written in Java could not be installed.
#[derive(Debug)]
pub enum Unavailable {
    /// Java or Maven is missing, as the text says. Another engine may do.
    Missing(String),
    Failed(StartError),
}

const TRAINING_RUN: Stage = "training run";

/// The timeout of a training run, whose only purpose is to save time.
const TRAINING_TIMEOUT: Duration = Duration::from_secs(120);

/// The layout of the folder, as a source of its name, so that folders of other layouts are not used.
const LAYOUT: &str = "jars, launcher.jar";
const LAUNCHER: &str = "Launcher.class";
const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";
const COMPILER: &str = "org.eclipse.jdt.internal.compiler.batch.Main";

impl Recipe {
    /// Finds Java, and installs the engine with Maven unless the cache has it.
    pub async fn install(&self, tools: &Tools, cache: &Cache, progress: &Progress) -> Result<Installed, Unavailable> {
        let java = java::find(tools).await.map_err(Unavailable::Missing)?;
        let place = cache.folder(self.folder, &[LAYOUT, self.pom, self.launcher]).map_err(Unavailable::Failed)?;
        // Maven and Java take it as a part of an option.
        if place.to_str().is_none() {
            return Err(Unavailable::Failed(StartError::new(
                format!("The name of the cache folder `{}` is not UTF-8", place.display()),
                "Choose another folder with CAIRN_CACHE",
            )));
        }
        let installing = INSTALLING.lock().await;
        cache.delete_abandoned();
        delete_abandoned(&place);
        mark_used(&place);
        if !place.is_dir() {
            let Some(maven) = tools.find("mvn") else {
                return Err(Unavailable::Missing("there is no Maven (`mvn`) on the PATH".to_owned()));
            };
            self.fetch(&java, &maven, &place, progress).await.map_err(Unavailable::Failed)?;
            mark_used(&place);
        }
        delete_unused_versions(&place);
        drop(installing);
        let installed = Installed { java, folder: place };
        if let Some(arguments) = self.training_run
            && !installed.classes().exists()
        {
            progress.started(TRAINING_RUN);
            installed.train(arguments).await;
            progress.finished(TRAINING_RUN, "later starts are faster");
        }
        Ok(installed)
    }

    async fn fetch(&self, java: &Java, maven: &Path, place: &Path, progress: &Progress) -> Result<(), StartError> {
        progress.started(self.stage);
        let installation = Installation::start(place)?;
        let jars = installation.partial.join("jars");
        let mut command = Command::new(maven);
        command.args(["-B", "--strict-checksums", "-f"]).arg(installation.write("pom.xml", self.pom)?).arg(COPY);
        command.arg(format!("-DoutputDirectory={}", jars.display())).env("JAVA_HOME", &java.home);
        self.run(command, progress).await?;

        let launcher = installation.write("Launcher.java", self.launcher)?;
        let mut compile = Command::new(&java.command);
        compile.arg("-cp").arg(jars.join("*")).arg(COMPILER).arg("-17").arg("-nowarn").arg("-d");
        let classes = installation.partial.join("classes");
        compile.arg(&classes).arg(launcher);
        self.run(compile, progress).await?;
        let compiled = classes.join(LAUNCHER);
        let class = std::fs::read(&compiled).map_err(|error| StartError::folder(&compiled, error))?;
        let jar = installation.partial.join("launcher.jar");
        std::fs::write(&jar, jar::with_one_file(LAUNCHER, &class)).map_err(|error| StartError::folder(&jar, error))?;
        let _ = std::fs::remove_dir_all(&classes);
        let count = std::fs::read_dir(&jars).map_or(0, Iterator::count);
        installation.finish()?;
        progress.finished(self.stage, format!("{count} files in {}", place.display()));
        Ok(())
    }

    /// Runs a tool to its end, and shows the number of files that it has downloaded.
    async fn run(&self, mut command: Command, progress: &Progress) -> Result<(), StartError> {
        let failed = |happened: String| {
            StartError::new(
                format!("Downloading {} failed: {happened}", self.name),
                "Maven needs its repository once; check the network and ~/.m2/settings.xml, and retry",
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
    /// Returns the command of the launcher, with these options for Java.
    pub fn launch(&self, options: &[&str]) -> Command {
        let mut shared = OsString::from("-XX:SharedArchiveFile=");
        shared.push(self.classes());
        let mut command = self.java();
        // Without a matching archive Java reads the classes from the jars.
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

    /// Returns the archive of the classes that a start loads, for this build of Java.
    fn classes(&self) -> PathBuf {
        self.folder.join(format!("classes-{}.jsa", self.java.build))
    }

    /// Starts and stops the engine once, to create the archive of its classes ("Application Class-Data Sharing"), which
    /// saves a third of every later start. If it fails, starts are merely slower.
    async fn train(&self, arguments: fn(&Path) -> Vec<OsString>) {
        let partial = self.folder.join(format!("classes.{}{PARTIAL}", std::process::id()));
        let folder = self.folder.join(format!("{TRAINING}{}", std::process::id()));
        let mut archive = OsString::from("-XX:ArchiveClassesAtExit=");
        archive.push(&partial);
        let mut command = self.java();
        command.arg(archive).arg("-Xlog:disable").arg("-Xlog:all=off:stderr").arg("Launcher").args(arguments(&folder));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let run = async {
            let mut child = command.spawn().ok()?;
            let stdin = child.stdin.take();
            let mut lines = BufReader::new(child.stdout.take()?).lines();
            while !lines.next_line().await.ok()??.starts_with("ready") {}
            drop(stdin);
            child.wait().await.ok()
        };
        if let Ok(Some(_)) = tokio::time::timeout(TRAINING_TIMEOUT, run).await {
            let _ = std::fs::rename(&partial, self.classes());
        }
        let _ = std::fs::remove_file(&partial);
        let _ = std::fs::remove_dir_all(&folder);
    }
}
