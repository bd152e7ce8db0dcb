//! The context of a handler: its request, checked against the declaration of its route, its caller and its engines.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use serde::de::DeserializeOwned;
use serde_json::Value;
use table::{Access, Engines, Idpid};
use tokio::time::Instant;

use crate::fault::pointer_step;
use crate::integers;
use crate::{Condition, Fault, Principal, Problem};

/// A handler's access to its request. Parameters, headers and body have been checked against the route's declaration.
#[derive(Debug)]
pub struct Context {
    pub(crate) id: String,
    pub(crate) declared: Declared,
    pub(crate) engines: Arc<Engines>,
    pub(crate) access: Access,
    pub(crate) principal: Principal,
    pub(crate) path: Value,
    pub(crate) query: Value,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) body_type: &'static str,
    pub(crate) if_match: Condition,
    pub(crate) if_none_match: Condition,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) content_type: &'static str,
    pub(crate) deadline: Instant,
    pub(crate) raw_path: String,
}

/// The part of a route's declaration that its context refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared {
    /// The name of the operation.
    pub operation: &'static str,
    /// Whether the route takes a JSON body.
    pub takes_json: bool,
}

impl Context {
    /// Returns the id of the request. It is the `instance` of its problems and a field of its log line.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn engines(&self) -> &Arc<Engines> {
        &self.engines
    }

    /// Returns the access to the engines, through the route's access patterns only.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Returns the caller, who is anonymous or known: a request with an invalid token never reaches a handler.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Returns whether the person's issuer is configured. A person of another issuer cannot sign in.
    pub fn can_sign_in(&self, person: &Idpid) -> bool {
        self.engines.config.issuers.iter().any(|issuer| issuer.name == person.issuer())
    }

    /// Returns 422 unless the person's issuer is configured. A person of another issuer could never sign in.
    pub fn check_issuer(&self, person: &Idpid, at: &str) -> Result<(), Problem> {
        if self.can_sign_in(person) {
            return Ok(());
        }
        let detail = format!("has the issuer `{}`, which is not configured", person.issuer());
        Err(Problem::unprocessable(vec![Fault::pointer(at, detail)]))
    }

    /// Returns the body as it was sent, at most as long as [`Route::body_limit`](crate::Route::body_limit).
    pub fn bytes(&self) -> &Bytes {
        &self.body
    }

    /// Returns the content type of the body, one of those that the route takes; empty if the route takes no body.
    pub fn body_type(&self) -> &'static str {
        self.body_type
    }

    /// Returns the path of the request, decoded.
    pub fn raw_path(&self) -> &str {
        &self.raw_path
    }

    /// Returns the header fields without `Authorization`, which [`Context::principal`] stands for.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Returns the content type of the route that `Accept` prefers.
    pub fn content_type(&self) -> &'static str {
        self.content_type
    }

    /// Returns the time when the handler is stopped, 500 ms before the function's timeout.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }
}

/// Deserializes a checked JSON body. Its source is the text and not the checked value, since a type may need a number as
/// it was written.
pub(crate) fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let read = |body: &[u8]| {
        let mut deserializer = serde_json::Deserializer::from_slice(body);
        serde_path_to_error::deserialize(&mut deserializer)
    };
    let read = read(body).or_else(|error| {
        let normalized = std::str::from_utf8(body).ok().and_then(integers::normalize);
        normalized.map_or(Err(error), |normalized| read(normalized.as_bytes()))
    });
    read.map_err(|error| Problem::faults(vec![Fault::pointer(pointer(error.path()), invalid(error.inner()))]))
}

/// Deserializes checked parameters.
pub(crate) fn parameters<T: DeserializeOwned>(object: &Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(object).map_err(|error| {
        let name = error.path().iter().find_map(|step| match step {
            serde_path_to_error::Segment::Map { key } => Some(key.clone()),
            _ => None,
        });
        Problem::faults(vec![Fault::parameter(name.unwrap_or_default(), invalid(error.inner()))])
    })
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    path.iter()
        .map(|step| match step {
            Segment::Seq { index } => format!("/{index}"),
            Segment::Map { key } => pointer_step(key),
            Segment::Enum { .. } | Segment::Unknown => String::new(),
        })
        .collect()
}

/// Returns the detail of a fault that a type finds and its schema does not. The position in the text is left out, since
/// the fault has a pointer.
fn invalid(error: &serde_json::Error) -> String {
    const MAX_CHARS: usize = 200;
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    let text = match text.rsplit_once("expected ") {
        Some((found, expected)) => format!("{found}expected {}", describe_type(expected)),
        None => text.to_owned(),
    };
    let text: String = text.chars().take(MAX_CHARS).collect();
    format!("is invalid: {text}")
}

/// Describes what serde expects without the names of Rust's types.
fn describe_type(expected: &str) -> &str {
    match expected {
        "u8" => "an integer from 0 to 255",
        "u16" => "an integer from 0 to 65535",
        "u32" => "an integer from 0 to 4294967295",
        "u64" | "usize" => "an integer of at least 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "an integer",
        "f32" | "f64" => "a number",
        expected if expected.starts_with("struct ") => "an object",
        expected if expected.starts_with("enum ") => "one of the allowed values",
        expected => expected,
    }
}
