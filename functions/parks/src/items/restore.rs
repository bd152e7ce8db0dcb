//! `POST …/restore` of a deleted item, with the items that its deletion cascaded to.

use jobs::JobId;
use web::{Accepted, Context, Either, Kind as ProblemKind, Path, Problem, Route, Tagged, problem};

use super::LoadedItem;
use crate::access::{CASCADED, DELETE_OR_RESTORE, DETACHED, ITEM, OTHER_ITEM};
use crate::audit::Audit;
use crate::cascade::{self, BUSY};
use crate::entity::{Entity, ItemPath};
use crate::item::Item;
use crate::jobs::JobKind;
use crate::jobs::view::{JobView, accepted};
use crate::names::Kind;
use crate::view::{ADMINISTRATORS, ItemView, View};

pub const NOT_DELETED: ProblemKind = ProblemKind::new(409, "not-deleted", "The item is not deleted");
pub const PARENT_DELETED: ProblemKind = ProblemKind::new(409, "parent-deleted", "The item's parent is deleted");

pub fn route<E: Entity>(name: &'static str, summary: &'static str) -> Route {
    let route = Route::post(name, format!("{}/restore", E::ITEM), ADMINISTRATORS, restore::<E>)
        .summary(summary)
        .sample(E::SAMPLES.restore);
    let route = if E::KIND.has_children() {
        route.patterns(&[&ITEM, &DELETE_OR_RESTORE, &CASCADED, &DETACHED, &OTHER_ITEM])
    } else {
        route.patterns(&[&ITEM, &DELETE_OR_RESTORE, &DETACHED, &OTHER_ITEM])
    };
    if E::KIND == Kind::Collection {
        route.problems(&[problem::NOT_FOUND, NOT_DELETED, BUSY, problem::CONFLICT])
    } else {
        route.problems(&[problem::NOT_FOUND, NOT_DELETED, PARENT_DELETED, BUSY, problem::CONFLICT])
    }
}

async fn restore<E: Entity>(
    cx: Context,
    Path(path): Path<ItemPath<E>>,
) -> Result<Either<Tagged<ItemView>, Accepted<JobView>>, Problem> {
    cx.retry(|| async {
        let before = LoadedItem::load(&cx, &ITEM, path.key(), View::Administrator).await?;
        if !before.item.deleted() {
            return Err(NOT_DELETED.because("Only a deleted item can be restored."));
        }
        if before.item.busy() {
            return Err(BUSY.because("A job is still deleting the item. Try again when it has ended."));
        }
        if before.item.deleted_with.is_some() && !is_parent_deleted(&cx, &before.item).await? {
            return Err(BUSY.because(
                "A job is still restoring the item whose deletion cascaded to this one. Try again when it has ended.",
            ));
        }
        let audit = Audit::now(&cx);
        let (actions, after, job) = match cascade::restore_with_children(cx.access(), &before, &audit).await? {
            Some((transaction, after)) => (transaction.into_actions(), after, None),
            None => {
                let (id, total) = (JobId::new(), before.item.cascaded_count.unwrap_or(0));
                let (kind, by) = (JobKind::Restore, audit.by.clone());
                let job = cascade::job::create(cx.access(), kind, id, &before.item, total, by)?;
                let (after, mut actions) = cascade::restore_alone(&before, &audit)?;
                actions.extend(job.actions.clone());
                (actions, after, Some(job))
            }
        };
        match cx.access().transact(&DELETE_OR_RESTORE, &actions).await {
            Ok(rev) => Ok(match job {
                Some(job) => Either::Second(accepted(job.id, job.job)),
                None => Either::First(before.updated(after, rev).tagged()),
            }),
            Err(error) if E::KIND != Kind::Collection && !cascade::is_stale(&error) && error.failed(1).is_some() => {
                Err(PARENT_DELETED.because("Restore its parent first."))
            }
            Err(error) => Err(cascade::refusal(error)),
        }
    })
    .await
}

async fn is_parent_deleted(cx: &Context, item: &Item) -> Result<bool, Problem> {
    let Some(parent) = item.item_key().and_then(|key| key.parent().key()) else { return Ok(false) };
    Ok(LoadedItem::load(cx, &ITEM, parent, View::Administrator).await?.item.deleted())
}
