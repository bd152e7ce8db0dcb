//! The state folder of a platform, with its data, checkpoints, keys and logs.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::StartError;
use crate::missing_file::unless_missing;

/// A state folder, locked by this process.
#[derive(Debug)]
pub struct State {
    folder: PathBuf,
    about: About,
    /// Whether the folder was being deleted by a reset that was interrupted.
    has_completed_reset: bool,
    _lock: File,
}

/// The metadata of the folder, in `state.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct About {
    /// Always [`PROGRAM`].
    #[serde(default = "program")]
    program: String,
    version: u32,
    /// The search engine to which the checkpoints refer.
    search: Option<String>,
    /// The search engines before it, which may still have indexes of this folder.
    #[serde(default)]
    earlier: BTreeSet<String>,
    /// Whether the indexes in the search engine may be incomplete.
    #[serde(default)]
    is_filling: bool,
    /// The engine for DynamoDB that has the tables.
    dynamodb: Option<String>,
}

/// The version of the folder's layout. Others are not supported.
const VERSION: u32 = 1;
/// Tells the metadata from a file of the same name by another program.
const PROGRAM: &str = "cairn";
const ABOUT: &str = "state.json";
const LOCK: &str = "lock";
/// The endpoints of the platform that runs on the folder.
pub const RUNNING: &str = "running.json";
const PARTIAL: &str = "state.partial";
/// The metadata of a folder that is being deleted.
const DELETED: &str = "state.deleted";

/// What a reset did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    /// There was no folder.
    Absent,
    Deleted,
    /// The folder is empty. It stays, since a link leads to it.
    Emptied,
}

impl About {
    fn new() -> Self {
        Self {
            program: program(),
            version: VERSION,
            search: None,
            earlier: BTreeSet::new(),
            is_filling: false,
            dynamodb: None,
        }
    }
}

fn program() -> String {
    PROGRAM.to_owned()
}

impl State {
    /// Opens the folder, or creates one that only its owner can read.
    pub fn open(folder: &Path) -> Result<Self, StartError> {
        if folder.to_str().is_none() {
            return Err(StartError::new(
                format!("The name of the state folder `{}` is not UTF-8", folder.display()),
                "Choose another folder with `--state`",
            ));
        }
        create_private(folder).map_err(|error| StartError::folder(folder, error))?;
        let lock = lock(folder)?;
        let (about, has_completed_reset) = match std::fs::read(folder.join(ABOUT)) {
            Ok(text) => {
                let about = about(folder, &text)?;
                // A copy over a folder whose deletion was interrupted makes it whole again.
                unless_missing(std::fs::remove_file(folder.join(DELETED)))
                    .map_err(|error| StartError::folder(folder, error))?;
                (about, false)
            }
            Err(error) if error.kind() == ErrorKind::NotFound => (About::new(), complete_reset(folder)?),
            Err(error) => return Err(StartError::folder(folder, error)),
        };
        let state = Self { folder: folder.to_owned(), about, has_completed_reset, _lock: lock };
        state.keep_about()?;
        // A platform that was killed has left it.
        let running = state.path(RUNNING);
        unless_missing(std::fs::remove_file(&running)).map_err(|error| StartError::folder(&running, error))?;
        Ok(state)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Whether a reset was interrupted, so that the start has deleted the rest of the folder.
    pub fn has_completed_reset(&self) -> bool {
        self.has_completed_reset
    }

    /// Returns the log file of an engine.
    pub fn log(&self, name: &str) -> Result<PathBuf, StartError> {
        let logs = self.path("logs");
        std::fs::create_dir_all(&logs).map_err(|error| StartError::folder(&logs, error))?;
        Ok(logs.join(format!("{name}.log")))
    }

    /// Whether this search engine has had indexes of this folder.
    pub fn knows_search_engine(&self, identity: Option<&str>) -> bool {
        self.is_present(identity) || identity.is_some_and(|identity| self.about.earlier.contains(identity))
    }

    /// Whether the checkpoints refer to this search engine, and its indexes were complete at the last start.
    pub fn has_indexes(&self, identity: Option<&str>) -> bool {
        self.is_present(identity) && !self.about.is_filling
    }

    fn is_present(&self, identity: Option<&str>) -> bool {
        identity.is_some() && self.about.search.as_deref() == identity
    }

    /// Saves that the indexes in this search engine are about to be created.
    pub fn begin_indexes(&mut self, identity: Option<&str>) -> Result<(), StartError> {
        self.about.earlier.extend(self.about.search.take());
        self.about.search = identity.map(str::to_owned);
        self.about.is_filling = true;
        self.keep_about()
    }

    /// Saves that the indexes are complete.
    pub fn finish_indexes(&mut self) -> Result<(), StartError> {
        self.about.is_filling = false;
        self.keep_about()
    }

    /// Refuses an engine for DynamoDB other than the one with the tables, to which the objects, queues, checkpoints and
    /// indexes belong.
    pub fn check_tables(&self, engine: &str) -> Result<(), StartError> {
        match &self.about.dynamodb {
            Some(own) if own != engine => Err(StartError::new(
                format!("The tables of the state folder `{}` are in {own}, not in {engine}", self.folder.display()),
                "Choose the same engine with `--dynamodb`, or another folder with `--state`",
            )),
            _ => Ok(()),
        }
    }

    /// Saves that this engine for DynamoDB has the tables.
    pub fn set_tables(&mut self, engine: &str) -> Result<(), StartError> {
        self.about.dynamodb = Some(engine.to_owned());
        self.keep_about()
    }

    fn keep_about(&self) -> Result<(), StartError> {
        let partial = self.path(PARTIAL);
        let write = || {
            let mut file = File::create(&partial)?;
            file.write_all(&serde_json::to_vec(&self.about)?)?;
            // Otherwise a power cut could leave an empty file.
            file.sync_all()?;
            std::fs::rename(&partial, self.path(ABOUT))
        };
        write().map_err(|error| StartError::folder(&self.folder, error))
    }
}

/// Whether a process has locked a state folder.
pub fn is_locked(folder: &Path) -> bool {
    let lock = File::open(folder.join(LOCK));
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Deletes a state folder. Refuses any other folder.
pub fn reset(folder: &Path) -> Result<Reset, StartError> {
    reset_by(folder, remove)
}

/// Deletes a state folder, each of its entries by `remove`.
fn reset_by(folder: &Path, remove: impl Fn(&Path) -> std::io::Result<()>) -> Result<Reset, StartError> {
    if !folder.exists() {
        return Ok(Reset::Absent);
    }
    let _lock = lock(folder)?;
    // Without the slash at its end, which would name the folder to which the link leads.
    let is_link = folder.components().collect::<PathBuf>().is_symlink();
    let folder = &folder.canonicalize().map_err(|error| StartError::folder(folder, error))?;
    unless_missing(std::fs::rename(folder.join(ABOUT), folder.join(DELETED)))
        .and_then(|()| delete_contents(folder, remove))
        .and_then(|()| std::fs::remove_file(folder.join(LOCK)))
        .and_then(|()| if is_link { Ok(()) } else { std::fs::remove_dir(folder) })
        .map_err(|error| StartError::folder(folder, error))?;
    Ok(if is_link { Reset::Emptied } else { Reset::Deleted })
}

/// Deletes what an interrupted reset has left, and returns whether there was one.
fn complete_reset(folder: &Path) -> Result<bool, StartError> {
    let is_marked = folder.join(DELETED).exists();
    if is_marked {
        delete_contents(folder, remove).map_err(|error| StartError::folder(folder, error))?;
    }
    Ok(is_marked)
}

/// Deletes everything in a state folder but its lock. The mark that it is being deleted comes last, so that the next start
/// or reset completes a deletion that was interrupted.
fn delete_contents(folder: &Path, remove: impl Fn(&Path) -> std::io::Result<()>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() != DELETED && entry.file_name() != LOCK {
            remove(&entry.path())?;
        }
    }
    unless_missing(std::fs::remove_file(folder.join(DELETED)))
}

fn remove(path: &Path) -> std::io::Result<()> {
    if path.symlink_metadata()?.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
}

/// Creates a folder that only its owner can read. Folders above it that are missing get the usual mode.
fn create_private(folder: &Path) -> std::io::Result<()> {
    folder.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Locks a state folder. Leaves a folder of others as it is.
fn lock(folder: &Path) -> Result<File, StartError> {
    refuse_foreign_folder(folder)?;
    let path = folder.join(LOCK);
    let failed = |error: std::io::Error| StartError::folder(&path, error);
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
    match try_lock(&file) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            return Err(StartError::new(
                format!("Another cairn (process {}) uses `{}`", holder.trim(), folder.display()),
                "Stop it first, or choose another folder with `--state`",
            ));
        }
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    file.set_len(0).and_then(|()| write!(file, "{}", std::process::id())).map_err(failed)?;
    Ok(file)
}

/// Locks a file. A command that asks whether a platform runs ([`is_locked`]) may hold it for an instant.
fn try_lock(file: &File) -> Result<(), TryLockError> {
    for _ in 0..10 {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(10)),
            done => return done,
        }
    }
    file.try_lock()
}

fn about(folder: &Path, text: &[u8]) -> Result<About, StartError> {
    let reason = match serde_json::from_slice::<About>(text) {
        Ok(about) if about.version == VERSION => return Ok(about),
        Ok(about) => format!("it has version {}, and this cairn supports version {VERSION}", about.version),
        Err(error) => format!("reading its `{ABOUT}` failed: {error}"),
    };
    Err(StartError::new(
        format!("The state folder `{}` cannot be used: {reason}", folder.display()),
        "`cairn local reset` deletes it; then start again",
    ))
}

/// Refuses a folder with files of others, so that it is neither filled nor deleted. A start or a reset that was
/// interrupted may leave a folder without its metadata.
fn refuse_foreign_folder(folder: &Path) -> Result<(), StartError> {
    // Listed once, since another start may be filling the folder. The lock decides between the two.
    let names = names(folder).map_err(|error| StartError::folder(folder, error))?;
    let has = |name: &str| names.iter().any(|own| own == name);
    let has_lock = is_lock(&folder.join(LOCK));
    let is_own = |name: &OsString| name == PARTIAL || name == DELETED || name == LOCK && has_lock;
    let reason = if has(ABOUT) {
        (!is_own_about(&folder.join(ABOUT), has_lock)?).then(|| format!("another program has written its `{ABOUT}`"))
    } else if has(DELETED) && has_lock {
        // Without the lock, the mark could be of another program.
        None
    } else {
        names.iter().find(|name| !is_own(name)).map(|foreign| format!("it contains `{}`", foreign.display()))
    };
    match reason {
        None => Ok(()),
        Some(reason) => Err(StartError::new(
            format!("`{}` is not a state folder of Cairn: {reason}", folder.display()),
            "Choose an empty or a new folder with `--state`",
        )),
    }
}

/// Whether a `state.json` is of Cairn, of this version or of another. Beside a lock of Cairn, one that is not JSON is a
/// damaged one.
fn is_own_about(file: &Path, has_lock: bool) -> Result<bool, StartError> {
    let text = match std::fs::read(file) {
        Ok(text) => text,
        // A reset has just renamed it. The lock decides between the two.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(has_lock),
        Err(error) => return Err(StartError::folder(file, error)),
    };
    let Ok(about) = serde_json::from_slice::<Value>(&text) else { return Ok(has_lock) };
    Ok(match about.get("program") {
        Some(program) => program.as_str() == Some(PROGRAM),
        // The first versions of Cairn did not name the program.
        None => ["version", "search"].iter().all(|name| about.get(name).is_some()),
    })
}

fn names(folder: &Path) -> std::io::Result<Vec<OsString>> {
    std::fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
}

/// Whether a file is a lock of Cairn, which contains the id of a process or, while it is written, nothing.
fn is_lock(file: &Path) -> bool {
    std::fs::read(file).is_ok_and(|text| text.len() <= 10 && text.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_folder_is_locked_by_one_process() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_locked(folder.path()));
        let first = State::open(folder.path()).unwrap();
        assert!(is_locked(folder.path()));
        let error = State::open(folder.path()).unwrap_err();
        assert!(error.happened.contains(&format!("(process {})", std::process::id())), "{error}");
        assert!(reset(folder.path()).is_err());
        drop(first);
        assert!(!is_locked(folder.path()));
        // What a killed platform has left.
        std::fs::write(folder.path().join(RUNNING), "{}").unwrap();
        State::open(folder.path()).unwrap();
        assert!(!folder.path().join(RUNNING).exists());
    }

    #[test]
    fn damaged_state_folder_says_what_to_do_and_can_be_reset() {
        let folder = tempfile::tempdir().unwrap();
        let other_versions = [r#"{"program":"cairn","version":9}"#, r#"{"version":0,"search":null}"#];
        for damage in ["", "not json"].into_iter().chain(other_versions) {
            drop(State::open(folder.path()).unwrap());
            std::fs::write(folder.path().join(ABOUT), damage).unwrap();
            let error = State::open(folder.path()).unwrap_err();
            assert!(error.remedy.contains("cairn local reset"), "{error}");
            assert_eq!(reset(folder.path()).unwrap(), Reset::Deleted);
            assert!(!folder.path().exists());
        }
        State::open(folder.path()).unwrap();
    }

    #[test]
    fn folder_that_does_not_name_the_program_is_used() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(ABOUT), r#"{"version":1,"search":"opensearch"}"#).unwrap();
        std::fs::write(folder.path().join("dynamodb.sqlite"), "").unwrap();
        assert!(State::open(folder.path()).unwrap().knows_search_engine(Some("opensearch")));
        let about = std::fs::read_to_string(folder.path().join(ABOUT)).unwrap();
        assert!(about.contains(r#""program":"cairn""#), "{about}");
    }

    #[test]
    fn foreign_folder_is_neither_used_nor_deleted() {
        let [thesis, lock, deleted, about] = ["thesis.txt", LOCK, DELETED, ABOUT].map(|name| (name, "years of work"));
        let (json, process) = ((ABOUT, r#"{"version":4,"serial":7}"#), (LOCK, "4711"));
        let other_program = (ABOUT, r#"{"program":"other","version":1,"search":null}"#);
        for files in [
            &[thesis][..],
            &[thesis, lock],
            &[lock],
            &[thesis, deleted],
            &[about],
            &[about, lock],
            &[json],
            &[json, lock],
            &[json, process],
            &[other_program, process],
        ] {
            let folder = tempfile::tempdir().unwrap();
            for (name, text) in files {
                std::fs::write(folder.path().join(name), text).unwrap();
            }
            for error in [State::open(folder.path()).unwrap_err(), reset(folder.path()).unwrap_err()] {
                assert!(error.happened.contains("is not a state folder of Cairn"), "{error}");
            }
            for (name, text) in files {
                assert_eq!(std::fs::read_to_string(folder.path().join(name)).unwrap(), *text);
            }
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), files.len());
        }
    }

    /// A start was interrupted before its metadata was complete, or a reset before the lock was deleted.
    #[test]
    fn interrupted_start_or_reset_leaves_a_usable_folder() {
        for files in [&[LOCK][..], &[LOCK, PARTIAL], &[PARTIAL]] {
            let folder = tempfile::tempdir().unwrap();
            let fill = || {
                for file in files {
                    std::fs::write(folder.path().join(file), "").unwrap();
                }
            };
            fill();
            drop(State::open(folder.path()).unwrap());
            std::fs::remove_file(folder.path().join(ABOUT)).unwrap();
            fill();
            assert_eq!(reset(folder.path()).unwrap(), Reset::Deleted);
            assert!(!folder.path().exists());
        }
    }

    #[test]
    fn interrupted_reset_is_completed_by_the_next_reset_or_start() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let interrupt = || {
            drop(State::open(&state).unwrap());
            std::fs::create_dir_all(state.join("objects/parks")).unwrap();
            let error = reset_by(&state, |path| {
                if path.ends_with("objects") { Err(std::io::Error::other("interrupted")) } else { remove(path) }
            });
            assert!(error.unwrap_err().happened.contains("interrupted"));
            assert!(state.join(DELETED).exists() && state.join("objects").exists() && !state.join(ABOUT).exists());
        };
        interrupt();
        assert_eq!(reset(&state).unwrap(), Reset::Deleted);
        assert!(!state.exists());
        assert_eq!(reset(&state).unwrap(), Reset::Absent);
        interrupt();
        assert!(State::open(&state).unwrap().has_completed_reset());
        assert!(!state.join("objects").exists() && !state.join(DELETED).exists() && state.join(ABOUT).exists());
        assert!(!State::open(&state).unwrap().has_completed_reset());
    }

    #[test]
    fn backup_over_an_interrupted_reset_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        drop(State::open(folder.path()).unwrap());
        let backup = folder.path().join("dynamodb.sqlite");
        std::fs::write(&backup, "restored").unwrap();
        std::fs::copy(folder.path().join(ABOUT), folder.path().join(DELETED)).unwrap();
        assert!(!State::open(folder.path()).unwrap().has_completed_reset());
        assert_eq!(std::fs::read_to_string(&backup).unwrap(), "restored");
        assert!(!folder.path().join(DELETED).exists());
    }

    #[cfg(unix)]
    #[test]
    fn reset_of_a_link_empties_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (data, link) = (folder.path().join("data"), folder.path().join("link"));
        std::fs::create_dir(&data).unwrap();
        std::os::unix::fs::symlink(&data, &link).unwrap();
        for path in [link.clone(), link.join("")] {
            drop(State::open(&path).unwrap());
            std::fs::write(data.join("dynamodb.sqlite"), "").unwrap();
            assert_eq!(reset(&path).unwrap(), Reset::Emptied);
            assert_eq!(std::fs::read_dir(&data).unwrap().count(), 0);
        }
    }

    #[cfg(unix)]
    #[test]
    fn new_folder_can_be_read_by_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let (usual, above) = (folder.path().join("usual"), folder.path().join("above"));
        std::fs::create_dir(&usual).unwrap();
        let state = above.join("state");
        State::open(&state).unwrap();
        let mode = |folder: &Path| std::fs::metadata(folder).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&state), mode(&above)), (0o700, mode(&usual)));
    }

    #[cfg(unix)]
    #[test]
    fn folder_with_a_name_that_is_not_utf8_is_refused() {
        use std::os::unix::ffi::OsStrExt;

        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join(std::ffi::OsStr::from_bytes(b"st\xffte"));
        let error = State::open(&state).unwrap_err();
        assert!(error.happened.contains("not UTF-8") && error.remedy.contains("--state"), "{error}");
        assert!(!state.exists());
    }

    #[test]
    fn search_engine_is_saved_and_has_indexes_once_they_are_complete() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = State::open(folder.path()).unwrap();
        let engine = Some("opensearch");
        assert!(!state.knows_search_engine(engine));
        state.begin_indexes(engine).unwrap();
        drop(state);
        let mut state = State::open(folder.path()).unwrap();
        assert!(state.knows_search_engine(engine) && !state.has_indexes(engine));
        state.finish_indexes().unwrap();
        drop(state);
        let state = State::open(folder.path()).unwrap();
        assert!(state.has_indexes(engine));
        assert!(!state.knows_search_engine(Some("http://elsewhere")) && !state.knows_search_engine(None));
        drop(state);
        let mut state = State::open(folder.path()).unwrap();
        state.begin_indexes(None).unwrap();
        state.finish_indexes().unwrap();
        assert!(state.knows_search_engine(engine) && !state.has_indexes(engine));
    }

    #[test]
    fn engine_without_the_tables_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = State::open(folder.path()).unwrap();
        state.check_tables("dynoxide").unwrap();
        state.set_tables("dynoxide").unwrap();
        drop(state);
        let state = State::open(folder.path()).unwrap();
        state.check_tables("dynoxide").unwrap();
        let error = state.check_tables("DynamoDB Local").unwrap_err();
        assert!(error.happened.contains("are in dynoxide") && error.remedy.contains("--state"), "{error}");
    }
}
