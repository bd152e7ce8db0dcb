//! One metrics line per request, and per event that was not idle, in CloudWatch's embedded metric format. The names never
//! change, since dashboards and alarms use them.
//!
//! `System` is the system's name after the deployment's prefix.
//!
//! | line | dimensions | metrics |
//! |---|---|---|
//! | request | `System`; with metrics per route, `System`, `Operation` | `Latency` (ms), `ReadUnits`, `WriteUnits`, `ClientErrors`, `ServerErrors`; properties `Operation`, `Status` |
//! | event | `System`, `Operation` | `Latency` (ms), `ReadUnits`, `WriteUnits`, `Failures` |
//! | batch, in its event's line | same | `Records`, `Applied`, `Superseded`, `Stamped`, `Ignored`, `Quarantined`, `Retried`, `ShapesDegraded`, `ShapesMissing`, `Bytes`, `Lag` (ms) |
//! | finished audit of search, in its event's line | same | `Audits` (1), `AuditedDocuments`, `Differences`, `ShapesMissing` |

use std::time::Duration;

use serde_json::{Map, Value, json};
use table::access::Performed;

pub const NAMESPACE: &str = "Cairn";

/// The results of one stream batch. Each record is counted by one of the six fields from `applied` to `retried`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Batch {
    pub records: u64,
    /// Records whose document was written, replaced or hidden.
    pub applied: u64,
    /// Records older than their document.
    pub superseded: u64,
    /// Records whose item got a new revision; the record of that write is indexed instead.
    pub stamped: u64,
    /// Records of items that never have documents.
    pub ignored: u64,
    /// Records that cannot become a document.
    pub quarantined: u64,
    /// Records that the stream delivers again.
    pub retried: u64,
    /// Shapes that search refused and that were indexed at a coarser detail level.
    pub degraded: u64,
    /// Shapes whose object does not exist.
    pub missing: u64,
    /// Bytes sent to search, before compression.
    pub bytes: u64,
    /// The time from the write of the oldest record to the end of the batch.
    pub lag: Duration,
}

/// The results of an audit of search that has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Documents that were compared.
    pub documents: u64,
    /// Differences between the tables and search, which the audit has repaired if it could.
    pub differences: u64,
    /// Shapes whose object does not exist.
    pub missing_shapes: u64,
}

/// A builder of a metrics line.
#[derive(Debug)]
pub(crate) struct Line {
    dimensions: &'static [&'static str],
    definitions: Vec<Value>,
    members: Map<String, Value>,
}

impl Line {
    /// Starts a line with metrics of the operation.
    pub fn of_operation(system: &str, operation: &str) -> Self {
        Self { dimensions: &["System", "Operation"], ..Self::of_system(system, operation) }
    }

    /// Starts a line with metrics of the system, each of which CloudWatch bills once for all operations.
    pub fn of_system(system: &str, operation: &str) -> Self {
        let mut members = Map::new();
        members.insert("System".into(), system.into());
        members.insert("Operation".into(), operation.into());
        Self { dimensions: &["System"], definitions: Vec::new(), members }
    }

    pub fn property(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.members.insert(name.into(), value.into());
        self
    }

    pub fn metric(mut self, name: &str, unit: &str, value: impl Into<Value>) -> Self {
        self.definitions.push(json!({ "Name": name, "Unit": unit }));
        self.property(name, value)
    }

    pub fn consumed(self, latency: Duration, performed: &[Performed]) -> Self {
        let (read, write) = consumed(performed);
        self.metric("Latency", "Milliseconds", milliseconds(latency)).metric("ReadUnits", "Count", read).metric(
            "WriteUnits",
            "Count",
            write,
        )
    }

    pub fn batch(self, batch: &Batch) -> Self {
        self.metric("Records", "Count", batch.records)
            .metric("Applied", "Count", batch.applied)
            .metric("Superseded", "Count", batch.superseded)
            .metric("Stamped", "Count", batch.stamped)
            .metric("Ignored", "Count", batch.ignored)
            .metric("Quarantined", "Count", batch.quarantined)
            .metric("Retried", "Count", batch.retried)
            .metric("ShapesDegraded", "Count", batch.degraded)
            .metric("ShapesMissing", "Count", batch.missing)
            .metric("Bytes", "Bytes", batch.bytes)
            .metric("Lag", "Milliseconds", milliseconds(batch.lag))
    }

    pub fn audit(self, audit: &Audit) -> Self {
        self.metric("Audits", "Count", 1)
            .metric("AuditedDocuments", "Count", audit.documents)
            .metric("Differences", "Count", audit.differences)
            .metric("ShapesMissing", "Count", audit.missing_shapes)
    }

    /// Returns the line; `millis` is the time in epoch milliseconds.
    pub fn text(self, millis: i64) -> String {
        let mut line = self.members;
        let directive = json!({
            "Namespace": NAMESPACE,
            "Dimensions": [self.dimensions],
            "Metrics": self.definitions,
        });
        line.insert("_aws".into(), json!({ "Timestamp": millis, "CloudWatchMetrics": [directive] }));
        Value::Object(line).to_string()
    }
}

/// Returns the sums of read and write units. They start from 0.0, since the sum of no floats is -0.0.
pub(crate) fn consumed(performed: &[Performed]) -> (f64, f64) {
    performed.iter().fold((0.0, 0.0), |(read, write), call| (read + call.read_units, write + call.write_units))
}

/// Returns milliseconds with a precision of microseconds.
pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_micros() as f64 / 1000.0
}
