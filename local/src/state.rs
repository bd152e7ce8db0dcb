//! The state folder of a platform, with its data, checkpoints, keys and logs.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::StartError;

/// A state folder, locked by this process.
#[derive(Debug)]
pub struct State {
    folder: PathBuf,
    about: About,
    _lock: File,
}

/// The metadata of the folder, in `state.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct About {
    version: u32,
    /// The search engine to which the checkpoints refer.
    search: Option<String>,
    /// Whether the indexes in the search engine may be incomplete.
    #[serde(default)]
    is_filling: bool,
    /// The engine for DynamoDB that has the tables.
    dynamodb: Option<String>,
}

/// The version of the folder's layout. Others are not supported.
const VERSION: u32 = 1;
const ABOUT: &str = "state.json";
const LOCK: &str = "lock";

impl State {
    /// Opens or creates the folder.
    pub fn open(folder: &Path) -> Result<Self, StartError> {
        std::fs::create_dir_all(folder).map_err(|error| StartError::folder(folder, error))?;
        let lock = lock(folder)?;
        let about = match std::fs::read(folder.join(ABOUT)) {
            Ok(text) => about(folder, &text)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                refuse_foreign_folder(folder)?;
                About { version: VERSION, search: None, is_filling: false, dynamodb: None }
            }
            Err(error) => return Err(StartError::folder(folder, error)),
        };
        let state = Self { folder: folder.to_owned(), about, _lock: lock };
        state.keep_about()?;
        Ok(state)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns the log file of an engine.
    pub fn log(&self, name: &str) -> Result<PathBuf, StartError> {
        let logs = self.path("logs");
        std::fs::create_dir_all(&logs).map_err(|error| StartError::folder(&logs, error))?;
        Ok(logs.join(format!("{name}.log")))
    }

    /// Whether the checkpoints refer to this search engine.
    pub fn knows_search_engine(&self, identity: Option<&str>) -> bool {
        identity.is_some() && self.about.search.as_deref() == identity
    }

    /// Whether the checkpoints refer to this search engine, and its indexes were complete at the last start.
    pub fn has_indexes(&self, identity: Option<&str>) -> bool {
        self.knows_search_engine(identity) && !self.about.is_filling
    }

    /// Saves that the indexes in this search engine are about to be created.
    pub fn begin_indexes(&mut self, identity: Option<&str>) -> Result<(), StartError> {
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
        let partial = self.path("state.partial");
        let write = || {
            std::fs::write(&partial, serde_json::to_vec(&self.about)?)?;
            std::fs::rename(&partial, self.path(ABOUT))
        };
        write().map_err(|error| StartError::folder(&self.folder, error))
    }
}

/// Deletes a state folder. Refuses any other folder.
pub fn reset(folder: &Path) -> Result<(), StartError> {
    if !folder.exists() {
        return Ok(());
    }
    let _lock = lock(folder)?;
    if !folder.join(ABOUT).exists() {
        refuse_foreign_folder(folder)?;
    }
    std::fs::remove_dir_all(folder).map_err(|error| StartError::folder(folder, error))
}

fn lock(folder: &Path) -> Result<File, StartError> {
    let path = folder.join(LOCK);
    let failed = |error: std::io::Error| StartError::folder(&path, error);
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
    match file.try_lock() {
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

/// Refuses a folder with files of others, so that it is neither filled nor deleted.
fn refuse_foreign_folder(folder: &Path) -> Result<(), StartError> {
    let entries = std::fs::read_dir(folder).map_err(|error| StartError::folder(folder, error))?;
    let foreign = entries.filter_map(Result::ok).find(|entry| entry.file_name() != LOCK);
    match foreign {
        None => Ok(()),
        Some(foreign) => Err(StartError::new(
            format!(
                "`{}` is not a state folder of Cairn: it contains `{}`",
                folder.display(),
                foreign.file_name().display()
            ),
            "Choose an empty or a new folder with `--state`",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_folder_is_locked_by_one_process() {
        let folder = tempfile::tempdir().unwrap();
        let first = State::open(folder.path()).unwrap();
        let error = State::open(folder.path()).unwrap_err();
        assert!(error.happened.contains(&format!("(process {})", std::process::id())), "{error}");
        assert!(reset(folder.path()).is_err());
        drop(first);
        State::open(folder.path()).unwrap();
    }

    #[test]
    fn damaged_state_folder_says_what_to_do_and_can_be_reset() {
        let folder = tempfile::tempdir().unwrap();
        drop(State::open(folder.path()).unwrap());
        for damage in ["", "{\"version\": 9}", "not json"] {
            std::fs::write(folder.path().join(ABOUT), damage).unwrap();
            let error = State::open(folder.path()).unwrap_err();
            assert!(error.remedy.contains("cairn local reset"), "{error}");
        }
        reset(folder.path()).unwrap();
        assert!(!folder.path().exists());
        State::open(folder.path()).unwrap();
    }

    #[test]
    fn foreign_folder_is_neither_used_nor_deleted() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("thesis.txt"), "years of work").unwrap();
        assert!(State::open(folder.path()).is_err());
        assert!(reset(folder.path()).is_err());
        assert!(folder.path().join("thesis.txt").exists());
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
