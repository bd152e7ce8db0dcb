//! Changes of structure that are more than one transaction: jobs, whose every batch reads anew what is left to do.

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
use crate::items::Read;
use crate::jobs::{Held, Job, JobKind};
use crate::names::JobId;
use crate::schema::PARKS;

use super::counters;

/// The most actions of a batch: beside them, the transaction moves the job on.
fn most(access: &Access) -> usize {
    access.engines().config.batch - 1
}

/// How many items a batch looks at.
const PAGE: u32 = 50;

/// How long a batch waits for an index that does not show yet what counters say.
const LAG: std::time::Duration = std::time::Duration::from_millis(200);

/// Where a job is: what it works on.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Place {
    root: Key,
    /// An item that is back while some of its relationships are not.
    #[serde(default)]
    unfinished: Option<Key>,
}

/// A job that changes the structure below this item, and the action that makes it. Whoever makes a deletion holds its
/// lease and works on it; other jobs are nobody's yet.
pub fn begin(
    access: &Access,
    kind: JobKind,
    id: JobId,
    root: &Item,
    total: u64,
    who: Option<String>,
) -> Result<(Job, Action), Problem> {
    let unfinished = (kind == JobKind::Restore).then(|| root.key());
    let place = Place { root: root.key(), unfinished };
    let mut job = Job::running(access, kind, &root.key(), total, &place, who)?;
    if kind != JobKind::Delete || access.engines().is_winding_down() {
        job.lease_until = None;
    }
    let made = job.create(id)?;
    Ok((job, made))
}

/// A job that hides an item in the end, or goes on with showing it; so much of that as comes first is done to the item.
pub fn show(access: &Access, item: &mut Item, relationships: u64) -> Result<(JobId, Job, Action), Problem> {
    let kind = if item.visible() { JobKind::Show } else { JobKind::Hide };
    (item.is_visible, item.busy) = (Some(true), Some(true));
    item.index();
    let id = JobId::new();
    let (job, made) = begin(access, kind, id, item, relationships, item.updated_by.clone())?;
    Ok((id, job, made))
}

/// How many items lie in an item, or relationships hang on it, as far as its own counters tell.
pub async fn dependents(access: &Access, root: &Item) -> Result<u64, Problem> {
    let mut total = 0;
    let children = root.item_key().map(|key| key.children()).unwrap_or_default();
    let children = children.into_iter().map(|(_, partition)| (&access::BELOW, counters::of_items(partition)));
    let end = crate::relationships::End::of(&root.pk, &root.sk);
    let end = end.map(|end| (&access::ALL_RELATIONSHIPS, counters::of_relationships(&end)));
    for (pattern, counter) in children.chain(end) {
        total += counters::read(access, pattern, counter).await?.count;
    }
    Ok(total as u64)
}

fn place(held: &Held) -> Result<Place, Problem> {
    serde_json::from_value(held.job.checkpoint.clone()).map_err(Problem::internal)
}

/// The item with this key, with every write that was answered.
async fn read(access: &Access, key: &Key) -> Result<Option<Read>, Problem> {
    let stored = access.table(&access::WORK, &PARKS).get_consistent(key.clone()).await?;
    stored.map(|stored| Ok(Read { item: stored.read()?, stored })).transpose()
}

/// What makes this of an item, as long as it is as it was read.
fn update(read: &Read, after: &Item) -> Result<Action, Problem> {
    Ok(Action::update(&PARKS, read.stored.key.clone(), after.changes_of(&read.stored)?).if_unchanged(&read.stored))
}

/// Counts what a deletion takes along, on the item that it began with.
fn took(root: &Read, by: i64) -> Action {
    Action::update(&PARKS, root.stored.key.clone(), Changes::new().add("took", by)).if_unchanged(&root.stored)
}
