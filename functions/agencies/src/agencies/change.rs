//! `PATCH` of an agency: its name.

use table::{Action, Backoff, Changes, Error};
use web::{Answer, Fault, Problem, Request, Rules};

use super::create::blank;
use super::{AgencyPath, AgencyView, Renamed};
use crate::access::RENAME;
use crate::item::Agency;
use crate::schema::AGENCIES;
use crate::standing::{Standing, again, stamp};

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
    let mut backoff = Backoff::new();
    loop {
        let standing = Standing::of(&request, &agency).await?;
        standing.change()?;
        if !faults.is_empty() {
            return Err(Problem::faults(faults));
        }
        request.if_match().check(standing.tag())?;
        let before = &standing.agency;
        let Some(name) = renamed.name.as_ref().filter(|name| **name != before.name) else {
            return Ok(Answer::ok(&AgencyView::seen_by(&standing, before.clone())).etag(standing.tag()));
        };
        let after = Agency { name: name.clone(), ..before.clone() }.stamped(&stamp(&request)?);
        let write = Action::update(&AGENCIES, standing.stored.key.clone(), Changes::between(before, &after)?);
        // As it was read: then nobody has deactivated it, or begun to delete it, either.
        match request.access().write(&RENAME, write.if_unchanged(&standing.stored)).await {
            Ok(rev) => return Ok(Answer::ok(&AgencyView::seen_by(&standing, after)).etag(rev)),
            Err(Error::Stale { .. }) => again(&request, &mut backoff).await?,
            Err(error) => return Err(error.into()),
        }
    }
}
