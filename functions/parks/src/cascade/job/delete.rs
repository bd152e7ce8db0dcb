//! Deletes the relationships and children of an item that is deleted already. Its own relationships come first, since
//! visitors see them until then, then the children that have no children of their own.

use std::pin::pin;

use futures::stream::{self, StreamExt};
use jobs::{Step, Then, Worker};
use table::Access;
use web::Problem;

use super::super::delete::{delete_one, deleted, detach, load_all};
use super::super::{CONCURRENCY, Relationships, TransactionBuilder, counters, relationships_up_to};
use super::{Checkpoint, LAG, PAGE, add_cascaded, load, max_actions};
use crate::access;
use crate::audit::Audit;
use crate::item::Item;
use crate::items::LoadedItem;
use crate::jobs::{Lease, ParksJobs};
use crate::keys::{ItemRef, Partition};
use crate::schema::PARKS;

#[derive(Debug)]
pub struct Deletion;

impl Worker<ParksJobs> for Deletion {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let checkpoint: Checkpoint = lease.job.checkpoint()?;
        let Some(root) = load(access, &checkpoint.root).await? else {
            return Ok(Step::fail(&lease.job, "its item does not exist any more"));
        };
        let mut counts = lease.job.counts;
        // One action is the root's.
        let (transaction, cascaded) = batch(access, &root.item, lease).await?;
        if cascaded > 0 {
            counts.done += cascaded.unsigned_abs();
            counts.total = counts.total.max(counts.done);
            let mut actions = transaction.into_actions();
            actions.push(add_cascaded(&root, cascaded));
            return Step::new(actions, &checkpoint, counts, Then::Continue);
        }
        if transaction.size() > 0 {
            return Step::new(transaction.into_actions(), &checkpoint, counts, Then::Continue);
        }
        if left(access, &root.item).await? > 0 {
            tokio::time::sleep(LAG).await;
            return Step::new(Vec::new(), &checkpoint, counts, Then::Continue);
        }
        let mut after = root.item.clone();
        after.busy = None;
        Step::new(vec![root.update_to(&after)?], &checkpoint, counts, Then::Succeed)
    }
}

/// The transaction of a batch, and the number of items that it deletes.
async fn batch(access: &Access, root: &Item, lease: &Lease) -> Result<(TransactionBuilder, i64), Problem> {
    let (mut transaction, mut cascaded) = (TransactionBuilder::default(), 0);
    if let Some(item) = root.reference() {
        let related = relationships_up_to(access, &item, max_detached(access)).await?;
        if !related.listed.is_empty() {
            detach_some(&item, related, &mut transaction)?;
            return Ok((transaction, cascaded));
        }
    }
    let with_relationships = |(loaded, children): Leaf| async move {
        let Some(item) = loaded.item.reference() else { return Ok(None) };
        let related = relationships_up_to(access, &item, max_detached(access)).await?;
        Ok::<_, Problem>(Some((loaded, children, item, related)))
    };
    // A stream, so that leaves without room in this transaction are not loaded.
    let mut leaves = pin!(stream::iter(next(access, root, lease).await?).map(with_relationships).buffered(CONCURRENCY));
    while let Some(leaf) = leaves.next().await {
        let Some((loaded, children, item, related)) = leaf? else { continue };
        // The item, the counters of its relationships, its partition and its children; and for each relationship two
        // writes and the counter of the other item.
        let cost = 3 + children.len() + 3 * related.counter.count;
        if transaction.size() + cost + 1 > max_actions(access) {
            if transaction.size() == 0 {
                // Until it is deleted, no other job may work on it.
                let mut after = loaded.item.clone();
                (after.busy, after.deleted_with) = (Some(true), Some(lease.id.to_string()));
                transaction.push(loaded.update_to(&after)?);
                detach_some(&item, related, &mut transaction)?;
            }
            break;
        }
        let mut after = deleted(&loaded.item, &Audit::of(access, lease.job.created_by.clone()));
        (after.busy, after.deleted_with) = (None, Some(lease.id.to_string()));
        after.index();
        delete_one(&loaded, &after, related, &mut transaction)?;
        for counter in children {
            transaction.assert_count(counter);
        }
        cascaded += 1;
    }
    Ok((transaction, cascaded))
}

/// The limit of relationships that one transaction detaches. Two more actions are on the item and on its counter.
fn max_detached(access: &Access) -> usize {
    (max_actions(access) - 2) / 3
}

/// Detaches the listed relationships of an item. They are at most [`max_detached`].
fn detach_some(item: &ItemRef, related: Relationships, transaction: &mut TransactionBuilder) -> Result<(), Problem> {
    for relationship in &related.listed {
        detach(item, relationship, transaction)?;
    }
    transaction.assert_count(related.counter);
    Ok(())
}

/// A live item without live children, with the counters that assert it.
type Leaf = (LoadedItem, Vec<counters::Counter>);

/// Some leaves among the descendants of the root.
async fn next(access: &Access, root: &Item, lease: &Lease) -> Result<Vec<Leaf>, Problem> {
    let mut found = Vec::new();
    // Only the last kind has children of its own.
    for (_, partition) in root.children().into_iter().rev() {
        let live = stream::iter(live(access, &partition, lease).await?);
        let mut of_each = pin!(live.map(|loaded| leaves(access, loaded, lease)).buffered(CONCURRENCY));
        while let Some(leaves) = of_each.next().await {
            found.extend(leaves?);
            if found.len() >= max_actions(access) / 3 {
                return Ok(found);
            }
        }
    }
    Ok(found)
}

/// The item if it is a leaf, else its children.
async fn leaves(access: &Access, loaded: LoadedItem, lease: &Lease) -> Result<Vec<Leaf>, Problem> {
    let (mut counters, mut children) = (Vec::new(), Vec::new());
    for (_, partition) in loaded.item.children() {
        let counter = counters::load(access, &access::CHILDREN, counters::of_items(partition.clone())).await?;
        if counter.count > 0 {
            children.extend(live(access, &partition, lease).await?);
        }
        counters.push(counter);
    }
    let own = counters.iter().all(|counter| counter.count == 0).then_some((loaded, counters));
    Ok(own.into_iter().chain(children.into_iter().map(|child| (child, Vec::new()))).collect())
}

/// Some live items of a partition. Those on which another job is working are left out until that job has ended. The index
/// has only summaries, so the items are loaded.
async fn live(access: &Access, partition: &Partition, lease: &Lease) -> Result<Vec<LoadedItem>, Problem> {
    let parks = access.table(&access::CHILDREN, &PARKS);
    let page = parks.query(partition.to_string()).index("list").page(PAGE).await?;
    let mut live = load_all(access, &access::CHILDREN, page.items).await?;
    live.retain(|LoadedItem { item, .. }| {
        let own = item.deleted_with.as_ref() == Some(&lease.id.to_string());
        !item.deleted() && (own || !item.busy())
    });
    Ok(live)
}

/// The number of live children by the counters, although the index lists none.
async fn left(access: &Access, root: &Item) -> Result<usize, Problem> {
    let mut left = 0;
    for (_, partition) in root.children() {
        left += counters::load(access, &access::CHILDREN, counters::of_items(partition)).await?.count;
    }
    Ok(left)
}
