//! Numbers travel as the text that they are.

// Clippy knows tests by their attribute, and not what they share.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

#[test]
fn the_crate_has_no_floating_point_type() {
    let sources = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(sources.len() > 20);
    for path in sources {
        let text = fs::read_to_string(&path).unwrap();
        for kind in ["f32", "f64"] {
            let word = |before: Option<char>| before.is_none_or(|before| !before.is_alphanumeric() && before != '_');
            let found = text
                .match_indices(kind)
                .any(|(at, _)| word(text.get(..at).and_then(|before| before.chars().next_back())));
            assert!(!found, "{} has {kind}", path.display());
        }
    }
}

/// With it, one JSON text of a number would be read as another by crates that know nothing of it.
#[test]
fn the_feature_arbitrary_precision_of_serde_json_is_off() {
    let long = "1.00000000000000000000000001";
    let read: serde_json::Value = serde_json::from_str(long).unwrap();
    assert_ne!(read.to_string(), long);
}
