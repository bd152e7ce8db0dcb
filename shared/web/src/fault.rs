//! One fault of a request: where it is, and what was expected there.

use serde::Serialize;

/// Where a request is wrong, and what would be right. `detail` is one sentence that never repeats long input.
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
    /// A JSON pointer (RFC 6901) into the body as sent; empty for the whole body.
    Pointer(String),
    /// The name of a parameter of the path or the query string.
    Parameter(String),
    /// The name of a header field, in small letters.
    Header(String),
}

impl Fault {
    pub fn pointer(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { place: Place::Pointer(pointer.into()), detail: detail.into() }
    }

    pub fn parameter(name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { place: Place::Parameter(name.into()), detail: detail.into() }
    }

    pub fn header(name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { place: Place::Header(name.into()), detail: detail.into() }
    }
}

/// A member's name as a step of a JSON pointer: `~` and `/` escaped, the slash before it included.
pub fn pointer_step(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}
