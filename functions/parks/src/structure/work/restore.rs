//! Restoring what a deletion took along, where that is too much for one transaction: the item is back already, and what
//! went with it follows, what others lie in first.

use std::collections::BTreeMap;
use std::pin::pin;

use futures::stream::{self, StreamExt};
use table::{Access, Key};
use web::Problem;

use super::super::related::{Relationships, detached};
use super::super::restore::{Patience, bring_back, kept, restored};
use super::super::take::whole;
use super::super::{Plan, SIDE_BY_SIDE, counters};
use super::{LAG, PAGE, Place, most, place, read, took, update};
use crate::access;
use crate::item::Item;
use crate::items::{Read, stamped};
use crate::jobs::{Held, Step, Work};
use crate::keys::Partition;
use crate::relationships::End;
use crate::schema::PARKS;

/// A relationship that comes back takes two writes, the other end's counter, and a look at the other end.
const EACH: usize = 4;

#[derive(Debug)]
pub struct Restoration {
    place: Place,
}

impl Work for Restoration {
    async fn resume(_: &Access, held: &Held) -> Result<Self, Problem> {
        Ok(Self { place: place(held)? })
    }

    async fn step(&mut self, access: &Access, held: &Held) -> Result<Step, Problem> {
        if let Some(key) = self.place.unfinished.clone() {
            return self.finish(access, held, &key).await;
        }
        let Some(root) = read(access, &self.place.root).await? else {
            return Ok(Step::failed(held, "its item is gone"));
        };
        let mut counts = held.job.counts;
        if root.item.took.unwrap_or(0) == 0 {
            let mut after = root.item.clone();
            (after.busy, after.deletion, after.took) = (None, None, None);
            return Ok(Step::last(vec![update(&root, &after)?], held, counts));
        }
        let deletion = root.item.deletion.clone().unwrap_or_default();
        let Next { ready, strays } = next(access, &deletion).await?;
        if ready.is_empty() && !strays.is_empty() {
            let (plan, gone) = left_to_parent(access, &strays)?;
            counts.total = counts.total.saturating_sub(gone);
            let mut actions = plan.into_actions();
            actions.push(took(&root, -i64::try_from(gone).unwrap_or(i64::MAX)));
            return Step::more(actions, &self.place, counts);
        }
        let (plan, back) = self.batch(access, held, ready).await?;
        if back == 0 {
            tokio::time::sleep(LAG).await;
            return Step::more(Vec::new(), &self.place, counts);
        }
        counts.done += back;
        let mut actions = plan.into_actions();
        actions.push(took(&root, -i64::try_from(back).unwrap_or(i64::MAX)));
        Step::more(actions, &self.place, counts)
    }
}

impl Restoration {
    /// Goes on with the relationships of an item that is back.
    async fn finish(&mut self, access: &Access, held: &Held, key: &Key) -> Result<Step, Problem> {
        let mut plan = Plan::default();
        let mut more = false;
        if let Some(found) = read(access, key).await?
            && let item = &found.item
            && let Some(end) = End::of(&item.pk, &item.sk)
            // Deleted again meanwhile, it keeps the rest until it is restored for itself.
            && !item.deleted()
        {
            let (mut detached, limit) = (detached(access, &end).await?, (most(access) - 2) / EACH);
            more = detached.all.len() > limit;
            detached.all.truncate(limit);
            let coming = BTreeMap::new();
            let kept = kept(access, &end, detached, &coming, &Patience::default()).await?;
            bring_back(&end, item, kept, &coming, &mut plan)?;
            if more || *key == self.place.root {
                plan.as_read(item);
            } else {
                plan.push(update(&found, &Item { busy: None, ..item.clone() })?);
            }
        }
        if !more {
            self.place.unfinished = None;
        }
        Step::more(plan.into_actions(), &self.place, held.job.counts)
    }

    /// What comes back next, and how many items that are.
    async fn batch(&mut self, access: &Access, held: &Held, ready: Vec<Read>) -> Result<(Plan, u64), Problem> {
        let picked = self.pick(access, held, ready).await?;
        let coming: BTreeMap<Key, &Item> = picked.iter().map(|back| (back.after.key(), &back.after)).collect();
        let patience = Patience::default();
        let read = |back: &Back| {
            let (end, detached, coming, patience) = (back.end.clone(), back.detached.clone(), &coming, &patience);
            async move { kept(access, &end, detached, coming, patience).await }
        };
        let kept: Vec<_> =
            stream::iter(picked.iter().map(read).collect::<Vec<_>>()).buffered(SIDE_BY_SIDE).collect().await;
        let mut plan = Plan::default();
        for (back, kept) in picked.iter().zip(kept) {
            plan.push(update(&back.read, &back.after)?);
            plan.count(counters::of_items(Partition::of(&back.after.pk)), 1);
            bring_back(&back.end, &back.after, kept?, &coming, &mut plan)?;
        }
        Ok((plan, picked.len() as u64))
    }

    /// As many of these as one transaction brings back; if the first alone is too much, that with some of its
    /// relationships.
    async fn pick(&mut self, access: &Access, held: &Held, ready: Vec<Read>) -> Result<Vec<Back>, Problem> {
        let stamp = stamped(access, held.job.created_by.clone());
        let (mut picked, mut cost) = (Vec::new(), 1);
        let detached = |read: Read| async move {
            let Some(end) = End::of(&read.item.pk, &read.item.sk) else { return Ok(None) };
            let detached = detached(access, &end).await?;
            Ok::<_, Problem>(Some((read, end, detached)))
        };
        let mut of_each = pin!(stream::iter(ready).map(detached).buffered(SIDE_BY_SIDE));
        while let Some(read) = of_each.next().await {
            let Some((read, end, mut detached)) = read? else { continue };
            let mut after = restored(&read.item, &stamp);
            // The item, its own counter and its partition's.
            let takes = 3 + EACH * detached.all.len();
            if cost + takes > most(access) {
                if picked.is_empty() {
                    detached.all.truncate((most(access) - 4) / EACH);
                    self.place.unfinished = Some(read.item.key());
                    // Until all of it is back, nobody relates, moves or deletes it.
                    after.busy = Some(true);
                    picked.push(Back { read, after, end, detached });
                }
                break;
            }
            cost += takes;
            picked.push(Back { read, after, end, detached });
        }
        Ok(picked)
    }
}

/// An item that comes back.
struct Back {
    read: Read,
    after: Item,
    end: End,
    /// Those of its relationships that come back with it.
    detached: Relationships,
}

/// Some of what a deletion took along.
struct Next {
    /// No item before the one that it lies in.
    ready: Vec<Read>,
    /// What lies in an item that came back and was deleted again, for itself; with that item.
    strays: Vec<(Read, Read)>,
}

async fn next(access: &Access, deletion: &str) -> Result<Next, Problem> {
    let parks = access.table(&access::TAKEN, &PARKS);
    let page = parks.query(Item::taken_pk(deletion)).index("reverse").page(PAGE).await?;
    let (mut ready, mut strays) = (BTreeMap::new(), Vec::new());
    let mut parents = BTreeMap::<Key, Option<Read>>::new();
    let of_deletion = |item: &Item| item.deleted() && item.deleted_with.as_deref() == Some(deletion);
    for read in whole(access, &access::TAKEN, page.items).await? {
        if !of_deletion(&read.item) {
            continue;
        }
        let parent = read.item.item_key().and_then(|key| key.parent().key());
        let parent = parent.filter(|parent| parent.pk.starts_with("activity::"));
        if let Some(parent) = &parent
            && !parents.contains_key(parent)
        {
            let deleted = super::read(access, parent).await?.filter(|parent| parent.item.deleted());
            parents.insert(parent.clone(), deleted);
        }
        match parent.and_then(|parent| parents.get(&parent).cloned().flatten()) {
            Some(parent) if !of_deletion(&parent.item) => strays.push((read, parent)),
            parent => {
                let first = parent.unwrap_or(read);
                ready.insert(first.item.key(), first);
            }
        }
    }
    Ok(Next { ready: ready.into_values().collect(), strays })
}

/// Leaves strays of one item to whoever restores that, as if its own deletion had taken them along; and how many.
fn left_to_parent(access: &Access, strays: &[(Read, Read)]) -> Result<(Plan, u64), Problem> {
    let mut plan = Plan::default();
    let Some((_, parent)) = strays.first() else { return Ok((plan, 0)) };
    let deletion = parent.item.deletion.clone().unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
    let of_parent = strays.iter().filter(|(_, other)| other.item.key() == parent.item.key());
    let mut gone = 0;
    for (read, _) in of_parent.take(most(access) - 2) {
        let mut after = Item { deleted_with: Some(deletion.clone()), ..read.item.clone() };
        after.index();
        plan.push(update(read, &after)?);
        gone += 1;
    }
    let took = Some(parent.item.took.unwrap_or(0) + gone);
    plan.push(update(parent, &Item { deletion: Some(deletion), took, ..parent.item.clone() })?);
    Ok((plan, gone))
}
