//! `PATCH /tracker/tenants/{tenantId}/projects/{projectId}/issues/{issueId}`

use serde::Deserialize;
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Context, Fault, IfMatch, MergePatch, Path, Problem, Route, Rules, Sample, Tagged, Valid, problem};

use super::edit::edit;
use super::{ISSUE_TOO_LARGE, IssuePath, ONE, SAMPLE};
use crate::access::{ISSUE, ISSUE_ROWS, MEMBERSHIP, PROJECT, UPDATE_ISSUE};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::items::{Issue, State};
use crate::views::IssueView;

/// The fields of an issue that can be updated. Its values have operations of their own.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssuePatch {
    #[serde(default)]
    #[schema(nullable = false, min_length = 1, max_length = 255, pattern = "\\S")]
    name: Option<String>,
    #[serde(default)]
    #[schema(nullable = false)]
    state: Option<State>,
}

impl Rules for IssuePatch {
    fn faults(&self) -> Vec<Fault> {
        self.name.as_deref().and_then(|name| name_fault("/name", name)).into_iter().collect()
    }
}

pub fn route() -> Route {
    Route::patch("updateIssue", ONE, SIGNED_IN, update)
        .summary("Update an issue's name or state")
        .patterns(&[&MEMBERSHIP, &PROJECT, &ISSUE, &UPDATE_ISSUE, &ISSUE_ROWS])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, ISSUE_TOO_LARGE, problem::CONFLICT])
        .sample(Sample::new(SAMPLE).body(r#"{"state":"closed"}"#))
}

async fn update(
    cx: Context,
    Path(path): Path<IssuePath>,
    tag: IfMatch,
    Valid(MergePatch(patch)): Valid<MergePatch<IssuePatch>>,
) -> Result<Tagged<IssueView>, Problem> {
    TenantAccess::load(&cx, path.tenant_id).await?.require_editor()?;
    edit(&cx, path, &tag, &UPDATE_ISSUE, |_, issue| {
        let name = patch.name.clone().unwrap_or_else(|| issue.name.clone());
        Ok(Issue { name, state: patch.state.unwrap_or(issue.state), ..issue.clone() })
    })
    .await
}
