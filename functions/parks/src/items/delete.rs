//! `DELETE` of an item that nothing depends on: it stays in the table, marked, and can be restored.

use table::Action;
use web::{Answer, Problem, Request};

use super::{again, lost, read, stamp};
use crate::entity::{Entity, ItemPath};
use crate::schema::PARKS;
use crate::view::View;
use crate::{access, dependents};

pub async fn delete<E: Entity>(request: Request) -> Result<Answer, Problem> {
    let path: ItemPath<E> = request.path()?;
    loop {
        let read = read(&request, &access::ITEM, E::key(&path.parts).map(|key| key.key()), View::Administrator).await?;
        if read.item.deleted() {
            return Err(Problem::not_found());
        }
        request.if_match().check(read.tag())?;
        let mut after = read.item.clone();
        let (now, who) = stamp(&request);
        after.is_deleted = Some(true);
        after.deleted_at = Some(now.clone());
        after.deleted_by = who;
        after.complete(&now);

        let dependents = dependents::of(&read.item);
        let changes = after.changes_of(&read.stored)?;
        let mut actions = vec![Action::update(&PARKS, read.stored.key.clone(), changes).if_unchanged(&read.stored)];
        actions.extend(dependents.iter().map(dependents::Dependents::none));
        actions.extend(dependents::count(&after, -1));
        match request.access().transact(&access::DELETE_OR_RESTORE, &actions).await {
            Ok(_) => return Ok(Answer::no_content()),
            Err(error) if lost(&error) => again(&request)?,
            Err(error) => {
                let counts = dependents::found(&dependents, 1, &error);
                let stopped = if counts.is_empty() { error.into() } else { Problem::has_dependents(&counts) };
                return Err(stopped);
            }
        }
    }
}
