//! A queue by which a job begins at once. A message only shortens the wait: the schedule finds each due job, also one
//! whose message was lost.

use std::time::Duration;

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

/// The longest delay of a message. A job that waits longer is left to the schedule.
const MAX_DELAY: Duration = Duration::from_mins(15);

/// Sends a message that begins a job at once. The transaction that creates the job comes first. If sending fails, the
/// schedule begins the job.
pub async fn begin_now<J: Jobs>(access: &Access, id: JobId) {
    begin_after::<J>(access, id, Duration::ZERO).await;
}

async fn begin_after<J: Jobs>(access: &Access, id: JobId, delay: Duration) {
    let Some(queue) = J::QUEUE else { return };
    match access.queue(queue.pattern, queue.name).send_after(&Message { job: id }, delay).await {
        Ok(()) => {}
        Err(Error::Undeclared(undeclared)) => table::never!("a job cannot begin by a message: {undeclared}"),
        Err(error) => {
            tracing::warn!(job.id = %id, %error, "sending the message of a job failed; the schedule begins it")
        }
    }
}

/// Handles a message: leases its job, and works on it until the deadline. A job that is still open then gets another
/// message for the time at which it is due, unless a scheduled run takes it before. A message changes nothing if its job is not due: it has ended, waits or is leased.
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

/// Sends another message for a job that a run has given back, or that waits.
pub(crate) async fn resume_soon<J: Jobs>(access: &Access, id: JobId, job: &JobOf<J>) -> Result<(), Problem> {
    if J::QUEUE.is_none() || !job.is_open() {
        return Ok(());
    }
    if let Some(wait) = due::time_until_due::<J>(access, id).await?.filter(|wait| *wait <= MAX_DELAY) {
        // A message that comes too early finds a job that is not due.
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        begin_after::<J>(access, id, Duration::from_secs(seconds).min(MAX_DELAY)).await;
    }
    Ok(())
}
