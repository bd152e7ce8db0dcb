//! Restores the items that a deletion cascaded to, if they are too many for one transaction. The root is restored
//! already; parents are restored before their children.

use std::collections::BTreeMap;
use std::pin::pin;

use futures::stream::{self, StreamExt};
use jobs::{Step, Then, Worker};
use table::{Access, Key};
use web::Problem;

use super::super::delete::load_all;
use super::super::relationships::{Relationships, detached_up_to};
use super::super::restore::{load_others, restore_relationships, restored};
use super::super::{CONCURRENCY, TransactionBuilder, counters};
use super::{Checkpoint, LAG, PAGE, add_cascaded, load, max_actions};
use crate::access;
use crate::audit::Audit;
use crate::item::Item;
use crate::items::LoadedItem;
use crate::jobs::{Lease, ParksJobs};
use crate::keys::{ItemRef, Partition};
use crate::schema::PARKS;

/// The actions for a restored relationship: two writes, the counter of the other item, and a check of the other item.
const ACTIONS_PER_RELATIONSHIP: usize = 4;

#[derive(Debug)]
pub struct Restoration;

impl Worker<ParksJobs> for Restoration {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let mut checkpoint: Checkpoint = lease.job.checkpoint()?;
        if let Some(key) = checkpoint.unfinished.clone() {
            return finish(access, lease, checkpoint, &key).await;
        }
        let Some(root) = load(access, &checkpoint.root).await? else {
            return Ok(Step::fail(&lease.job, "its item does not exist any more"));
        };
        let mut counts = lease.job.counts;
        let Some(deletion) =
            root.item.deletion.clone().filter(|_| root.item.cascaded_count.is_some_and(|count| count > 0))
        else {
            let mut after = root.item.clone();
            (after.busy, after.deletion, after.cascaded_count) = (None, None, None);
            return Step::new(vec![root.update_to(&after)?], &checkpoint, counts, Then::Succeed);
        };
        let Next { ready, strays } = next(access, &deletion).await?;
        if ready.is_empty() && !strays.is_empty() {
            let (transaction, moved) = move_to_parent(access, &strays)?;
            counts.total = counts.total.saturating_sub(moved);
            let mut actions = transaction.into_actions();
            actions.push(add_cascaded(&root, -moved.cast_signed()));
            return Step::new(actions, &checkpoint, counts, Then::Continue);
        }
        let (transaction, restored) = batch(access, lease, &mut checkpoint, ready).await?;
        if restored == 0 {
            tokio::time::sleep(LAG).await;
            return Step::new(Vec::new(), &checkpoint, counts, Then::Continue);
        }
        counts.done += restored;
        let mut actions = transaction.into_actions();
        actions.push(add_cascaded(&root, -restored.cast_signed()));
        Step::new(actions, &checkpoint, counts, Then::Continue)
    }
}

/// Restores more relationships of a restored item.
async fn finish(access: &Access, lease: &Lease, mut checkpoint: Checkpoint, key: &Key) -> Result<Step, Problem> {
    let mut transaction = TransactionBuilder::default();
    let mut more = false;
    if let Some(found) = load(access, key).await?
        && let item = &found.item
        && let Some(reference) = item.reference()
        // If it was deleted again, its own restoration attaches the rest.
        && !item.deleted()
    {
        let limit = (max_actions(access) - 2) / ACTIONS_PER_RELATIONSHIP;
        let mut detached = detached_up_to(access, &reference, limit + 1).await?;
        more = detached.listed.len() > limit;
        detached.listed.truncate(limit);
        let restored = BTreeMap::new();
        let detached = load_others(access, &reference, detached, &restored).await?;
        restore_relationships(&reference, item, detached, &restored, &mut transaction)?;
        if more || *key == checkpoint.root {
            transaction.check_visibility(item);
        } else {
            transaction.push(found.update_to(&Item { busy: None, ..item.clone() })?);
        }
    }
    if !more {
        checkpoint.unfinished = None;
    }
    Step::new(transaction.into_actions(), &checkpoint, lease.job.counts, Then::Continue)
}

/// The transaction of a batch, and the number of items that it restores.
async fn batch(
    access: &Access,
    lease: &Lease,
    checkpoint: &mut Checkpoint,
    ready: Vec<LoadedItem>,
) -> Result<(TransactionBuilder, u64), Problem> {
    let picked = pick(access, lease, checkpoint, ready).await?;
    let restored: BTreeMap<Key, &Item> = picked.iter().map(|item| (item.after.key(), &item.after)).collect();
    let with_others = |item: &RestoredItem| {
        let (reference, detached, restored) = (item.reference.clone(), item.detached.clone(), &restored);
        async move { load_others(access, &reference, detached, restored).await }
    };
    let detached: Vec<_> =
        stream::iter(picked.iter().map(with_others).collect::<Vec<_>>()).buffered(CONCURRENCY).collect().await;
    let mut transaction = TransactionBuilder::default();
    // A request may delete an activity that was restored already, but not the root, which is busy.
    for activity in picked.iter().filter_map(RestoredItem::activity).filter(|activity| *activity != checkpoint.root) {
        transaction.check_live(activity);
    }
    for (item, detached) in picked.iter().zip(detached) {
        transaction.push(item.loaded.update_to(&item.after)?);
        transaction.add_count(counters::of_items(Partition::of(&item.after.pk)), 1);
        restore_relationships(&item.reference, &item.after, detached?, &restored, &mut transaction)?;
    }
    Ok((transaction, picked.len() as u64))
}

/// As many of these items as one transaction can restore. If the first alone is too much, it with some of its
/// relationships.
async fn pick(
    access: &Access,
    lease: &Lease,
    checkpoint: &mut Checkpoint,
    ready: Vec<LoadedItem>,
) -> Result<Vec<RestoredItem>, Problem> {
    let audit = Audit::of(access, lease.job.created_by.clone());
    let (mut picked, mut cost) = (Vec::new(), 1);
    let with_relationships = |loaded: LoadedItem| async move {
        let Some(reference) = loaded.item.reference() else { return Ok(None) };
        // One more than a transaction can restore says that they are too many.
        let max = max_actions(access) / ACTIONS_PER_RELATIONSHIP + 1;
        let detached = detached_up_to(access, &reference, max).await?;
        Ok::<_, Problem>(Some((loaded, reference, detached)))
    };
    let mut of_each = pin!(stream::iter(ready).map(with_relationships).buffered(CONCURRENCY));
    while let Some(found) = of_each.next().await {
        let Some((loaded, reference, mut detached)) = found? else { continue };
        let mut after = restored(&loaded.item, &audit);
        // The item, its own counter and its partition's, and a check of its parent.
        let item_cost = 4 + ACTIONS_PER_RELATIONSHIP * detached.listed.len();
        if cost + item_cost > max_actions(access) {
            if picked.is_empty() {
                detached.listed.truncate((max_actions(access) - 5) / ACTIONS_PER_RELATIONSHIP);
                checkpoint.unfinished = Some(loaded.item.key());
                // Until all its relationships are restored, no request may relate, retype or delete it.
                after.busy = Some(true);
                picked.push(RestoredItem { loaded, after, reference, detached });
            }
            break;
        }
        cost += item_cost;
        picked.push(RestoredItem { loaded, after, reference, detached });
    }
    Ok(picked)
}

struct RestoredItem {
    loaded: LoadedItem,
    after: Item,
    reference: ItemRef,
    /// Its relationships that the same transaction restores.
    detached: Relationships,
}

impl RestoredItem {
    fn activity(&self) -> Option<Key> {
        activity(&self.after)
    }
}

/// The activity of a product.
fn activity(item: &Item) -> Option<Key> {
    item.item_key()?.parent().key().filter(|parent| parent.pk.starts_with("activity::"))
}

/// Some of the items that a deletion cascaded to.
struct Next {
    /// Items whose parent is live.
    ready: Vec<LoadedItem>,
    /// Items whose parent was restored and then deleted again by itself, each with that parent.
    strays: Vec<(LoadedItem, LoadedItem)>,
}

async fn next(access: &Access, deletion: &str) -> Result<Next, Problem> {
    let parks = access.table(&access::CASCADED, &PARKS);
    let page = parks.query(Item::cascaded_pk(deletion)).index("reverse").page(PAGE).await?;
    let (mut ready, mut strays) = (BTreeMap::new(), Vec::new());
    let mut parents = BTreeMap::<Key, Option<LoadedItem>>::new();
    let is_of_deletion = |item: &Item| item.deleted() && item.deleted_with.as_deref() == Some(deletion);
    for loaded in load_all(access, &access::CASCADED, page.items).await? {
        if !is_of_deletion(&loaded.item) {
            continue;
        }
        let parent = activity(&loaded.item);
        if let Some(parent) = &parent
            && !parents.contains_key(parent)
        {
            let deleted = load(access, parent).await?.filter(|parent| parent.item.deleted());
            parents.insert(parent.clone(), deleted);
        }
        match parent.and_then(|parent| parents.get(&parent).cloned().flatten()) {
            Some(parent) if !is_of_deletion(&parent.item) => strays.push((loaded, parent)),
            parent => {
                let first = parent.unwrap_or(loaded);
                ready.insert(first.item.key(), first);
            }
        }
    }
    Ok(Next { ready: ready.into_values().collect(), strays })
}

/// The transaction that moves the strays of one parent to the parent's own deletion, whose restoration restores them,
/// and their number.
fn move_to_parent(access: &Access, strays: &[(LoadedItem, LoadedItem)]) -> Result<(TransactionBuilder, u64), Problem> {
    let mut transaction = TransactionBuilder::default();
    let Some((_, parent)) = strays.first() else { return Ok((transaction, 0)) };
    let deletion = parent.item.deletion.clone().unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
    let of_parent = strays.iter().filter(|(_, other)| other.item.key() == parent.item.key());
    let mut moved = 0;
    for (loaded, _) in of_parent.take(max_actions(access) - 2) {
        let mut after = Item { deleted_with: Some(deletion.clone()), ..loaded.item.clone() };
        after.index();
        transaction.push(loaded.update_to(&after)?);
        moved += 1;
    }
    let cascaded_count = Some(parent.item.cascaded_count.unwrap_or(0) + moved);
    transaction.push(parent.update_to(&Item { deletion: Some(deletion), cascaded_count, ..parent.item.clone() })?);
    Ok((transaction, moved))
}
