//! Places where a test lets the process die, as if its power had gone.
//!
//! `CAIRN_FAILPOINT=NAME` aborts the process when it passes that place, `NAME=3` when it passes it for the third time.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Stream records were applied by their handler; the checkpoint does not say so yet.
pub const MIRROR_APPLIED: &str = "mirror.applied";
/// An object was stored; its event has not been sent.
pub const OBJECTS_STORED: &str = "objects.stored";
/// Items were written; their stream records have reached nobody.
pub const STREAM_UNREAD: &str = "stream.unread";

static CHOSEN: OnceLock<Option<(String, AtomicU64)>> = OnceLock::new();

/// Passes the place of this name.
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
    fn the_first_pass_unless_said_otherwise() {
        assert_eq!(parse("mirror.applied"), (MIRROR_APPLIED, 1));
        assert_eq!(parse("stream.unread=7"), (STREAM_UNREAD, 7));
    }
}
