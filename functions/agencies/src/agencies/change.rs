//! `PATCH` of an agency: its name.

use table::{Action, Changes, Condition, Error, item};
use web::{Answer, Fault, Problem, Request, Rules};

use super::create::blank;
use super::{AgencyPath, AgencyView, Renamed};
use crate::access::RENAME;
use crate::item::AGENCY;
use crate::keys::agency_key;
use crate::schema::AGENCIES;
use crate::standing::{Standing, inactive, stamp};

impl Rules for Renamed {
    fn faults(&self) -> Vec<Fault> {
        let blank = self.name.as_deref().and_then(blank);
        blank.map(|detail| Fault::pointer("/name", detail)).into_iter().collect()
    }
}

pub async fn change(request: Request) -> Result<Answer, Problem> {
    let agency = request.path::<AgencyPath>()?.id().ok_or_else(Problem::not_found)?;
    let renamed: Renamed = request.json()?;
    let faults = renamed.faults();
    let standing = Standing::of(&request, &agency).await?;
    standing.change()?;
    if !faults.is_empty() {
        return Err(Problem::faults(faults));
    }
    request.if_match().check(standing.tag())?;
    let before = standing.agency.clone();
    let answer = |agency, tag| Answer::ok(&AgencyView { role: standing.role(), ..AgencyView::from(agency) }).etag(tag);
    let Some(name) = renamed.name.filter(|name| *name != before.name) else {
        return Ok(answer(before, standing.tag()));
    };
    let stamp = stamp(&request)?;
    let changes = Changes::new()
        .set("name", item::text(&name))
        .set("modified", item::text(&stamp.at))
        .set("modifiedBy", item::text(&stamp.by));
    let mut action = Action::update(&AGENCIES, agency_key(&agency), changes);
    if !request.if_match().is_absent() {
        action = action.if_unchanged(&standing.stored);
    }
    action = action.when(Condition::Equals("type", item::text(AGENCY)));
    if let Some(active) = standing.while_active() {
        action = action.when(active);
    }
    let rev = request.access().write(&RENAME, action).await.map_err(|error| match error {
        // It has been deactivated, or its deletion has begun, since it was read.
        Error::ConditionFailed(failed) => match failed.first().and_then(|failed| failed.item.as_ref()) {
            Some(found) if !Condition::Equals("type", item::text(AGENCY)).holds(found) => Problem::not_found(),
            _ => inactive(),
        },
        error => error.into(),
    })?;
    Ok(answer(crate::item::Agency { name, ..before }.stamped(&stamp), rev.into()))
}
