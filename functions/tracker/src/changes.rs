//! The changes of a project's issues, numbered in one order for clients that follow the project. A reader of the table's
//! stream logs them, so no request of an issue waits for it.

pub mod list;
pub mod log;

use serde::{Deserialize, Serialize};
use table::{Access, AccessPattern, EntityKey, Error, Stored};
use utoipa::ToSchema;

use crate::keys::LastChangeKey;
use crate::names::{IssueId, ProjectId};
use crate::schema::TRACKER;

/// The kind of a change. A move to another project is a deletion in one and a creation in the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    Created,
    Updated,
    Deleted,
}

/// A change of an issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Change {
    kind: ChangeKind,
    issue: IssueId,
    /// The issue's number after the change, or before its deletion.
    num: u64,
    /// RFC 3339 with six fraction digits.
    at: String,
    /// Seconds since 1970.
    #[serde(rename = "expires")]
    expires: i64,
}

/// The number of a project's last change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct LastChange {
    last: u64,
}

impl LastChange {
    /// Loads the number with a consistent read. Before the first change there is none.
    async fn load(access: &Access, pattern: &'static AccessPattern, project: ProjectId) -> Result<Option<Self>, Error> {
        let stored = access.table(pattern, &TRACKER).get_consistent(LastChangeKey { project }.key()).await?;
        stored.as_ref().map(Stored::read).transpose()
    }
}
