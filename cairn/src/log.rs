//! The platform's log in the state folder: JSON lines of the current run. `cairn.previous.log` has those of the run
//! before.

use std::fs::File;
use std::io::Sink;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use local::log_file;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::writer::EitherWriter;

use crate::failure::Failure;
use crate::show::print_message;

/// A log file that is created at the first line, after the platform has locked the state folder.
struct LogFile {
    path: PathBuf,
    file: OnceLock<Option<File>>,
}

/// Returns the log file of a state folder.
pub fn path(folder: &Path) -> PathBuf {
    folder.join("logs/cairn.log")
}

/// Starts to log into the state folder. `CAIRN_LOG` is a filter of `tracing` (`info,dynoxide=error` if not set).
pub fn start(folder: &Path) -> Result<(), Failure> {
    let filter = match std::env::var("CAIRN_LOG") {
        Ok(text) => EnvFilter::try_new(&text).map_err(|error| Failure::new(format!("CAIRN_LOG=`{text}`: {error}.")))?,
        Err(_) => EnvFilter::new("info,dynoxide=error"),
    };
    let file = LogFile { path: path(folder), file: OnceLock::new() };
    tracing_subscriber::fmt().json().flatten_event(true).with_env_filter(filter).with_writer(file).init();
    Ok(())
}

impl LogFile {
    /// Creates the file. If that fails, the platform runs without a log.
    fn open(&self) -> Option<File> {
        let folder = self.path.parent().map_or(Ok(()), std::fs::create_dir_all);
        folder
            .and_then(|()| log_file::create(&self.path))
            .inspect_err(|error| {
                print_message(format_args!("Writing the log `{}` failed: {error}.", self.path.display()));
            })
            .ok()
    }
}

impl<'a> MakeWriter<'a> for LogFile {
    type Writer = EitherWriter<&'a File, Sink>;

    fn make_writer(&'a self) -> Self::Writer {
        match self.file.get_or_init(|| self.open()) {
            Some(file) => EitherWriter::A(file),
            None => EitherWriter::B(std::io::sink()),
        }
    }
}
