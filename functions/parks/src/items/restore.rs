//! `POST …/restore` of a deleted item, as it was, with all that its deletion took along.

use table::{Backoff, Error};
use web::{Answer, Kind, Problem, Request};

use super::{administrators_answer, lost, read, stamp};
use crate::entity::{Entity, ItemPath};
use crate::structure::{self, BUSY, TOO_MANY};
use crate::view::View;
use crate::{access, names};

pub const NOT_DELETED: Kind = Kind::new(409, "not-deleted", "It is not deleted");
pub const PARENT_DELETED: Kind = Kind::new(409, "parent-deleted", "What it lies in is deleted");

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
        let Some((plan, after)) = structure::restoration(request.access(), &before, &stamp(&request)).await? else {
            return Err(TOO_MANY.because("More was deleted with it than can be brought back at once."));
        };
        let error = match request.access().transact(&access::DELETE_OR_RESTORE, &plan.into_actions()).await {
            Ok(rev) => return Ok(administrators_answer(&before.changed(after, rev))),
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
