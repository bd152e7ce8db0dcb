//! Deleting what is too much for one transaction: the item is deleted already, and what depends on it follows, the
//! deepest first.

use std::pin::pin;

use futures::stream::{self, StreamExt};
use table::{Access, Action};
use web::Problem;

use super::super::take::{deleted, take, whole};
use super::super::{Plan, Relationships, SIDE_BY_SIDE, counters, relationships};
use super::{LAG, PAGE, Place, most, place, read, took, update};
use crate::access;
use crate::item::Item;
use crate::items::{Read, stamped};
use crate::jobs::{Held, Step, Work};
use crate::keys::Partition;
use crate::relationships::End;
use crate::schema::PARKS;

#[derive(Debug)]
pub struct Deletion {
    place: Place,
}

impl Work for Deletion {
    async fn resume(_: &Access, held: &Held) -> Result<Self, Problem> {
        Ok(Self { place: place(held)? })
    }

    async fn step(&mut self, access: &Access, held: &Held) -> Result<Step, Problem> {
        let Some(root) = read(access, &self.place.root).await? else {
            return Ok(Step::failed(held, "its item is gone"));
        };
        let mut counts = held.job.counts;
        // One action is the root's.
        let (plan, taken) = batch(access, &root.item, held).await?;
        if taken > 0 {
            counts.done += taken;
            counts.total = counts.total.max(counts.done);
            let mut actions = plan.into_actions();
            actions.push(took(&root, i64::try_from(taken).unwrap_or(i64::MAX)));
            return Step::more(actions, &self.place, counts);
        }
        if plan.size() > 0 {
            return Step::more(plan.into_actions(), &self.place, counts);
        }
        if left(access, &root.item).await? > 0 {
            tokio::time::sleep(LAG).await;
            return Step::more(Vec::new(), &self.place, counts);
        }
        let mut after = root.item.clone();
        after.busy = None;
        Ok(Step::last(vec![update(&root, &after)?], held, counts))
    }
}

/// What goes next, and how many items that are.
async fn batch(access: &Access, root: &Item, held: &Held) -> Result<(Plan, u64), Problem> {
    let (mut plan, mut taken) = (Plan::default(), 0);
    let related = |(read, below): Leaf| async move {
        let Some(end) = End::of(&read.item.pk, &read.item.sk) else { return Ok(None) };
        let related = relationships(access, &end).await?;
        Ok::<_, Problem>(Some((read, below, end, related)))
    };
    // What has no room any more is not read.
    let mut leaves = pin!(stream::iter(next(access, root, held).await?).map(related).buffered(SIDE_BY_SIDE));
    while let Some(leaf) = leaves.next().await {
        let Some((read, below, end, related)) = leaf? else { continue };
        // The item, its relationships' counter, its partition's and its children's; and of each relationship two
        // writes and the other end's counter.
        let cost = 3 + below.len() + 3 * related.all.len();
        if plan.size() + cost + 1 > most(access) {
            if plan.size() == 0 {
                // Until it goes, it is this job's alone.
                let mut after = read.item.clone();
                (after.busy, after.deleted_with) = (Some(true), Some(held.id.to_string()));
                plan.push(update(&read, &after)?);
                detach(access, &end, related, &mut plan)?;
            }
            break;
        }
        let mut after = deleted(&read.item, &stamped(access, held.job.created_by.clone()));
        (after.busy, after.deleted_with) = (None, Some(held.id.to_string()));
        after.index();
        take(&read, &after, related, &mut plan)?;
        for counter in below {
            plan.proves(counter);
        }
        taken += 1;
    }
    if plan.size() == 0
        && let Some(end) = End::of(&root.pk, &root.sk)
    {
        let related = relationships(access, &end).await?;
        if !related.all.is_empty() {
            detach(access, &end, related, &mut plan)?;
        }
    }
    Ok((plan, taken))
}

/// Detaches as many relationships of an item as fit, beside a change of the item.
fn detach(access: &Access, end: &End, related: Relationships, plan: &mut Plan) -> Result<(), Problem> {
    for relationship in related.all.into_iter().take((most(access) - 2) / 3) {
        plan.push(Action::delete(&PARKS, relationship.key()));
        plan.push(relationship.detach(end)?);
        plan.count(counters::of_relationships(end), -1);
        plan.count(counters::of_relationships(&relationship.other(end).end), -1);
    }
    plan.proves(related.counter);
    Ok(())
}

/// A live item that has nothing below itself, with the counters that prove it.
type Leaf = (Read, Vec<counters::Counter>);

/// Leaves below the root.
async fn next(access: &Access, root: &Item, held: &Held) -> Result<Vec<Leaf>, Problem> {
    let mut found = Vec::new();
    // The last kind is the one that has children of its own.
    for (_, partition) in root.item_key().map(|key| key.children()).unwrap_or_default().into_iter().rev() {
        let live = stream::iter(live(access, &partition, held).await?);
        let mut of_each = pin!(live.map(|read| leaves(access, read, held)).buffered(SIDE_BY_SIDE));
        while let Some(leaves) = of_each.next().await {
            found.extend(leaves?);
            if found.len() >= most(access) / 3 {
                return Ok(found);
            }
        }
    }
    Ok(found)
}

/// The item where it is a leaf, else leaves below it.
async fn leaves(access: &Access, read: Read, held: &Held) -> Result<Vec<Leaf>, Problem> {
    let (mut below, mut children) = (Vec::new(), Vec::new());
    for (_, partition) in read.item.item_key().map(|key| key.children()).unwrap_or_default() {
        let counter = counters::read(access, &access::BELOW, counters::of_items(partition.clone())).await?;
        if counter.count > 0 {
            children.extend(live(access, &partition, held).await?);
        }
        below.push(counter);
    }
    let own = below.iter().all(|counter| counter.count == 0).then_some((read, below));
    Ok(own.into_iter().chain(children.into_iter().map(|child| (child, Vec::new()))).collect())
}

/// Some live items of a partition, but for those that another job is at work on: they are waited for. The index has
/// summaries, so they are read besides.
async fn live(access: &Access, partition: &Partition, held: &Held) -> Result<Vec<Read>, Problem> {
    let parks = access.table(&access::BELOW, &PARKS);
    let page = parks.query(partition.to_string()).index("list").page(PAGE).await?;
    let mut live = whole(access, &access::BELOW, page.items).await?;
    live.retain(|Read { item, .. }| {
        let own = item.deleted_with.as_ref() == Some(&held.id.to_string());
        !item.deleted() && (own || !item.busy())
    });
    Ok(live)
}

/// How much the counters say is left, though the index does not show it.
async fn left(access: &Access, root: &Item) -> Result<usize, Problem> {
    let mut left = 0;
    for (_, partition) in root.item_key().map(|key| key.children()).unwrap_or_default() {
        left += counters::read(access, &access::BELOW, counters::of_items(partition)).await?.count;
    }
    Ok(left)
}
