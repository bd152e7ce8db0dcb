//! What is wrong with a document, and where.

use std::fmt;

/// How many faults are named; the rest are counted.
pub const NAMED_FAULTS: usize = 100;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Fault {
    /// JSON pointer (RFC 6901) into the document as it was sent.
    pub pointer: String,
    pub detail: String,
}

/// A document that breaks rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Refused {
    /// In document order, at most [`NAMED_FAULTS`].
    pub faults: Vec<Fault>,
    /// Of all faults, the named ones included.
    pub count: usize,
    /// It breaks a limit of size, at the last fault: 413 where it is the body of a request.
    pub too_large: bool,
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.faults.first() else { return formatter.write_str("no valid shape") };
        write!(formatter, "{}: {}", first.pointer, first.detail)?;
        match self.count {
            0 | 1 => Ok(()),
            more => write!(formatter, " (and {} more)", more - 1),
        }
    }
}
