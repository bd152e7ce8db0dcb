//! The content of a document: the same for JSON texts that differ only in white space, escapes and the order of members.
//! Numbers are compared as text.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

/// The nesting below which values are compared as text.
const MAX_DEPTH: usize = 64;

/// The members of a JSON object.
pub(super) type Members<'a> = BTreeMap<String, &'a RawValue>;

/// Returns the members of an object, or none for any other text.
pub(super) fn members(text: &str) -> Members<'_> {
    serde_json::from_str(text).unwrap_or_default()
}

/// Returns the text of a member that is a string.
pub(super) fn text(members: &Members<'_>, name: &str) -> Option<String> {
    serde_json::from_str(members.get(name)?.get()).ok()
}

/// Returns a text that is equal for equal values.
pub(super) fn canonical(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    write(&mut out, text, 0);
    out
}

/// Returns a digest of these parts.
pub(super) fn digest(parts: &[&str]) -> u64 {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().take(8).fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

fn write(out: &mut String, text: &str, depth: usize) {
    let text = text.trim();
    let first = text.as_bytes().first();
    match first {
        Some(b'{') if depth < MAX_DEPTH => {
            let Ok(members) = serde_json::from_str::<Members<'_>>(text) else { return out.push_str(text) };
            out.push('{');
            for (place, (name, value)) in members.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write_string(out, name);
                out.push(':');
                write(out, value.get(), depth + 1);
            }
            out.push('}');
        }
        Some(b'[') if depth < MAX_DEPTH => {
            let Ok(elements) = serde_json::from_str::<Vec<&RawValue>>(text) else { return out.push_str(text) };
            out.push('[');
            for (place, value) in elements.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write(out, value.get(), depth + 1);
            }
            out.push(']');
        }
        Some(b'"') => match serde_json::from_str::<String>(text) {
            Ok(string) => write_string(out, &string),
            Err(_) => out.push_str(text),
        },
        _ => out.push_str(text),
    }
}

fn write_string(out: &mut String, text: &str) {
    // Writing a string as JSON cannot fail.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_equal_values_is_equal() {
        let one = r#"{"b":[1.50, "caf\u00e9"],"a":{"y":null,"x":true}}"#;
        let other = "{ \"a\": {\"x\":true,\"y\":null},\n \"b\":[1.50,\"café\"] }";
        assert_eq!(canonical(one), canonical(other));
        assert_eq!(canonical(one), r#"{"a":{"x":true,"y":null},"b":[1.50,"café"]}"#);
    }

    #[test]
    fn text_of_other_values_differs() {
        for (one, other) in [("1.50", "1.5"), ("[1,2]", "[2,1]"), (r#"{"a":1}"#, r#"{"a":"1"}"#), ("{}", "[]")] {
            assert_ne!(canonical(one), canonical(other));
        }
        assert_ne!(digest(&["ab", "c"]), digest(&["a", "bc"]));
    }

    #[test]
    fn deep_and_invalid_texts_stay_as_they_are() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(canonical(&deep).len(), deep.len());
        assert_eq!(canonical("{\"a\""), "{\"a\"");
        assert!(members("7").is_empty());
    }
}
