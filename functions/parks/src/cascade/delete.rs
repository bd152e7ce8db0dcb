//! Deletes an item with its relationships and its children.

use std::pin::pin;

use futures::stream::{self, StreamExt};
use table::{Access, AccessPattern, Action, Backoff, Error, Key, Stored};

use super::counters::{self, Counter};
use super::{CONCURRENCY, MAX_ACTIONS, Relationships, TransactionBuilder, relationships_within};
use crate::access;
use crate::audit::Audit;
use crate::item::Item;
use crate::items::LoadedItem;
use crate::keys::{ItemRef, Partition};
use crate::schema::PARKS;

/// An item to delete, with the counters of its children.
#[derive(Debug)]
struct Node {
    loaded: LoadedItem,
    children: Vec<Counter>,
}

/// The transaction that deletes an item with its relationships and its children, the item first. None if that needs a
/// job: it is too much for one transaction, or a job is working on a child.
pub async fn delete_with_children(
    access: &Access,
    root: LoadedItem,
    audit: &Audit,
) -> Result<Option<TransactionBuilder>, Error> {
    let Some(nodes) = tree(access, root).await? else { return Ok(None) };
    // Each needs its own update and the counter of its relationships; a collection has no relationships.
    if nodes.len() * 2 > MAX_ACTIONS + 1 {
        return Ok(None);
    }
    let deletion = uuid::Uuid::now_v7().to_string();
    let cascaded = nodes.len() - 1;
    let mut transaction = TransactionBuilder::default();
    let with_relationships = |node: Node| async move {
        let Some(item) = node.loaded.item.reference() else { return Ok(Some((node, None))) };
        // Each takes at least two actions.
        let related = relationships_within(access, &item, MAX_ACTIONS / 2).await?;
        Ok::<_, Error>(related.map(|related| (node, Some(related))))
    };
    let mut nodes = pin!(stream::iter(nodes).map(with_relationships).buffered(CONCURRENCY).enumerate());
    while let Some((position, node)) = nodes.next().await {
        let Some((node, related)) = node? else { return Ok(None) };
        let mut after = deleted(&node.loaded.item, audit);
        if position > 0 {
            after.deleted_with = Some(deletion.clone());
        } else if cascaded > 0 {
            (after.deletion, after.cascaded_count) = (Some(deletion.clone()), Some(cascaded as u64));
        }
        after.index();
        match related {
            Some(related) => delete_one(&node.loaded, &after, related, &mut transaction)?,
            None => transaction.push(node.loaded.update_to(&after)?),
        }
        for counter in node.children {
            transaction.assert_count(counter);
        }
        if transaction.size() > MAX_ACTIONS {
            return Ok(None);
        }
    }
    Ok(Some(transaction))
}

/// The item after its deletion.
pub fn deleted(item: &Item, audit: &Audit) -> Item {
    let mut after = item.clone();
    after.is_deleted = Some(true);
    (after.deleted_at, after.deleted_by) = (Some(audit.at.clone()), audit.by.clone());
    after.complete(&audit.at);
    after
}

/// Adds the actions that delete one item: its update, the count of its partition, and its relationships with the
/// assertion that they are all.
pub fn delete_one(
    loaded: &LoadedItem,
    after: &Item,
    relationships: Relationships,
    transaction: &mut TransactionBuilder,
) -> Result<(), Error> {
    transaction.push(loaded.update_to(after)?);
    let Some(item) = after.reference() else { return Ok(()) };
    transaction.add_count(counters::of_items(Partition::of(&after.pk)), -1);
    for relationship in &relationships.listed {
        // Its other end may be deleted by the same transaction.
        if transaction.note_relationship(relationship.pair()) {
            detach(&item, relationship, transaction)?;
        }
    }
    transaction.assert_count(relationships.counter);
    Ok(())
}

/// Adds the actions that detach a relationship from a deleted item.
pub fn detach(
    item: &ItemRef,
    relationship: &crate::relationships::Relationship,
    transaction: &mut TransactionBuilder,
) -> Result<(), Error> {
    transaction.push(Action::delete(&PARKS, relationship.key()));
    transaction.push(relationship.detach(item)?);
    transaction.add_count(counters::of_relationships(item), -1);
    transaction.add_count(counters::of_relationships(&relationship.other(item).item), -1);
    Ok(())
}

/// The item and all its live descendants, the item first. None if they are too many for one transaction, or if one is
/// busy.
async fn tree(access: &Access, root: LoadedItem) -> Result<Option<Vec<Node>>, Error> {
    let (mut nodes, mut open) = (Vec::new(), vec![root]);
    while let Some(loaded) = open.pop() {
        // A job waits for the other job that works on a descendant.
        if !nodes.is_empty() && loaded.item.busy() {
            return Ok(None);
        }
        let mut counters = Vec::new();
        for (_, partition) in loaded.item.children() {
            let room = MAX_ACTIONS.saturating_sub(nodes.len() + open.len());
            let Some((counter, items)) = children(access, &partition, room).await? else { return Ok(None) };
            counters.push(counter);
            open.extend(items);
        }
        nodes.push(Node { loaded, children: counters });
    }
    Ok(Some(nodes))
}

/// The live items of a partition, as many as their counter says. None if they are more than `max`.
async fn children(
    access: &Access,
    partition: &Partition,
    max: usize,
) -> Result<Option<(Counter, Vec<LoadedItem>)>, Error> {
    let mut backoff = Backoff::new();
    loop {
        let counter = counters::load(access, &access::CHILDREN, counters::of_items(partition.clone())).await?;
        if counter.count > max {
            return Ok(None);
        }
        let listed = if counter.count == 0 { Vec::new() } else { listed(access, &partition.to_string()).await? };
        let live: Vec<LoadedItem> = listed.into_iter().filter(|loaded| !loaded.item.deleted()).collect();
        if live.len() == counter.count {
            return Ok(Some((counter, live)));
        }
        if !backoff.wait().await {
            return Err(Error::Conflict);
        }
    }
}

/// The items that administrators find in this list.
async fn listed(access: &Access, list_pk: &str) -> Result<Vec<LoadedItem>, Error> {
    let listed = access.table(&access::CHILDREN, &PARKS).query(list_pk).index("list").all().await?;
    load_all(access, &access::CHILDREN, listed).await
}

/// Loads the items that an index lists, which does not have all attributes.
pub async fn load_all(
    access: &Access,
    pattern: &'static AccessPattern,
    listed: Vec<Stored>,
) -> Result<Vec<LoadedItem>, Error> {
    let keys: Vec<Key> = listed.into_iter().map(|stored| stored.key).collect();
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    access.table(pattern, &PARKS).batch_get(&keys).await?.into_iter().flatten().map(LoadedItem::new).collect()
}
