//! Engines that are not Rust crates, fetched when first used by the tools of their own registries.
//!
//! What was fetched is kept in a cache of the user's, shared by all state folders. A folder there is named after a
//! digest of what it is made from and appears by a rename, whole or not at all, so two processes may fetch at once.

mod jar;
pub mod java;
pub mod maven;
pub mod pip;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tokio::sync::Mutex;

use crate::error::StartError;

/// Where this machine's tools are looked for.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    pub path: OsString,
    pub java_home: Option<PathBuf>,
}

impl Tools {
    /// From `PATH` and `JAVA_HOME`.
    pub fn from_env() -> Self {
        Self {
            path: std::env::var_os("PATH").unwrap_or_default(),
            java_home: std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty()).map(PathBuf::from),
        }
    }

    /// The first file of this name on the path.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        std::env::split_paths(&self.path).map(|folder| folder.join(name)).find(|file| file.is_file())
    }
}

/// The folder of everything fetched.
#[derive(Clone, Debug)]
pub struct Cache(PathBuf);

impl Cache {
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// `CAIRN_CACHE`, else `cairn` in the user's cache folder.
    pub fn from_env() -> Self {
        let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Self(
            folder("CAIRN_CACHE")
                .or_else(|| folder("XDG_CACHE_HOME").map(|cache| cache.join("cairn")))
                .or_else(|| folder("HOME").map(|home| home.join(".cache/cairn")))
                .unwrap_or_else(|| std::env::temp_dir().join("cairn-cache")),
        )
    }

    /// Where something made from these sources lies, once it is there.
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

/// Held while a folder is filled, so that platforms of one process that start at the same time fetch an engine once.
static FETCHING: Mutex<()> = Mutex::const_new(());

/// A folder that is being filled beside its place.
struct Filling {
    partial: PathBuf,
    place: PathBuf,
}

impl Filling {
    fn begin(place: &Path) -> Result<Self, StartError> {
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

    /// Moves it to its place, unless another process was faster.
    fn done(self) -> Result<(), StartError> {
        match std::fs::rename(&self.partial, &self.place) {
            Err(error) if !self.place.exists() => Err(StartError::folder(&self.place, error)),
            _ => Ok(()),
        }
    }
}

impl Drop for Filling {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.partial);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cached_folder_is_whole_or_absent() {
        let root = tempfile::tempdir().unwrap();
        let place = Cache::new(root.path()).folder("engine-1.0", &["pom", "launcher"]);
        let abandoned = Filling::begin(&place).unwrap();
        abandoned.write("half", "").unwrap();
        drop(abandoned);
        assert!(!place.exists());

        let filling = Filling::begin(&place).unwrap();
        filling.write("whole", "").unwrap();
        filling.done().unwrap();
        assert!(place.join("whole").is_file());
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 1);
    }

    #[test]
    fn other_sources_lie_elsewhere() {
        let cache = Cache::new("/cache");
        assert_ne!(cache.folder("engine", &["a", "b"]), cache.folder("engine", &["ab", ""]));
    }
}
