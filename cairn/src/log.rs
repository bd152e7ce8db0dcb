//! The platform's own log: JSON lines in the state folder, of the last run.

use std::fs::File;
use std::io::Sink;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::writer::EitherWriter;

/// Opened with the first line: before that the folder may not be ours.
struct LogFile {
    path: PathBuf,
    file: OnceLock<Option<File>>,
}

/// Where the log of a state folder is.
pub fn path(folder: &Path) -> PathBuf {
    folder.join("logs/cairn.log")
}

/// Logs into the state folder; `CAIRN_LOG` says how much, in `tracing`'s words (`info,dynoxide=error` if not set).
pub fn start(folder: &Path) {
    let filter = EnvFilter::try_from_env("CAIRN_LOG").unwrap_or_else(|_| EnvFilter::new("info,dynoxide=error"));
    let file = LogFile { path: path(folder), file: OnceLock::new() };
    tracing_subscriber::fmt().json().flatten_event(true).with_env_filter(filter).with_writer(file).init();
}

impl LogFile {
    fn open(&self) -> Option<File> {
        std::fs::create_dir_all(self.path.parent()?).ok()?;
        File::create(&self.path).ok()
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
