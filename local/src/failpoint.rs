//! Failpoints: places in the code where a test lets the process crash.
//!
//! `CAIRN_FAILPOINT=NAME` aborts the process at the first pass of that failpoint, `NAME=3` at the third.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The handler has applied stream records, and the checkpoint is not saved yet.
pub const MIRROR_APPLIED: &str = "mirror.applied";
/// An object was stored, and its event is not sent yet.
pub const OBJECTS_STORED: &str = "objects.stored";
/// Items were written, and their stream records are not delivered yet.
pub const STREAM_UNREAD: &str = "stream.unread";

static CHOSEN: OnceLock<Option<(String, AtomicU64)>> = OnceLock::new();

/// Passes the failpoint of this name.
pub(crate) fn pass(name: &str) {
    let chosen = CHOSEN.get_or_init(|| {
        let text = std::env::var("CAIRN_FAILPOINT").ok().filter(|text| !text.is_empty())?;
        let (name, count) = parse(&text);
        Some((name.to_owned(), AtomicU64::new(count)))
    });
    let Some((place, left)) = chosen else { return };
    if place == name && left.fetch_sub(1, Ordering::SeqCst) == 1 {
        std::process::abort();
    }
}

fn parse(text: &str) -> (&str, u64) {
    match text.split_once('=') {
        Some((name, count)) => (name, count.parse().unwrap_or(1)),
        None => (text, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failpoint_without_count_aborts_at_the_first_pass() {
        assert_eq!(parse("mirror.applied"), (MIRROR_APPLIED, 1));
        assert_eq!(parse("stream.unread=7"), (STREAM_UNREAD, 7));
    }
}
