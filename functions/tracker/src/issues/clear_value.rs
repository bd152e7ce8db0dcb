//! `DELETE /tracker/tenants/{tenantId}/projects/{projectId}/issues/{issueId}/values/{attributeId}`

use web::{Context, IfMatch, NoContent, Path, Problem, Route, Sample, problem};

use super::edit::edit;
use super::{SAMPLE_VALUE, UNKNOWN_ATTRIBUTE, VALUE, ValuePath};
use crate::access::{ISSUE, ISSUE_ROWS, MEMBERSHIP, PROJECT, UPDATE_ISSUE};
use crate::authorization::{SIGNED_IN, TenantAccess};

pub fn route() -> Route {
    Route::delete("clearValue", VALUE, SIGNED_IN, clear_value)
        .summary("Remove a value of an issue")
        .patterns(&[&MEMBERSHIP, &PROJECT, &ISSUE, &UPDATE_ISSUE, &ISSUE_ROWS])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new(SAMPLE_VALUE))
}

async fn clear_value(cx: Context, Path(path): Path<ValuePath>, tag: IfMatch) -> Result<NoContent, Problem> {
    TenantAccess::load(&cx, path.tenant_id).await?.require_editor()?;
    let cleared = edit(&cx, path.issue(), &tag, &UPDATE_ISSUE, |schema, issue| {
        if issue.value(path.attribute_id).is_none() {
            return Err(Problem::not_found());
        }
        if schema.column(path.attribute_id).is_none() {
            // The first read of the project may not see a new attribute yet, so this problem makes it read again.
            return Err(UNKNOWN_ATTRIBUTE.because("The project has no attribute with this id."));
        }
        let mut issue = issue.clone();
        issue.set(path.attribute_id, None);
        Ok(issue)
    })
    .await;
    match cleared {
        Ok(_) => Ok(NoContent),
        Err(problem) if problem.kind() == UNKNOWN_ATTRIBUTE => Err(Problem::not_found()),
        Err(problem) => Err(problem),
    }
}
