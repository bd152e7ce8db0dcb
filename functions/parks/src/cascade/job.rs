//! Cascades that are too much for one transaction: jobs, each batch of which reads what is left to do.

mod delete;
mod restore;
mod show;

pub use delete::Deletion;
pub use restore::Restoration;
pub use show::Showing;

use jobs::{JobId, Start};
use serde::{Deserialize, Serialize};
use table::{Access, Action, Changes, Key};
use web::Problem;

use crate::access;
use crate::item::Item;
use crate::items::LoadedItem;
use crate::jobs::{Details, Job, JobKind, NewJob};
use crate::schema::PARKS;

use super::{PagePosition, counters};

/// The limit of actions in a batch. Two more actions of the transaction are on the job and its due row.
fn max_actions(access: &Access) -> usize {
    access.engines().config.batch - 2
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
    /// The next page of the relationships of an item that is shown or hidden; absent at their start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next_page: Option<PagePosition>,
}

/// The job of a cascade from this item. The request that creates a deletion works on it; other jobs are due at once.
pub fn create(
    access: &Access,
    kind: JobKind,
    id: JobId,
    root: &Item,
    total: u64,
    who: Option<String>,
) -> Result<NewJob, Problem> {
    let unfinished = (kind == JobKind::Restore).then(|| root.key());
    let checkpoint = Checkpoint { root: root.key(), unfinished, next_page: None };
    let mut job = Job::new(access, kind, Details::new(&root.key(), id), who).at(&checkpoint)?;
    job.counts.total = total;
    let key = root.item_key().ok_or_else(|| Problem::internal("an item with a key of no kind"))?;
    let start = if kind == JobKind::Delete { Start::Leased } else { Start::After(0) };
    Ok(NewJob::with_id(access, key.collection().clone(), id, job, start)?)
}

/// A job that shows or hides an item with its relationships. It sets `item` visible and busy. A job that hides the item
/// does so in its last step.
pub fn set_visibility(access: &Access, item: &mut Item, relationships: u64) -> Result<NewJob, Problem> {
    let kind = if item.visible() { JobKind::Show } else { JobKind::Hide };
    (item.is_visible, item.busy) = (Some(true), Some(true));
    item.index();
    create(access, kind, JobId::new(), item, relationships, item.updated_by.clone())
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

/// Loads an item with a consistent read.
async fn load(access: &Access, key: &Key) -> Result<Option<LoadedItem>, Problem> {
    let stored = access.table(&access::ITEM, &PARKS).get_consistent(key.clone()).await?;
    Ok(stored.map(LoadedItem::new).transpose()?)
}

/// Adds to the `cascaded_count` of the item that was deleted first.
fn add_cascaded(root: &LoadedItem, by: i64) -> Action {
    Action::update(&PARKS, root.stored.key.clone(), Changes::new().add("took", by)).if_unchanged(&root.stored)
}
