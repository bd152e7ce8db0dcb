//! Hiding and showing: what visitors see of an item's relationships goes with it.

use table::{Access, Error};

use super::{MOST, Plan, counters, relationships};
use crate::access;
use crate::relationships::End;

/// How many actions a change of the item itself may take besides: its own, and those of its external ids; or, of an
/// import's row, those of its shapes and of the job.
const OWN: usize = 4;

/// What the relationships of an item have to be told when it is shown, or hidden.
#[derive(Debug)]
pub enum Visibility {
    /// One transaction can do it, with the proof that they are all.
    Plan(Plan),
    /// There are so many.
    TooMany(u64),
}

pub async fn visibility(access: &Access, end: &End, shown: bool) -> Result<Visibility, Error> {
    let counter = counters::read(access, &access::ALL_RELATIONSHIPS, counters::of_relationships(end)).await?;
    if counter.count + OWN > MOST {
        return Ok(Visibility::TooMany(counter.count as u64));
    }
    let relationships = relationships(access, end).await?;
    let mut plan = Plan::default();
    for relationship in &relationships.all {
        plan.moves(relationship.pair());
        plan.push(relationship.show(end, shown));
    }
    plan.proves(relationships.counter);
    Ok(if plan.size() + OWN > MOST { Visibility::TooMany(plan.size() as u64) } else { Visibility::Plan(plan) })
}
