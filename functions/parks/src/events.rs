//! What calls the system besides HTTP: records of its table's stream, and files that have arrived.

use std::time::Duration;

use bytes::Bytes;
use web::{Batch, Event, EventFailure, EventHandler};

use crate::access::{CHECK_UPLOAD, STORE_SHAPE};
use crate::documents::{BucketShapes, Parks, SHAPE};
use crate::uploads::check_upload;

pub fn handlers() -> Vec<EventHandler> {
    vec![
        EventHandler::new("mirror", mirror).patterns(&[&SHAPE]).timeout(Duration::from_secs(60)),
        EventHandler::new("checkUpload", check_upload)
            .patterns(&[&CHECK_UPLOAD, &STORE_SHAPE])
            .timeout(Duration::from_secs(60)),
    ]
}

/// Brings search up to a batch of stream records.
async fn mirror(event: Event) -> Result<Bytes, EventFailure> {
    let shapes = BucketShapes::new(event.access().clone());
    let handled = mirror::handle(&Parks, &shapes, event.engines(), &event.payload, event.deadline)
        .await
        .map_err(EventFailure::new)?;
    let ledger = &handled.ledger;
    event.report(Batch {
        records: ledger.records as u64,
        applied: ledger.applied as u64,
        superseded: ledger.superseded as u64,
        stamped: ledger.stamped as u64,
        ignored: ledger.ignored as u64,
        quarantined: ledger.quarantined as u64,
        retried: handled.retried as u64,
        bytes: handled.bytes as u64,
        degraded: handled.degraded as u64,
        missing: handled.missing as u64,
        lag: Duration::from_millis(handled.lag.try_into().unwrap_or_default()),
    });
    Ok(handled.answer)
}
