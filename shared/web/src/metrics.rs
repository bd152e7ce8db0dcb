//! One metrics line per request and per event that had something to do, in CloudWatch's embedded metric format. The names are fixed:
//! dashboards and alarms are built on them.
//!
//! `System` is the system's name after the deployment's prefix.
//!
//! | line | dimensions | metrics |
//! |---|---|---|
//! | request | `System`; where metrics are kept for each route, `System`, `Operation` | `Latency` (ms), `ReadUnits`, `WriteUnits`, `ClientErrors`, `ServerErrors`; properties `Operation`, `Status` |
//! | event | `System`, `Operation` | `Latency` (ms), `ReadUnits`, `WriteUnits`, `Failures` |
//! | batch, in its event's line | same | `Records`, `Applied`, `Superseded`, `Stamped`, `Ignored`, `Quarantined`, `Retried`, `ShapesDegraded`, `ShapesMissing`, `Bytes`, `Lag` (ms) |

use std::time::Duration;

use serde_json::{Map, Value, json};
use table::access::Performed;

pub const NAMESPACE: &str = "Cairn";

/// What became of the records of one stream batch. Each record is in one of the six classes up to `retried`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Batch {
    pub records: u64,
    /// A document was written, replaced or hidden.
    pub applied: u64,
    /// The index had a newer one already.
    pub superseded: u64,
    /// Given a new revision in the table, whose own record does the rest.
    pub stamped: u64,
    /// Of items that never have documents.
    pub ignored: u64,
    pub quarantined: u64,
    /// Left for the next delivery.
    pub retried: u64,
    /// Shapes that search refused and that were given more coarsely.
    pub degraded: u64,
    /// Shapes whose object is gone.
    pub missing: u64,
    /// Sent to search, before compression.
    pub bytes: u64,
    /// From the oldest record's write to the batch's end.
    pub lag: Duration,
}

/// A metrics line in the making.
#[derive(Debug)]
pub(crate) struct Line {
    dimensions: &'static [&'static str],
    definitions: Vec<Value>,
    members: Map<String, Value>,
}

impl Line {
    /// Of this operation's own metrics.
    pub fn of_operation(system: &str, operation: &str) -> Self {
        Self { dimensions: &["System", "Operation"], ..Self::of_system(system, operation) }
    }

    /// Of the system's metrics, each of which CloudWatch bills once whatever its operations are.
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

    /// The line as CloudWatch reads it; `millis` is the time in epoch milliseconds.
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

/// Read and write units, summed from 0: the sum of no floats is -0.
pub(crate) fn consumed(performed: &[Performed]) -> (f64, f64) {
    performed.iter().fold((0.0, 0.0), |(read, write), call| (read + call.read_units, write + call.write_units))
}

/// To the microsecond, which is as exact as it is true.
pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_micros() as f64 / 1000.0
}
