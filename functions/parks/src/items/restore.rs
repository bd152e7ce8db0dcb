//! `POST …/restore` of a deleted item, as it was.

use table::Action;
use web::{Answer, Kind, Problem, Request};

use super::{administrators_answer, live, lost, read, stamp};
use crate::entity::{Entity, ItemPath};
use crate::schema::PARKS;
use crate::view::View;
use crate::{access, dependents};

pub const NOT_DELETED: Kind = Kind::new(409, "not-deleted", "It is not deleted");
pub const PARENT_DELETED: Kind = Kind::new(409, "parent-deleted", "What it lies in is deleted");

pub async fn restore<E: Entity>(request: Request) -> Result<Answer, Problem> {
    let path: ItemPath<E> = request.path()?;
    loop {
        let before =
            read(&request, &access::ITEM, E::key(&path.parts).map(|key| key.key()), View::Administrator).await?;
        if !before.item.deleted() {
            return Err(NOT_DELETED.because("Only what was deleted can be restored."));
        }
        let mut after = before.item.clone();
        let (now, who) = stamp(&request);
        after.is_deleted = Some(false);
        (after.deleted_at, after.deleted_by) = (None, None);
        (after.updated_at, after.updated_by) = (Some(now.clone()), who);
        after.complete(&now);

        let changes = after.changes_of(&before.stored)?;
        let mut actions = vec![Action::update(&PARKS, before.stored.key.clone(), changes).if_unchanged(&before.stored)];
        actions.extend(after.item_key().and_then(|key| live(&key.parent())));
        actions.extend(dependents::count(&after, 1));
        match request.access().transact(&access::DELETE_OR_RESTORE, &actions).await {
            Ok(rev) => {
                return Ok(administrators_answer(&before.changed(after, rev)));
            }
            Err(error) if lost(&error) => {}
            Err(error) if error.failed(1).is_some() => {
                return Err(PARENT_DELETED.because("Restore what it lies in first."));
            }
            Err(error) => return Err(error.into()),
        }
    }
}
