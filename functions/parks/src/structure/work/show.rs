//! Hiding and showing an item with more relationships than one transaction can tell. The relationships are told first
//! when it is hidden, the item when it is shown.

use table::Access;
use web::Problem;

use super::super::{Plan, relationships};
use super::{Place, most, place, read, update};
use crate::jobs::{Held, JobKind, Step, Work};
use crate::relationships::End;

#[derive(Debug)]
pub struct Showing {
    place: Place,
}

impl Work for Showing {
    async fn resume(_: &Access, held: &Held) -> Result<Self, Problem> {
        Ok(Self { place: place(held)? })
    }

    async fn step(&mut self, access: &Access, held: &Held) -> Result<Step, Problem> {
        let shown = held.job.kind == JobKind::Show;
        let found = read(access, &self.place.root).await?;
        let end = found.as_ref().and_then(|root| End::of(&root.item.pk, &root.item.sk));
        let Some((root, end)) = found.zip(end) else { return Ok(Step::failed(held, "its item is gone")) };
        let related = relationships(access, &end).await?;
        let mut left: Vec<_> = related.all.into_iter().filter(|one| one.own(&end).shown != shown).collect();
        // The item and the counter take two more.
        let last = left.len() <= most(access) - 2;
        left.truncate(most(access) - 2);
        let mut plan = Plan::default();
        for relationship in &left {
            plan.push(relationship.show(&end, shown));
        }
        let mut counts = held.job.counts;
        counts.done += left.len() as u64;
        counts.total = counts.total.max(counts.done);
        if !last {
            return Step::more(plan.into_actions(), &self.place, counts);
        }
        let mut after = root.item.clone();
        (after.is_visible, after.busy) = (Some(shown), None);
        after.index();
        plan.push(update(&root, &after)?);
        plan.proves(related.counter);
        Ok(Step::last(plan.into_actions(), held, counts))
    }
}
