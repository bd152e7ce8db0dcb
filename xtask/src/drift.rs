//! Differences between the generated files in the repository and the declarations.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use crate::artefact::{Artefact, MissingMarkers};

/// A file that has drifted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drifted {
    Missing(String),
    /// The file differs, first in this line.
    Differs(String, usize),
    /// The file is no longer generated.
    Stale(String),
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    MissingMarkers(#[from] MissingMarkers),
    #[error("{path}: {error}")]
    File { path: String, error: io::Error },
}

/// Returns the files that `cargo xtask generate` would change.
pub fn find(root: &Path, artefacts: &[Artefact]) -> Result<Vec<Drifted>, Error> {
    let wanted = wanted(root, artefacts)?;
    let mut drifted = Vec::new();
    for (path, text) in &wanted {
        match read(root, path)? {
            None => drifted.push(Drifted::Missing(path.clone())),
            Some(current) if current != *text => {
                drifted.push(Drifted::Differs(path.clone(), first_difference(&current, text)));
            }
            Some(_) => {}
        }
    }
    drifted.extend(stale(root, &wanted)?.into_iter().map(Drifted::Stale));
    Ok(drifted)
}

/// Writes all files that have drifted, and returns them.
pub fn fix(root: &Path, artefacts: &[Artefact]) -> Result<Vec<Drifted>, Error> {
    let drifted = find(root, artefacts)?;
    let wanted = wanted(root, artefacts)?;
    for change in &drifted {
        let path = change.path();
        let failed = |error| Error::File { path: path.to_owned(), error };
        let file = root.join(path);
        match wanted.get(path) {
            Some(text) => {
                if let Some(folder) = file.parent() {
                    fs::create_dir_all(folder).map_err(failed)?;
                }
                fs::write(file, text).map_err(failed)?;
            }
            None => fs::remove_file(file).map_err(failed)?,
        }
    }
    Ok(drifted)
}

/// Returns the wanted text of every file with generated text.
fn wanted(root: &Path, artefacts: &[Artefact]) -> Result<BTreeMap<String, String>, Error> {
    let mut wanted: BTreeMap<String, String> = BTreeMap::new();
    for artefact in artefacts {
        let current = match wanted.remove(&artefact.path) {
            Some(text) => text,
            None => read(root, &artefact.path)?.unwrap_or_default(),
        };
        wanted.insert(artefact.path.clone(), artefact.into_file(&current)?);
    }
    Ok(wanted)
}

/// Returns the events of operations that no longer exist. Their folders contain only generated files.
fn stale(root: &Path, wanted: &BTreeMap<String, String>) -> Result<Vec<String>, Error> {
    let mut stale = Vec::new();
    for system in folder(root, "events")? {
        for event in folder(root, &system)? {
            // A response belongs to its event.
            let of = event.replace(".answer.json", ".json");
            if !wanted.contains_key(&of) {
                stale.push(event);
            }
        }
    }
    Ok(stale)
}

/// Returns the paths of a folder's entries, in order.
fn folder(root: &Path, path: &str) -> Result<Vec<String>, Error> {
    let failed = |error| Error::File { path: path.to_owned(), error };
    let entries = match fs::read_dir(root.join(path)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(format!("{path}/{}", entry.map_err(failed)?.file_name().to_string_lossy()));
    }
    paths.sort();
    Ok(paths)
}

fn read(root: &Path, path: &str) -> Result<Option<String>, Error> {
    match fs::read_to_string(root.join(path)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::File { path: path.to_owned(), error }),
    }
}

fn first_difference(one: &str, other: &str) -> usize {
    one.lines().zip(other.lines()).take_while(|(one, other)| one == other).count() + 1
}

impl Drifted {
    pub fn path(&self) -> &str {
        match self {
            Self::Missing(path) | Self::Differs(path, _) | Self::Stale(path) => path,
        }
    }
}

impl fmt::Display for Drifted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(path) => write!(formatter, "{path} is missing"),
            Self::Differs(path, line) => write!(formatter, "{path}:{line} differs from the declarations"),
            Self::Stale(path) => write!(formatter, "{path} is no longer generated"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drifted_files_are_found_and_fixed() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let file = root.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("events/toy/old.json", "{}");
        write("a.toml", "x\n# Generated by `cargo xtask generate`: b\n# End of b\n");
        let artefacts = [
            Artefact::file("events/toy/new.json", "1\n2\n".to_owned()),
            Artefact::block("a.toml", "b", "y\n".to_owned()),
        ];
        let expected = [
            Drifted::Differs("a.toml".to_owned(), 3),
            Drifted::Missing("events/toy/new.json".to_owned()),
            Drifted::Stale("events/toy/old.json".to_owned()),
        ];
        assert_eq!(find(root.path(), &artefacts).unwrap(), expected);
        assert_eq!(fix(root.path(), &artefacts).unwrap(), expected);
        assert_eq!(find(root.path(), &artefacts).unwrap(), []);

        write("events/toy/new.json", "1\n3\n");
        let expected = [Drifted::Differs("events/toy/new.json".to_owned(), 2)];
        assert_eq!(find(root.path(), &artefacts).unwrap(), expected);
    }
}
