//! Problem details (RFC 9457) with stable types, `urn:cairn:problem:{slug}`.

mod engine;

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use serde_json::{Map, Value, json};

use crate::Fault;

pub const CONTENT_TYPE: &str = "application/problem+json";

/// A problem type. The meaning of its slug and its title never change. Systems declare further ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub status: u16,
    pub slug: &'static str,
    pub title: &'static str,
}

pub const BAD_REQUEST: Kind = Kind::new(400, "bad-request", "Bad request");
pub const NOT_SIGNED_IN: Kind = Kind::new(401, "not-signed-in", "Authentication required");
pub const FORBIDDEN: Kind = Kind::new(403, "forbidden", "Forbidden");
pub const NOT_FOUND: Kind = Kind::new(404, "not-found", "Not found");
pub const METHOD_NOT_ALLOWED: Kind = Kind::new(405, "method-not-allowed", "Method not allowed");
pub const NOT_ACCEPTABLE: Kind = Kind::new(406, "not-acceptable", "Not acceptable");
pub const EXISTS: Kind = Kind::new(409, "exists", "Already exists");
pub const TAKEN: Kind = Kind::new(409, "taken", "Value already in use");
pub const LAST_ADMIN: Kind = Kind::new(409, "last-admin", "Last administrator");
pub const HAS_DEPENDENTS: Kind = Kind::new(409, "has-dependents", "Has dependents");
pub const CONFLICT: Kind = Kind::new(409, "conflict", "Concurrent change");
pub const STALE: Kind = Kind::new(412, "stale", "Precondition failed");
pub const TOO_LARGE: Kind = Kind::new(413, "too-large", "Content too large");
pub const WRONG_CONTENT_TYPE: Kind = Kind::new(415, "wrong-content-type", "Unsupported media type");
pub const UNPROCESSABLE: Kind = Kind::new(422, "unprocessable", "Unprocessable content");
pub const KEY_REUSED: Kind = Kind::new(422, "key-reused", "Idempotency key reused");
pub const TOO_MANY_REQUESTS: Kind = Kind::new(429, "too-many-requests", "Too many requests");
pub const INTERNAL: Kind = Kind::new(500, "internal", "Internal error");
pub const OUT_OF_TIME: Kind = Kind::new(503, "out-of-time", "Timeout");
pub const UNAVAILABLE: Kind = Kind::new(503, "unavailable", "Service unavailable");
pub const SEARCH_UNAVAILABLE: Kind = Kind::new(503, "search-unavailable", "Search unavailable");

/// The most faults that a problem lists. If there are more, `errorCount` has their number.
pub const MAX_FAULTS: usize = 100;

impl Kind {
    pub const fn new(status: u16, slug: &'static str, title: &'static str) -> Self {
        Self { status, slug, title }
    }

    /// Returns the stable `type` of such problems.
    pub fn urn(self) -> String {
        format!("urn:cairn:problem:{}", self.slug)
    }

    /// Creates a problem of this type. The detail says what failed, why, and what to do.
    pub fn because(self, detail: impl Into<String>) -> Problem {
        Problem(Box::new(Content {
            kind: self,
            detail: detail.into(),
            faults: Vec::new(),
            members: Map::new(),
            headers: HeaderMap::new(),
            cause: None,
            is_lost_race: false,
        }))
    }
}

/// A response that says why the request failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem(Box<Content>);

#[derive(Clone, Debug, PartialEq)]
struct Content {
    kind: Kind,
    detail: String,
    faults: Vec<Fault>,
    members: Map<String, Value>,
    headers: HeaderMap,
    /// The internal reason, for the log only.
    cause: Option<String>,
    /// Whether another attempt may succeed.
    is_lost_race: bool,
}

impl Problem {
    /// 400 for a fault of no single parameter or member.
    pub fn bad_request(detail: impl Into<String>) -> Self {
        BAD_REQUEST.because(detail)
    }

    /// 400 with all faults.
    pub fn faults(faults: Vec<Fault>) -> Self {
        BAD_REQUEST.because(summary(&faults)).at(faults)
    }

    /// 401 with the reason, and the scheme in `WWW-Authenticate`.
    pub fn not_signed_in(detail: impl Into<String>) -> Self {
        NOT_SIGNED_IN.because(detail).header(header::WWW_AUTHENTICATE, "Bearer")
    }

    pub fn forbidden(detail: impl Into<String>) -> Self {
        FORBIDDEN.because(detail)
    }

    /// 404, with the same detail for an absent resource and for one that the caller may not see.
    pub fn not_found() -> Self {
        NOT_FOUND.because("No such resource, or you are not allowed to see it.")
    }

    pub fn exists(detail: impl Into<String>) -> Self {
        EXISTS.because(detail)
    }

    /// 409 with a fault for each field whose value is in use.
    pub fn taken(faults: Vec<Fault>) -> Self {
        TAKEN.because(summary(&faults)).at(faults)
    }

    /// 409 with the counts of its dependents by kind, without zeros: `"counts": {"tickets": 3}`.
    pub fn has_dependents(counts: &[(&str, u64)]) -> Self {
        let counts: Map<String, Value> = counts
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(kind, count)| (kind.to_string(), json!(count)))
            .collect();
        HAS_DEPENDENTS
            .because("Other resources depend on it, as `counts` says. Remove them first.")
            .with("counts", counts)
    }

    /// 409 after the retries of a transaction that conflicts with other requests.
    pub fn conflict() -> Self {
        CONFLICT.because("Other requests are changing the same items. Send the request again.").retry_after(1)
    }

    /// 409 `conflict`: another request has changed an item whose revision `If-Match` does not state. Unlike after 412,
    /// [`retry_stale`](crate::Context::retry_stale) attempts again also for a client that sent the header.
    pub fn lost_race() -> Self {
        let mut problem = Self::conflict();
        problem.0.is_lost_race = true;
        problem
    }

    /// 412 for an `If-Match` that does not match.
    pub fn stale() -> Self {
        STALE.because(
            "The resource has changed since you read it (`If-Match` does not match its ETag). Read it again and retry.",
        )
    }

    pub fn too_large(detail: impl Into<String>) -> Self {
        TOO_LARGE.because(detail)
    }

    pub fn wrong_content_type(detail: impl Into<String>) -> Self {
        WRONG_CONTENT_TYPE.because(detail)
    }

    /// 422 with all faults.
    pub fn unprocessable(faults: Vec<Fault>) -> Self {
        UNPROCESSABLE.because(summary(&faults)).at(faults)
    }

    /// 422 for an `Idempotency-Key` that was sent with another request.
    pub fn key_reused() -> Self {
        KEY_REUSED.because("This `Idempotency-Key` was sent before with another path, query or body. Use a new key.")
    }

    pub fn too_many_requests(seconds: u32) -> Self {
        TOO_MANY_REQUESTS
            .because(format!("The rate limit of requests is exceeded. Retry in {seconds} s."))
            .retry_after(seconds)
    }

    pub fn search_unavailable(cause: impl fmt::Display) -> Self {
        SEARCH_UNAVAILABLE
            .because("The search engine is unavailable. Retry shortly; operations without search still work.")
            .retry_after(1)
            .caused_by(cause)
    }

    /// 503 for another engine that is unavailable.
    pub fn unavailable(cause: impl fmt::Display) -> Self {
        UNAVAILABLE
            .because("A service that this operation needs is unavailable. Retry shortly.")
            .retry_after(1)
            .caused_by(cause)
    }

    /// 503 for a handler that was stopped before its function's timeout.
    pub fn out_of_time() -> Self {
        OUT_OF_TIME.because("The operation took too long and was stopped. Retry shortly.").retry_after(1)
    }

    /// 500, with the cause in the log only.
    pub fn internal(cause: impl fmt::Display) -> Self {
        INTERNAL
            .because("The request is valid, but the server failed. The log has the reason under the id in `instance`.")
            .caused_by(cause)
    }

    /// Adds faults.
    pub fn at(mut self, faults: Vec<Fault>) -> Self {
        self.0.faults.extend(faults);
        self
    }

    /// Adds an extension member.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.members.insert(name.to_owned(), value.into());
        self
    }

    /// Sets a header field. A value that is not valid in a header is ignored.
    pub fn header(mut self, name: HeaderName, value: impl AsRef<str>) -> Self {
        if let Ok(value) = HeaderValue::from_str(value.as_ref()) {
            self.0.headers.insert(name, value);
        }
        self
    }

    /// Sets the seconds after which the client may retry.
    pub fn retry_after(self, seconds: u32) -> Self {
        self.header(header::RETRY_AFTER, seconds.to_string())
    }

    /// Sets the internal reason, for the log only.
    pub fn caused_by(mut self, cause: impl fmt::Display) -> Self {
        self.0.cause = Some(cause.to_string());
        self
    }

    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.0.kind.status).unwrap_or_else(|_| {
            table::never!("problem type `{}` of status {}", self.0.kind.slug, self.0.kind.status);
            StatusCode::INTERNAL_SERVER_ERROR
        })
    }

    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    /// Returns all faults.
    pub fn listed(&self) -> &[Fault] {
        &self.0.faults
    }

    pub(crate) fn is_lost_race(&self) -> bool {
        self.0.is_lost_race
    }

    pub(crate) fn cause(&self) -> Option<&str> {
        self.0.cause.as_deref()
    }

    /// Creates the response; `instance` is the request's id.
    pub(crate) fn into_response(self, instance: &str) -> Response<Bytes> {
        let status = self.status();
        let content = *self.0;
        let mut body = content.members;
        body.insert("type".into(), content.kind.urn().into());
        body.insert("title".into(), content.kind.title.into());
        body.insert("status".into(), content.kind.status.into());
        body.insert("detail".into(), content.detail.into());
        body.insert("instance".into(), instance.into());
        if content.faults.len() > MAX_FAULTS {
            body.insert("errorCount".into(), content.faults.len().into());
        }
        if !content.faults.is_empty() {
            body.insert("errors".into(), content.faults.iter().take(MAX_FAULTS).map(|fault| json!(fault)).collect());
        }
        let mut response = Response::new(Bytes::from(Value::Object(body).to_string()));
        *response.status_mut() = status;
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE));
        response.headers_mut().extend(content.headers);
        response
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}: {}", self.0.kind.status, self.0.kind.slug, self.0.detail)
    }
}

impl std::error::Error for Problem {}

/// Returns a detail for several faults: the first one, and the number of the others.
fn summary(faults: &[Fault]) -> String {
    use crate::fault::Place;
    let Some(first) = faults.first() else { return String::from("The request is not valid.") };
    let sentence = match &first.place {
        Place::Pointer(pointer) if pointer.is_empty() => format!("The body {}", first.detail),
        Place::Pointer(pointer) => format!("`{pointer}` {}", first.detail),
        Place::Parameter(name) => format!("`{name}` {}", first.detail),
        Place::Header(name) => format!("The header `{name}` {}", first.detail),
    };
    match faults.len() {
        1 => format!("{sentence}."),
        2 => format!("{sentence}. There is 1 more fault, see `errors`."),
        many => format!("{sentence}. There are {} more faults, see `errors`.", many - 1),
    }
}
