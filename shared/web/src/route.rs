//! The declaration of a route. The router, the API description, sample events and the docs are generated from it.

mod sample;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http::Method;
use table::{AccessPattern, Backoff};
use utoipa::ToSchema;

use crate::Answer;
use crate::context::{Context, Declared};
use crate::problem::{Kind, Problem};
use crate::rules::Rules;
use crate::shape::Shape;
use crate::who::Who;

pub use sample::Sample;

/// A route of a system: a method and a path with a name, callers, a handler and further declarations.
#[derive(Clone)]
pub struct Route {
    pub(crate) name: &'static str,
    pub(crate) method: Method,
    pub(crate) template: String,
    pub(crate) who: Who,
    pub(crate) serve: Serve,
    pub(crate) summary: &'static str,
    pub(crate) patterns: &'static [&'static AccessPattern],
    pub(crate) path: Option<Shape>,
    pub(crate) query: Option<Shape>,
    pub(crate) body: Body,
    pub(crate) body_limit: usize,
    pub(crate) elsewhere: Vec<(&'static str, String)>,
    pub(crate) answers: Vec<Described>,
    pub(crate) problems: &'static [Kind],
    pub(crate) creates: bool,
    pub(crate) if_match: bool,
    pub(crate) if_none_match: bool,
    pub(crate) tagged: bool,
    pub(crate) timeout: Duration,
    pub(crate) memory: u64,
    pub(crate) sample: Sample,
}

/// The body that a route takes.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// The route takes no body.
    None,
    /// JSON that is checked against the shape before the handler is called.
    Json { types: &'static [&'static str], shape: Shape },
    /// Bytes that the handler checks; the shape only describes them.
    Bytes { types: &'static [&'static str], shape: Shape },
}

/// A successful response, as the API description shows it.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    pub status: u16,
    pub content: Option<(&'static str, Shape)>,
}

/// The future of a handler's response.
pub type Responding = Pin<Box<dyn Future<Output = Result<Answer, Problem>> + Send>>;

/// The function behind a route.
#[derive(Clone)]
pub(crate) enum Serve {
    Handler(Arc<dyn Fn(Context) -> Responding + Send + Sync>),
    /// The app's own response to `GET /{system}/openapi.json`.
    Description,
}

/// The longest timeout of a route, since API Gateway waits no longer.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(29);

/// Longer than the retries of an operation, so that a lasting conflict is reported as 409 and not as a timeout.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(Backoff::LONGEST.as_secs() + 2);

/// The default memory of a function in MB.
pub(crate) const DEFAULT_MEMORY: u64 = 512;
const DEFAULT_BODY_LIMIT: usize = 64 * 1024;
const JSON: &[&str] = &["application/json"];
const MERGE_PATCH: &[&str] = &["application/merge-patch+json", "application/json"];

impl Route {
    pub(crate) fn bare(method: Method, name: &'static str, template: String, who: Who, serve: Serve) -> Self {
        Self {
            name,
            method,
            template,
            who,
            serve,
            summary: "",
            patterns: &[],
            path: None,
            query: None,
            body: Body::None,
            body_limit: DEFAULT_BODY_LIMIT,
            elsewhere: Vec::new(),
            answers: Vec::new(),
            problems: &[],
            creates: false,
            if_match: false,
            if_none_match: false,
            tagged: false,
            timeout: DEFAULT_TIMEOUT,
            memory: DEFAULT_MEMORY,
            sample: Sample::default(),
        }
    }

    /// Sets the one line of the API description and the docs.
    pub fn summary(mut self, summary: &'static str) -> Self {
        self.summary = summary;
        self
    }

    /// Declares the access patterns of the handler, which can make no other calls to engines.
    pub fn patterns(mut self, patterns: &'static [&'static AccessPattern]) -> Self {
        self.patterns = patterns;
        self
    }

    /// Declares the type of the path's parameters: an object with one property per `{name}`.
    pub(crate) fn path<T: ToSchema + 'static>(mut self) -> Self {
        self.path = Some(Shape::closed::<T>());
        self
    }

    /// Declares the type of the query string: an object with one property per parameter. An array is sent with commas
    /// (`bbox=1,2,3,4`) or by repeating the parameter; any other parameter is sent once.
    pub(crate) fn query<T: ToSchema + 'static>(mut self) -> Self {
        self.query = Some(Shape::closed::<T>());
        self
    }

    /// Adds the rules of the type of the query string or body, which is declared before. Their faults are reported
    /// together with the schema's.
    pub fn rules<T: Rules + 'static>(mut self) -> Self {
        self.query = self.query.map(Shape::with_rules::<T>);
        if let Body::Json { shape, .. } = &mut self.body {
            *shape = shape.with_rules::<T>();
        }
        self
    }

    /// Declares a JSON body, which is checked before the handler is called.
    pub(crate) fn takes<T: ToSchema + 'static>(self) -> Self {
        self.takes_as::<T>(JSON)
    }

    /// Declares a JSON merge patch (RFC 7396), as `application/merge-patch+json` or `application/json`.
    pub(crate) fn takes_patch<T: ToSchema + 'static>(self) -> Self {
        self.takes_as::<T>(MERGE_PATCH)
    }

    /// Declares a JSON body of other content types.
    pub(crate) fn takes_as<T: ToSchema + 'static>(mut self, types: &'static [&'static str]) -> Self {
        self.body = Body::Json { types, shape: Shape::closed::<T>() };
        self
    }

    /// Declares a body that the handler parses and checks; `T` only describes it.
    pub fn takes_bytes<T: ToSchema + 'static>(mut self, types: &'static [&'static str]) -> Self {
        self.body = Body::Bytes { types, shape: Shape::of::<T>() };
        self
    }

    /// Sets the largest body in bytes; a larger one is 413. The default is 64 KiB.
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.body_limit = bytes;
        self
    }

    /// Adds a fault detail for an unknown member of the JSON body that clients tend to send. It says how the member is
    /// changed instead.
    pub fn elsewhere(mut self, member: &'static str, detail: impl Into<String>) -> Self {
        self.elsewhere.push((member, detail.into()));
        self
    }

    /// Declares a successful response with JSON.
    pub fn answers<T: ToSchema + 'static>(self, status: u16) -> Self {
        self.answers_as::<T>(status, "application/json")
    }

    /// Declares a successful response of another content type. `Accept` chooses among several of one status.
    pub fn answers_as<T: ToSchema + 'static>(mut self, status: u16, content_type: &'static str) -> Self {
        self.answers.push(Described { status, content: Some((content_type, Shape::of::<T>())) });
        self
    }

    /// Declares a successful response without a body.
    pub fn answers_empty(mut self, status: u16) -> Self {
        self.answers.push(Described { status, content: None });
        self
    }

    /// Declares problem types of the route. Those that follow from the declaration (400, 401, 403, 412, 413, 415, 500, 503)
    /// are added without it.
    pub fn problems(mut self, problems: &'static [Kind]) -> Self {
        self.problems = problems;
        self
    }

    /// Honours `Idempotency-Key`. [`Context::idempotency`] returns the item that the transaction needs.
    pub(crate) fn creates(mut self) -> Self {
        self.creates = true;
        self
    }

    /// Honours `If-Match`. Other routes ignore the header.
    pub(crate) fn if_match(mut self) -> Self {
        self.if_match = true;
        self
    }

    /// Honours `If-None-Match`: the route may respond with 304, and its responses of 200 have an `ETag`.
    pub(crate) fn if_none_match(mut self) -> Self {
        (self.if_none_match, self.tagged) = (true, true);
        self
    }

    /// Declares an `ETag` of responses of 200. Those of 201 and 304 always have one.
    pub fn tagged(mut self) -> Self {
        self.tagged = true;
        self
    }

    /// Sets the function's timeout, at most 29 s. The handler is stopped 500 ms before. The default is 12 s.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout.min(MAX_TIMEOUT);
        self
    }

    /// Sets the function's memory in MB, which also determines its share of a processor. The default is 512.
    pub fn memory(mut self, megabytes: u64) -> Self {
        self.memory = megabytes;
        self
    }

    pub fn sample(mut self, sample: Sample) -> Self {
        self.sample = sample;
        self
    }

    /// Returns the operation's name: `operationId`, `_HANDLER`, and the name in logs and metrics.
    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Returns the path with `{name}` for parameters.
    pub fn template(&self) -> &str {
        &self.template
    }

    pub fn who(&self) -> Who {
        self.who
    }

    pub fn declared_patterns(&self) -> &'static [&'static AccessPattern] {
        self.patterns
    }

    pub fn declared_timeout(&self) -> Duration {
        self.timeout
    }

    pub fn declared_memory(&self) -> u64 {
        self.memory
    }

    /// Returns the part of the declaration that a context refers to.
    pub(crate) fn declared(&self) -> Declared {
        Declared { operation: self.name, takes_json: matches!(self.body, Body::Json { .. }) }
    }

    /// Returns the content types of the responses. The first one is the default.
    pub(crate) fn content_types(&self) -> impl Iterator<Item = &'static str> {
        self.answers.iter().filter_map(|answer| answer.content.as_ref().map(|(content_type, _)| *content_type))
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} {}", self.name, self.method, self.template)
    }
}
