//! The ids of jobs, and the keys under which they are stored.

use uuid::Uuid;

web::id! {
    /// The id of a job.
    pub struct JobId
}

impl JobId {
    pub fn uuid(self) -> Uuid {
        self.0
    }
}

table::key! {
    /// A job in a partition of its own, so that it outlives what it works on.
    pub struct JobKey { job: JobId }
    pk "JOB#{job}"
    sk "JOB#{job}"
}

table::key! {
    /// Lists a job by the time at which it is due.
    pub struct JobDueKey { job: JobId }
    pk "JOB#{job}"
    sk "DUE"
}
