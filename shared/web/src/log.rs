//! One log line per request and per event, with dotted field names.
//!
//! | field | of | what |
//! |---|---|---|
//! | `system`, `operation` | both | which handler |
//! | `request.id` | request | `instance` of its problem |
//! | `trace.id` | both | the `x-amzn-trace-id` that its requests to engines carry |
//! | `http.method`, `http.route`, `http.status` | request | the route's template, never the path |
//! | `latency.ms` | both | in milliseconds |
//! | `consumed.read`, `consumed.write` | both | DynamoDB's capacity units |
//! | `consumed.patterns` | both | the same by access pattern: `item 0.5 R, createItem 18 W` |
//! | `principal.hash` | request | the first 16 hex digits of SHA-256 of the caller's `{idpid}`; empty for anonymous |
//! | `problem.slug`, `problem.cause` | request | why it failed; causes are of a 5xx only |
//! | `batch.records`, `batch.retried`, `batch.quarantined` | event | of a stream batch |
//! | `failure` | event | why the invocation failed |
//! | `panic.place`, `panic.message` | a line before that of its request or event | where a handler panicked, and with what |
//!
//! A line stays short however long the work was: what was consumed is summed by access pattern, and a reason is cut.

use std::panic;
use std::time::Duration;

use http::StatusCode;
use sha2::{Digest, Sha256};
use table::access::Performed;
use tracing_subscriber::EnvFilter;

use crate::event::EventFailure;
use crate::metrics::{Batch, Line, consumed, milliseconds};
use crate::{Principal, Problem, Route};

/// The most of a reason that is told, in bytes: engines may answer with pages.
const REASON: usize = 4096;

/// Writes log lines as JSON to standard output, as CloudWatch reads them; `RUST_LOG` filters them. Where a handler
/// panicked is told in such a line, too. What has been set up before stays.
pub fn to_standard_output() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt().json().flatten_event(true).with_env_filter(filter);
    if lines.try_init().is_ok() {
        panic::set_hook(Box::new(|panic| {
            let place = panic.location().map(ToString::to_string).unwrap_or_default();
            tracing::error!(panic.place = place, panic.message = panic.payload_as_str(), "panic");
        }));
    }
}

/// A request that has been answered.
pub(crate) struct Entry<'a> {
    pub system: &'a str,
    pub route: &'a Route,
    pub id: &'a str,
    pub trace: &'a str,
    pub status: StatusCode,
    pub latency: Duration,
    pub performed: &'a [Performed],
    pub principal: Option<&'a str>,
    pub problem: Option<&'a Problem>,
}

/// An event that has been handled.
pub(crate) struct EventEntry<'a> {
    pub system: &'a str,
    pub handler: &'a str,
    pub trace: &'a str,
    pub latency: Duration,
    pub performed: &'a [Performed],
    pub failure: Option<&'a EventFailure>,
    pub batch: Option<Batch>,
}

impl Entry<'_> {
    pub fn write(&self) {
        let (read, write) = consumed(self.performed);
        tracing::info!(
            system = self.system,
            operation = self.route.name(),
            request.id = self.id,
            trace.id = self.trace,
            http.method = self.route.method().as_str(),
            http.route = self.route.template(),
            http.status = self.status.as_u16(),
            latency.ms = milliseconds(self.latency),
            consumed.read = read,
            consumed.write = write,
            consumed.patterns = by_pattern(self.performed),
            principal.hash = self.principal.unwrap_or_default(),
            problem.slug = self.problem.map_or("", |problem| problem.kind().slug),
            problem.cause = self.problem.and_then(Problem::cause).map_or("", cut),
            "request"
        );
    }

    /// `deployment` is the system with the deployment's prefix: several may share an account.
    pub fn metrics(&self, deployment: &str, of_each_route: bool, millis: i64) -> String {
        let new = if of_each_route { Line::of_operation } else { Line::of_system };
        new(deployment, self.route.name())
            .property("Status", self.status.as_u16())
            .consumed(self.latency, self.performed)
            .metric("ClientErrors", "Count", u8::from(self.status.is_client_error()))
            .metric("ServerErrors", "Count", u8::from(self.status.is_server_error()))
            .text(millis)
    }
}

impl EventEntry<'_> {
    pub fn write(&self) {
        let (read, write) = consumed(self.performed);
        let batch = self.batch.unwrap_or_default();
        tracing::info!(
            system = self.system,
            operation = self.handler,
            trace.id = self.trace,
            latency.ms = milliseconds(self.latency),
            consumed.read = read,
            consumed.write = write,
            consumed.patterns = by_pattern(self.performed),
            batch.records = batch.records,
            batch.retried = batch.retried,
            batch.quarantined = batch.quarantined,
            failure = self.failure.map_or("", |failure| cut(&failure.0)),
            "event"
        );
    }

    pub fn metrics(&self, deployment: &str, millis: i64) -> String {
        let line = Line::of_operation(deployment, self.handler).consumed(self.latency, self.performed).metric(
            "Failures",
            "Count",
            u8::from(self.failure.is_some()),
        );
        match &self.batch {
            Some(batch) => line.batch(batch).text(millis),
            None => line.text(millis),
        }
    }
}

/// A caller as logs know them: the first 16 hex digits of SHA-256 of the `{idpid}`.
pub(crate) fn principal(principal: &Principal) -> Option<String> {
    let known = principal.known()?;
    let digest = Sha256::digest(known.idpid().as_str());
    Some(digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// The begin of a reason.
fn cut(reason: &str) -> &str {
    reason.get(..reason.floor_char_boundary(REASON)).unwrap_or(reason)
}

/// Each pattern that consumed anything, in the order of first use.
fn by_pattern(performed: &[Performed]) -> String {
    let mut patterns: Vec<(&str, f64, f64)> = Vec::new();
    for call in performed.iter().filter(|call| call.read_units + call.write_units > 0.0) {
        match patterns.iter_mut().find(|(name, ..)| *name == call.pattern) {
            Some((_, read, write)) => (*read, *write) = (*read + call.read_units, *write + call.write_units),
            None => patterns.push((call.pattern, call.read_units, call.write_units)),
        }
    }
    let told = |(name, read, write): &(&str, f64, f64)| {
        let units = [(*read, "R"), (*write, "W")];
        let units = units.iter().filter(|(units, _)| *units > 0.0).map(|(units, unit)| format!(" {units} {unit}"));
        format!("{name}{}", units.collect::<String>())
    };
    patterns.iter().map(told).collect::<Vec<_>>().join(", ")
}
