//! A system as one value: its routes and event handlers, served the same way to Lambda and to the local gateway.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::io::Write;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use percent_encoding::percent_decode_str;
use table::schema::System;
use table::{Access, Engines};
use tokio::time::Instant;
use tracing::Instrument;

use crate::event::{Event, EventFailure, EventHandler};
use crate::format::Format;
use crate::intake::{Arrived, Served};
use crate::route::{Handler, Route};
use crate::trust::Trust;
use crate::{Answer, Principal, Problem, log, openapi};

/// How long before a function's timeout its handler is stopped, so that the answer is ours.
pub const MARGIN: Duration = Duration::from_millis(500);

/// A request's id as its gateway gave it, among the request's extensions; without it the app makes one.
#[derive(Clone, Debug)]
pub struct RequestId(pub String);

/// When whoever runs the app will stop waiting, among the request's extensions.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(pub Instant);

/// One system's routes and event handlers.
pub struct App {
    system: &'static System,
    engines: Arc<Engines>,
    trust: Trust,
    formats: &'static [Format],
    served: Vec<Arc<Served>>,
    handlers: Vec<EventHandler>,
    /// By path template the routes of each method, as indexes into `served`.
    router: matchit::Router<BTreeMap<String, usize>>,
    description: OnceLock<Bytes>,
    metrics: Arc<dyn Fn(&str) + Send + Sync>,
    unroutable: Vec<String>,
}

/// `_HANDLER` names nothing that the system has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system `{system}` has no handler `{handler}`; it has {known}")]
pub struct UnknownHandler {
    pub system: &'static str,
    pub handler: String,
    pub known: String,
}

impl App {
    /// A system's app. To its own routes come `GET /{system}/openapi.json` and `GET /{system}/health`.
    pub fn new(
        engines: Arc<Engines>,
        system: &'static System,
        routes: Vec<Route>,
        handlers: Vec<EventHandler>,
    ) -> Self {
        let mut routes = routes;
        routes.extend(crate::free::routes(system.name));
        let trust = Trust::new(&engines.config.issuers, None);
        let served = routes.into_iter().map(|route| Arc::new(Served::new(route))).collect();
        let mut app = Self {
            system,
            engines,
            trust,
            formats: &[],
            served,
            handlers,
            router: matchit::Router::new(),
            description: OnceLock::new(),
            metrics: Arc::new(print),
            unroutable: Vec::new(),
        };
        app.build_router();
        app
    }

    /// Trusts only these of the configured issuers.
    pub fn trusting(mut self, issuers: &[&str]) -> Self {
        self.trust = Trust::new(&self.engines.config.issuers, Some(issuers));
        self
    }

    /// Formats of text that the system's schemas name beside those of JSON Schema.
    pub fn formats(mut self, formats: &'static [Format]) -> Self {
        self.formats = formats;
        self
    }

    /// Sends the metrics lines elsewhere than to standard output, where CloudWatch reads them.
    pub fn metrics_to(mut self, sink: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.metrics = Arc::new(sink);
        self
    }

    /// The app with one route or event handler only, as a function that is deployed under that name.
    pub fn only(mut self, handler: &str) -> Result<Self, UnknownHandler> {
        let names = self.served.iter().map(|served| served.route.name).chain(self.handlers.iter().map(|own| own.name));
        let known: Vec<&str> = names.collect();
        if !known.contains(&handler) {
            let known = known.join(", ");
            return Err(UnknownHandler { system: self.system.name, handler: handler.to_owned(), known });
        }
        self.served.retain(|served| served.route.name == handler);
        self.handlers.retain(|own| own.name == handler);
        self.build_router();
        Ok(self)
    }

    pub fn system(&self) -> &'static System {
        self.system
    }

    pub fn engines(&self) -> &Arc<Engines> {
        &self.engines
    }

    /// Every route, the free ones last.
    pub fn routes(&self) -> impl Iterator<Item = &Route> {
        self.served.iter().map(|served| &*served.route)
    }

    pub fn event_handlers(&self) -> &[EventHandler] {
        &self.handlers
    }

    /// Declarations that cannot be served as they stand, each in a sentence. A system's tests say that there are none.
    pub fn misdeclared(&self) -> Vec<String> {
        let mut found = self.unroutable.clone();
        found.extend(self.served.iter().flat_map(|served| served.misdeclared(self.formats)));
        found.extend(openapi::misdeclared(self.routes()));
        found
    }

    /// Routes that no request can reach, each in a sentence.
    pub(crate) fn unroutable(&self) -> &[String] {
        &self.unroutable
    }

    /// Answers a request: the same for Lambda and for the local gateway. An unknown path or method gets what API
    /// Gateway answers; everything else that fails is a problem.
    pub async fn handle(&self, request: http::Request<Bytes>) -> Response<Bytes> {
        let started = Instant::now();
        let path = percent_decode_str(request.uri().path()).decode_utf8().map(|path| path.into_owned());
        let matched = path.ok().and_then(|path| {
            let found = self.router.at(&path).ok()?;
            let index = found.value.get(request.method().as_str())?;
            let pairs = found.params.iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
            Some((Arc::clone(self.served.get(*index)?), pairs, path))
        });
        let Some((served, pairs, path)) = matched else { return not_found() };

        let id =
            request.extensions().get::<RequestId>().map_or_else(|| uuid::Uuid::now_v7().to_string(), |id| id.0.clone());
        let principal = Principal::of(request.headers(), &self.trust, &self.engines);
        let access = Access::new(Arc::clone(&self.engines), served.route.patterns);
        let outside = request.extensions().get::<Deadline>().map(|deadline| deadline.0);
        let timeout = started + served.route.timeout;
        let deadline = outside.map_or(timeout, |outside| outside.min(timeout)) - MARGIN;

        let hash = log::principal(&principal);
        let arrived = Arrived {
            id: id.clone(),
            path,
            pairs,
            principal,
            engines: Arc::clone(&self.engines),
            access: access.clone(),
            deadline,
        };
        let taken = served.take(request, arrived, self.formats);
        let outcome = match taken {
            Ok(request) => match &served.route.handler {
                Handler::Description => Ok(Answer::bytes(StatusCode::OK, "application/json", self.description())),
                Handler::Function(handler) => {
                    let handler = Arc::clone(handler);
                    let (call, until) = (async move { handler(request).await }, deadline);
                    guarded(call, until).await.unwrap_or_else(|stopped| Err(stopped.into()))
                }
            },
            Err(problem) => Err(problem),
        };
        let (problem, response) = match outcome.and_then(Answer::into_response) {
            Ok(response) => (None, response),
            Err(problem) => (Some(problem.clone()), problem.into_response(&id)),
        };
        let response = with_defaults(response);
        let entry = log::Entry {
            system: self.system.name,
            route: &served.route,
            id: &id,
            status: response.status(),
            latency: started.elapsed(),
            performed: &access.performed(),
            principal: hash.as_deref(),
            problem: problem.as_ref(),
        };
        entry.write();
        (self.metrics)(&entry.metrics(self.now_millis()));
        response
    }

    /// Calls an event handler: streams, objects, schedules. Payload and answer are Lambda's JSON.
    pub async fn event(&self, handler: &str, payload: Bytes, deadline: Instant) -> Result<Bytes, EventFailure> {
        let started = Instant::now();
        let Some(declared) = self.handlers.iter().find(|own| own.name == handler) else {
            return Err(EventFailure::new(format_args!("there is no event handler `{handler}`")));
        };
        let deadline = deadline.min(started + declared.timeout);
        let event = Event::new(&self.engines, declared, payload, deadline);
        let (call, ran) = (Arc::clone(&declared.handler), event.clone());
        let outcome = guarded(async move { call(ran).await }, deadline - MARGIN)
            .await
            .unwrap_or_else(|stopped| Err(EventFailure(stopped.to_string())));
        let entry = log::EventEntry {
            system: self.system.name,
            handler: declared.name,
            latency: started.elapsed(),
            performed: &event.access().performed(),
            failure: outcome.as_ref().err(),
            batch: event.reported(),
        };
        entry.write();
        (self.metrics)(&entry.metrics(self.now_millis()));
        outcome
    }

    /// The API description as it is served, made once.
    fn description(&self) -> Bytes {
        let make = || Bytes::from(openapi::describe(self.system.name, self.routes()).to_string());
        self.description.get_or_init(make).clone()
    }

    fn now_millis(&self) -> i64 {
        self.engines.clock.micros() / 1000
    }

    fn build_router(&mut self) {
        self.unroutable.clear();
        self.router = matchit::Router::new();
        let mut templates: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
        for (index, served) in self.served.iter().enumerate() {
            let route = &served.route;
            let methods = templates.entry(&route.template).or_default();
            if methods.insert(route.method.to_string(), index).is_some() {
                self.unroutable.push(format!("{route:?} is not the only route of its method and path"));
            }
        }
        for (template, methods) in templates {
            if let Err(error) = self.router.insert(template, methods) {
                self.unroutable.push(format!("`{template}` cannot be routed: {error}"));
            }
        }
    }
}

impl fmt::Debug for App {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("App").field("system", &self.system.name).field("routes", &self.served).finish()
    }
}

/// A handler that did not come to its end.
enum Stopped {
    Panicked,
    OutOfTime,
}

/// Runs a handler as a task of its own, so that one which panics or computes without end is cut off all the same.
async fn guarded<T: Send + 'static>(
    call: impl Future<Output = T> + Send + 'static,
    until: Instant,
) -> Result<T, Stopped> {
    let mut task = tokio::spawn(call.in_current_span());
    match tokio::time::timeout_at(until, &mut task).await {
        Ok(Ok(outcome)) => Ok(outcome),
        Ok(Err(_)) => Err(Stopped::Panicked),
        Err(_) => {
            task.abort();
            Err(Stopped::OutOfTime)
        }
    }
}

impl From<Stopped> for Problem {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Panicked => Self::internal(stopped),
            Stopped::OutOfTime => Self::out_of_time().caused_by(stopped),
        }
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Panicked => "the handler panicked",
            Self::OutOfTime => "the handler was stopped before its function's timeout",
        })
    }
}

/// What API Gateway answers when no route matches, byte for byte; wrong methods are unknown routes to it as well.
pub fn not_found() -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(br#"{"message":"Not Found"}"#));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Nobody but the caller may keep an answer whose handler says nothing else.
fn with_defaults(mut response: Response<Bytes>) -> Response<Bytes> {
    let headers = response.headers_mut();
    let entry = headers.entry(header::CACHE_CONTROL);
    entry.or_insert(HeaderValue::from_static("private, no-store"));
    headers.entry(header::VARY).or_insert(HeaderValue::from_static("Authorization, Accept"));
    response
}

/// A line to standard output, where CloudWatch reads metrics. That nobody listens is no reason to fail.
fn print(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
