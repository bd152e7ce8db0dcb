//! Restoring: an item with what its deletion took along.

use std::collections::BTreeMap;
use std::time::Duration;

use table::{Access, Action, Backoff, Error, Key};
use tokio::time::sleep;

use super::counters;
use super::related::detached;
use super::take::{Stamp, listed};
use super::{MOST, Plan};
use crate::item::Item;
use crate::items::{Read, live};
use crate::keys::{Partition, by_global_id};
use crate::relationships::{End, Joined, Relationship};
use crate::schema::PARKS;
use crate::{access, dependents};

/// How often the index of global ids is asked again, by all relationships of a call together. An item that it does not show
/// by then counts as one that somebody has deleted by hand.
pub const PATIENCE: u32 = 20;
const AGAIN: Duration = Duration::from_millis(100);

/// One transaction that restores an item with all that its deletion took along. The item comes first and what it lies
/// in second, if it lies in anything. Nothing if that is more than a transaction can do.
pub async fn restoration(access: &Access, root: &Read, stamp: &Stamp) -> Result<Option<(Plan, Item)>, Error> {
    let Some(others) = taken(access, &root.item).await? else { return Ok(None) };
    let after = restored(&root.item, stamp);
    let mut plan = Plan::default();
    plan.push(
        Action::update(&PARKS, root.stored.key.clone(), after.changes_of(&root.stored)?).if_unchanged(&root.stored),
    );
    if let Some(parent) = after.item_key().and_then(|key| live(&key.parent())) {
        plan.push(parent);
    }
    let others: Vec<(Read, Item)> =
        others.into_iter().map(|read| (restored(&read.item, stamp), read)).map(|(after, read)| (read, after)).collect();
    for (read, after) in &others {
        let changes = after.changes_of(&read.stored)?;
        plan.push(Action::update(&PARKS, read.stored.key.clone(), changes).if_unchanged(&read.stored));
    }
    let coming: BTreeMap<Key, &Item> =
        others.iter().map(|(_, after)| (after.key(), after)).chain([(after.key(), &after)]).collect();
    let mut patience = PATIENCE;
    for item in coming.values() {
        let Some(end) = End::of(&item.pk, &item.sk) else { continue };
        plan.count(counters::of_items(Partition::of(&item.pk)), 1);
        bring_back(access, &end, item, &coming, (MOST, &mut patience), &mut plan).await?;
        if plan.size() > MOST {
            return Ok(None);
        }
    }
    Ok((plan.size() <= MOST).then_some((plan, after)))
}

/// The item alone, back before the rest of what went with it, while a job brings that back: its own change first, what
/// it lies in second.
pub fn back_first(root: &Read, stamp: &Stamp) -> Result<(Item, Vec<Action>), Error> {
    let after = Item {
        deletion: root.item.deletion.clone(),
        took: root.item.took,
        busy: Some(true),
        ..restored(&root.item, stamp)
    };
    let changes = after.changes_of(&root.stored)?;
    let mut actions = vec![Action::update(&PARKS, root.stored.key.clone(), changes).if_unchanged(&root.stored)];
    actions.extend(after.item_key().and_then(|key| live(&key.parent())));
    actions.extend(dependents::count(&after, 1));
    Ok((after, actions))
}

/// The item as it is from now on.
pub fn restored(item: &Item, (now, who): &Stamp) -> Item {
    let mut after = item.clone();
    after.is_deleted = Some(false);
    (after.deleted_at, after.deleted_by, after.deleted_with) = (None, None, None);
    (after.deletion, after.took) = (None, None);
    (after.updated_at, after.updated_by) = (Some(now.clone()), who.clone());
    after.complete(now);
    after
}

/// What the deletion of this item took along; nothing if it is too much for a transaction.
async fn taken(access: &Access, root: &Item) -> Result<Option<Vec<Read>>, Error> {
    let (Some(deletion), Some(took)) = (&root.deletion, root.took) else { return Ok(Some(Vec::new())) };
    let took = usize::try_from(took).unwrap_or(usize::MAX);
    if took == 0 {
        return Ok(Some(Vec::new()));
    }
    if took >= MOST {
        return Ok(None);
    }
    let mut backoff = Backoff::new();
    loop {
        let mut taken = listed(access, &format!("deleted::{deletion}")).await?;
        taken.retain(|read| read.item.deleted_with.as_ref() == Some(deletion));
        if taken.len() == took {
            return Ok(Some(taken));
        }
        if !backoff.wait().await {
            return Err(Error::Conflict);
        }
    }
}

/// Adds what the relationships of an item take to come back, with the proof that they are all: each whose other end is
/// live, among those that come back with it or without. One whose other end is deleted waits for that end from now on,
/// and one whose other end is no more goes. At most so many, with so much [`PATIENCE`] left; says whether there are more.
pub async fn bring_back(
    access: &Access,
    end: &End,
    item: &Item,
    coming: &BTreeMap<Key, &Item>,
    (limit, patience): (usize, &mut u32),
    plan: &mut Plan,
) -> Result<bool, Error> {
    let counter = counters::read(access, &access::DETACHED, counters::of_relationships(end)).await?;
    plan.proves(counter);
    let detached = detached(access, end).await?;
    let more = detached.len() > limit;
    for relationship in detached.into_iter().take(limit) {
        plan.push(Action::delete(&PARKS, relationship.detached_key(end)));
        let Some(other) = current(access, relationship.other(end), coming, patience).await? else { continue };
        let Some(other_end) = End::of(&other.pk, &other.sk) else { continue };
        let was = relationship.other(end).end.clone();
        let relationship: Relationship =
            relationship.with(&was, Joined::of(other_end.clone(), &other)).with(end, Joined::of(end.clone(), item));
        if !coming.contains_key(&other.key()) {
            plan.as_read(&other);
        }
        if other.deleted() {
            plan.push(relationship.detach(&other_end)?);
            // Whoever restores that end at this moment has not seen this one.
            plan.count(counters::of_relationships(&other_end), 0);
        } else {
            plan.push(relationship.create()?);
            plan.count(counters::of_relationships(end), 1);
            plan.count(counters::of_relationships(&other_end), 1);
        }
    }
    Ok(more)
}

/// The item at an end as it is now: under its key, or, where that has changed since, by its global id.
async fn current(
    access: &Access,
    end: &Joined,
    coming: &BTreeMap<Key, &Item>,
    patience: &mut u32,
) -> Result<Option<Item>, Error> {
    if let Some(item) = coming.get(&end.end.key()) {
        return Ok(Some((*item).clone()));
    }
    let parks = access.table(&access::BY_GLOBAL_ID, &PARKS);
    let read = async |key: Key| {
        let item = parks.get_consistent(key).await?.map(|stored| stored.read::<Item>()).transpose()?;
        let same = |item: &Item| end.global_id.is_none() || item.global_id == end.global_id;
        Ok::<_, Error>(item.filter(same))
    };
    let found = read(end.end.key()).await?;
    let (None, Some(global_id)) = (&found, &end.global_id) else { return Ok(found) };
    loop {
        if let Some(key) = by_global_id(access, global_id).await?
            && let Some(item) = read(key).await?
        {
            return Ok(Some(item));
        }
        if *patience == 0 {
            return Ok(None);
        }
        *patience -= 1;
        sleep(AGAIN).await;
    }
}
