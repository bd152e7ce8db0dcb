//! `PATCH` of an issue: its name and its state.

use serde::Deserialize;
use utoipa::ToSchema;
use web::{Answer, Problem, Request};

use super::IssuePath;
use super::edit::{Edited, edit};
use crate::access::CHANGE_ISSUE;
use crate::callers::at_least;
use crate::items::{Issue, Role, State};
use crate::tenants::name_fault;
use crate::views::IssueView;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueChange {
    #[serde(default)]
    #[schema(nullable = false, min_length = 1, max_length = 255, pattern = "\\S")]
    name: Option<String>,
    #[serde(default)]
    #[schema(nullable = false)]
    state: Option<State>,
}

pub async fn change(request: Request) -> Result<Answer, Problem> {
    let path: IssuePath = request.path()?;
    at_least(&request, path.tenant_id, Role::Editor).await?;
    let change: IssueChange = request.json()?;
    if let Some(fault) = change.name.as_deref().and_then(|name| name_fault("/name", name)) {
        return Err(Problem::faults(vec![fault]));
    }
    let changed = edit(&request, path, &CHANGE_ISSUE, |_, issue| {
        let name = change.name.clone().unwrap_or_else(|| issue.name.clone());
        Ok(Issue { name, state: change.state.unwrap_or(issue.state), ..issue.clone() })
    });
    Ok(answer(path, changed.await?))
}

/// The issue as an edit has left it.
pub fn answer(path: IssuePath, edited: Edited) -> Answer {
    Answer::ok(&IssueView::new(path.issue_id, &edited.schema, &edited.issue)).etag(edited.tag)
}
