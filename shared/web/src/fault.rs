//! Faults of a request: a place, and what is expected there.

use std::fmt;

use serde::Serialize;

/// A fault of a request. `detail` completes a sentence that begins with the place, and never repeats long input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    #[serde(flatten)]
    pub place: Place,
    pub detail: String,
}

/// The part of the request that is at fault: `{"pointer": "/name"}`, `{"parameter": "limit"}`, `{"header": "if-match"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// A JSON pointer (RFC 6901) into the body; empty for the whole body.
    Pointer(String),
    /// The name of a parameter of the path or the query string.
    Parameter(String),
    /// The name of a header field, in lower case.
    Header(String),
}

impl Fault {
    pub fn pointer(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { place: Place::Pointer(pointer.into()), detail: detail.into() }
    }

    pub fn parameter(name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { place: Place::Parameter(name.into()), detail: detail.into() }
    }

    /// A fault of one element of a list in the query string. The response counts elements from 1.
    pub fn element(name: impl Into<String>, index: usize, detail: impl fmt::Display) -> Self {
        Self::parameter(name, format!("{detail} (element {})", index.saturating_add(1)))
    }

    pub fn header(name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { place: Place::Header(name.into()), detail: detail.into() }
    }
}

/// Returns a member's name as a step of a JSON pointer: a slash, and the name with `~` and `/` escaped.
pub fn pointer_step(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Returns the names and indexes of a JSON pointer, unescaped.
pub(crate) fn pointer_names(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~"))
}
