//! `POST …/restore` of a deleted item, as it was, with all that its deletion took along.

use table::{Backoff, Error};
use web::{Answer, Kind, Problem, Request};

use super::{administrators_answer, lost, read, stamp};
use crate::entity::{Entity, ItemPath};
use crate::item::Item;
use crate::jobs::{self, JobKind};
use crate::names::JobId;
use crate::structure::{self, BUSY, work};
use crate::view::View;
use crate::{access, names};

pub const NOT_DELETED: Kind = Kind::new(409, "not-deleted", "It is not deleted");
pub const PARENT_DELETED: Kind = Kind::new(409, "parent-deleted", "What it lies in is deleted");

/// Whether what the item lies in is deleted.
async fn in_deleted(request: &Request, item: &Item) -> Result<bool, Problem> {
    let Some(parent) = item.item_key().and_then(|key| key.parent().key()) else { return Ok(false) };
    Ok(read(request, &access::ITEM, Some(parent), View::Administrator).await?.item.deleted())
}

pub async fn restore<E: Entity>(request: Request) -> Result<Answer, Problem> {
    let path: ItemPath<E> = request.path()?;
    let mut backoff = Backoff::new();
    loop {
        let before =
            read(&request, &access::ITEM, E::key(&path.parts).map(|key| key.key()), View::Administrator).await?;
        if !before.item.deleted() {
            return Err(NOT_DELETED.because("Only what was deleted can be restored."));
        }
        if before.item.busy() {
            return Err(BUSY.because("It is still being deleted."));
        }
        if before.item.deleted_with.is_some() && !in_deleted(&request, &before.item).await? {
            return Err(BUSY.because("What it was deleted with is still being restored."));
        }
        let (stamp, id) = (stamp(&request), JobId::new());
        let (actions, after, job) = match structure::restoration(request.access(), &before, &stamp).await? {
            Some((plan, after)) => (plan.into_actions(), after, None),
            None => {
                let (job, made) = work::begin(
                    request.access(),
                    JobKind::Restore,
                    id,
                    &before.item,
                    before.item.took.unwrap_or(0),
                    stamp.1.clone(),
                )?;
                let (after, mut actions) = structure::back_first(&before, &stamp)?;
                actions.push(made);
                (actions, after, Some(job))
            }
        };
        let error = match request.access().transact(&access::DELETE_OR_RESTORE, &actions).await {
            Ok(rev) => {
                return Ok(match job {
                    Some(job) => jobs::accepted(id, job),
                    None => administrators_answer(&before.changed(after, rev)),
                });
            }
            Err(error) => error,
        };
        if before.item.kind() != Some(names::Kind::Collection) && !lost(&error) && error.failed(1).is_some() {
            return Err(PARENT_DELETED.because("Restore what it lies in first."));
        }
        if !matches!(error, Error::ConditionFailed(_)) || !backoff.wait().await {
            return Err(structure::unsettled(error));
        }
    }
}
