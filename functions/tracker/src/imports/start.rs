//! The handler `startImport`: starts the import of a file that has arrived. It leaves a running import alone, so a repeated
//! event changes nothing.

use bytes::Bytes;
use web::notification::arrived;
use web::{Event, EventFailure};

use super::PREFIX;
use crate::names::WorkId;
use crate::work::{Held, carry_on};

/// Works on each import until the deadline. `runWork` resumes the rest.
pub async fn start(event: Event) -> Result<Bytes, EventFailure> {
    for object in arrived(&event.payload).map_err(EventFailure::new)? {
        let Some(id) = object.strip_prefix(PREFIX).and_then(WorkId::parse_id) else { continue };
        if let Some(held) = Held::start(event.access(), id).await.map_err(EventFailure::new)? {
            carry_on(event.access(), held, event.deadline).await.map_err(EventFailure::new)?;
        }
    }
    Ok(Bytes::from_static(b"{}"))
}
