//! Errors as RFC 9457 problem details with stable types, `urn:cairn:problem:{slug}`.

mod engine;

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use serde_json::{Map, Value, json};

use crate::Fault;

pub const CONTENT_TYPE: &str = "application/problem+json";

/// A kind of problem: its slug never changes its meaning. Systems declare their own beside these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub status: u16,
    pub slug: &'static str,
    pub title: &'static str,
}

pub const BAD_REQUEST: Kind = Kind::new(400, "bad-request", "The request is not well formed");
pub const NOT_SIGNED_IN: Kind = Kind::new(401, "not-signed-in", "A valid bearer token is needed");
pub const FORBIDDEN: Kind = Kind::new(403, "forbidden", "You may not do this");
pub const NOT_FOUND: Kind = Kind::new(404, "not-found", "There is no such thing here");
pub const METHOD_NOT_ALLOWED: Kind = Kind::new(405, "method-not-allowed", "This path does not take this method");
pub const NOT_ACCEPTABLE: Kind = Kind::new(406, "not-acceptable", "No content type that you accept can be given");
pub const EXISTS: Kind = Kind::new(409, "exists", "It exists already");
pub const TAKEN: Kind = Kind::new(409, "taken", "A value that must be unique is taken");
pub const LAST_ADMIN: Kind = Kind::new(409, "last-admin", "It would be left without an administrator");
pub const HAS_DEPENDENTS: Kind = Kind::new(409, "has-dependents", "Other things depend on it");
pub const CONFLICT: Kind = Kind::new(409, "conflict", "Others are changing it at the same moment");
pub const STALE: Kind = Kind::new(412, "stale", "It has changed since you read it");
pub const TOO_LARGE: Kind = Kind::new(413, "too-large", "It is too large");
pub const WRONG_CONTENT_TYPE: Kind = Kind::new(415, "wrong-content-type", "This content type is not taken here");
pub const UNPROCESSABLE: Kind = Kind::new(422, "unprocessable", "The body does not fit what is stored");
pub const KEY_REUSED: Kind = Kind::new(422, "key-reused", "The idempotency key was used for another request");
pub const TOO_MANY_REQUESTS: Kind = Kind::new(429, "too-many-requests", "Too many requests");
pub const INTERNAL: Kind = Kind::new(500, "internal", "Something went wrong on our side");
pub const OUT_OF_TIME: Kind = Kind::new(503, "out-of-time", "The request took too long and was stopped");
pub const UNAVAILABLE: Kind = Kind::new(503, "unavailable", "A part that this needs does not answer");
pub const SEARCH_UNAVAILABLE: Kind = Kind::new(503, "search-unavailable", "Search does not answer");

/// No problem lists more faults than this; beyond, `errorCount` says how many there are.
pub const MAX_FAULTS: usize = 100;

impl Kind {
    pub const fn new(status: u16, slug: &'static str, title: &'static str) -> Self {
        Self { status, slug, title }
    }

    /// The stable `type` of such problems.
    pub fn urn(self) -> String {
        format!("urn:cairn:problem:{}", self.slug)
    }

    /// A problem of this kind; the detail says what happened and what to do.
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

/// An answer that says why the request was not carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem(Box<Content>);

#[derive(Clone, Debug, PartialEq)]
struct Content {
    kind: Kind,
    detail: String,
    faults: Vec<Fault>,
    members: Map<String, Value>,
    headers: HeaderMap,
    /// What really happened; for the log only.
    cause: Option<String>,
    /// Whether another attempt may succeed.
    is_lost_race: bool,
}

impl Problem {
    /// 400 for one thing that no single parameter or member is to blame for.
    pub fn bad_request(detail: impl Into<String>) -> Self {
        BAD_REQUEST.because(detail)
    }

    /// 400 with every fault at its place.
    pub fn faults(faults: Vec<Fault>) -> Self {
        BAD_REQUEST.because(summary(&faults)).at(faults)
    }

    /// 401 with the reason; tells clients the scheme.
    pub fn not_signed_in(detail: impl Into<String>) -> Self {
        NOT_SIGNED_IN.because(detail).header(header::WWW_AUTHENTICATE, "Bearer")
    }

    pub fn forbidden(detail: impl Into<String>) -> Self {
        FORBIDDEN.because(detail)
    }

    /// 404, the same words for what is absent and for what the caller may not see.
    pub fn not_found() -> Self {
        NOT_FOUND.because("It does not exist, or it is not for you to see.")
    }

    pub fn exists(detail: impl Into<String>) -> Self {
        EXISTS.because(detail)
    }

    /// 409 with a pointer per field whose value is taken.
    pub fn taken(faults: Vec<Fault>) -> Self {
        TAKEN.because(summary(&faults)).at(faults)
    }

    /// 409 with what depends on it, by kind: `"counts": {"tickets": 3}`. Kinds without any are left out.
    pub fn has_dependents(counts: &[(&str, u64)]) -> Self {
        let counts: Map<String, Value> = counts
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(kind, count)| (kind.to_string(), json!(count)))
            .collect();
        HAS_DEPENDENTS
            .because("Remove what depends on it first; `counts` says how much there is.")
            .with("counts", counts)
    }

    /// 409 after retries of a transaction that others kept winning.
    pub fn conflict() -> Self {
        CONFLICT.because("Other requests kept changing the same items; send it again.").retry_after(1)
    }

    /// 409 `conflict`: another request has changed an item whose revision `If-Match` does not state. Unlike after 412,
    /// [`retry_stale`](crate::Context::retry_stale) attempts again also for a client that sent the header.
    pub fn lost_race() -> Self {
        let mut problem = Self::conflict();
        problem.0.is_lost_race = true;
        problem
    }

    pub fn stale() -> Self {
        STALE.because("Its entity tag is no longer the one in If-Match; read it again and decide anew.")
    }

    pub fn too_large(detail: impl Into<String>) -> Self {
        TOO_LARGE.because(detail)
    }

    pub fn wrong_content_type(detail: impl Into<String>) -> Self {
        WRONG_CONTENT_TYPE.because(detail)
    }

    /// 422 with every fault at its place.
    pub fn unprocessable(faults: Vec<Fault>) -> Self {
        UNPROCESSABLE.because(summary(&faults)).at(faults)
    }

    pub fn key_reused() -> Self {
        KEY_REUSED.because("This Idempotency-Key came with another path, query or body; take a new key.")
    }

    pub fn too_many_requests(seconds: u32) -> Self {
        TOO_MANY_REQUESTS.because(format!("Try again in {seconds} s.")).retry_after(seconds)
    }

    pub fn search_unavailable(cause: impl fmt::Display) -> Self {
        SEARCH_UNAVAILABLE
            .because("Everything but search goes on working; try again shortly.")
            .retry_after(1)
            .caused_by(cause)
    }

    /// 503 for another engine that does not answer.
    pub fn unavailable(cause: impl fmt::Display) -> Self {
        UNAVAILABLE.because("Try again shortly.").retry_after(1).caused_by(cause)
    }

    /// 503 for a handler that came near its timeout.
    pub fn out_of_time() -> Self {
        OUT_OF_TIME.because("Nothing is known to be wrong with it; try again shortly.").retry_after(1)
    }

    /// 500; the cause goes to the log and nowhere else.
    pub fn internal(cause: impl fmt::Display) -> Self {
        INTERNAL.because("The request was well formed and we could not carry it out.").caused_by(cause)
    }

    /// Adds faults at their places.
    pub fn at(mut self, faults: Vec<Fault>) -> Self {
        self.0.faults.extend(faults);
        self
    }

    /// Adds a member beside the standard ones.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.members.insert(name.to_owned(), value.into());
        self
    }

    /// Sets a header field. A value that no header can carry is left out.
    pub fn header(mut self, name: HeaderName, value: impl AsRef<str>) -> Self {
        if let Ok(value) = HeaderValue::from_str(value.as_ref()) {
            self.0.headers.insert(name, value);
        }
        self
    }

    /// Tells the client after how many seconds a repetition may succeed.
    pub fn retry_after(self, seconds: u32) -> Self {
        self.header(header::RETRY_AFTER, seconds.to_string())
    }

    /// Keeps what really happened for the log.
    pub fn caused_by(mut self, cause: impl fmt::Display) -> Self {
        self.0.cause = Some(cause.to_string());
        self
    }

    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.0.kind.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    /// Every fault with its place.
    pub fn listed(&self) -> &[Fault] {
        &self.0.faults
    }

    pub(crate) fn is_lost_race(&self) -> bool {
        self.0.is_lost_race
    }

    pub(crate) fn cause(&self) -> Option<&str> {
        self.0.cause.as_deref()
    }

    /// The response; `instance` is the request's id.
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

/// One sentence for several faults: the first with its place, and how many more there are.
fn summary(faults: &[Fault]) -> String {
    use crate::fault::Place;
    let Some(first) = faults.first() else { return String::from("The request is not well formed.") };
    let said = match &first.place {
        Place::Pointer(pointer) if pointer.is_empty() => format!("The body {}", first.detail),
        Place::Pointer(pointer) => format!("`{pointer}` {}", first.detail),
        Place::Parameter(name) => format!("`{name}` {}", first.detail),
        Place::Header(name) => format!("The header `{name}` {}", first.detail),
    };
    match faults.len() {
        1 => format!("{said}."),
        2 => format!("{said}; and there is one more fault, see `errors`."),
        many => format!("{said}; and there are {} more faults, see `errors`.", many - 1),
    }
}
