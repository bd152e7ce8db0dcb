//! A request as its handler gets it: its route is known, its caller is known, its parameters and body are checked.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use serde::de::DeserializeOwned;
use serde_json::Value;
use table::{Access, Engines, Idpid};
use tokio::time::Instant;

use crate::fault::pointer_step;
use crate::integers;
use crate::route::{Body, Route};
use crate::shape::Shape;
use crate::{Condition, Fault, Principal, Problem};

/// Owned by the handler. What it gives has been checked against the route's declaration.
#[derive(Debug)]
pub struct Context {
    pub(crate) id: String,
    pub(crate) route: Arc<Route>,
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

impl Context {
    /// The request's id: `instance` of its problems, and in its log line.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn route(&self) -> &Route {
        &self.route
    }

    pub fn engines(&self) -> &Arc<Engines> {
        &self.engines
    }

    /// The way to the engines through the route's access patterns.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Anonymous or known; an invalid token never gets here.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// The path's parameters, as the type given to [`Route::path`].
    pub fn path<T: DeserializeOwned + 'static>(&self) -> Result<T, Problem> {
        declared::<T>(self.route.path.as_ref())?;
        parameters(&self.path)
    }

    /// The query string, as the type given to [`Route::query`].
    pub fn query<T: DeserializeOwned + 'static>(&self) -> Result<T, Problem> {
        declared::<T>(self.route.query.as_ref())?;
        parameters(&self.query)
    }

    /// The JSON body, as the type given to [`Route::takes`], [`Route::takes_patch`] or [`Route::takes_as`].
    pub fn json<T: DeserializeOwned + 'static>(&self) -> Result<T, Problem> {
        let shape = match &self.route.body {
            Body::Json { shape, .. } => Some(shape),
            Body::None | Body::Bytes { .. } => None,
        };
        declared::<T>(shape)?;
        json(&self.body)
    }

    /// 422 unless the person's issuer is one whose tokens the platform takes: nobody else can ever sign in.
    pub fn check_issuer(&self, person: &Idpid, at: &str) -> Result<(), Problem> {
        let issuers = &self.engines.config.issuers;
        if issuers.iter().any(|issuer| issuer.name == person.issuer()) {
            return Ok(());
        }
        let detail = format!("names the issuer `{}`, which is not configured", person.issuer());
        Err(Problem::unprocessable(vec![Fault::pointer(at, detail)]))
    }

    /// The body as it was sent, at most as long as [`Route::body_limit`].
    pub fn bytes(&self) -> &Bytes {
        &self.body
    }

    /// The content type of the body among those that the route takes; empty where it takes none.
    pub fn body_type(&self) -> &'static str {
        self.body_type
    }

    /// The path as it was asked for, decoded.
    pub fn raw_path(&self) -> &str {
        &self.raw_path
    }

    /// Every header field but `Authorization`, of which there is [`Context::principal`].
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// `If-Match`, where the route heeds it.
    pub fn if_match(&self) -> &Condition {
        &self.if_match
    }

    /// `If-None-Match`, where the route heeds it.
    pub fn if_none_match(&self) -> &Condition {
        &self.if_none_match
    }

    /// Of the route's content types the one that `Accept` prefers.
    pub fn content_type(&self) -> &'static str {
        self.content_type
    }

    /// When the handler is stopped: 500 ms before the function's timeout.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }
}

/// A handler that reads another type than its route declares is a fault of ours, told by any test that calls it.
fn declared<T: 'static>(shape: Option<&Shape>) -> Result<(), Problem> {
    match shape {
        Some(shape) if shape.is::<T>() => Ok(()),
        _ => Err(Problem::internal(format!("the route does not declare `{}` here", std::any::type_name::<T>()))),
    }
}

/// Reads a checked JSON body. It is read from its text and not from the value that was checked: a type may want a number
/// as it was written.
pub(crate) fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let read = |body: &[u8]| {
        let mut deserializer = serde_json::Deserializer::from_slice(body);
        serde_path_to_error::deserialize(&mut deserializer)
    };
    let read = read(body).or_else(|error| {
        let plain = std::str::from_utf8(body).ok().and_then(integers::written_plainly);
        plain.map_or(Err(error), |plain| read(plain.as_bytes()))
    });
    read.map_err(|error| Problem::faults(vec![Fault::pointer(pointer(error.path()), sentence(error.inner()))]))
}

/// Reads checked parameters.
pub(crate) fn parameters<T: DeserializeOwned>(object: &Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(object).map_err(|error| {
        let name = error.path().iter().find_map(|step| match step {
            serde_path_to_error::Segment::Map { key } => Some(key.clone()),
            _ => None,
        });
        Problem::faults(vec![Fault::parameter(name.unwrap_or_default(), sentence(error.inner()))])
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

/// What a type says of a value that its schema allows but it does not: without the place, which is told apart.
pub(crate) fn sentence(error: &serde_json::Error) -> String {
    const LONGEST: usize = 200;
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(sentence, _)| sentence);
    let text = match text.rsplit_once("expected ") {
        Some((found, expected)) => format!("{found}expected {}", in_words(expected)),
        None => text.to_owned(),
    };
    let text: String = text.chars().take(LONGEST).collect();
    format!("is not right: {text}")
}

/// What serde expects, without the names of Rust's types.
fn in_words(expected: &str) -> &str {
    match expected {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number from 0 on",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        expected if expected.starts_with("struct ") => "an object",
        expected if expected.starts_with("enum ") => "one of the allowed values",
        expected => expected,
    }
}
