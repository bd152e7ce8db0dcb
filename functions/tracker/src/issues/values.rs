//! Values of an issue: one or many at once, all or none.

use serde::Deserialize;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema};
use utoipa::{PartialSchema, ToSchema};
use web::{Answer, Fault, Problem, Request};

use super::IssuePath;
use super::change::answer;
use super::edit::edit;
use super::input::{Inputs, in_values, read};
use crate::access::{CHANGE_ISSUE, WRITE_ISSUE};
use crate::callers::at_least;
use crate::items::Role;
use crate::names::{AttributeId, IssueId, ProjectId, TenantId};
use crate::values::{Input, InputOrNull, distinct};

/// The most values of one request.
const MOST: usize = 100;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValuePath {
    tenant_id: TenantId,
    project_id: ProjectId,
    issue_id: IssueId,
    attribute_id: AttributeId,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewValue {
    value: Input,
}

/// By the ids of attributes; null clears.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewValues {
    #[serde(deserialize_with = "distinct")]
    #[schema(value_type = ValuesToSet)]
    values: Inputs,
}

/// The schema of the values of a request.
struct ValuesToSet;

impl PartialSchema for ValuesToSet {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .property_names(Some(AttributeId::schema_of_id()))
            .additional_properties(Some(InputOrNull::schema()))
            .min_properties(Some(1))
            .max_properties(Some(MOST))
            .into()
    }
}

impl ToSchema for ValuesToSet {}

pub async fn set_one(request: Request) -> Result<Answer, Problem> {
    let (path, attribute) = parts(request.path()?);
    at_least(&request, path.tenant_id, Role::Editor).await?;
    let NewValue { value } = request.json()?;
    let inputs = Inputs::from([(attribute, Some(value))]);
    let edited = edit(&request, path, &CHANGE_ISSUE, |schema, issue| {
        if schema.column(attribute).is_none() {
            return Err(super::UNKNOWN_ATTRIBUTE.because("The project has no attribute of this id."));
        }
        let mut issue = issue.clone();
        read(schema, &inputs, |_| "/value".to_owned())?.into_iter().for_each(|(id, value)| issue.set(id, value));
        Ok(issue)
    });
    Ok(answer(path, edited.await?))
}

pub async fn clear_one(request: Request) -> Result<Answer, Problem> {
    let (path, attribute) = parts(request.path()?);
    at_least(&request, path.tenant_id, Role::Editor).await?;
    let edited = edit(&request, path, &CHANGE_ISSUE, |schema, issue| {
        if schema.column(attribute).is_none() || issue.value(attribute).is_none() {
            return Err(Problem::not_found());
        }
        let mut issue = issue.clone();
        issue.set(attribute, None);
        Ok(issue)
    });
    edited.await.map(|_| Answer::no_content())
}

pub async fn set_many(request: Request) -> Result<Answer, Problem> {
    let path: IssuePath = request.path()?;
    at_least(&request, path.tenant_id, Role::Editor).await?;
    let NewValues { values } = request.json()?;
    if !(1..=MOST).contains(&values.len()) {
        let detail = format!("must have 1 to {MOST} values, this has {}", values.len());
        return Err(Problem::faults(vec![Fault::pointer("/values", detail)]));
    }
    let edited = edit(&request, path, &WRITE_ISSUE, |schema, issue| {
        let mut issue = issue.clone();
        read(schema, &values, in_values)?.into_iter().for_each(|(id, value)| issue.set(id, value));
        Ok(issue)
    });
    Ok(answer(path, edited.await?))
}

fn parts(path: ValuePath) -> (IssuePath, AttributeId) {
    let ValuePath { tenant_id, project_id, issue_id, attribute_id } = path;
    (IssuePath { tenant_id, project_id, issue_id }, attribute_id)
}
