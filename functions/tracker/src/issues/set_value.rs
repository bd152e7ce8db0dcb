//! `PUT /tracker/tenants/{tenantId}/projects/{projectId}/issues/{issueId}/values/{attributeId}`

use serde::Deserialize;
use utoipa::ToSchema;
use web::{Context, IfMatch, Json, Path, Problem, Route, Sample, Tagged};

use super::edit::edit;
use super::input::{Inputs, read};
use super::{SAMPLE_VALUE, UNKNOWN_ATTRIBUTE, VALUE, VALUE_PROBLEMS, ValuePath};
use crate::access::{ISSUE, ISSUE_ROWS, MEMBERSHIP, PROJECT, UPDATE_ISSUE};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::values::Input;
use crate::views::IssueView;

/// The new value of an attribute.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewValue {
    value: Input,
}

pub fn route() -> Route {
    Route::put("setValue", VALUE, SIGNED_IN, set_value)
        .summary("Set a value of an issue; the entity tag is the issue's")
        .patterns(&[&MEMBERSHIP, &PROJECT, &ISSUE, &UPDATE_ISSUE, &ISSUE_ROWS])
        .problems(VALUE_PROBLEMS)
        .sample(Sample::new(SAMPLE_VALUE).body(r#"{"value":"43"}"#))
}

async fn set_value(
    cx: Context,
    Path(path): Path<ValuePath>,
    tag: IfMatch,
    Json(new): Json<NewValue>,
) -> Result<Tagged<IssueView>, Problem> {
    TenantAccess::load(&cx, path.tenant_id).await?.require_editor()?;
    let inputs = Inputs::from([(path.attribute_id, Some(new.value))]);
    edit(&cx, path.issue(), &tag, &UPDATE_ISSUE, |schema, issue| {
        if schema.column(path.attribute_id).is_none() {
            return Err(UNKNOWN_ATTRIBUTE.because("The project has no attribute with this id."));
        }
        let mut issue = issue.clone();
        read(schema, &inputs, |_| "/value".to_owned())?.into_iter().for_each(|(id, value)| issue.set(id, value));
        Ok(issue)
    })
    .await
}
