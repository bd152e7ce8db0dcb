//! The body of a system's event handler `mirror`.

use bytes::Bytes;
use table::Engines;
use tokio::time::Instant;

use crate::documents::{Documents, Shapes};
use crate::engines::Production;
use crate::record::Tables;
use crate::report::Ledger;
use crate::rules::AsWritten;
use crate::work::{Failure, Worked, work};

/// A batch, handled as far as its time and the engines allowed.
#[derive(Clone, Debug)]
pub struct Handled {
    /// What Lambda is answered: `{"batchItemFailures":[...]}`.
    pub answer: Bytes,
    pub ledger: Ledger,
    /// Sent to search, before compression.
    pub bytes: usize,
    /// Age of the oldest record, in milliseconds.
    pub lag: i64,
    /// Shapes that OpenSearch refused and that were given more coarsely.
    pub degraded: usize,
    /// Shapes whose object is really gone.
    pub missing: usize,
}

/// Handles Lambda's event of a DynamoDB stream: brings every generation up to its records, and says with which record
/// the source has to begin again. What does not fit the time up to the deadline is reported.
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
    let worked = work::<AsWritten, _, _>(&ports, documents, &tables, payload).await?;
    log(system.name, &worked);
    let Worked { answer, ledger, tally, lag } = worked;
    Ok(Handled {
        answer: answer.into(),
        ledger,
        bytes: tally.bytes,
        lag,
        degraded: tally.degraded,
        missing: tally.missing,
    })
}

/// What a batch met is in its metrics; here is said what went wrong.
fn log(system: &str, worked: &Worked) {
    let Worked { ledger, tally, .. } = worked;
    if !ledger.adds_up() {
        tracing::error!(system, ?ledger, "a record of the batch was passed over");
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
        tracing::error!(system, shapes.missing = tally.missing, "objects of shapes are gone");
    }
}
