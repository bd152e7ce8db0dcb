//! Hiding and showing: what visitors see of an item's relationships goes with it.

use table::{Access, Error};

use super::{Plan, relationships};
use crate::relationships::End;

/// Adds what the relationships of an item have to be told when it is shown, or hidden, with the proof that they are all.
pub async fn visibility(access: &Access, end: &End, shown: bool, plan: &mut Plan) -> Result<(), Error> {
    let relationships = relationships(access, end).await?;
    for relationship in &relationships.all {
        plan.push(relationship.show(end, shown));
    }
    plan.proves(relationships.counter);
    Ok(())
}
