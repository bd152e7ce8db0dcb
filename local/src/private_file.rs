//! Files with keys and secrets, which only their owner can read.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::error::StartError;

/// Returns the bytes of a file that only its owner can read, and creates it if it does not exist. If two processes
/// create it at once, one of them wins.
pub fn read_or_create(path: &Path, create: impl Fn() -> Result<Vec<u8>, StartError>) -> Result<Vec<u8>, StartError> {
    let failed = |error: std::io::Error| StartError::folder(path, error);
    match std::fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        read => return read.map_err(failed),
    }
    let partial = path.with_extension(format!("{}.partial", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let write = |bytes: &[u8]| {
        options.open(&partial)?.write_all(bytes)?;
        match std::fs::hard_link(&partial, path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
            _ => std::fs::remove_file(&partial),
        }
    };
    write(&create()?).map_err(failed)?;
    std::fs::read(path).map_err(failed)
}
