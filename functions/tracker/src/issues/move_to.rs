//! `POST /tracker/tenants/{tenantId}/projects/{projectId}/issues/{issueId}/move`

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use web::{Context, Fault, IfMatch, Json, Kind, Path, Problem, Route, Sample, Tagged, problem};

use super::allocation::Allocation;
use super::edit::{complete, load_settled};
use super::write::{Write, gate};
use super::{ISSUE_TOO_LARGE, IssuePath, ONE, check_size};
use crate::access::{ISSUE, ISSUE_ROWS, MEMBERSHIP, NEXT_NUMBER, PROJECT, UPDATE_ISSUE, WRITE_ISSUE};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::items::{Issue, State, Value};
use crate::jobs::as_text;
use crate::keys::IssueKey;
use crate::names::ProjectId;
use crate::project::{Consistency, Schema};
use crate::rows::{rows, rows_to_delete};
use crate::values::{Input, Plain, Type, number_key};
use crate::views::IssueView;

pub const WOULD_DROP: Kind = Kind::new(409, "would-drop", "Values would be dropped");

/// The new project of an issue.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Move {
    /// Another project of the tenant.
    project: ProjectId,
    /// Refuses the move if a value would be dropped.
    #[serde(default)]
    strict: bool,
}

/// An issue in its new project.
#[derive(Debug, Serialize, ToSchema)]
pub struct Moved {
    #[serde(flatten)]
    issue: IssueView,
    project: ProjectId,
    /// The names of the attributes whose values were dropped.
    dropped: Vec<String>,
}

pub fn route() -> Route {
    Route::post("moveIssue", format!("{ONE}/move"), SIGNED_IN, move_to)
        .summary(
            "Set an issue's project; values are kept where the other project has an attribute of that name and type",
        )
        .patterns(&[&MEMBERSHIP, &PROJECT, &ISSUE, &NEXT_NUMBER, &WRITE_ISSUE, &UPDATE_ISSUE, &ISSUE_ROWS])
        .problems(&[
            problem::FORBIDDEN,
            problem::NOT_FOUND,
            problem::UNPROCESSABLE,
            ISSUE_TOO_LARGE,
            WOULD_DROP,
            problem::TAKEN,
            problem::CONFLICT,
        ])
        .sample(
            Sample::new("/tracker/tenants/tenant-0807/projects/project-35e9/issues/issue-67d1/move")
                .body(r#"{"project":"project-46fa"}"#),
        )
}

async fn move_to(
    cx: Context,
    Path(path): Path<IssuePath>,
    tag: IfMatch,
    Json(new): Json<Move>,
) -> Result<Tagged<Moved>, Problem> {
    TenantAccess::load(&cx, path.tenant_id).await?.require_editor()?;
    if new.project == path.project_id {
        return Err(Problem::faults(vec![Fault::pointer("/project", "is the present project of the issue")]));
    }
    let allocation = Allocation::new(&cx);
    cx.retry(|| attempt(&cx, path, &tag, &new, &allocation)).await?.ok_or_else(Problem::stale)
}

/// None if the issue is not the one that the client of `If-Match` has seen. 412, which retries, for any other lost race.
async fn attempt(
    cx: &Context,
    path: IssuePath,
    tag: &IfMatch,
    new: &Move,
    allocation: &Allocation<'_>,
) -> Result<Option<Tagged<Moved>>, Problem> {
    let (access, id, project) = (cx.access(), path.issue_id, new.project);
    let from = path.load_project(cx, Consistency::Strong).await?;
    let Some(loaded) = load_settled(cx, path, tag).await? else { return Ok(None) };
    let to = Schema::load(access, path.tenant_id, project, Consistency::Strong).await?;
    let unknown = || Problem::unprocessable(vec![Fault::pointer("/project", "is not a project of this tenant")]);
    let to = to.ok_or_else(unknown)?;
    let (values, dropped) = carried(&from, &to, &loaded.issue);
    if new.strict && !dropped.is_empty() {
        let detail = format!("The other project has no attributes for the values of {}.", dropped.join(", "));
        return Err(WOULD_DROP.because(detail).with("dropped", dropped));
    }
    let num = allocation.number(&to).await?;
    let audit = loaded.issue.audit.updated(cx)?;
    let after = Issue { num, data: number_key(num), values, audit, ..loaded.issue.clone() };
    check_size(&after)?;
    let open = i64::from(after.state == State::Open);
    let before_rows = rows_to_delete(id, from.id, &loaded.issue, &from.attributes);
    let after_rows = rows(id, to.id, &after, &to.attributes);
    let write = Write {
        id,
        gates: vec![gate(&from, -1, -open), gate(&to, 1, open)],
        before: Some((loaded, before_rows)),
        after: Some((IssueKey { issue: id, project }, after.clone(), after_rows)),
    };
    let prepared = write.prepare(access)?;
    match access.transact(&WRITE_ISSUE, &prepared.actions).await {
        Ok(rev) => {
            allocation.mark_used();
            let tag = if prepared.settled { rev.into() } else { complete(cx, &to, id, rev, &after).await? };
            let issue = IssueView::new(id, &to, &after);
            Ok(Some(Tagged::new(&Moved { issue, project, dropped }, tag)))
        }
        Err(error) => prepared.lost(error, tag),
    }
}

/// The values for which the other project has an attribute of the same name and type, and the names of the attributes
/// whose values are dropped.
fn carried(from: &Schema, to: &Schema, issue: &Issue) -> (BTreeMap<String, Value>, Vec<String>) {
    let (mut values, mut dropped) = (BTreeMap::new(), Vec::new());
    for attribute in from.columns() {
        let Some(value) = issue.value(attribute.id) else { continue };
        let target = to.named(&attribute.item.name).filter(|target| target.item.of == attribute.item.of);
        // The label of a choice names the option in the other project.
        let shown = if value.of == Type::Choice { as_text(attribute, value).value } else { value.value.clone() };
        let carried = target.and_then(|target| {
            let plain = if target.item.of == Type::Choice {
                // A label alone, since it may look like the id of another option.
                let option = target.options().labelled(&shown).filter(|option| !option.retired)?;
                Plain::stored(option.id.to_string())
            } else {
                target.item.of.read(&Input::Text(shown), target.options()).ok()?
            };
            Some((target, plain))
        });
        match carried {
            Some((target, plain)) => {
                let (slot, of) = (target.item.slot, target.item.of);
                values.insert(target.id.to_string(), Value { slot, of, value: plain.as_str().to_owned() });
            }
            None => dropped.push(attribute.item.name.clone()),
        }
    }
    (values, dropped)
}
