//! Another number for an issue, and another project.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use table::{Action, Backoff, Condition, Error, item};
use utoipa::ToSchema;
use web::{Answer, Fault, Kind, Problem, Request};

use super::change::answer;
use super::create::{MAX_JUMP, Taken, next_number};
use super::edit::{Edited, complete};
use super::settle::settle;
use super::write::{Refused, Write, gate};
use super::{IssuePath, Known, check_size, cleaned};
use crate::access::WRITE_ISSUE;
use crate::callers::at_least;
use crate::items::{Issue, Role, State, Value};
use crate::keys::IssueKey;
use crate::names::ProjectId;
use crate::project::{Read, Schema};
use crate::projects::{self, counter};
use crate::rows::rows;
use crate::schema::TRACKER;
use crate::tenants::changed_now;
use crate::tenants::one::tag;
use crate::values::{Input, Plain, Type, number_key};
use crate::views::IssueView;
use crate::work::as_text;

pub const WOULD_DROP: Kind = Kind::new(409, "would-drop", "Values would be dropped");

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Renumber {
    /// Above the last number that the project has given, by at most 1 000 000; the next one if absent.
    #[serde(default)]
    #[schema(nullable = false, minimum = 1, maximum = 1_000_000_000_000_i64)]
    number: Option<u64>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Move {
    /// Another project of the tenant.
    project: ProjectId,
    /// Moves nothing if a value would be dropped.
    #[serde(default)]
    strict: bool,
}

/// An issue in its new project.
#[derive(Serialize, ToSchema)]
pub struct Moved {
    #[serde(flatten)]
    issue: IssueView,
    project: ProjectId,
    /// The names of the attributes whose values found no place.
    dropped: Vec<String>,
}

pub async fn renumber(request: Request) -> Result<Answer, Problem> {
    let path: IssuePath = request.path()?;
    at_least(&request, path.tenant_id, Role::Editor).await?;
    let Renumber { number } = request.json()?;
    let (access, mut backoff) = (request.access(), Backoff::new());
    let mut taken = None::<Taken<'_>>;
    loop {
        let schema = projects::read(&request, path.tenant_id, path.project_id, Read::Strong).await?;
        let known = settled(&request, path).await?;
        let num = match (number, &taken) {
            (Some(number), _) => number,
            (None, Some(taken)) if taken.is_under(&schema) => taken.number,
            _ => taken.insert(next_number(&request, &schema).await?).number,
        };
        let stamps = changed_now(&request, &known.issue.stamps)?;
        let after = Issue { num, data: number_key(num), stamps, ..known.issue.clone() };
        let after = cleaned(&schema, after);
        let mut write = Write::of(&schema, Some(known), path.issue_id, Some(after.clone()));
        if number.is_some() {
            let raise = Action::raise_sequence(&TRACKER, counter(schema.id), num);
            let least = num.saturating_sub(MAX_JUMP);
            write.gates.push(match least {
                0 => raise,
                least => raise.when(Condition::Above("Last", item::number(least.saturating_sub(1)))),
            });
        }
        let prepared = write.prepare(access)?;
        match access.transact(&WRITE_ISSUE, &prepared.actions).await {
            Ok(rev) => {
                if let Some(taken) = taken {
                    taken.serves();
                }
                let tag = complete(&request, &schema, path.issue_id, prepared.settled, rev).await?;
                return Ok(answer(path, Edited { schema, issue: after, tag }));
            }
            Err(error) => match prepared.refused(&error) {
                Some(Refused::Gate(1)) => return Err(no_next_number(&error, num)),
                Some(Refused::Issue) if !request.if_match().is_absent() => return Err(Problem::stale()),
                Some(_) if backoff.wait().await => {}
                _ => return Err(error.into()),
            },
        }
    }
}

pub async fn move_to(request: Request) -> Result<Answer, Problem> {
    let path: IssuePath = request.path()?;
    at_least(&request, path.tenant_id, Role::Editor).await?;
    let Move { project, strict } = request.json()?;
    if project == path.project_id {
        return Err(Problem::faults(vec![Fault::pointer("/project", "is the project that the issue is in")]));
    }
    let (access, id, mut backoff) = (request.access(), path.issue_id, Backoff::new());
    let mut taken = None::<Taken<'_>>;
    loop {
        let from = projects::read(&request, path.tenant_id, path.project_id, Read::Strong).await?;
        let known = settled(&request, path).await?;
        let to = Schema::read(access, path.tenant_id, project, Read::Strong).await?;
        let to =
            to.ok_or_else(|| Problem::unprocessable(vec![Fault::pointer("/project", "is no project of this tenant")]))?;
        let (values, dropped) = carried(&from, &to, &known.issue);
        if strict && !dropped.is_empty() {
            let detail = format!("The other project has no place for the values of {}.", dropped.join(", "));
            return Err(WOULD_DROP.because(detail).with("dropped", dropped));
        }
        let num = match &taken {
            Some(taken) if taken.is_under(&to) => taken.number,
            _ => taken.insert(next_number(&request, &to).await?).number,
        };
        let stamps = changed_now(&request, &known.issue.stamps)?;
        let after = Issue { num, data: number_key(num), values, stamps, ..known.issue.clone() };
        check_size(&after)?;
        let open = i64::from(after.state == State::Open);
        let before_rows = rows(id, from.id, &known.issue, &from.attributes);
        let after_rows = rows(id, to.id, &after, &to.attributes);
        let write = Write {
            id,
            gates: vec![gate(&from, -1, -open), gate(&to, 1, open)],
            before: Some((known, before_rows)),
            after: Some((IssueKey { issue: id, project }, after.clone(), after_rows)),
        };
        let prepared = write.prepare(access)?;
        match access.transact(&WRITE_ISSUE, &prepared.actions).await {
            Ok(rev) => {
                if let Some(taken) = taken {
                    taken.serves();
                }
                let tag = complete(&request, &to, id, prepared.settled, rev).await?;
                let issue = IssueView::new(id, &to, &after);
                return Ok(Answer::ok(&Moved { issue, project, dropped }).etag(tag));
            }
            Err(error) => match prepared.refused(&error) {
                Some(Refused::Issue) if !request.if_match().is_absent() => return Err(Problem::stale()),
                Some(_) if backoff.wait().await => {}
                _ => return Err(error.into()),
            },
        }
    }
}

/// Why the project's counter could not be raised to this number.
fn no_next_number(error: &Error, number: u64) -> Problem {
    let last = error.failed(1).and_then(|counter| counter.item.as_ref()?.get("Last")?.as_n().ok()?.parse::<u64>().ok());
    match last {
        Some(last) if last < number => {
            let detail = format!("is more than {MAX_JUMP} above {last}, the last number of the project");
            Problem::unprocessable(vec![Fault::pointer("/number", detail)])
        }
        _ => {
            let detail = "is not above every number that the project has given";
            Problem::taken(vec![Fault::pointer("/number", detail)])
        }
    }
}

/// The issue with all its rows, if the client may change it.
async fn settled(request: &Request, path: IssuePath) -> Result<Known, Problem> {
    let access = request.access();
    let read = || Known::read(access, path.project_id, path.issue_id);
    let mut known = read().await?.ok_or_else(Problem::not_found)?;
    request.if_match().check(tag(&known.stored))?;
    if known.issue.unsettled.is_some() {
        settle(access, path.issue_id).await?;
        known = read().await?.ok_or_else(Problem::not_found)?;
    }
    Ok(known)
}

/// The values that the other project has attributes for, of the same name and type; and the names of those that it has not.
fn carried(from: &Schema, to: &Schema, issue: &Issue) -> (BTreeMap<String, Value>, Vec<String>) {
    let (mut values, mut dropped) = (BTreeMap::new(), Vec::new());
    for attribute in from.columns() {
        let Some(value) = issue.value(attribute.id) else { continue };
        let there = to.named(&attribute.item.name).filter(|there| there.item.of == attribute.item.of);
        // Of a choice the label says which option it is.
        let shown = if value.of == Type::Choice { as_text(attribute, value).value } else { value.value.clone() };
        let read = there.and_then(|there| {
            let plain = if there.item.of == Type::Choice {
                // By its label alone, which may look like the id of another option.
                let option = there.options().labelled(&shown).filter(|option| !option.retired)?;
                Plain::stored(option.id.to_string())
            } else {
                there.item.of.read(&Input::Text(shown), there.options()).ok()?
            };
            Some((there, plain))
        });
        match read {
            Some((there, plain)) => {
                let (slot, of) = (there.item.slot, there.item.of);
                values.insert(there.id.to_string(), Value { slot, of, value: plain.as_str().to_owned() });
            }
            None => dropped.push(attribute.item.name.clone()),
        }
    }
    (values, dropped)
}
