//! Installation of engines that are not Rust crates, at their first use, with the tools of their own registries.
//!
//! All state folders of a user share one cache. The name of a folder in it contains a digest of its sources. The folder
//! appears by a rename, complete or not at all, so several processes may install at once.

mod jar;
pub mod java;
pub mod maven;
pub mod pip;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tokio::sync::Mutex;

use crate::error::StartError;

/// The paths on which tools are looked up.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    pub path: OsString,
    pub java_home: Option<PathBuf>,
}

impl Tools {
    /// Reads `PATH` and `JAVA_HOME`.
    pub fn from_env() -> Self {
        Self {
            path: std::env::var_os("PATH").unwrap_or_default(),
            java_home: std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty()).map(PathBuf::from),
        }
    }

    /// Returns the first file of this name on the path.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        std::env::split_paths(&self.path).map(|folder| folder.join(name)).find(|file| file.is_file())
    }
}

/// The folder of installed engines.
#[derive(Clone, Debug)]
pub struct Cache(PathBuf);

impl Cache {
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// Returns `CAIRN_CACHE`, or else `cairn` in the user's cache folder.
    pub fn from_env() -> Self {
        let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Self(
            folder("CAIRN_CACHE")
                .or_else(|| folder("XDG_CACHE_HOME").map(|cache| cache.join("cairn")))
                .or_else(|| folder("HOME").map(|home| home.join(".cache/cairn")))
                .unwrap_or_else(|| std::env::temp_dir().join("cairn-cache")),
        )
    }

    /// Returns the folder of an installation from these sources.
    fn folder(&self, name: &str, sources: &[&str]) -> PathBuf {
        let mut digest = Sha256::new();
        for source in sources {
            digest.update(source);
            digest.update([0]);
        }
        let digest: String = digest.finalize().iter().take(5).map(|byte| format!("{byte:02x}")).collect();
        self.0.join(format!("{name}-{digest}"))
    }
}

/// Held during an installation, so that concurrent starts in one process download an engine once.
static INSTALLING: Mutex<()> = Mutex::const_new(());

/// An installation in progress, in a folder beside its final place.
struct Installation {
    partial: PathBuf,
    place: PathBuf,
}

impl Installation {
    fn start(place: &Path) -> Result<Self, StartError> {
        let partial = place.with_extension(format!("{}.partial", std::process::id()));
        let fresh = || {
            if partial.exists() {
                std::fs::remove_dir_all(&partial)?;
            }
            std::fs::create_dir_all(&partial)
        };
        fresh().map_err(|error| StartError::folder(&partial, error))?;
        Ok(Self { partial, place: place.to_owned() })
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf, StartError> {
        let file = self.partial.join(name);
        std::fs::write(&file, text).map_err(|error| StartError::folder(&file, error))?;
        Ok(file)
    }

    /// Moves the folder to its final place, unless another process was faster.
    fn finish(self) -> Result<(), StartError> {
        match std::fs::rename(&self.partial, &self.place) {
            Err(error) if !self.place.exists() => Err(StartError::folder(&self.place, error)),
            _ => Ok(()),
        }
    }
}

impl Drop for Installation {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.partial);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installation_appears_complete_or_not_at_all() {
        let root = tempfile::tempdir().unwrap();
        let place = Cache::new(root.path()).folder("engine-1.0", &["pom", "launcher"]);
        let abandoned = Installation::start(&place).unwrap();
        abandoned.write("half", "").unwrap();
        drop(abandoned);
        assert!(!place.exists());

        let installation = Installation::start(&place).unwrap();
        installation.write("whole", "").unwrap();
        installation.finish().unwrap();
        assert!(place.join("whole").is_file());
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 1);
    }

    #[test]
    fn folder_depends_on_the_sources() {
        let cache = Cache::new("/cache");
        assert_ne!(cache.folder("engine", &["a", "b"]), cache.folder("engine", &["ab", ""]));
    }
}
