//! The handler of stream records: the event handler `mirror` of every system.

use bytes::Bytes;
use table::Engines;
use tokio::time::Instant;

use crate::documents::{Documents, Shapes};
use crate::engines::Production;
use crate::record::Tables;
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
    let ports = Production::new(engines, system, shapes, Some(deadline))?;
    let tables = Tables::new(system, &engines.config);
    let payload = str::from_utf8(payload).map_err(|_| Failure::NotText)?;
    let processed = process_batch(&ports, documents, &tables, payload).await?;
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
