//! Work that outlives its request: an item that says how far it has come, done in batches by whoever holds its lease.
//! Any run may die anywhere; the next goes on from the checkpoint.

mod lease;
mod routes;
mod run;
mod work;

pub use lease::Held;
pub use routes::{JobView, accepted, get_route, list_route};
pub use run::{carry_on, go_on};
pub use work::{Step, Then, Work};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use table::{Access, Action, EntityKey, Error, Key};
use utoipa::ToSchema;
use web::Problem;

use crate::keys::JobKey;
use crate::names::JobId;
use crate::schema::PARKS;

/// What the table holds of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    pub kind: JobKind,
    /// What it works on: the document id of an item, such as `collection#bcparks_1`.
    pub root: String,
    pub status: JobStatus,
    pub counts: Counts,
    /// Where its work goes on, in the words of its kind.
    #[serde(default)]
    pub checkpoint: Value,
    /// Epoch seconds until which it is its worker's; nobody's when absent.
    pub lease_until: Option<i64>,
    pub created_at: String,
    pub created_by: Option<String>,
    pub ended_at: Option<String>,
    /// Why it failed.
    pub reason: Option<String>,
    /// Epoch seconds after which it is gone: 30 days after its end.
    pub expires: Option<i64>,
    /// [`OPEN`] for as long as a worker should go on with it.
    pub list_pk: Option<String>,
    pub list_sk: Option<String>,
}

/// What a job does. Each kind is a [`Work`] in a file of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum JobKind {
    /// The rows of a file become items.
    Import,
    /// What depends on an item that was deleted goes along.
    Delete,
    /// What a deletion took along comes back.
    Restore,
    /// An item is hidden, and visitors see none of its relationships any more.
    Hide,
    /// An item is shown, and visitors see its relationships.
    Show,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobStatus {
    /// Its file has not arrived.
    Waiting,
    Running,
    Done,
    /// It ended before its work was done; `reason` says why.
    Failed,
    /// No file arrived while its link took one.
    Expired,
}

/// How much of the work there is, was done, and could not be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Counts {
    /// As far as it is known.
    pub total: u64,
    pub done: u64,
    pub failed: u64,
}

/// The partition that lists open jobs.
pub const OPEN: &str = "job::open";

/// How long a job is kept after its end, in seconds.
const KEPT: i64 = 30 * 24 * 3600;

impl Job {
    /// A job that begins at once: whoever makes it holds its lease, and goes on with [`carry_on`].
    pub fn running(
        access: &Access,
        kind: JobKind,
        root: &Key,
        total: u64,
        checkpoint: &impl Serialize,
        who: Option<String>,
    ) -> Result<Self, Problem> {
        let clock = &access.engines().clock;
        Ok(Self {
            kind,
            root: root.document_id(),
            status: JobStatus::Running,
            counts: Counts { total, ..Counts::default() },
            checkpoint: serde_json::to_value(checkpoint).map_err(Problem::internal)?,
            lease_until: Some(lease::until(access)),
            created_at: table::clock::rfc3339(clock.now()),
            created_by: who,
            ended_at: None,
            reason: None,
            expires: None,
            list_pk: None,
            list_sk: None,
        })
    }

    /// The action that makes it, for the transaction that makes its work.
    pub fn create(&mut self, id: JobId) -> Result<Action, Error> {
        self.index(id);
        Action::create(&PARKS, JobKey { job: id }.key(), self)
    }

    pub fn is_open(&self) -> bool {
        self.status == JobStatus::Running
    }

    /// Ends it, for a reason if it failed.
    fn end(&mut self, access: &Access, failed: Option<String>) {
        let clock = &access.engines().clock;
        self.status = if failed.is_some() { JobStatus::Failed } else { JobStatus::Done };
        self.reason = failed;
        self.ended_at = Some(table::clock::rfc3339(clock.now()));
        self.expires = Some(clock.seconds() + KEPT);
        self.lease_until = None;
    }

    /// Lists it while it is open.
    fn index(&mut self, id: JobId) {
        self.list_pk = self.is_open().then(|| OPEN.to_owned());
        self.list_sk = self.is_open().then(|| id.to_string());
    }
}

/// The path at which a job is served.
pub fn href(id: JobId) -> String {
    format!("/parks/jobs/{id}")
}
