//! A queue by which a job begins at once. A message only shortens the wait: the schedule finds each due job, also one
//! whose message was lost.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use table::{Access, Error};
use web::{Event, EventFailure, Problem};

use crate::turn::carry_on;
use crate::{JobId, JobOf, Jobs, Lease, Workers, due};

/// The body of a message in sample events.
pub const SAMPLE_MESSAGE: &str = r#"{"job":"01890a5d-ac96-774b-bcce-b302099a8057"}"#;

/// A message: this job is due.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    job: JobId,
}

/// Sends a message that begins a job at once. The transaction that creates the job comes first. If sending fails, the
/// schedule begins the job.
pub async fn begin_now<J: Jobs>(access: &Access, id: JobId) {
    let Some(queue) = J::QUEUE else { return };
    match access.queue(queue.pattern, queue.name).send(&Message { job: id }).await {
        Ok(()) => {}
        Err(Error::Undeclared(undeclared)) => table::never!("a job cannot begin at once: {undeclared}"),
        Err(error) => {
            tracing::warn!(job.id = %id, %error, "sending the message of a job failed; the schedule begins it")
        }
    }
}

/// Handles a message: leases its job, and works on it until the deadline. A job that is still open and due then gets
/// another message. A message changes nothing if its job is not due: it has ended, waits or is leased.
pub async fn run_message<J: Workers>(event: Event) -> Result<Bytes, EventFailure> {
    let access = event.access();
    for Message { job: id } in event.messages()? {
        let Some(lease) = Lease::<J>::acquire(access, id).await.map_err(EventFailure::new)? else {
            tracing::debug!(job.id = %id, "the job of a message is not due");
            continue;
        };
        let job = carry_on(access, lease, event.deadline).await.map_err(EventFailure::new)?;
        resume_soon::<J>(access, id, &job).await.map_err(EventFailure::new)?;
    }
    Ok(Bytes::from_static(b"{}"))
}

/// Sends another message for a job that a run has given back.
pub(crate) async fn resume_soon<J: Jobs>(access: &Access, id: JobId, job: &JobOf<J>) -> Result<(), Problem> {
    if J::QUEUE.is_some() && job.is_open() && due::is_due::<J>(access, id).await? {
        begin_now::<J>(access, id).await;
    }
    Ok(())
}
