//! `POST /tracker/tenants/{tenantId}/projects/{projectId}/issues`: allocates the next number of the project, then creates
//! the issue with all its rows.

use std::collections::BTreeMap;

use serde::Deserialize;
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Context, Created, Fault, IdempotencyKey, Json, Kind, Path, Problem, Route, Rules, Sample, Valid, problem};

use super::allocation::Allocation;
use super::edit::{completed, may_be_outdated};
use super::input::{Inputs, in_values, read};
use super::write::{Refused, Write};
use super::{
    ISSUE_TOO_LARGE, LIST, MAX_BODY_WITH_VALUES, UNKNOWN_ATTRIBUTE, UNKNOWN_OPTION, WRONG_TYPE, check_size, cleaned,
};
use crate::access::{CREATE_ISSUE, ISSUE, ISSUE_ROWS, MEMBERSHIP, NEXT_NUMBER, PROJECT, UPDATE_ISSUE};
use crate::audit::Audit;
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::items::{Issue, State};
use crate::names::{AttributeId, IssueId};
use crate::project::Consistency;
use crate::projects::ProjectPath;
use crate::schema::TRACKER;
use crate::values::{Input, distinct, number_key};
use crate::views::IssueView;

/// A new issue.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewIssue {
    #[schema(min_length = 1, max_length = 255, pattern = "\\S")]
    name: String,
    #[serde(default = "open")]
    #[schema(default = "open")]
    state: State,
    /// By the ids of attributes.
    #[serde(default, deserialize_with = "distinct")]
    #[schema(value_type = BTreeMap<AttributeId, Input>)]
    values: BTreeMap<AttributeId, Input>,
}

const fn open() -> State {
    State::Open
}

impl Rules for NewIssue {
    fn faults(&self) -> Vec<Fault> {
        name_fault("/name", &self.name).into_iter().collect()
    }
}

/// The problems of operations that set values, and that of a project without numbers.
const PROBLEMS: &[Kind] = &[
    problem::FORBIDDEN,
    problem::NOT_FOUND,
    problem::TAKEN,
    WRONG_TYPE,
    UNKNOWN_ATTRIBUTE,
    UNKNOWN_OPTION,
    ISSUE_TOO_LARGE,
    problem::CONFLICT,
];

pub fn route() -> Route {
    Route::post("createIssue", LIST, SIGNED_IN, create)
        .summary("Create an issue with the next number of its project")
        .patterns(&[&MEMBERSHIP, &PROJECT, &NEXT_NUMBER, &CREATE_ISSUE, &ISSUE_ROWS, &UPDATE_ISSUE, &ISSUE])
        .body_limit(MAX_BODY_WITH_VALUES)
        .timeout(web::route::MAX_TIMEOUT)
        .problems(PROBLEMS)
        .sample(
            Sample::new("/tracker/tenants/tenant-0807/projects/project-35e9/issues")
                .body(r#"{"name":"Tighten the girder bolts","values":{"xattrib-3fe6":"42"}}"#),
        )
}

async fn create(
    cx: Context,
    Path(path): Path<ProjectPath>,
    once: IdempotencyKey,
    Valid(Json(new)): Valid<Json<NewIssue>>,
) -> Result<Created<IssueView>, Problem> {
    TenantAccess::load(&cx, path.tenant_id).await?.require_editor()?;
    if let Some(earlier) = once.earlier(&cx, &CREATE_ISSUE, &TRACKER).await? {
        return Ok(earlier);
    }
    let issue = Issue {
        data: String::new(),
        name: new.name,
        state: new.state,
        num: 0,
        tenant: path.tenant_id,
        values: BTreeMap::new(),
        import: None,
        unsettled: None,
        audit: Audit::now(&cx)?,
    };
    let inputs = new.values.into_iter().map(|(id, input)| (id, Some(input))).collect();
    let creation =
        Creation { cx: &cx, path, once: &once, id: IssueId::new(), issue, inputs, number: Allocation::new(&cx) };
    match creation.attempt(Consistency::Eventual).await {
        Err(problem) if may_be_outdated(&problem) => cx.retry(|| creation.attempt(Consistency::Strong)).await,
        outcome => outcome,
    }
}

/// The creation of an issue by one request.
struct Creation<'a> {
    cx: &'a Context,
    path: ProjectPath,
    once: &'a IdempotencyKey,
    id: IssueId,
    /// The issue without its number and its values.
    issue: Issue,
    inputs: Inputs,
    number: Allocation<'a>,
}

impl Creation<'_> {
    /// 412, which retries, if the project's schema was changed since it was read.
    async fn attempt(&self, consistency: Consistency) -> Result<Created<IssueView>, Problem> {
        let (cx, access) = (self.cx, self.cx.access());
        let schema = self.path.load(cx, consistency).await?;
        let mut issue = self.issue.clone();
        read(&schema, &self.inputs, in_values)?.into_iter().for_each(|(id, value)| issue.set(id, value));
        check_size(&issue)?;
        issue.num = self.number.number(&schema).await?;
        issue.data = number_key(issue.num);
        let issue = cleaned(&schema, issue);
        let prepared = Write::of(&schema, None, self.id, Some(issue.clone())).prepare(access)?;
        let location = format!("{}/issues/{}", self.path.href(), self.id.id());
        let view = IssueView::new(self.id, &schema, &issue);
        let actions = prepared.actions.clone();
        match self.once.create(cx, &CREATE_ISSUE, &TRACKER, actions, location.clone(), &view).await {
            Ok(created) => {
                // The response may be that of the same request sent before, which has created another issue.
                if !created.is_at(&location) {
                    return Ok(created);
                }
                self.number.mark_used();
                if prepared.settled {
                    return Ok(created);
                }
                // The issue exists, so a failure that follows is none of the request.
                let tag = completed(cx, &schema, self.id, &issue).await.unwrap_or_default();
                Ok(tag.map_or(created, |tag| Created::new(location, tag, &view)))
            }
            Err(error) => Err(match prepared.refused(&error) {
                Some(Refused::Gate(_)) => Problem::stale(),
                Some(Refused::Issue) | None => error.into(),
            }),
        }
    }
}
