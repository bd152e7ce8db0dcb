//! `DELETE` of an agency: marked first, so that nobody sees it and nobody joins, then emptied, and gone last.

use std::time::Duration;

use serde::Deserialize;
use table::{Action, Changes, Condition, Error, item};
use tokio::time::{Instant, timeout_at};
use utoipa::ToSchema;
use web::{Answer, Problem, Request};

use super::{AgencyPath, deletion};
use crate::access::MARK_DELETION;
use crate::item::{AGENCY, DELETING, Gate};
use crate::keys::{agency_key, gate_key};
use crate::schema::AGENCIES;
use crate::standing::{Standing, stamp};

#[derive(Debug, Deserialize, ToSchema)]
pub struct DeleteQuery {
    /// Takes its members along.
    #[serde(default)]
    cascade: bool,
}

/// How long a request works on a deletion before it leaves the rest to `runWork`.
const PATIENCE: Duration = Duration::from_secs(20);

pub async fn delete(request: Request) -> Result<Answer, Problem> {
    let until = (Instant::now() + PATIENCE).min(request.deadline());
    let agency = request.path::<AgencyPath>()?.id().ok_or_else(Problem::not_found)?;
    let cascade = request.query::<DeleteQuery>()?.cascade;
    let standing = Standing::also_deleted(&request, &agency).await?;
    // Who may not delete learns no more of a deletion than of an agency that is not there.
    if standing.agency.is_being_deleted() && !standing.is_platform_admin {
        return Err(Problem::not_found());
    }
    standing.preside()?;
    if !standing.agency.is_being_deleted() {
        request.if_match().check(standing.tag())?;
        mark(&request, &standing, cascade).await?;
    }
    // What is marked goes, whoever takes the rest away: what stops this request is no fault of the client's.
    let is_gone = match timeout_at(until, deletion::finish(request.access(), &agency, until)).await {
        Ok(Ok(is_gone)) => is_gone,
        Ok(Err(error)) => {
            tracing::error!(agency.id = %agency, %error, "a deletion was left where it is; `runWork` goes on");
            false
        }
        Err(_) => false,
    };
    Ok(if is_gone { Answer::no_content() } else { Answer::going_on() })
}

/// From here on the agency is in no list, and its gate lets nobody in.
async fn mark(request: &Request, standing: &Standing, cascade: bool) -> Result<(), Problem> {
    let stamp = stamp(request)?;
    let id = &standing.agency.agency_id;
    let changes = Changes::new()
        .set("type", item::text(DELETING))
        .set("modified", item::text(&stamp.at))
        .set("modifiedBy", item::text(&stamp.by));
    let mut marked = Action::update(&AGENCIES, agency_key(id), changes);
    if !request.if_match().is_absent() {
        marked = marked.if_unchanged(&standing.stored);
    }
    let closed = Changes::new().set("closed", item::flag(true));
    let mut gate = Action::update(&AGENCIES, gate_key(id), closed);
    if !cascade {
        gate = gate.when(Condition::Equals("members", item::number(0)));
    }
    let actions = [marked.when(Condition::Equals("type", item::text(AGENCY))), gate];
    match request.access().transact(&MARK_DELETION, &actions).await {
        Ok(_) => Ok(()),
        Err(error) => match (error.failed(0), error.failed(1).and_then(|failed| failed.item.clone())) {
            (None, Some(gate)) => {
                let gate: Gate = item::from_item(gate)?;
                Err(Problem::has_dependents(&[("members", gate.members)]))
            }
            // Somebody else has begun the same: the rest is done together.
            (Some(_), _) if request.if_match().is_absent() => Ok(()),
            (Some(_), _) => Err(Problem::stale()),
            _ => Err(missing(error)),
        },
    }
}

fn missing(error: Error) -> Problem {
    match error {
        Error::ConditionFailed(_) => Problem::not_found(),
        error => error.into(),
    }
}
