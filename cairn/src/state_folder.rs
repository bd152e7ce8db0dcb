//! The option `--state`, and the state folder without it.

use std::path::{Path, PathBuf};

use clap::Args;

const NAME: &str = ".cairn";

/// The state folder of the local platform.
#[derive(Clone, Debug, Args)]
pub struct StateFolder {
    /// State folder of the local platform, with all its data.
    #[arg(long = "state", value_name = "FOLDER", default_value_os_t = default_folder(), global = true)]
    pub folder: PathBuf,
}

/// Returns `.cairn`, or that of a folder above if the working folder has none.
fn default_folder() -> PathBuf {
    let above = || above(&std::env::current_dir().ok()?);
    above().unwrap_or_else(|| NAME.into())
}

/// Returns the nearest state folder above this folder. Outside of its repository are those of other projects.
fn above(folder: &Path) -> Option<PathBuf> {
    if folder.join(NAME).is_dir() {
        return None;
    }
    let repository = folder.ancestors().find(|folder| folder.join(".git").exists())?;
    let above = folder.ancestors().skip(1).take_while(|folder| folder.starts_with(repository));
    above.map(|folder| folder.join(NAME)).find(|state| state.is_dir())
}

#[cfg(test)]
mod tests {
    use std::fs::create_dir_all;

    use super::*;

    #[test]
    fn state_folder_is_the_nearest_one_in_the_repository() {
        let root = tempfile::tempdir().unwrap();
        let (project, docs) = (root.path().join("project"), root.path().join("project/docs/images"));
        create_dir_all(&docs).unwrap();
        create_dir_all(root.path().join(NAME)).unwrap();
        assert_eq!(above(&docs), None);
        create_dir_all(project.join(".git")).unwrap();
        assert_eq!(above(&docs), None);
        create_dir_all(project.join(NAME)).unwrap();
        assert_eq!((above(&docs), above(&project)), (Some(project.join(NAME)), None));
        create_dir_all(docs.join(NAME)).unwrap();
        assert_eq!(above(&docs), None);
    }
}
