//! Engines written in Java: their jars by Maven, and the launcher that ties them to this process.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use super::java::{self, Java};
use super::{Cache, Filling, Tools};
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

const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";
const COMPILER: &str = "org.eclipse.jdt.internal.compiler.batch.Main";

impl Recipe {
    /// Finds Java, and fetches and compiles what is not in the cache yet; the latter alone needs Maven.
    pub async fn install(&self, tools: &Tools, cache: &Cache, progress: &Progress) -> Result<Installed, Unavailable> {
        let java = java::find(tools).await.map_err(Unavailable::Missing)?;
        let place = cache.folder(self.folder, &[self.pom, self.launcher]);
        if !place.is_dir() {
            let Some(maven) = tools.find("mvn") else {
                return Err(Unavailable::Missing("there is no Maven (`mvn`) on the PATH".to_owned()));
            };
            self.fetch(&java, &maven, &place, progress).await.map_err(Unavailable::Failed)?;
        }
        Ok(Installed { java, folder: place })
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
        compile.arg(filling.partial.join("classes")).arg(launcher);
        self.run(compile, progress).await?;
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
        let mut path = self.folder.join("classes").into_os_string();
        path.push(":");
        path.push(self.folder.join("jars/*"));
        let mut command = Command::new(&self.java.command);
        command.args(options).arg("-cp").arg(path).arg("Launcher");
        command
    }
}
