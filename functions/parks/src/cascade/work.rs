//! Cascades that are too much for one transaction: jobs, each batch of which reads what is left to do.

mod delete;
mod restore;
mod show;

pub use delete::Deletion;
pub use restore::Restoration;
pub use show::Showing;

use serde::{Deserialize, Serialize};
use table::{Access, Action, Changes, Key};
use web::Problem;

use crate::access;
use crate::item::Item;
use crate::items::LoadedItem;
use crate::jobs::{Held, Job, JobKind};
use crate::names::JobId;
use crate::schema::PARKS;

use super::counters;

/// The limit of actions in a batch. One more action of the transaction is the job's.
fn max_actions(access: &Access) -> usize {
    access.engines().config.batch - 1
}

/// The number of items that a batch lists.
const PAGE: u32 = 50;

/// The pause of a batch for an index that lags behind a counter.
const LAG: std::time::Duration = std::time::Duration::from_millis(200);

/// The checkpoint of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Checkpoint {
    root: Key,
    /// A restored item some of whose relationships are still detached.
    #[serde(default)]
    unfinished: Option<Key>,
}

/// A cascade from this item as a job, and the action that creates it. A request that creates a deletion has its lease and
/// works on it; other jobs wait for a worker.
pub fn begin(
    access: &Access,
    kind: JobKind,
    id: JobId,
    root: &Item,
    total: u64,
    who: Option<String>,
) -> Result<(Job, Action), Problem> {
    let unfinished = (kind == JobKind::Restore).then(|| root.key());
    let checkpoint = Checkpoint { root: root.key(), unfinished };
    let mut job = Job::running(access, kind, &root.key(), total, &checkpoint, who)?;
    if kind != JobKind::Delete || access.engines().is_winding_down() {
        job.lease_until = None;
    }
    let create = job.create(id)?;
    Ok((job, create))
}

/// A job that shows or hides an item with its relationships. `item` becomes visible first: a job that hides it does so at
/// its end.
pub fn set_visibility(access: &Access, item: &mut Item, relationships: u64) -> Result<(JobId, Job, Action), Problem> {
    let kind = if item.visible() { JobKind::Show } else { JobKind::Hide };
    (item.is_visible, item.busy) = (Some(true), Some(true));
    item.index();
    let id = JobId::new();
    let (job, create) = begin(access, kind, id, item, relationships, item.updated_by.clone())?;
    Ok((id, job, create))
}

/// The number of children and relationships of an item by its own counters.
pub async fn dependents(access: &Access, root: &Item) -> Result<u64, Problem> {
    let mut total = 0;
    let children = root.children().into_iter().map(|(_, partition)| (&access::CHILDREN, counters::of_items(partition)));
    let item = root.reference();
    let relationships = item.map(|item| (&access::ALL_RELATIONSHIPS, counters::of_relationships(&item)));
    for (pattern, counter) in children.chain(relationships) {
        total += counters::load(access, pattern, counter).await?.count;
    }
    Ok(total as u64)
}

fn checkpoint(held: &Held) -> Result<Checkpoint, Problem> {
    serde_json::from_value(held.job.checkpoint.clone()).map_err(Problem::internal)
}

/// Loads an item with a consistent read.
async fn load(access: &Access, key: &Key) -> Result<Option<LoadedItem>, Problem> {
    let stored = access.table(&access::WORK, &PARKS).get_consistent(key.clone()).await?;
    Ok(stored.map(LoadedItem::new).transpose()?)
}

/// Adds to the `cascaded_count` of the item that was deleted first.
fn add_cascaded(root: &LoadedItem, by: i64) -> Action {
    Action::update(&PARKS, root.stored.key.clone(), Changes::new().add("took", by)).if_unchanged(&root.stored)
}
