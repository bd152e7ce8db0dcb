//! `PATCH` of an item.

use table::{Action, Backoff, Error};
use web::{Answer, Problem, Request};

use super::{administrators_answer, again, lost, read, stamp};
use crate::change::Change;
use crate::entity::{Entity, ItemPath};
use crate::jobs;
use crate::relationships::End;
use crate::schema::PARKS;
use crate::structure::{self, BUSY, Visibility, work};
use crate::view::View;
use crate::{access, checks, dates, external_id};

pub async fn change<E: Entity>(request: Request) -> Result<Answer, Problem> {
    let path: ItemPath<E> = request.path()?;
    let change: Change<E::Fields> = request.json()?;
    let mut backoff = Backoff::new();
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
        let (mut with_it, mut begun) = (Vec::new(), None);
        if before.item.visible() != after.visible()
            && let Some(end) = End::of(&after.pk, &after.sk)
        {
            if before.item.busy() {
                return Err(BUSY.because("Wait until the job that is at work on it has ended."));
            }
            match structure::visibility(request.access(), &end, after.visible()).await? {
                Visibility::Plan(plan) => with_it = plan.into_actions(),
                Visibility::TooMany(count) => {
                    let (id, job, made) = work::show(request.access(), &mut after, count)?;
                    with_it.push(made);
                    begun = Some((id, job));
                }
            }
        }
        let change = Action::update(&PARKS, before.stored.key.clone(), after.changes_of(&before.stored)?);
        let mut actions = vec![change.if_unchanged(&before.stored)];
        actions.extend(with_it);
        let mut hold = None;
        if before.item.external_id != after.external_id {
            actions.extend(external_id::release(&before.item));
            hold = external_id::hold(&after)?;
        }
        let place = actions.len();
        actions.extend(hold);
        match request.access().transact(E::CHANGE, &actions).await {
            Ok(rev) => {
                return Ok(match begun {
                    Some((id, job)) => jobs::accepted(id, job),
                    None => administrators_answer(&before.changed(after, rev)),
                });
            }
            Err(error) if lost(&error) => {
                again(&request)?;
                if !backoff.wait().await {
                    return Err(structure::unsettled(error));
                }
            }
            Err(error) => match external_id::taken(&error, place) {
                Some(taken) => return Err(taken),
                // Its relationships have changed since they were read.
                None if matches!(error, Error::ConditionFailed(_)) && backoff.wait().await => {}
                None => return Err(structure::unsettled(error)),
            },
        }
    }
}
