//! `DELETE /agencies/{agencyId}`: the agency is marked first, which hides it and closes its gate, then its items are
//! deleted, and the agency itself last.

use std::time::Duration;

use serde::Deserialize;
use table::{Action, Changes, Condition, Error, item};
use tokio::time::{Instant, timeout_at};
use utoipa::ToSchema;
use web::{Context, Either, IfMatch, NoContent, Path, Problem, Query, Route, Sample, Unfinished, problem};

use super::{AgencyPath, ONE, deletion};
use crate::access::{AUTHORIZATION, DELETION, MARK_DELETION};
use crate::audit::Audit;
use crate::authorization::{AgencyAccess, SIGNED_IN};
use crate::item::{AGENCY, DELETING, Gate};
use crate::keys::{agency_key, gate_key};
use crate::schema::AGENCIES;

#[derive(Debug, Deserialize, ToSchema)]
pub struct DeleteQuery {
    /// Deletes its members, too.
    #[serde(default)]
    cascade: bool,
}

/// How long a request works on a deletion before it leaves the rest to `runWork`.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// The function's timeout, above [`TIME_LIMIT`].
const TIMEOUT: Duration = Duration::from_secs(25);

pub fn route() -> Route {
    Route::delete("deleteAgency", ONE, SIGNED_IN, delete)
        .summary("Delete an agency and, with `cascade=true`, its members; the same request again resumes a deletion")
        .patterns(&[&AUTHORIZATION, &MARK_DELETION, &DELETION])
        .timeout(TIMEOUT)
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::HAS_DEPENDENTS, problem::CONFLICT])
        .sample(Sample::new("/agencies/01890a5d-ac96-774b-bcce-b302099a8057?cascade=true"))
}

async fn delete(
    cx: Context,
    Path(path): Path<AgencyPath>,
    Query(query): Query<DeleteQuery>,
    tag: IfMatch,
) -> Result<Either<NoContent, Unfinished>, Problem> {
    let until = (Instant::now() + TIME_LIMIT).min(cx.deadline());
    let access = AgencyAccess::load_also_deleted(&cx, &path.agency_id).await?;
    // To other callers an agency that is being deleted is absent.
    if access.agency.is_being_deleted() && !access.is_platform_admin {
        return Err(Problem::not_found());
    }
    access.require_platform_admin()?;
    if !access.agency.is_being_deleted() {
        tag.check(access.tag())?;
        mark(&cx, &access, &tag, query.cascade).await?;
    }
    // A marked agency will be deleted in any case, so an error of the rest is no fault of this request.
    let is_finished = match timeout_at(until, deletion::finish(cx.access(), &path.agency_id, until)).await {
        Ok(Ok(is_finished)) => is_finished,
        Ok(Err(error)) => {
            tracing::error!(agency.id = %path.agency_id, %error, "deletion failed; `runWork` will resume it");
            false
        }
        Err(_) => false,
    };
    Ok(if is_finished { Either::First(NoContent) } else { Either::Second(Unfinished) })
}

/// Removes the agency from every list and closes its gate to new members.
async fn mark(cx: &Context, access: &AgencyAccess, tag: &IfMatch, cascade: bool) -> Result<(), Problem> {
    let audit = Audit::now(cx)?;
    let id = &access.agency.agency_id;
    let changes = Changes::new()
        .set("type", item::text(DELETING))
        .set("modified", item::text(&audit.at))
        .set("modifiedBy", item::text(&audit.by));
    let marked = tag.guard(Action::update(&AGENCIES, agency_key(id), changes), &access.stored);
    let closed = Changes::new().set("closed", item::flag(true));
    let mut gate = Action::update(&AGENCIES, gate_key(id), closed);
    if !cascade {
        gate = gate.when(Condition::Equals("members", item::number(0)));
    }
    let actions = [marked.when(Condition::Equals("type", item::text(AGENCY))), gate];
    match cx.access().transact(&MARK_DELETION, &actions).await {
        Ok(_) => Ok(()),
        Err(error) => match (error.failed(0), error.failed(1).and_then(|failed| failed.item.clone())) {
            (None, Some(gate)) => {
                let gate: Gate = item::from_item(gate)?;
                Err(Problem::has_dependents(&[("members", gate.members)]))
            }
            // Another request has marked it: both delete the rest.
            (Some(_), _) if tag.is_absent() => Ok(()),
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
