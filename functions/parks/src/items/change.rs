//! `PATCH` of an item.

use table::Action;
use web::{Answer, Problem, Request};

use super::{administrators_answer, again, lost, read, stamp};
use crate::change::Change;
use crate::entity::{Entity, ItemPath};
use crate::schema::PARKS;
use crate::view::View;
use crate::{access, checks, dates, dependents, external_id};

pub async fn change<E: Entity>(request: Request) -> Result<Answer, Problem> {
    let path: ItemPath<E> = request.path()?;
    let change: Change<E::Fields> = request.json()?;
    loop {
        let before =
            read(&request, &access::ITEM, E::key(&path.parts).map(|key| key.key()), View::Administrator).await?;
        if before.item.deleted() {
            return Err(Problem::not_found());
        }
        request.if_match().check(before.tag())?;
        let mut after = change.apply(&before.item).map_err(Problem::internal)?;
        let (now, who) = stamp(&request);
        after.complete(&now);
        let faults = checks::faults(&after);
        if !faults.is_empty() {
            return Err(Problem::faults(faults));
        }
        if after.changes_of(&before.stored)?.is_empty() {
            return Ok(administrators_answer(&before));
        }
        (after.updated_at, after.updated_by) = (Some(now), who);

        dates::stay_inside(&request, &before.item, &after).await?;
        let change = Action::update(&PARKS, before.stored.key.clone(), after.changes_of(&before.stored)?);
        let mut actions = vec![change.if_unchanged(&before.stored)];
        if before.item.visible() != after.visible() {
            // The public keys of its relationships would have to go with it.
            actions.push(dependents::relationships(&after).none());
        }
        let mut hold = None;
        if before.item.external_id != after.external_id {
            actions.extend(external_id::release(&before.item));
            hold = external_id::hold(&after)?;
        }
        let place = actions.len();
        actions.extend(hold);
        match request.access().transact(&access::CHANGE_ITEM, &actions).await {
            Ok(rev) => return Ok(administrators_answer(&before.changed(after, rev))),
            Err(error) if lost(&error) => again(&request)?,
            Err(error) => return Err(external_id::taken(&error, place).unwrap_or_else(|| error.into())),
        }
    }
}
