//! The interface of the parsers of files.

use serde::{Deserialize, Serialize};

/// The state of a parser between two rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ParserState {
    #[default]
    Start,
    /// In the list of features: whether there was a feature and the type of the collection before.
    Features {
        any: bool,
        typed: bool,
    },
    /// After the list.
    Tail {
        typed: bool,
    },
    /// After the header with these columns.
    Columns(Vec<String>),
    End,
}

/// The result of parsing the start of the bytes that are loaded.
#[derive(Debug, PartialEq, Eq)]
pub enum Parsed {
    /// No row in this number of bytes.
    Nothing(usize),
    /// A row: its start and its end, and the number of bytes up to the next one.
    Row {
        begin: usize,
        end: usize,
        taken: usize,
    },
    /// More bytes are needed.
    More,
    End,
    /// The file has another format.
    Broken(String),
    /// The file is refused for the value at this JSON pointer.
    Refused {
        pointer: &'static str,
        detail: &'static str,
    },
}
