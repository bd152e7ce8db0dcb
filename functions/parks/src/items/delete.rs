//! `DELETE` of an item: it stays in the table, marked as deleted, and can be restored.

use jobs::JobId;
use serde::Deserialize;
use table::Action;
use utoipa::ToSchema;
use web::route::MAX_TIMEOUT;
use web::{Context, Either, IfMatch, NoContent, Path, Problem, Query, Route, problem};

use super::LoadedItem;
use crate::access::{ALL_RELATIONSHIPS, CHILDREN, DELETE_OR_RESTORE, ITEM, LEASE};
use crate::audit::Audit;
use crate::cascade::{self, BUSY, deleted};
use crate::dependents::{self, Dependents};
use crate::entity::{Entity, ItemPath};
use crate::item::Item;
use crate::jobs::JobKind;
use crate::jobs::view::{DoneOrAccepted, finish, resume};
use crate::keys::ItemKey;
use crate::view::{ADMINISTRATORS, View};

#[derive(Debug, Deserialize, ToSchema)]
pub struct DeleteQuery {
    /// Deletes its children and relationships, too; a restore brings them back. After a response of 204 visitors see none
    /// of them. After 202 the item itself is deleted, and a job deletes its relationships and its children, the deepest
    /// first. The same request again works on that job.
    #[serde(default)]
    cascade: bool,
}

pub fn route<E: Entity>(name: &'static str, summary: &'static str) -> Route {
    let route = Route::delete(name, E::ITEM, ADMINISTRATORS, delete::<E>)
        .summary(summary)
        .timeout(MAX_TIMEOUT)
        .problems(&[problem::NOT_FOUND, problem::HAS_DEPENDENTS, BUSY, problem::CONFLICT])
        .sample(E::SAMPLES.item);
    if E::KIND.has_children() {
        route.patterns(&[&ITEM, &DELETE_OR_RESTORE, &CHILDREN, &ALL_RELATIONSHIPS, &LEASE])
    } else {
        route.patterns(&[&ITEM, &DELETE_OR_RESTORE, &ALL_RELATIONSHIPS, &LEASE])
    }
}

async fn delete<E: Entity>(
    cx: Context,
    Path(path): Path<ItemPath<E>>,
    Query(query): Query<DeleteQuery>,
    tag: IfMatch,
) -> Result<DoneOrAccepted, Problem> {
    cx.retry_stale(&tag, || async {
        let loaded = LoadedItem::load(&cx, &ITEM, path.key(), View::Administrator).await?;
        if loaded.item.deleted() {
            let key: ItemKey = path.key.clone().into();
            let job = job_of(&loaded.item).ok_or_else(Problem::not_found)?;
            return resume(&cx, key.collection(), job).await;
        }
        if loaded.item.busy() {
            return Err(
                BUSY.because("A job is still restoring, showing or hiding the item. Try again when it has ended.")
            );
        }
        tag.check(loaded.tag())?;
        if query.cascade { cascade(&cx, loaded).await } else { delete_alone(&cx, &loaded).await.map(Either::First) }
    })
    .await
}

/// The job that still deletes the relationships and the children of a deleted item, if there is one.
fn job_of(item: &Item) -> Option<JobId> {
    item.deletion.as_ref().filter(|_| item.busy())?.parse().ok()
}

/// Deletes an item that has no dependents.
async fn delete_alone(cx: &Context, loaded: &LoadedItem) -> Result<NoContent, Problem> {
    let after = deleted(&loaded.item, &Audit::now(cx));
    let dependents = dependents::of(&loaded.item);
    let mut actions = vec![loaded.update_to(&after)?];
    actions.extend(dependents.iter().map(Dependents::check_none));
    actions.extend(dependents::count(&after, -1));
    let Err(error) = cx.access().transact(&DELETE_OR_RESTORE, &actions).await else { return Ok(NoContent) };
    if cascade::is_stale(&error) {
        return Err(Problem::stale());
    }
    let counts = dependents::found(&dependents, 1, &error);
    Err(if counts.is_empty() { cascade::refusal(error) } else { Problem::has_dependents(&counts) })
}

/// Deletes an item with its children and relationships; by a job if they are too much for one transaction.
async fn cascade(cx: &Context, loaded: LoadedItem) -> Result<DoneOrAccepted, Problem> {
    let (access, audit) = (cx.access(), Audit::now(cx));
    let id = JobId::new();
    let mut after = deleted(&loaded.item, &audit);
    (after.deletion, after.cascaded_count, after.busy) = (Some(id.to_string()), Some(0), Some(true));
    let delete = loaded.update_to(&after)?;
    if let Some(transaction) = cascade::delete_with_children(access, loaded, &audit).await? {
        access.transact(&DELETE_OR_RESTORE, &transaction.into_actions()).await.map_err(cascade::refusal)?;
        return Ok(Either::First(NoContent));
    }
    // The item is deleted first, so that no request creates children or relationships of it.
    let total = cascade::job::dependents(access, &after).await?;
    let job = cascade::job::create(access, JobKind::Delete, id, &after, total, audit.by)?;
    let actions: Vec<Action> =
        [delete].into_iter().chain(job.actions.clone()).chain(dependents::count(&after, -1)).collect();
    access.transact(&DELETE_OR_RESTORE, &actions).await.map_err(cascade::refusal)?;
    Ok(finish(cx, job.lease()).await)
}
