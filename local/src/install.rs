//! Installation of engines that are not Rust crates, at their first use, with the tools of their own registries.
//!
//! All state folders of a user share one cache. The name of a folder in it contains a digest of its sources. The folder
//! appears by a rename, complete or not at all, so several processes may install at once. Its file `used` has the time
//! of its last use, and is locked while a process uses the folder.

mod jar;
pub mod java;
pub mod maven;
pub mod pip;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::{Duration, SystemTime};

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

/// The folder of installed engines, or none if the environment names none.
#[derive(Clone, Debug)]
pub struct Cache(Option<PathBuf>);

impl Cache {
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(Some(folder.into()))
    }

    /// Returns `CAIRN_CACHE`, or else `cairn` in the user's cache folder. The folder of temporary files would not do:
    /// another user could put a program there under the name of an engine.
    pub fn from_env() -> Self {
        Self::of(std::env::var_os)
    }

    /// Returns the folder that these variables name.
    fn of(variable: impl Fn(&'static str) -> Option<OsString>) -> Self {
        let folder = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Self(
            folder("CAIRN_CACHE")
                .or_else(|| folder("XDG_CACHE_HOME").map(|cache| cache.join("cairn")))
                .or_else(|| folder("HOME").map(|home| home.join(".cache/cairn"))),
        )
    }

    /// Deletes the installations of killed processes.
    fn delete_abandoned(&self) {
        if let Some(folder) = &self.0 {
            delete_abandoned(folder);
        }
    }

    /// Returns the folder of an installation from these sources.
    fn folder(&self, name: &str, sources: &[&str]) -> Result<PathBuf, StartError> {
        let cache = self.0.as_ref().ok_or_else(|| {
            StartError::new(
                "There is no folder for downloads, since neither CAIRN_CACHE nor HOME is set",
                "Set CAIRN_CACHE to a folder that only you can write to, or HOME",
            )
        })?;
        let mut digest = Sha256::new();
        for source in sources {
            digest.update(source);
            digest.update([0]);
        }
        let digest: String = digest.finalize().iter().take(5).map(|byte| format!("{byte:02x}")).collect();
        Ok(cache.join(format!("{name}-{digest}")))
    }
}

/// The end of the name of a file or folder that is not complete yet.
const PARTIAL: &str = ".partial";

/// The beginning of the name of the folder of a training run.
const TRAINING: &str = "training.";

/// The age from which files of an installation or a training run are those of a process that was killed.
const ABANDONED: Duration = Duration::from_hours(24);

/// The file in the folder of an installation whose time of modification is that of the last use.
const USED: &str = "used";

/// The time after its last use from which an installation of another version is deleted, unless a process uses it.
const UNUSED: Duration = Duration::from_hours(30 * 24);

/// The files [`USED`] of the installations that this process uses, with shared locks, by folder.
static IN_USE: std::sync::Mutex<BTreeMap<PathBuf, File>> = std::sync::Mutex::new(BTreeMap::new());

/// Deletes what killed processes have left in a folder. A failure only leaves it for longer.
fn delete_abandoned(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let is_old = modified.is_ok_and(|modified| is_ago(ABANDONED, modified));
        if !is_old || !(name.ends_with(PARTIAL) || name.starts_with(TRAINING)) {
            continue;
        }
        let path = entry.path();
        let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    }
}

/// Marks an installation as used, now and until this process ends, if it exists. Waits for a process that is about to
/// delete it. A failure only means that it may be deleted.
fn mark_used(place: &Path) {
    let Ok(used) = open_used(place) else { return };
    let _ = used.lock_shared();
    let _ = used.set_modified(SystemTime::now());
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner).insert(place.to_owned(), used);
}

/// Deletes the other versions of an installation's engine that are not used any more. A failure only leaves them for
/// longer.
fn delete_unused_versions(place: &Path) {
    let (Some(cache), Some(own)) = (place.parent(), place.file_name().and_then(|name| name.to_str())) else { return };
    let Some(own_engine) = engine(own) else { return };
    let Ok(entries) = std::fs::read_dir(cache) else { return };
    for entry in entries.filter_map(Result::ok) {
        let is_other = |name: &str| name != own && engine(name) == Some(own_engine);
        if entry.file_name().to_str().is_some_and(is_other) {
            let _ = delete_if_unused(&entry.path());
        }
    }
}

fn delete_if_unused(place: &Path) -> std::io::Result<()> {
    // The installation of an earlier release has no such file. It gets one, and counts as used now.
    let used = open_used(place)?;
    if is_ago(UNUSED, used.metadata()?.modified()?) && used.try_lock().is_ok() {
        // A process that is killed meanwhile leaves no installation that looks complete.
        let mut partial = place.as_os_str().to_owned();
        partial.push(PARTIAL);
        std::fs::rename(place, &partial)?;
        drop(used);
        std::fs::remove_dir_all(partial)?;
    }
    Ok(())
}

/// Opens the file [`USED`] of an installation, and creates it if the installation has none.
fn open_used(place: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).write(true).truncate(false).open(place.join(USED))
}

fn is_ago(age: Duration, time: SystemTime) -> bool {
    time.elapsed().is_ok_and(|elapsed| elapsed >= age)
}

/// Returns the engine of an installation: `dynamodb-local` of `dynamodb-local-3.1.0-eeb11cd6a5`.
fn engine(name: &str) -> Option<&str> {
    let (version, digest) = name.rsplit_once('-')?;
    let is_digest = digest.len() == 10 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    let (engine, _number) = version.rsplit_once('-').filter(|_| is_digest)?;
    Some(engine)
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
        let partial = place.with_extension(format!("{}{PARTIAL}", std::process::id()));
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
        let place = Cache::new(root.path()).folder("engine-1.0", &["pom", "launcher"]).unwrap();
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
    fn files_of_killed_processes_are_deleted_after_a_day() {
        let root = tempfile::tempdir().unwrap();
        let yesterday = SystemTime::now() - ABANDONED;
        let folders = ["engine-1.partial", "training.7", "engine-1", "engine-2.partial"];
        for name in folders {
            std::fs::create_dir(root.path().join(name)).unwrap();
            std::fs::write(root.path().join(name).join("file"), "").unwrap();
        }
        std::fs::write(root.path().join("classes.7.partial"), "").unwrap();
        for name in ["engine-1.partial", "training.7", "engine-1", "classes.7.partial"] {
            File::open(root.path().join(name)).unwrap().set_modified(yesterday).unwrap();
        }
        delete_abandoned(root.path());
        let entries = std::fs::read_dir(root.path()).unwrap();
        let mut left: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        assert_eq!(left, ["engine-1", "engine-2.partial"]);
    }

    #[test]
    fn other_versions_are_deleted_a_month_after_their_last_use() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::new(root.path());
        let place = |name: &str| cache.folder(name, &["pom"]).unwrap();
        let last_used = |place: &Path, age: Duration| {
            std::fs::create_dir_all(place).unwrap();
            open_used(place).unwrap().set_modified(SystemTime::now() - age).unwrap();
        };
        let week = Duration::from_hours(7 * 24);
        for (name, age) in [
            ("engine-local-1.0", UNUSED),
            ("engine-local-1.1", week),
            ("engine-local-1.2", UNUSED),
            ("engine-local-2.0", UNUSED),
            ("engine-1.0", UNUSED),
        ] {
            last_used(&place(name), age);
        }
        // A platform runs with this one for a month.
        mark_used(&place("engine-local-1.2"));
        last_used(&place("engine-local-1.2"), UNUSED);
        let foreign = root.path().join("engine-local-1.0-notes");
        last_used(&foreign, UNUSED);
        mark_used(&place("engine-local-2.0"));
        delete_unused_versions(&place("engine-local-2.0"));
        let names = ["engine-local-1.0", "engine-local-1.1", "engine-local-1.2", "engine-local-2.0", "engine-1.0"];
        assert_eq!(names.map(|name| place(name).exists()), [false, true, true, true, true]);
        assert!(foreign.exists());
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 5);
    }

    #[test]
    fn version_of_an_earlier_release_counts_as_used_when_it_is_first_seen() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::new(root.path());
        let (old, new) = (cache.folder("engine-1.0", &["pom"]).unwrap(), cache.folder("engine-2.0", &["pom"]).unwrap());
        for place in [&old, &new] {
            std::fs::create_dir(place).unwrap();
        }
        File::open(&old).unwrap().set_modified(SystemTime::now() - UNUSED).unwrap();
        delete_unused_versions(&new);
        assert!(old.exists());
        File::open(old.join(USED)).unwrap().set_modified(SystemTime::now() - UNUSED).unwrap();
        delete_unused_versions(&new);
        assert!(!old.exists());
    }

    #[test]
    fn folder_depends_on_the_sources() {
        let cache = Cache::new("/cache");
        let folder = |sources: &[&str]| cache.folder("engine", sources).unwrap();
        assert_ne!(folder(&["a", "b"]), folder(&["ab", ""]));
    }

    #[test]
    fn folder_is_the_users_own_or_an_error_that_says_what_to_set() {
        let cache = |set: &[(&str, &str)]| {
            Cache::of(|name| set.iter().find(|(own, _)| *own == name).map(|(_, value)| OsString::from(value))).0
        };
        let (own, xdg, home) = (("CAIRN_CACHE", "/own"), ("XDG_CACHE_HOME", "/xdg"), ("HOME", "/home/ann"));
        assert_eq!(cache(&[own, xdg, home]), Some(PathBuf::from("/own")));
        assert_eq!(cache(&[xdg, home]), Some(PathBuf::from("/xdg/cairn")));
        assert_eq!(cache(&[("CAIRN_CACHE", ""), home]), Some(PathBuf::from("/home/ann/.cache/cairn")));
        let error = Cache(cache(&[])).folder("engine", &[]).unwrap_err();
        assert!(error.remedy.contains("CAIRN_CACHE") && error.remedy.contains("HOME"), "{error}");
    }
}
