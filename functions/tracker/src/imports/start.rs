//! The handler `startImport`: a file has arrived, and its import begins. One that has begun is left alone, so an event
//! that comes twice changes nothing.

use bytes::Bytes;
use web::notification::arrived;
use web::{Event, EventFailure};

use super::PREFIX;
use crate::names::WorkId;
use crate::work::{Held, carry_on};

/// Works on each import for as long as there is time; the rest is left to `runWork`.
pub async fn start(event: Event) -> Result<Bytes, EventFailure> {
    for object in arrived(&event.payload).map_err(EventFailure::new)? {
        let Some(id) = object.strip_prefix(PREFIX).and_then(WorkId::parse_id) else { continue };
        if let Some(held) = Held::start(event.access(), id).await.map_err(EventFailure::new)? {
            carry_on(event.access(), held, event.deadline).await.map_err(EventFailure::new)?;
        }
    }
    Ok(Bytes::from_static(b"{}"))
}
