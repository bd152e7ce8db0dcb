//! Temporary folders of engines and platforms.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use tempfile::TempDir;

/// The file system in memory that Linux has.
const IN_MEMORY: &str = "/dev/shm";

/// The free memory, in KiB, above which the folders are in memory. The tests of a run held at most 140 MB there.
const ENOUGH: u64 = 4 << 20;

/// Whether the folders are in memory. Most of what the search engine does on a disk is to create files of indices that
/// a test deletes seconds later. `TMPDIR` sets another place.
static IS_IN_MEMORY: LazyLock<bool> = LazyLock::new(|| {
    std::env::var_os("TMPDIR").is_none()
        && Path::new(IN_MEMORY).is_dir()
        && available().is_some_and(|free| free > ENOUGH)
});

/// Creates a folder, which is deleted when it is dropped.
pub fn folder() -> TempDir {
    let created = if *IS_IN_MEMORY { tempfile::tempdir_in(IN_MEMORY) } else { tempfile::tempdir() };
    created.unwrap()
}

/// Returns the free memory in KiB.
fn available() -> Option<u64> {
    let memory = fs::read_to_string("/proc/meminfo").ok()?;
    let line = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}
