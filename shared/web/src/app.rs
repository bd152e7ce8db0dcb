//! A system as one value: its routes and event handlers, served the same way to Lambda and to the local gateway.

mod prepare;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Response, StatusCode, header};
use percent_encoding::percent_decode_str;
use table::schema::System;
use table::{Access, Engines, Trace};
use tokio::time::Instant;

use crate::event::{Event, EventFailure, EventHandler};
use crate::format::Format;
use crate::intake::{Arrived, Served, Target};
use crate::route::{Route, Serve};
use crate::trust::Trust;
use crate::{Answer, Principal, guard, log, openapi, problem};

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
    trust: Arc<Trust>,
    formats: &'static [Format],
    served: Vec<Arc<Served>>,
    /// The one handler that is served, where it is not all of them.
    only: Option<&'static str>,
    handlers: Vec<EventHandler>,
    /// By path template the routes of each method, as indexes into `served`.
    router: matchit::Router<BTreeMap<String, usize>>,
    description: OnceLock<Bytes>,
    metrics: Arc<dyn Fn(&str) + Send + Sync>,
    unroutable: Vec<String>,
}

/// What a request's path and method lead to.
enum Found {
    Route(Arc<Served>, Target),
    /// The path is known, by these methods.
    OtherMethods(Vec<String>),
    Nothing,
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
        let trust = Arc::new(Trust::new(&engines.config.issuers, None));
        let served = routes.into_iter().map(|route| Arc::new(Served::new(route))).collect();
        let mut app = Self {
            system,
            engines,
            trust,
            formats: &[],
            served,
            only: None,
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
        self.trust = Arc::new(Trust::new(&self.engines.config.issuers, Some(issuers)));
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

    /// The app with one route or event handler only, as a function that is deployed under that name. The API
    /// description stays that of the whole system.
    pub fn only(mut self, handler: &str) -> Result<Self, UnknownHandler> {
        let names = self.served.iter().map(|served| served.route.name).chain(self.handlers.iter().map(|own| own.name));
        let known: Vec<&'static str> = names.collect();
        let Some(name) = known.iter().find(|name| **name == handler) else {
            let known = known.join(", ");
            return Err(UnknownHandler { system: self.system.name, handler: handler.to_owned(), known });
        };
        self.only = Some(name);
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

    /// Whether a route has the request's path and method: only such requests pass an API Gateway.
    pub fn has_route(&self, request: &http::Request<Bytes>) -> bool {
        matches!(self.find(request), Found::Route(served, _) if served.route.method == *request.method())
    }

    /// Answers a request: the same for Lambda and for the local gateway. An unknown path gets what API Gateway answers;
    /// everything else that fails is a problem. `HEAD` is answered as `GET` is, without the body.
    pub async fn handle(&self, request: http::Request<Bytes>) -> Response<Bytes> {
        let started = Instant::now();
        let id = request.extensions().get::<RequestId>().map(|id| id.0.clone());
        let id = id.unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
        let (served, target) = match self.find(&request) {
            Found::Route(served, target) => (served, target),
            Found::OtherMethods(methods) => return with_defaults(not_allowed(&methods, &id)),
            Found::Nothing => return not_found(),
        };
        let without_body = *request.method() == Method::HEAD;
        let outside = request.extensions().get::<Deadline>().map(|deadline| deadline.0);
        let deadline = stop_at(started, served.route.timeout, outside);
        let trace = self.trace();
        let access = Access::new(Arc::clone(&self.engines), served.route.patterns);
        let caller = Arc::<OnceLock<String>>::default();

        let (serving, formats) = (Arc::clone(&served), self.formats);
        let (trust, engines, known) = (Arc::clone(&self.trust), Arc::clone(&self.engines), Arc::clone(&caller));
        let (instance, permitted) = (id.clone(), access.clone());
        let description = matches!(served.route.serve, Serve::Description).then(|| self.description());
        let call = async move {
            let principal = Principal::of(request.headers(), &trust, &engines.clock).await?;
            log::principal(&principal).map(|hash| known.set(hash));
            let arrived = Arrived { id: instance, target, principal, engines, access: permitted, deadline };
            let request = serving.take(request, arrived, formats)?;
            match (&serving.route.serve, description) {
                (Serve::Handler(handler), _) => handler(request).await,
                (Serve::Description, json) => {
                    Ok(Answer::bytes(StatusCode::OK, "application/json", json.unwrap_or_default()))
                }
            }
        };
        let outcome = guard::run(trace.clone().scope(call), deadline).await;

        let (problem, response) = match outcome.and_then(Answer::into_response) {
            Ok(response) => (None, response),
            Err(problem) => (Some(problem.clone()), problem.into_response(&id)),
        };
        let response = with_defaults(response);
        let entry = log::Entry {
            system: self.system.name,
            route: &served.route,
            id: &id,
            trace: trace.as_str(),
            status: response.status(),
            latency: started.elapsed(),
            performed: &access.performed(),
            principal: caller.get().map(String::as_str),
            problem: problem.as_ref(),
        };
        entry.write();
        let of_each_route = self.engines.config.route_metrics;
        (self.metrics)(&entry.metrics(&self.deployment(), of_each_route, self.now_millis()));
        if without_body { response.map(|_| Bytes::new()) } else { response }
    }

    /// Calls an event handler: streams, objects, schedules, deployments. Payload and answer are Lambda's JSON.
    pub async fn event(&self, handler: &str, payload: Bytes, deadline: Instant) -> Result<Bytes, EventFailure> {
        let started = Instant::now();
        let Some(declared) = self.handlers.iter().find(|own| own.name == handler) else {
            return Err(EventFailure::new(format_args!("there is no event handler `{handler}`")));
        };
        let deadline = deadline.min(started + declared.timeout);
        let event = Event::new(&self.engines, declared, payload, deadline);
        let (call, ran) = (Arc::clone(&declared.handler), event.clone());
        let until = stop_at(started, declared.timeout, Some(deadline));
        let trace = self.trace();
        let outcome = guard::run(trace.clone().scope(async move { call(ran).await }), until).await;
        let entry = log::EventEntry {
            system: self.system.name,
            handler: declared.name,
            trace: trace.as_str(),
            latency: started.elapsed(),
            performed: &event.access().performed(),
            failure: outcome.as_ref().err(),
            batch: event.reported(),
        };
        entry.write();
        if outcome.is_err() || !event.was_idle() {
            (self.metrics)(&entry.metrics(&self.deployment(), self.now_millis()));
        }
        outcome
    }

    /// The route of a request, and its path with the parameters in it, decoded.
    fn find(&self, request: &http::Request<Bytes>) -> Found {
        let path = percent_decode_str(request.uri().path()).decode_utf8().map(Cow::into_owned);
        let Ok(path) = path else { return Found::Nothing };
        let Ok(found) = self.router.at(&path) else { return Found::Nothing };
        let asked = if *request.method() == Method::HEAD { &Method::GET } else { request.method() };
        let Some(served) = found.value.get(asked.as_str()).and_then(|index| self.served.get(*index)) else {
            return Found::OtherMethods(found.value.keys().cloned().collect());
        };
        let parameters = found.params.iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
        Found::Route(Arc::clone(served), Target { path, parameters })
    }

    /// The API description as it is served, made once.
    fn description(&self) -> Bytes {
        let make = || {
            let description = openapi::describe(self.system.name, self.routes());
            Bytes::from(openapi::Ordered(&description).to_string())
        };
        self.description.get_or_init(make).clone()
    }

    /// The trace of whoever runs the app, who may have none.
    fn trace(&self) -> Trace {
        Trace::current().unwrap_or_else(|| Trace::new(&self.engines.clock))
    }

    /// What metrics call it.
    fn deployment(&self) -> String {
        format!("{}{}", self.engines.config.prefix, self.system.name)
    }

    fn now_millis(&self) -> i64 {
        self.engines.clock.micros() / 1000
    }

    fn build_router(&mut self) {
        self.unroutable.clear();
        self.router = matchit::Router::new();
        let mut templates: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
        let wanted = |served: &&Arc<Served>| self.only.is_none_or(|name| served.route.name == name);
        for (index, served) in self.served.iter().enumerate().filter(|(_, served)| wanted(served)) {
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

/// When a handler is stopped: before its function's timeout, and before whoever waits for it stops waiting.
fn stop_at(started: Instant, timeout: Duration, outside: Option<Instant>) -> Instant {
    let end = started + timeout;
    outside.map_or(end, |outside| outside.min(end)).checked_sub(MARGIN).unwrap_or(started)
}

/// 405: the path is known by these methods only.
fn not_allowed(methods: &[String], id: &str) -> Response<Bytes> {
    let head = methods.iter().any(|method| method == "GET").then_some("HEAD");
    let allowed = methods.iter().map(String::as_str).chain(head).collect::<Vec<_>>().join(", ");
    let problem = problem::METHOD_NOT_ALLOWED.because(format!("Use one of these: {allowed}."));
    problem.header(header::ALLOW, allowed).into_response(id)
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
