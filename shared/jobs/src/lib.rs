//! Jobs: work that outlives its request. A job is an item that says how far the work has come, and a *due row*, another
//! item, that lists the job by the time at which it is due. A worker leases the job by moving that time into the future,
//! and moves it again with every step. When a worker dies, the time passes and another worker resumes from the
//! checkpoint: each step is one transaction with the checkpoint after it.
//!
//! | task | items |
//! |---|---|
//! | declare the jobs of a system | [`Jobs`], [`DueIndex`], [`Uploads`] |
//! | create a job with what it works on | [`NewJob`], [`Start`], [`accept`], [`limits`] |
//! | write what a kind of job does | [`Workers`], [`Worker`], [`Step`], [`Then`] |
//! | run due jobs, or one job | [`handler`], [`run()`], [`start_uploaded`], [`finish`] |
//! | begin a job at once | [`JobQueue`], [`begin_now`], [`run_message`] |
//! | show a job, cancel it | [`JobView`], [`get_route`], [`accepted`], [`cancel()`] |
//!
//! The jobs of one group, such as a tenant, take turns with those of other groups.

mod cancel;
mod create;
mod due;
mod file;
mod id;
mod job;
mod lease;
pub mod limits;
mod queue;
mod request;
mod route;
mod run;
mod step;
mod system;
mod turn;
mod turns;
mod upload;
mod view;
mod worker;

pub use cancel::{Cancellation, NOT_CANCELLABLE, cancel};
pub use create::{NewJob, Start};
pub use due::{Due, acquire_due, lease_end};
pub use id::{JobDueKey, JobId, JobKey};
pub use job::{Counts, Job, RETENTION_SECONDS, RowFault, Status};
pub use lease::Lease;
pub use queue::{SAMPLE_MESSAGE, begin_now, run_message};
pub use request::{DoneOrAccepted, accept, finish, load, resume, work, work_again};
pub use route::get_route;
pub use run::{RUN_JOBS, handler, run};
pub use step::{Step, Then};
pub use system::{DueIndex, JobOf, JobQueue, Jobs, NoDetails, OneGroup, Uploads};
pub use upload::start_uploaded;
pub use view::{JobView, JobViewOf, accepted};
pub use worker::{AnyWorker, Worker, Workers};
