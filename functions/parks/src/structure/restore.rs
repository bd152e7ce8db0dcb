//! Restoring: an item with what its deletion took along.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::stream::{self, StreamExt, TryStreamExt};
use table::{Access, Action, Backoff, Error, Key};
use tokio::time::sleep;

use super::counters::{self, Counter};
use super::related::{Relationships, detached};
use super::take::{Stamp, whole};
use super::{MOST, Plan, SIDE_BY_SIDE};
use crate::item::Item;
use crate::items::{Read, live};
use crate::keys::{Partition, by_global_id};
use crate::relationships::{End, Joined, Relationship};
use crate::schema::PARKS;
use crate::{access, dependents};

/// How often the index of global ids is still asked again, by all relationships of a call together. An item that it does
/// not show by then counts as one that somebody has deleted by hand.
#[derive(Debug)]
pub struct Patience(AtomicU32);

const AGAIN: Duration = Duration::from_millis(100);

/// What was kept of the relationships of an item that comes back.
#[derive(Debug)]
pub struct Kept {
    counter: Counter,
    /// Each with the item at its other end as it is now; nothing where that is no more.
    relationships: Vec<(Relationship, Option<Item>)>,
}

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
    let patience = Patience::default();
    let ends = coming.values().filter_map(|item| Some((End::of(&item.pk, &item.sk)?, (*item).clone())));
    let kept = |(end, item): (End, Item)| {
        let (coming, patience) = (&coming, &patience);
        async move {
            let mut detached = detached(access, &end).await?;
            // More are too much in any case.
            detached.all.truncate(MOST);
            let kept = kept(access, &end, detached, coming, patience).await?;
            Ok::<_, Error>((end, item, kept))
        }
    };
    {
        let mut read = pin!(stream::iter(ends.collect::<Vec<_>>()).map(kept).buffered(SIDE_BY_SIDE));
        while let Some(one) = read.next().await {
            let (end, item, kept) = one?;
            plan.count(counters::of_items(Partition::of(&item.pk)), 1);
            bring_back(&end, &item, kept, &coming, &mut plan)?;
            if plan.size() > MOST {
                return Ok(None);
            }
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
        let shown = access.table(&access::TAKEN, &PARKS).query(Item::taken_pk(deletion)).index("reverse").all().await?;
        let mut taken = whole(access, &access::TAKEN, shown).await?;
        taken.retain(|read| read.item.deleted_with.as_ref() == Some(deletion));
        if taken.len() == took {
            return Ok(Some(taken));
        }
        if !backoff.wait().await {
            return Err(Error::Conflict);
        }
    }
}

/// Reads what is at the other ends of these relationships, which were kept for this end.
pub async fn kept(
    access: &Access,
    end: &End,
    Relationships { counter, all }: Relationships,
    coming: &BTreeMap<Key, &Item>,
    patience: &Patience,
) -> Result<Kept, Error> {
    let with_other = |relationship: Relationship| async move {
        let other = current(access, relationship.other(end), coming, patience).await?;
        Ok::<_, Error>((relationship, other))
    };
    let relationships = stream::iter(all).map(with_other).buffered(SIDE_BY_SIDE).try_collect().await?;
    Ok(Kept { counter, relationships })
}

/// Adds what the relationships of an item take to come back, with the proof that they are all: each whose other end is
/// live, among those that come back with it or without. One whose other end is deleted waits for that end from now on,
/// and one whose other end is no more goes.
pub fn bring_back(
    end: &End,
    item: &Item,
    kept: Kept,
    coming: &BTreeMap<Key, &Item>,
    plan: &mut Plan,
) -> Result<(), Error> {
    plan.proves(kept.counter);
    for (relationship, other) in kept.relationships {
        plan.push(Action::delete(&PARKS, relationship.detached_key(end)));
        let Some(other) = other else { continue };
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
    Ok(())
}

/// The item at an end as it is now: under its key, or, where that has changed since, by its global id.
async fn current(
    access: &Access,
    end: &Joined,
    coming: &BTreeMap<Key, &Item>,
    patience: &Patience,
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
        if !patience.lasts() {
            return Ok(None);
        }
        sleep(AGAIN).await;
    }
}

impl Patience {
    /// Whether there is some left, of which this takes a little.
    fn lasts(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self(AtomicU32::new(20))
    }
}
