//! Issues: every write passes a gate of its project, and writes exactly the rows that differ.

pub mod change;
pub mod create;
pub mod delete;
mod edit;
mod input;
pub mod next_number;
pub mod read;
pub mod renumber;
mod settle;
pub mod values;
mod write;

pub use create::{LAST_NUMBER, MAX_JUMP};
pub use input::{UNKNOWN_ATTRIBUTE, UNKNOWN_OPTION, WRONG_TYPE};
pub use settle::{settle, settle_due};
pub use write::{Write, gate};

use serde::Deserialize;
use table::{Access, EntityKey, Error, Stored};
use utoipa::ToSchema;
use web::{Kind, Problem};

use crate::access::ISSUE;
use crate::items::Issue;
use crate::keys::IssueKey;
use crate::names::{IssueId, ProjectId, TenantId};
use crate::project::Schema;
use crate::schema::TRACKER;

pub const ISSUE_TOO_LARGE: Kind = Kind::new(422, "issue-too-large", "An issue takes at most 380 KB");

/// The most bytes of an issue.
const LARGEST: usize = 380 * 1024;

#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssuePath {
    pub tenant_id: TenantId,
    pub project_id: ProjectId,
    pub issue_id: IssueId,
}

/// An issue as it was read.
#[derive(Clone, Debug)]
pub struct Known {
    pub id: IssueId,
    pub issue: Issue,
    pub stored: Stored,
}

impl Known {
    /// Pattern 3, strongly: the issue if it lies in this project.
    pub async fn read(access: &Access, project: ProjectId, id: IssueId) -> Result<Option<Self>, Error> {
        let stored = access.table(&ISSUE, &TRACKER).get_consistent(IssueKey { issue: id, project }.key()).await?;
        stored.map(|stored| Ok(Self { id, issue: stored.read()?, stored })).transpose()
    }
}

/// The issue without values of attributes that its project does not have any more.
pub fn cleaned(schema: &Schema, mut issue: Issue) -> Issue {
    let known = |id: &String| schema.columns().any(|attribute| attribute.id.to_string() == *id);
    issue.values.retain(|id, _| known(id));
    issue
}

pub fn check_size(issue: &Issue) -> Result<(), Problem> {
    let bytes = serde_json::to_vec(issue).map_err(Problem::internal)?.len();
    if bytes <= LARGEST {
        return Ok(());
    }
    Err(ISSUE_TOO_LARGE.because(format!("With this it would take {bytes} bytes; at most {LARGEST} are kept.")))
}
