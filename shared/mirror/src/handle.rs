//! The handler of stream records: the event handler `mirror` of every system.

use bytes::Bytes;
use table::Engines;
use table::schema::System;
use tokio::time::Instant;

use crate::documents::{Documents, Shapes};
use crate::engines::Production;
use crate::heartbeat::Heartbeat;
use crate::record::{Tables, records};
use crate::report::Ledger;
use crate::save_heartbeat::save_heartbeat;
use crate::work::{Failure, ProcessedBatch, process_batch};

/// The result of a batch, which may be handled only in part.
#[derive(Clone, Debug)]
pub struct Handled {
    /// The response to Lambda: `{"batchItemFailures":[...]}`.
    pub answer: Bytes,
    pub ledger: Ledger,
    /// The number of bytes that were sent to OpenSearch, before compression.
    pub bytes: usize,
    /// The age of the oldest record, in milliseconds.
    pub lag: i64,
    /// The number of shapes that OpenSearch refused and that were indexed at a coarser detail level.
    pub degraded: usize,
    /// The number of shapes whose object does not exist.
    pub missing: usize,
}

/// Handles Lambda's event of a DynamoDB stream. Applies its records to every generation, and returns the record from
/// which Lambda must deliver them again. Records that are not handled by the deadline are reported.
pub async fn handle(
    documents: &impl Documents,
    shapes: &impl Shapes,
    engines: &Engines,
    payload: &[u8],
    deadline: Instant,
) -> Result<Handled, Failure> {
    let system = documents.tables();
    let tables = Tables::new(system, &engines.config);
    let received = engines.clock.micros() / 1000;
    let processed = match process(documents, shapes, engines, (&tables, payload), deadline).await {
        Ok(processed) => processed,
        Err(failure) => {
            let times = (received, engines.clock.micros() / 1000);
            save_heartbeat(engines, system, &failed(&tables, payload, times, failure.to_string())).await;
            return Err(failure);
        }
    };
    log(system.name, &processed);
    if let Some(heartbeat) = &processed.heartbeat {
        save_heartbeat(engines, system, heartbeat).await;
    }
    let ProcessedBatch { answer, ledger, tally, lag, .. } = processed;
    Ok(Handled {
        answer: answer.into(),
        ledger,
        bytes: tally.bytes,
        lag,
        degraded: tally.degraded,
        missing: tally.missing,
    })
}

/// Saves the heartbeat of an invocation that was stopped, or that has panicked, before it could save one itself.
pub async fn save_failure(engines: &Engines, system: &'static System, payload: &[u8], reason: &str) {
    let now = engines.clock.micros() / 1000;
    let heartbeat = failed(&Tables::new(system, &engines.config), payload, (now, now), reason.to_owned());
    save_heartbeat(engines, system, &heartbeat).await;
}

async fn process(
    documents: &impl Documents,
    shapes: &impl Shapes,
    engines: &Engines,
    (tables, payload): (&Tables, &[u8]),
    deadline: Instant,
) -> Result<ProcessedBatch, Failure> {
    let ports = Production::new(engines, documents.tables(), shapes, Some(deadline))?;
    let payload = str::from_utf8(payload).map_err(|_| Failure::NotText)?;
    process_batch(&ports, documents, tables, payload).await
}

/// Returns the heartbeat of an invocation that failed, without which the last one would say that all is well. `times` are
/// when it was received and when it failed, in milliseconds.
fn failed(tables: &Tables, payload: &[u8], times: (i64, i64), reason: String) -> Heartbeat {
    let records = str::from_utf8(payload).ok().and_then(|payload| records(payload).ok()).unwrap_or_default();
    let table = records.first().and_then(|record| record.table(tables, None).ok());
    let oldest = records.iter().filter_map(|record| record.created).min();
    let oldest = oldest.map(|created| created.saturating_mul(1000));
    Heartbeat::of_failure(table.map(|table| table.name), oldest, times, reason)
}

/// Logs the faults of a batch. Its counts are in the metrics.
fn log(system: &str, processed: &ProcessedBatch) {
    let ProcessedBatch { ledger, tally, .. } = processed;
    if !ledger.adds_up() {
        tracing::error!(system, ?ledger, "a record of the batch was not counted");
    }
    if let Some(error) = &tally.first_error {
        tracing::warn!(
            system,
            batch.reported = ledger.reported,
            batch.retried = tally.retried,
            error,
            "mirror batch reported or retried records"
        );
    }
    if tally.missing > 0 {
        tracing::error!(system, shapes.missing = tally.missing, "objects of shapes do not exist");
    }
}
