//! Work that outlives its request: a record that says how far it has come, and a due row that is its lease. Whoever moves
//! the due row's time on works; what a worker that died leaves returns by itself.

mod begin;
mod build;
mod delete_project;
mod delete_tenant;
mod drain;
mod held;
mod pages;
mod retype;
pub mod routes;
mod run;

pub use begin::{Begun, Start, begin};
pub use delete_project::mark as mark_project;
pub use held::{Held, lease};
pub use retype::as_text;
pub use run::{carry_on, run_work};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use table::{Action, Key};
use utoipa::ToSchema;
use web::Problem;

use crate::names::{AttributeId, ProjectId};

/// How long work is kept after its end, in seconds.
const KEPT: i64 = 30 * 24 * 3600;

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
    /// Where it goes on, in the words of its kind.
    #[serde(default)]
    pub checkpoint: Value,
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum WorkState {
    Running,
    Done,
    /// What it worked on is being deleted, or gone.
    Stopped,
}

/// How much was done, in issues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Counts {
    /// As far as it is known.
    pub total: u64,
    pub done: u64,
}

/// When something is to go on: the index lists it by its time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Due {
    pub data: String,
    /// The key of what waits.
    pub owner: Key,
}

/// A batch: what it writes, and where the work is once that is written. Both are one transaction.
#[derive(Debug)]
pub struct Step {
    /// At most 98. None may name the work or its due row.
    pub actions: Vec<Action>,
    pub checkpoint: Value,
    pub counts: Counts,
    pub then: Then,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    More,
    /// Goes on in so many seconds.
    Wait(u64),
    Done,
    Stopped,
}

impl Step {
    pub fn new(actions: Vec<Action>, checkpoint: &impl Serialize, counts: Counts, then: Then) -> Result<Self, Problem> {
        let checkpoint = serde_json::to_value(checkpoint).map_err(Problem::internal)?;
        Ok(Self { actions, checkpoint, counts, then })
    }

    /// Nothing is left to do, or nothing to do it on.
    pub fn end(held: &Held, then: Then, actions: Vec<Action>) -> Self {
        Self { actions, checkpoint: held.work.checkpoint.clone(), counts: held.work.counts, then }
    }
}
