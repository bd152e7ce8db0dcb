//! One log line per request and per event, with dotted field names.
//!
//! | field | line | meaning |
//! |---|---|---|
//! | `system`, `operation` | both | the handler |
//! | `request.id` | request | `instance` of its problem |
//! | `trace.id` | both | the `x-amzn-trace-id` of its requests to engines |
//! | `http.method`, `http.route`, `http.status` | request | the route's template, never the path |
//! | `latency.ms` | both | milliseconds |
//! | `consumed.read`, `consumed.write` | both | capacity units of DynamoDB |
//! | `consumed.patterns` | both | the same by access pattern: `item 0.5 R, createItem 18 W` |
//! | `principal.hash` | request | the first 16 hex digits of SHA-256 of the caller's `{idpid}`; empty for anonymous |
//! | `problem.slug`, `problem.cause` | request | the reason of a failure; only a 5xx, a conflict and a throttled request have a cause |
//! | `batch.records`, `batch.retried`, `batch.quarantined` | event | counts of a stream batch |
//! | `failure` | event | the reason of a failed invocation |
//! | `panic.place`, `panic.message` | a line before that of its request or event | the position and the message of a panic |
//!
//! The length of a line is bounded: consumed units are summed by access pattern, and a long reason is truncated.

use std::panic;
use std::time::Duration;

use http::StatusCode;
use sha2::{Digest, Sha256};
use table::access::Performed;
use tracing_subscriber::EnvFilter;

use crate::event::EventFailure;
use crate::metrics::{Audit, Batch, Line, consumed, milliseconds};
use crate::{Principal, Problem, Route};

/// The most bytes of a reason in a log line, since the responses of engines may be long.
const MAX_REASON_BYTES: usize = 4096;

/// Writes log lines as JSON to standard output, where CloudWatch reads them; `RUST_LOG` filters them. A panic is logged as
/// well. A subscriber that is set already stays.
pub fn to_standard_output() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt().json().flatten_event(true).with_env_filter(filter);
    if lines.try_init().is_ok() {
        panic::set_hook(Box::new(|panic| {
            let place = panic.location().map_or_else(String::new, ToString::to_string);
            tracing::error!(panic.place = place, panic.message = panic.payload_as_str(), "panic");
        }));
    }
}

/// A request with its response.
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
    pub audit: Option<Audit>,
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
            principal.hash = self.principal.unwrap_or(""),
            problem.slug = self.problem.map_or("", |problem| problem.kind().slug),
            problem.cause = self.problem.and_then(Problem::cause).map_or("", truncated),
            "request"
        );
    }

    /// Returns the metrics line. `deployment` is the system with the deployment's prefix, since several deployments may
    /// share an account.
    pub fn metrics(&self, deployment: &str, per_route: bool, millis: i64) -> String {
        let new = if per_route { Line::of_operation } else { Line::of_system };
        new(deployment, self.route.name())
            .property("Status", self.status.as_u16())
            .consumed(self.latency, self.performed)
            .metric("ClientErrors", "Count", u8::from(self.status.is_client_error()))
            .metric("ServerErrors", "Count", u8::from(self.status.is_server_error()))
            .text(millis)
    }
}

impl EventEntry<'_> {
    /// Writes the line of the event: at the level debug if there was nothing to do, since schedules are frequent.
    pub fn write(&self, is_idle: bool) {
        let (read, write) = consumed(self.performed);
        let batch = self.batch.unwrap_or_default();
        // The level of a line is a constant.
        macro_rules! line {
            ($level:ident) => {
                tracing::$level!(
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
                    failure = self.failure.map_or("", |failure| truncated(&failure.0)),
                    "event"
                )
            };
        }
        if is_idle { line!(debug) } else { line!(info) }
    }

    pub fn metrics(&self, deployment: &str, millis: i64) -> String {
        let line = Line::of_operation(deployment, self.handler).consumed(self.latency, self.performed).metric(
            "Failures",
            "Count",
            u8::from(self.failure.is_some()),
        );
        let line = match &self.batch {
            Some(batch) => line.batch(batch),
            None => line,
        };
        match &self.audit {
            Some(audit) => line.audit(audit).text(millis),
            None => line.text(millis),
        }
    }
}

/// Returns the hash that identifies a caller in logs: the first 16 hex digits of SHA-256 of the `{idpid}`.
pub(crate) fn principal(principal: &Principal) -> Option<String> {
    let known = principal.known()?;
    let digest = Sha256::digest(known.idpid().as_str());
    Some(digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// Truncates a long reason.
fn truncated(reason: &str) -> &str {
    reason.get(..reason.floor_char_boundary(MAX_REASON_BYTES)).unwrap_or(reason)
}

/// Returns the consumed units of each pattern, in the order of first use.
fn by_pattern(performed: &[Performed]) -> String {
    let mut patterns: Vec<(&str, f64, f64)> = Vec::new();
    for call in performed.iter().filter(|call| call.read_units + call.write_units > 0.0) {
        match patterns.iter_mut().find(|(name, ..)| *name == call.pattern) {
            Some((_, read, write)) => (*read, *write) = (*read + call.read_units, *write + call.write_units),
            None => patterns.push((call.pattern, call.read_units, call.write_units)),
        }
    }
    let text = |(name, read, write): &(&str, f64, f64)| {
        let units = [(*read, "R"), (*write, "W")];
        let units = units.iter().filter(|(units, _)| *units > 0.0).map(|(units, unit)| format!(" {units} {unit}"));
        format!("{name}{}", units.collect::<String>())
    };
    patterns.iter().map(text).collect::<Vec<_>>().join(", ")
}
