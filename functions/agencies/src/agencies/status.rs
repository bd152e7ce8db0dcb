//! `POST …/activate` and `POST …/deactivate`.

use table::{Action, Changes, Condition, Error, item};
use web::{Answer, Problem, Request};

use super::{AgencyPath, AgencyView};
use crate::access::SET_STATUS;
use crate::item::{AGENCY, Agency};
use crate::keys::{agency_key, gate_key};
use crate::names::Status;
use crate::schema::AGENCIES;
use crate::standing::{Standing, stamp};

pub async fn activate(request: Request) -> Result<Answer, Problem> {
    set(request, Status::Active).await
}

pub async fn deactivate(request: Request) -> Result<Answer, Problem> {
    set(request, Status::Inactive).await
}

/// On the agency and on its gate, so that whoever joins by it knows. The same again changes nothing.
async fn set(request: Request, status: Status) -> Result<Answer, Problem> {
    let agency = request.path::<AgencyPath>()?.id().ok_or_else(Problem::not_found)?;
    let standing = Standing::of(&request, &agency).await?;
    standing.preside()?;
    let answer = |agency, tag| Answer::ok(&AgencyView { role: standing.role(), ..AgencyView::from(agency) }).etag(tag);
    if standing.agency.status == status {
        return Ok(answer(standing.agency.clone(), standing.tag()));
    }
    let stamp = stamp(&request)?;
    let to = Changes::new().set("status", item::text(status.as_str()));
    let of_agency = to.clone().set("modified", item::text(&stamp.at)).set("modifiedBy", item::text(&stamp.by));
    let actions = [
        Action::update(&AGENCIES, agency_key(&agency), of_agency).when(Condition::Equals("type", item::text(AGENCY))),
        Action::update(&AGENCIES, gate_key(&agency), to).when(Condition::Absent("closed")),
    ];
    let rev = request.access().transact(&SET_STATUS, &actions).await.map_err(|error| match error {
        Error::ConditionFailed(_) => Problem::not_found(),
        error => error.into(),
    })?;
    Ok(answer(Agency { status, ..standing.agency.clone() }.stamped(&stamp), rev.into()))
}
