//! `POST /tracker/tenants/{tenantId}/projects/{projectId}/issues/{issueId}/renumber`

use serde::Deserialize;
use table::{Action, Condition, Error, item};
use utoipa::ToSchema;
use web::{Context, Fault, IfMatch, Json, Path, Problem, Route, Sample, Tagged, problem};

use super::allocation::Allocation;
use super::edit::{complete, load_settled};
use super::write::{Refused, Write};
use super::{IssuePath, MAX_JUMP, ONE, cleaned};
use crate::access::{ISSUE, ISSUE_ROWS, MEMBERSHIP, NEXT_NUMBER, PROJECT, UPDATE_ISSUE, WRITE_ISSUE};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::items::Issue;
use crate::project::Consistency;
use crate::projects::counter;
use crate::schema::TRACKER;
use crate::values::number_key;
use crate::views::IssueView;

/// The new number of an issue.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Renumber {
    /// Above the last number of the project, by at most 1 000 000; the next number if absent.
    #[serde(default)]
    #[schema(nullable = false, minimum = 1, maximum = 1_000_000_000_000_i64)]
    number: Option<u64>,
}

pub fn route() -> Route {
    Route::post("renumberIssue", format!("{ONE}/renumber"), SIGNED_IN, renumber)
        .summary("Set an issue's number to the next number, or to one above the last number of the project")
        .patterns(&[&MEMBERSHIP, &PROJECT, &ISSUE, &NEXT_NUMBER, &WRITE_ISSUE, &UPDATE_ISSUE, &ISSUE_ROWS])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::UNPROCESSABLE, problem::TAKEN, problem::CONFLICT])
        .sample(
            Sample::new("/tracker/tenants/tenant-0807/projects/project-35e9/issues/issue-af34/renumber")
                .body(r#"{"number":100}"#),
        )
}

async fn renumber(
    cx: Context,
    Path(path): Path<IssuePath>,
    tag: IfMatch,
    Json(Renumber { number }): Json<Renumber>,
) -> Result<Tagged<IssueView>, Problem> {
    TenantAccess::load(&cx, path.tenant_id).await?.require_editor()?;
    let allocation = Allocation::new(&cx);
    cx.retry(|| attempt(&cx, path, &tag, number, &allocation)).await?.ok_or_else(Problem::stale)
}

/// None if the issue is not the one that the client of `If-Match` has seen. 412, which retries, for any other lost race.
async fn attempt(
    cx: &Context,
    path: IssuePath,
    tag: &IfMatch,
    number: Option<u64>,
    allocation: &Allocation<'_>,
) -> Result<Option<Tagged<IssueView>>, Problem> {
    let (access, id) = (cx.access(), path.issue_id);
    let schema = path.load_project(cx, Consistency::Strong).await?;
    let Some(loaded) = load_settled(cx, path, tag).await? else { return Ok(None) };
    let num = match number {
        Some(number) => number,
        None => allocation.number(&schema).await?,
    };
    let audit = loaded.issue.audit.updated(cx)?;
    let after = cleaned(&schema, Issue { num, data: number_key(num), audit, ..loaded.issue.clone() });
    let mut write = Write::of(&schema, Some(loaded), id, Some(after.clone()));
    if number.is_some() {
        let raise = Action::raise_sequence(&TRACKER, counter(schema.id), num);
        write.gates.push(match num.saturating_sub(MAX_JUMP) {
            0 => raise,
            least => raise.when(Condition::Above("Last", item::number(least.saturating_sub(1)))),
        });
    }
    let prepared = write.prepare(access)?;
    match access.transact(&WRITE_ISSUE, &prepared.actions).await {
        Ok(rev) => {
            allocation.mark_used();
            let tag = if prepared.settled { rev.into() } else { complete(cx, &schema, id, rev, &after).await? };
            Ok(Some(Tagged::new(&IssueView::new(id, &schema, &after), tag)))
        }
        Err(error) if prepared.refused(&error) == Some(Refused::Gate(1)) => Err(refused_number(&error, num)),
        Err(error) => prepared.lost(error, tag),
    }
}

/// The problem of a number to which the project's counter could not be raised.
fn refused_number(error: &Error, number: u64) -> Problem {
    let last = error.failed(1).and_then(|counter| counter.item.as_ref()?.get("Last")?.as_n().ok()?.parse::<u64>().ok());
    match last {
        Some(last) if last < number => {
            let detail = format!("is more than {MAX_JUMP} above {last}, the last number of the project");
            Problem::unprocessable(vec![Fault::pointer("/number", detail)])
        }
        _ => {
            let detail = "is not above the last number of the project";
            Problem::taken(vec![Fault::pointer("/number", detail)])
        }
    }
}
