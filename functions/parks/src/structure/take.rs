//! Deleting: an item with its relationships and all that lies below it.

use std::pin::pin;

use futures::stream::{self, StreamExt};
use table::{Access, AccessPattern, Action, Backoff, Error, Key, Stored};

use super::counters::{self, Counter};
use super::{MOST, Plan, Relationships, SIDE_BY_SIDE, relationships};
use crate::access;
use crate::item::Item;
use crate::items::Read;
use crate::keys::Partition;
use crate::relationships::End;
use crate::schema::PARKS;

/// When it happens, and who does it.
pub type Stamp = (String, Option<String>);

/// An item that goes, with the counters of what lies below it.
#[derive(Debug)]
struct Node {
    read: Read,
    below: Vec<Counter>,
}

/// One transaction that deletes an item and takes along its relationships and all that lies below it; the item comes
/// first. Nothing if that is for a job.
pub async fn deletion(access: &Access, root: Read, stamp: &Stamp) -> Result<Option<Plan>, Error> {
    let Some(nodes) = tree(access, root).await? else { return Ok(None) };
    // Each takes its own change and the counter of its relationships; a collection has no relationships.
    if nodes.len() * 2 > MOST + 1 {
        return Ok(None);
    }
    let id = uuid::Uuid::now_v7().to_string();
    let others = nodes.len() - 1;
    let mut plan = Plan::default();
    let related = |node: Node| async move {
        let related = match End::of(&node.read.item.pk, &node.read.item.sk) {
            Some(end) => Some(relationships(access, &end).await?),
            None => None,
        };
        Ok::<_, Error>((node, related))
    };
    let mut nodes = pin!(stream::iter(nodes).map(related).buffered(SIDE_BY_SIDE).enumerate());
    while let Some((place, node)) = nodes.next().await {
        let (node, related) = node?;
        let mut after = deleted(&node.read.item, stamp);
        if place > 0 {
            after.deleted_with = Some(id.clone());
        } else if others > 0 {
            (after.deletion, after.took) = (Some(id.clone()), u64::try_from(others).ok());
        }
        after.index();
        match related {
            Some(related) => take(&node.read, &after, related, &mut plan)?,
            None => plan.push(changed(&node.read, &after)?),
        }
        for counter in node.below {
            plan.proves(counter);
        }
        if plan.size() > MOST {
            return Ok(None);
        }
    }
    Ok(Some(plan))
}

/// The item as it is from now on.
pub fn deleted(item: &Item, (now, who): &Stamp) -> Item {
    let mut after = item.clone();
    after.is_deleted = Some(true);
    (after.deleted_at, after.deleted_by) = (Some(now.clone()), who.clone());
    after.complete(now);
    after
}

/// Adds what one item takes to go: its own change, its place among its like, and its relationships with the proof that
/// they are all.
pub fn take(read: &Read, after: &Item, relationships: Relationships, plan: &mut Plan) -> Result<(), Error> {
    plan.push(changed(read, after)?);
    let Some(end) = End::of(&after.pk, &after.sk) else { return Ok(()) };
    plan.count(counters::of_items(Partition::of(&after.pk)), -1);
    for relationship in &relationships.all {
        // Another end that goes, too, may have taken it already.
        if plan.moves(relationship.pair()) {
            plan.push(Action::delete(&PARKS, relationship.key()));
            plan.push(relationship.detach(&end)?);
            plan.count(counters::of_relationships(&end), -1);
            plan.count(counters::of_relationships(&relationship.other(&end).end), -1);
        }
    }
    plan.proves(relationships.counter);
    Ok(())
}

fn changed(read: &Read, after: &Item) -> Result<Action, Error> {
    let changes = after.changes_of(&read.stored)?;
    Ok(Action::update(&PARKS, read.stored.key.clone(), changes).if_unchanged(&read.stored))
}

/// The item and all live items below it, the item first; nothing if that is not for a transaction: they are too many, or
/// one is busy.
async fn tree(access: &Access, root: Read) -> Result<Option<Vec<Node>>, Error> {
    let (mut nodes, mut open) = (Vec::new(), vec![root]);
    while let Some(read) = open.pop() {
        // A job is still at work on something below: another waits for it.
        if !nodes.is_empty() && read.item.busy() {
            return Ok(None);
        }
        let mut counters = Vec::new();
        for (_, partition) in read.item.item_key().map(|key| key.children()).unwrap_or_default() {
            let room = MOST.saturating_sub(nodes.len() + open.len());
            let Some((counter, items)) = children(access, &partition, room).await? else { return Ok(None) };
            counters.push(counter);
            open.extend(items);
        }
        nodes.push(Node { read, below: counters });
    }
    Ok(Some(nodes))
}

/// The live items of a partition, as many as their counter says; nothing if they are more than this.
async fn children(access: &Access, partition: &Partition, most: usize) -> Result<Option<(Counter, Vec<Read>)>, Error> {
    let mut backoff = Backoff::new();
    loop {
        let counter = counters::read(access, &access::BELOW, counters::of_items(partition.clone())).await?;
        if counter.count > most {
            return Ok(None);
        }
        let listed = if counter.count == 0 { Vec::new() } else { listed(access, &partition.to_string()).await? };
        let live: Vec<Read> = listed.into_iter().filter(|read| !read.item.deleted()).collect();
        if live.len() == counter.count {
            return Ok(Some((counter, live)));
        }
        if !backoff.wait().await {
            return Err(Error::Conflict);
        }
    }
}

/// The items that administrators see listed under this key.
async fn listed(access: &Access, list_pk: &str) -> Result<Vec<Read>, Error> {
    let below = access.table(&access::BELOW, &PARKS).query(list_pk).index("list").all().await?;
    whole(access, &access::BELOW, below).await
}

/// The items that an index shows; it does not have all of them, so they are read besides.
pub async fn whole(access: &Access, pattern: &'static AccessPattern, shown: Vec<Stored>) -> Result<Vec<Read>, Error> {
    let keys: Vec<Key> = shown.into_iter().map(|stored| stored.key).collect();
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let read = |stored: Stored| Ok(Read { item: stored.read()?, stored });
    access.table(pattern, &PARKS).batch_get(&keys).await?.into_iter().flatten().map(read).collect()
}
