//! Work that outlives its request: a record that says how far it has come, and a due row that is its lease. Whoever moves
//! the due row's time on works; what a worker that died leaves returns by itself. Tenants take turns.

mod begin;
mod build;
pub mod cancel;
mod delete_project;
mod delete_tenant;
mod drain;
mod held;
mod job;
mod limits;
mod line;
mod pages;
mod retype;
pub mod routes;
mod run;
mod turns;

pub use begin::{Begun, Start, begin, begin_work};
pub use delete_project::mark as mark_project;
pub use held::{Held, take_due};
pub use job::carry_on;
pub use limits::{Places, TOO_MANY_JOBS, imports_are_open, new_job};
pub use line::{Due, lease};
pub use pages::issue_of;
pub use retype::as_text;
pub use run::run_work;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use table::{AccessPattern, Action};
use utoipa::ToSchema;
use web::Problem;

use crate::access::{ATTRIBUTE_STEP, CHECKPOINT, PROJECT_STEP, TENANT_STEP};
use crate::names::{AttributeId, ProjectId};

/// How long work is kept after its end, in seconds.
pub const KEPT: i64 = 30 * 24 * 3600;

/// How long the index may lag behind the table, in seconds: what has to be seen in it is looked for again after this.
pub const LAG: u64 = 60;

/// What the table holds of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Work {
    pub kind: Kind,
    pub project: Option<ProjectId>,
    pub attribute: Option<AttributeId>,
    pub state: WorkState,
    pub counts: Counts,
    /// Why it ended before all was done.
    pub reason: Option<String>,
    /// The first [`SHOWN`] things that were wrong with the rows of a file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<RowFault>,
    /// Where it goes on, in the words of its kind.
    #[serde(default)]
    pub checkpoint: Value,
    /// Those of an import or an export that is open.
    #[serde(default)]
    pub places: Option<Places>,
    pub created_at: String,
    pub created_by: Option<String>,
    pub ended_at: Option<String>,
    #[serde(rename = "expires")]
    pub expires: Option<i64>,
}

/// What work does; each kind is a file of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// Issues from before an attribute are entered among those without a value of it.
    BuildAttribute,
    /// Values become text.
    RetypeAttribute,
    /// The values of an attribute that was deleted go.
    DeleteAttribute,
    DeleteProject,
    DeleteTenant,
    /// The numbers of a project go on from an earlier one.
    LowerNumbers,
    /// The rows of a file become issues, or change them.
    Import,
    /// The rows of a grid become a file.
    Export,
}

impl Kind {
    /// What its batches are written by.
    fn step(self) -> &'static AccessPattern {
        match self {
            Self::Import | Self::Export => &CHECKPOINT,
            Self::DeleteProject => &PROJECT_STEP,
            Self::DeleteTenant => &TENANT_STEP,
            _ => &ATTRIBUTE_STEP,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum WorkState {
    /// For its file.
    Waiting,
    Running,
    /// Its worker is to end it, and counts what is written until then.
    Cancelling,
    Done,
    /// What it worked on is being deleted, or gone, or did not come.
    Stopped,
    /// Nothing was written, for what is wrong with its file.
    Rejected,
    /// By somebody who did not want it any more.
    Cancelled,
}

impl WorkState {
    /// Whether it goes on.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Waiting | Self::Running | Self::Cancelling)
    }
}

/// How much was done, in issues or rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Counts {
    /// As far as it is known.
    pub total: u64,
    pub done: u64,
    /// How many issues an import has made, and how many it has changed. What a run that was killed has changed, the next
    /// finds as it should be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub created: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub changed: Option<u64>,
    /// How many rows of an import could not be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub failed: Option<u64>,
}

impl Counts {
    /// Of issues.
    pub fn of(total: u64, done: u64) -> Self {
        Self { total, done, ..Self::default() }
    }
}

/// What is wrong with one row of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RowFault {
    /// Records count from 1 after the header, which is 0.
    pub record: u64,
    /// The line on which the cell begins, from 1; a quoted cell may have several.
    pub line: u64,
    /// The header of the cell's column; absent for the record as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub column: Option<String>,
    pub detail: String,
}

/// How many faults the record of work holds.
const SHOWN: usize = 20;

/// A batch: what it writes, and where the work is once that is written. Both are one transaction.
#[derive(Debug)]
pub struct Step {
    /// At most 98. None may name the work or its due row.
    pub actions: Vec<Action>,
    pub checkpoint: Value,
    pub counts: Counts,
    pub then: Then,
    /// Why it ends before all was done.
    pub reason: Option<String>,
    /// What was found wrong with rows.
    pub faults: Vec<RowFault>,
    /// Whether it begins anew: what was found up to here counts no more.
    pub anew: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    More,
    /// Goes on in so many seconds.
    Wait(u64),
    Done,
    Stopped,
    Rejected,
    Cancelled,
}

impl Step {
    pub fn new(actions: Vec<Action>, checkpoint: &impl Serialize, counts: Counts, then: Then) -> Result<Self, Problem> {
        let checkpoint = serde_json::to_value(checkpoint).map_err(Problem::internal)?;
        Ok(Self { actions, checkpoint, counts, then, reason: None, faults: Vec::new(), anew: false })
    }

    /// Nothing is left to do, or nothing to do it on.
    pub fn end(held: &Held, then: Then, actions: Vec<Action>) -> Self {
        let (checkpoint, counts) = (held.work.checkpoint.clone(), held.work.counts);
        Self { actions, checkpoint, counts, then, reason: None, faults: Vec::new(), anew: false }
    }

    /// It ends here, for this reason.
    pub fn stopped(held: &Held, reason: impl Into<String>) -> Self {
        Self::end(held, Then::Stopped, Vec::new()).because(reason)
    }

    pub fn because(self, reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..self }
    }

    pub fn anew(self) -> Self {
        Self { anew: true, ..self }
    }

    pub fn with_faults(self, faults: Vec<RowFault>) -> Self {
        Self { faults, ..self }
    }
}
