//! `PATCH /tracker/tenants/{tenantId}/projects/{projectId}/issues/{issueId}/values`: all values are written, or none.

use serde::Deserialize;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema};
use utoipa::{PartialSchema, ToSchema};
use web::{Context, Fault, IfMatch, MergePatch, Path, Problem, Route, Sample, Tagged};

use super::edit::edit;
use super::input::{Inputs, in_values, read};
use super::{IssuePath, MAX_BODY_WITH_VALUES, ONE, VALUE_PROBLEMS};
use crate::access::{ISSUE, ISSUE_ROWS, MEMBERSHIP, PROJECT, UPDATE_ISSUE, WRITE_ISSUE};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::names::AttributeId;
use crate::values::{InputOrNull, distinct};
use crate::views::IssueView;

/// Values of one request.
const MAX_VALUES: usize = 100;

/// Values by the ids of their attributes; null removes a value.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValuesPatch {
    #[serde(deserialize_with = "distinct")]
    #[schema(value_type = ValuesToUpdate)]
    values: Inputs,
}

/// The schema of the values of a request.
struct ValuesToUpdate;

impl PartialSchema for ValuesToUpdate {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .property_names(Some(AttributeId::schema_of_id()))
            .additional_properties(Some(InputOrNull::schema()))
            .min_properties(Some(1))
            .max_properties(Some(MAX_VALUES))
            .into()
    }
}

impl ToSchema for ValuesToUpdate {}

pub fn route() -> Route {
    Route::patch("updateValues", format!("{ONE}/values"), SIGNED_IN, update_values)
        .summary("Update up to 100 values of an issue, all or none; null removes a value")
        .patterns(&[&MEMBERSHIP, &PROJECT, &ISSUE, &WRITE_ISSUE, &UPDATE_ISSUE, &ISSUE_ROWS])
        .body_limit(MAX_BODY_WITH_VALUES)
        .timeout(web::route::MAX_TIMEOUT)
        .problems(VALUE_PROBLEMS)
        .sample(
            Sample::new("/tracker/tenants/tenant-0807/projects/project-35e9/issues/issue-af34/values")
                .body(r#"{"values":{"xattrib-3fe6":"7"}}"#),
        )
}

async fn update_values(
    cx: Context,
    Path(path): Path<IssuePath>,
    tag: IfMatch,
    MergePatch(ValuesPatch { values }): MergePatch<ValuesPatch>,
) -> Result<Tagged<IssueView>, Problem> {
    TenantAccess::load(&cx, path.tenant_id).await?.require_editor()?;
    if !(1..=MAX_VALUES).contains(&values.len()) {
        let detail = format!("must have 1 to {MAX_VALUES} values, not {}", values.len());
        return Err(Problem::faults(vec![Fault::pointer("/values", detail)]));
    }
    edit(&cx, path, &tag, &WRITE_ISSUE, |schema, issue| {
        let mut issue = issue.clone();
        read(schema, &values, in_values)?.into_iter().for_each(|(id, value)| issue.set(id, value));
        Ok(issue)
    })
    .await
}
