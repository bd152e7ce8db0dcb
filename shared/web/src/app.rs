//! An app: the routes and event handlers of a system, for Lambda and the local gateway alike.

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
use table::{Access, AccessPattern, Engines, Limit, Trace};
use tokio::time::Instant;

use crate::endpoint::{Endpoint, MatchedPath, Unchecked};
use crate::event::{Event, EventFailure, EventHandler};
use crate::format::Format;
use crate::issuer::OwnIssuer;
use crate::route::{Route, Serve};
use crate::trust::Trust;
use crate::{Answer, Context, Health, Json, Problem, built_in, guard, log, openapi, problem};

/// The time between the end of a handler and its function's timeout, so that the app can still respond.
pub const MARGIN: Duration = Duration::from_millis(500);

/// The id that the gateway gave a request, as an extension of the request. Without it the app creates one.
#[derive(Clone, Debug)]
pub struct RequestId(pub String);

/// The time when the caller of the app stops waiting, as an extension of the request.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(pub Instant);

/// One system's routes and event handlers.
pub struct App {
    system: &'static System,
    engines: Arc<Engines>,
    trust: Arc<Trust>,
    own_issuer: Option<OwnIssuer>,
    limits: &'static [Limit],
    formats: &'static [Format],
    endpoints: Vec<Arc<Endpoint>>,
    /// The one handler that is served, if not all are.
    only: Option<&'static str>,
    handlers: Vec<EventHandler>,
    /// The routes by path template and method, as indexes into `endpoints`.
    router: matchit::Router<BTreeMap<String, usize>>,
    description: OnceLock<Bytes>,
    metrics: Arc<dyn Fn(&str) + Send + Sync>,
    unroutable: Vec<String>,
}

/// The result of routing a request.
enum Routed {
    Found(Arc<Endpoint>, MatchedPath),
    /// The path has routes of these methods only.
    MethodNotAllowed(Vec<String>),
    NotFound,
}

/// `_HANDLER` names no route or event handler of the system.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system `{system}` has no handler `{handler}`; it has {known}")]
pub struct UnknownHandler {
    pub system: &'static str,
    pub handler: String,
    pub known: String,
}

impl App {
    /// Creates a system's app. The app adds `GET /{system}/openapi.json` and `GET /{system}/health`.
    pub fn new(
        engines: Arc<Engines>,
        system: &'static System,
        routes: Vec<Route>,
        handlers: Vec<EventHandler>,
    ) -> Self {
        let mut routes = routes;
        routes.extend(built_in::routes(system.name));
        let trust = Arc::new(Trust::new(&engines.config.issuers, None));
        let endpoints = routes.into_iter().map(|route| Arc::new(Endpoint::new(route))).collect();
        let mut app = Self {
            system,
            engines,
            trust,
            own_issuer: None,
            limits: &[],
            formats: &[],
            endpoints,
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

    /// Also accepts the tokens that the system itself issues.
    pub fn issuing(mut self, own: OwnIssuer) -> Self {
        self.trust = Arc::new(Trust::new(&self.engines.config.issuers, None).with_own(&own, &self.engines));
        self.own_issuer = Some(own);
        self
    }

    /// Checks the system's health by this handler, which may use these access patterns. Without it the check only says
    /// that the process responds.
    pub fn health<F, Fut>(mut self, patterns: &'static [&'static AccessPattern], check: F) -> Self
    where
        F: Fn(Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Json<Health>, Problem>> + Send + 'static,
    {
        if let Some(built_in) = self.endpoints.iter_mut().find(|endpoint| endpoint.route.name == built_in::HEALTH) {
            *built_in = Arc::new(Endpoint::new(built_in::health_by(self.system.name, patterns, check)));
        }
        self
    }

    /// Adds formats that the system's schemas name besides those of JSON Schema.
    pub fn formats(mut self, formats: &'static [Format]) -> Self {
        self.formats = formats;
        self
    }

    /// Sends the metrics lines to this function instead of standard output, where CloudWatch reads them.
    pub fn metrics_to(mut self, sink: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.metrics = Arc::new(sink);
        self
    }

    /// Limits the app to one route or event handler, like a function that is deployed under its name. The API
    /// description still covers the whole system.
    pub fn only(mut self, handler: &str) -> Result<Self, UnknownHandler> {
        let routes = self.endpoints.iter().map(|endpoint| endpoint.route.name);
        let known: Vec<&'static str> = routes.chain(self.handlers.iter().map(|handler| handler.name)).collect();
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

    /// Declares the limits that a deployment can change.
    pub fn limits(mut self, limits: &'static [Limit]) -> Self {
        self.limits = limits;
        self
    }

    pub fn declared_limits(&self) -> &'static [Limit] {
        self.limits
    }

    /// Returns the system's own issuer, whose secret each route reads to verify tokens.
    pub fn own_issuer(&self) -> Option<&OwnIssuer> {
        self.own_issuer.as_ref()
    }

    /// Returns every route, the built-in ones last.
    pub fn routes(&self) -> impl Iterator<Item = &Route> {
        self.endpoints.iter().map(|endpoint| &*endpoint.route)
    }

    pub fn event_handlers(&self) -> &[EventHandler] {
        &self.handlers
    }

    /// Returns the errors of all declarations, each as a sentence. A system's tests assert that there are none.
    pub fn misdeclared(&self) -> Vec<String> {
        let mut errors = self.unroutable.clone();
        errors.extend(self.endpoints.iter().flat_map(|endpoint| endpoint.misdeclared(self.formats)));
        errors.extend(openapi::misdeclared(self.routes()));
        errors
    }

    /// Returns the routes that no request can reach, each as a sentence.
    pub(crate) fn unroutable(&self) -> &[String] {
        &self.unroutable
    }

    /// Returns whether a route has the request's path and method. API Gateway forwards only such requests.
    pub fn has_route(&self, request: &http::Request<Bytes>) -> bool {
        matches!(self.route(request), Routed::Found(endpoint, _) if endpoint.route.method == *request.method())
    }

    /// Handles a request of Lambda or the local gateway. An unknown path gets the response of API Gateway; every other
    /// failure is a problem. `HEAD` gets the response to `GET` without the body.
    pub async fn handle(&self, request: http::Request<Bytes>) -> Response<Bytes> {
        let started = Instant::now();
        let id = request.extensions().get::<RequestId>().map(|id| id.0.clone());
        let id = id.unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
        let (endpoint, path) = match self.route(&request) {
            Routed::Found(endpoint, path) => (endpoint, path),
            Routed::MethodNotAllowed(methods) => return with_defaults(method_not_allowed(&methods, &id)),
            Routed::NotFound => return not_found(),
        };
        let without_body = *request.method() == Method::HEAD;
        let caller_deadline = request.extensions().get::<Deadline>().map(|deadline| deadline.0);
        let deadline = stop_at(started, endpoint.route.timeout, caller_deadline);
        let trace = self.trace();
        let access = Access::new(Arc::clone(&self.engines), endpoint.route.patterns);
        let caller = Arc::<OnceLock<String>>::default();

        let (own, formats) = (Arc::clone(&endpoint), self.formats);
        let (trust, engines, logged) = (Arc::clone(&self.trust), Arc::clone(&self.engines), Arc::clone(&caller));
        let (instance, permitted) = (id.clone(), access.clone());
        let description = matches!(endpoint.route.serve, Serve::Description).then(|| self.description());
        let call = async move {
            let principal = trust.authenticate(request.headers(), &engines).await?;
            log::principal(&principal).map(|hash| logged.set(hash));
            let unchecked = Unchecked { id: instance, path, principal, engines, access: permitted, deadline };
            let context = own.check(request, unchecked, formats)?;
            match (&own.route.serve, description) {
                (Serve::Handler(handler), _) => handler(context).await,
                (Serve::Description, Some(json)) => Ok(Answer::bytes(StatusCode::OK, "application/json", json)),
                (Serve::Description, None) => {
                    table::never!("no API description for {:?}", own.route);
                    Err(Problem::internal("no API description"))
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
            route: &endpoint.route,
            id: &id,
            trace: trace.as_str(),
            status: response.status(),
            latency: started.elapsed(),
            performed: &access.performed(),
            principal: caller.get().map(String::as_str),
            problem: problem.as_ref(),
        };
        entry.write();
        let per_route = self.engines.config.route_metrics;
        (self.metrics)(&entry.metrics(&self.deployment(), per_route, self.now_millis()));
        if without_body { response.map(|_| Bytes::new()) } else { response }
    }

    /// Calls the handler of an event: stream records, an object, a message, a schedule or a deployment. Payload and response are
    /// Lambda's JSON.
    pub async fn event(&self, handler: &str, payload: Bytes, deadline: Instant) -> Result<Bytes, EventFailure> {
        let started = Instant::now();
        let Some(declared) = self.handlers.iter().find(|own| own.name == handler) else {
            return Err(EventFailure::new(format_args!(
                "the system `{}` has no event handler `{handler}`",
                self.system.name
            )));
        };
        let deadline = deadline.min(started + declared.timeout);
        let event = Event::new(&self.engines, declared, payload, deadline);
        let (call, argument) = (Arc::clone(&declared.handler), event.clone());
        let until = stop_at(started, declared.timeout, Some(deadline));
        let trace = self.trace();
        let outcome = guard::run(trace.clone().scope(async move { call(argument).await }), until).await;
        let entry = log::EventEntry {
            system: self.system.name,
            handler: declared.name,
            trace: trace.as_str(),
            latency: started.elapsed(),
            performed: &event.access().performed(),
            failure: outcome.as_ref().err(),
            batch: event.reported(),
            audit: event.reported_audit(),
        };
        let is_idle = outcome.is_ok() && event.was_idle();
        entry.write(is_idle);
        if !is_idle {
            (self.metrics)(&entry.metrics(&self.deployment(), self.now_millis()));
        }
        outcome
    }

    /// Finds the route of a request and decodes its path.
    fn route(&self, request: &http::Request<Bytes>) -> Routed {
        let path = percent_decode_str(request.uri().path()).decode_utf8().map(Cow::into_owned);
        let Ok(path) = path else { return Routed::NotFound };
        let Ok(matched) = self.router.at(&path) else { return Routed::NotFound };
        let method = if *request.method() == Method::HEAD { &Method::GET } else { request.method() };
        let Some(endpoint) = matched.value.get(method.as_str()).and_then(|index| self.endpoints.get(*index)) else {
            return Routed::MethodNotAllowed(matched.value.keys().cloned().collect());
        };
        let parameters = matched.params.iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
        Routed::Found(Arc::clone(endpoint), MatchedPath { path, parameters })
    }

    /// Returns the API description, which is generated once.
    fn description(&self) -> Bytes {
        let generate = || {
            let description = openapi::describe(self.system.name, self.routes());
            Bytes::from(openapi::Ordered(&description).to_string())
        };
        self.description.get_or_init(generate).clone()
    }

    /// Returns the trace of the caller of the app, or a new one.
    fn trace(&self) -> Trace {
        Trace::current().unwrap_or_else(|| Trace::new(&self.engines.clock))
    }

    /// Returns the name of the deployed system in metrics.
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
        let is_served = |endpoint: &&Arc<Endpoint>| self.only.is_none_or(|name| endpoint.route.name == name);
        for (index, endpoint) in self.endpoints.iter().enumerate().filter(|(_, endpoint)| is_served(endpoint)) {
            let route = &endpoint.route;
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
        formatter.debug_struct("App").field("system", &self.system.name).field("routes", &self.endpoints).finish()
    }
}

/// Returns the time when a handler is stopped: before its function's timeout and before the caller's deadline.
fn stop_at(started: Instant, timeout: Duration, caller_deadline: Option<Instant>) -> Instant {
    let end = started + timeout;
    caller_deadline.map_or(end, |deadline| deadline.min(end)).checked_sub(MARGIN).unwrap_or(started)
}

/// Returns 405 with the methods of the path.
fn method_not_allowed(methods: &[String], id: &str) -> Response<Bytes> {
    let head = methods.iter().any(|method| method == "GET").then_some("HEAD");
    let allowed = methods.iter().map(String::as_str).chain(head).collect::<Vec<_>>().join(", ");
    let problem = problem::METHOD_NOT_ALLOWED.because(format!("This path has no such method. It allows {allowed}."));
    problem.header(header::ALLOW, allowed).into_response(id)
}

/// Returns the response of API Gateway to a request without a route, byte for byte. A wrong method is such a request.
pub fn not_found() -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(br#"{"message":"Not Found"}"#));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Sets the default headers of a response: only the caller may cache it, and its content type is to be believed.
fn with_defaults(mut response: Response<Bytes>) -> Response<Bytes> {
    let headers = response.headers_mut();
    let entry = headers.entry(header::CACHE_CONTROL);
    entry.or_insert(HeaderValue::from_static("private, no-store"));
    headers.entry(header::VARY).or_insert(HeaderValue::from_static("Authorization, Accept"));
    // What users have written is never to be taken for markup or a script.
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Writes a line to standard output, where CloudWatch reads metrics. A closed output is no failure.
fn print(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
