//! `POST …/activate` and `POST …/deactivate`.

use table::{Action, Backoff, Cause, Changes, item};
use web::{Answer, Problem, Request};

use super::{AgencyPath, AgencyView};
use crate::access::SET_STATUS;
use crate::item::Agency;
use crate::keys::gate_key;
use crate::names::Status;
use crate::schema::AGENCIES;
use crate::standing::{Standing, again, stamp};

pub async fn activate(request: Request) -> Result<Answer, Problem> {
    set(request, Status::Active).await
}

pub async fn deactivate(request: Request) -> Result<Answer, Problem> {
    set(request, Status::Inactive).await
}

/// On the agency and on its gate, so that whoever joins by it knows. The same again changes nothing.
async fn set(request: Request, status: Status) -> Result<Answer, Problem> {
    let agency = request.path::<AgencyPath>()?.id().ok_or_else(Problem::not_found)?;
    let mut backoff = Backoff::new();
    loop {
        let standing = Standing::of(&request, &agency).await?;
        standing.preside()?;
        let before = &standing.agency;
        if before.status == status {
            return Ok(Answer::ok(&AgencyView::seen_by(&standing, before.clone())).etag(standing.tag()));
        }
        let after = Agency { status, ..before.clone() }.stamped(&stamp(&request)?);
        let changed = Action::update(&AGENCIES, standing.stored.key.clone(), Changes::between(before, &after)?);
        let to = Changes::new().set("status", item::text(status.as_str()));
        // As it was read: then nobody has begun to delete it, and its gate is open.
        let actions = [changed.if_unchanged(&standing.stored), Action::update(&AGENCIES, gate_key(&agency), to)];
        let error = match request.access().transact(&SET_STATUS, &actions).await {
            Ok(rev) => return Ok(Answer::ok(&AgencyView::seen_by(&standing, after)).etag(rev)),
            Err(error) => error,
        };
        match error.failed(0).map(|failed| failed.cause) {
            Some(Cause::Stale) => again(&request, &mut backoff).await?,
            Some(_) => return Err(Problem::not_found()),
            None => return Err(error.into()),
        }
    }
}
