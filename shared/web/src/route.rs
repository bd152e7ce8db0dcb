//! One declaration per route: the router, the API description, sample events and the docs are made from it.

mod sample;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::Method;
use table::{AccessPattern, Backoff};
use utoipa::ToSchema;

use crate::Context;
use crate::handler::{Handler, Responding};
use crate::problem::Kind;
use crate::rules::Rules;
use crate::shape::Shape;
use crate::who::Who;

pub use sample::Sample;

/// A route of a system, built like a row of its table: name, path, who, handler, then what else there is to say.
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

/// What a route does with the body of its requests.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// It takes none.
    None,
    /// JSON that is checked against the shape before the handler is called.
    Json { types: &'static [&'static str], shape: Shape },
    /// Bytes that the handler checks; the shape only describes them.
    Bytes { types: &'static [&'static str], shape: Shape },
}

/// A successful answer as the API description tells of it.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    pub status: u16,
    pub content: Option<(&'static str, Shape)>,
}

#[derive(Clone)]
pub(crate) enum Serve {
    Handler(Arc<dyn Fn(Context) -> Responding + Send + Sync>),
    /// `GET /{system}/openapi.json`, which the app answers itself.
    Description,
}

/// At most the longest that API Gateway waits.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(29);

/// Longer than an operation is tried again for, so that what conflicts for so long is told as that.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(Backoff::LONGEST.as_secs() + 2);

/// A function's memory in MB where its declaration says nothing else.
pub(crate) const DEFAULT_MEMORY: u64 = 512;
const DEFAULT_BODY_LIMIT: usize = 64 * 1024;
const JSON: &[&str] = &["application/json"];
const MERGE_PATCH: &[&str] = &["application/merge-patch+json", "application/json"];

impl Route {
    /// `name` is the operation's name in camelCase; `template` is the whole path, as `/zoo/animals/{kind}/{number}`. The
    /// handler's signature declares parameters, body, conditions and response; what it leaves open is declared by the
    /// methods below.
    pub fn new<A, H: Handler<A>>(
        method: Method,
        name: &'static str,
        template: impl Into<String>,
        who: Who,
        handler: H,
    ) -> Self {
        let serve = Serve::Handler(Arc::new(move |cx| handler.handle(cx)));
        H::declare(Self::bare(method, name, template.into(), who, serve))
    }

    pub fn get<A, H: Handler<A>>(name: &'static str, template: impl Into<String>, who: Who, handler: H) -> Self {
        Self::new(Method::GET, name, template, who, handler)
    }

    pub fn post<A, H: Handler<A>>(name: &'static str, template: impl Into<String>, who: Who, handler: H) -> Self {
        Self::new(Method::POST, name, template, who, handler)
    }

    pub fn put<A, H: Handler<A>>(name: &'static str, template: impl Into<String>, who: Who, handler: H) -> Self {
        Self::new(Method::PUT, name, template, who, handler)
    }

    pub fn patch<A, H: Handler<A>>(name: &'static str, template: impl Into<String>, who: Who, handler: H) -> Self {
        Self::new(Method::PATCH, name, template, who, handler)
    }

    pub fn delete<A, H: Handler<A>>(name: &'static str, template: impl Into<String>, who: Who, handler: H) -> Self {
        Self::new(Method::DELETE, name, template, who, handler)
    }

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

    /// One line for the API description and the docs.
    pub fn summary(mut self, summary: &'static str) -> Self {
        self.summary = summary;
        self
    }

    /// The access patterns through which the handler reaches engines, and no others.
    pub fn patterns(mut self, patterns: &'static [&'static AccessPattern]) -> Self {
        self.patterns = patterns;
        self
    }

    /// The type of the path's parameters: an object with one property per `{name}`.
    pub fn path<T: ToSchema + 'static>(mut self) -> Self {
        self.path = Some(Shape::closed::<T>());
        self
    }

    /// The type of the query string: an object with one property per parameter. An array is given with commas
    /// (`bbox=1,2,3,4`) or by repeating the parameter; anything else may be given once.
    pub fn query<T: ToSchema + 'static>(mut self) -> Self {
        self.query = Some(Shape::closed::<T>());
        self
    }

    /// Rules of the query string's type or the body's, declared before: their faults come together with the schema's.
    pub fn rules<T: Rules + 'static>(mut self) -> Self {
        self.query = self.query.map(Shape::ruled::<T>);
        if let Body::Json { shape, .. } = &mut self.body {
            *shape = shape.ruled::<T>();
        }
        self
    }

    /// A JSON body, checked before the handler is called.
    pub fn takes<T: ToSchema + 'static>(self) -> Self {
        self.takes_as::<T>(JSON)
    }

    /// A JSON merge patch (RFC 7396), as `application/merge-patch+json` or `application/json`.
    pub fn takes_patch<T: ToSchema + 'static>(self) -> Self {
        self.takes_as::<T>(MERGE_PATCH)
    }

    /// A JSON body of other content types.
    pub fn takes_as<T: ToSchema + 'static>(mut self, types: &'static [&'static str]) -> Self {
        self.body = Body::Json { types, shape: Shape::closed::<T>() };
        self
    }

    /// A body that the handler reads and checks itself; `T` only describes it.
    pub fn takes_bytes<T: ToSchema + 'static>(mut self, types: &'static [&'static str]) -> Self {
        self.body = Body::Bytes { types, shape: Shape::of::<T>() };
        self
    }

    /// The longest body in bytes; more is 413. 64 KiB unless said otherwise.
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.body_limit = bytes;
        self
    }

    /// A member that its JSON body does not take, though people send it, and what they are told: how it is changed.
    pub fn elsewhere(mut self, member: &'static str, detail: impl Into<String>) -> Self {
        self.elsewhere.push((member, detail.into()));
        self
    }

    /// A successful answer with JSON.
    pub fn answers<T: ToSchema + 'static>(self, status: u16) -> Self {
        self.answers_as::<T>(status, "application/json")
    }

    /// A successful answer of another content type. With several for one status the `Accept` header chooses.
    pub fn answers_as<T: ToSchema + 'static>(mut self, status: u16, content_type: &'static str) -> Self {
        self.answers.push(Described { status, content: Some((content_type, Shape::of::<T>())) });
        self
    }

    /// A successful answer without a body.
    pub fn answers_empty(mut self, status: u16) -> Self {
        self.answers.push(Described { status, content: None });
        self
    }

    /// Problems of its own. What any such route may answer (400, 401, 403, 412, 413, 415, 500, 503) need not be said.
    pub fn problems(mut self, problems: &'static [Kind]) -> Self {
        self.problems = problems;
        self
    }

    /// It creates: `Idempotency-Key` is honoured, and [`Context::idempotency`] gives what the transaction needs.
    pub fn creates(mut self) -> Self {
        self.creates = true;
        self
    }

    /// It heeds `If-Match`; elsewhere the header is ignored.
    pub fn if_match(mut self) -> Self {
        self.if_match = true;
        self
    }

    /// It heeds `If-None-Match` and may answer 304. Its answers of 200 are tagged.
    pub fn if_none_match(mut self) -> Self {
        (self.if_none_match, self.tagged) = (true, true);
        self
    }

    /// Its answers of 200 have an `ETag`, as those of 201 and 304 always have.
    pub fn tagged(mut self) -> Self {
        self.tagged = true;
        self
    }

    /// The function's timeout; the handler is stopped 500 ms before. 12 s unless said otherwise, at most 29 s.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout.min(MAX_TIMEOUT);
        self
    }

    /// The function's memory in MB, which decides its share of a processor, too. 512 unless said otherwise.
    pub fn memory(mut self, megabytes: u64) -> Self {
        self.memory = megabytes;
        self
    }

    pub fn sample(mut self, sample: Sample) -> Self {
        self.sample = sample;
        self
    }

    /// The operation's name: `operationId`, `_HANDLER`, and the name in logs and metrics.
    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The path with `{name}` for parameters.
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

    /// The content types of its answers, first the one given to who asks for none.
    pub(crate) fn content_types(&self) -> impl Iterator<Item = &'static str> {
        self.answers.iter().filter_map(|answer| answer.content.as_ref().map(|(content_type, _)| *content_type))
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} {}", self.name, self.method, self.template)
    }
}
