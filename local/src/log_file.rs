//! Log files, of which the one of the last run is kept.

use std::fs::File;
use std::io::Result;
use std::path::Path;

use crate::missing_file::unless_missing;

/// Creates a log file. An earlier `{name}.log` becomes `{name}.previous.log`, since a restart usually follows a failure.
pub fn create(file: &Path) -> Result<File> {
    unless_missing(std::fs::rename(file, file.with_extension("previous.log")))?;
    File::create(file)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn log_of_the_last_run_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("engine.log");
        for run in ["first", "second", "third"] {
            write!(create(&log).unwrap(), "{run}").unwrap();
        }
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "third");
        assert_eq!(std::fs::read_to_string(folder.path().join("engine.previous.log")).unwrap(), "second");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
