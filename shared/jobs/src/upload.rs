//! Jobs that begin when their file has arrived in the bucket.

use bytes::Bytes;
use web::notification::arrived;
use web::{Event, EventFailure};

use crate::queue::resume_soon;
use crate::turn::carry_on;
use crate::{Lease, Workers};

/// Handles the notification of uploaded files: starts their jobs, and works on each until the deadline. A repeated
/// notification changes nothing.
pub async fn start_uploaded<J: Workers>(event: Event) -> Result<Bytes, EventFailure> {
    let prefix = J::UPLOADS.map_or("", |uploads| uploads.prefix);
    for object in arrived(&event.payload).map_err(EventFailure::new)? {
        let Some(id) = object.strip_prefix(prefix).and_then(|name| name.parse().ok()) else { continue };
        let lease = Lease::<J>::acquire_uploaded(event.access(), id).await.map_err(EventFailure::new)?;
        if let Some(lease) = lease {
            let job = carry_on(event.access(), lease, event.deadline).await.map_err(EventFailure::new)?;
            resume_soon::<J>(event.access(), id, &job).await.map_err(EventFailure::new)?;
        }
    }
    Ok(Bytes::from_static(b"{}"))
}
