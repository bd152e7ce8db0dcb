//! Showing and hiding: visitors see a relationship while both of its items are visible.

use table::{Access, Error};

use super::{MAX_ACTIONS, TransactionBuilder, counters, relationships};
use crate::access;
use crate::keys::ItemRef;

/// The updates of an item's relationships when it is shown or hidden.
#[derive(Debug)]
pub enum Visibility {
    /// They fit into one transaction, which asserts that they are all.
    Transaction(TransactionBuilder),
    /// The number of relationships that are too many for one transaction.
    TooMany(u64),
}

/// Shows or hides the relationships of an item. `other_actions` is the number of actions that the transaction has besides.
pub async fn set_visibility(
    access: &Access,
    item: &ItemRef,
    shown: bool,
    other_actions: usize,
) -> Result<Visibility, Error> {
    // Each relationship takes an action, and their counter one more.
    let max = MAX_ACTIONS.saturating_sub(other_actions + 1);
    let counter = counters::load(access, &access::ALL_RELATIONSHIPS, counters::of_relationships(item)).await?;
    if counter.count > max {
        return Ok(Visibility::TooMany(counter.count as u64));
    }
    let relationships = relationships(access, item).await?;
    if relationships.listed.len() > max {
        return Ok(Visibility::TooMany(relationships.listed.len() as u64));
    }
    let mut transaction = TransactionBuilder::default();
    for relationship in &relationships.listed {
        transaction.note_relationship(relationship.pair());
        transaction.push(relationship.show(item, shown));
    }
    transaction.assert_count(relationships.counter);
    Ok(Visibility::Transaction(transaction))
}
