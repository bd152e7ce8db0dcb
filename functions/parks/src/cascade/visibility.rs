//! Showing and hiding: visitors see a relationship while both of its items are visible.

use table::{Access, Error};

use super::{MAX_ACTIONS, TransactionBuilder, counters, relationships};
use crate::access;
use crate::keys::ItemRef;

/// The limit of actions other than those of the relationships: the update of the item and the guards of its external
/// ids; or, for a row of an import, those of its shapes, the job and its due row.
const OTHER_ACTIONS: usize = 5;

/// The updates of an item's relationships when it is shown or hidden.
#[derive(Debug)]
pub enum Visibility {
    /// They fit into one transaction, which asserts that they are all.
    Transaction(TransactionBuilder),
    /// The number of relationships that are too many for one transaction.
    TooMany(u64),
}

pub async fn set_visibility(access: &Access, item: &ItemRef, shown: bool) -> Result<Visibility, Error> {
    let counter = counters::load(access, &access::ALL_RELATIONSHIPS, counters::of_relationships(item)).await?;
    if counter.count + OTHER_ACTIONS > MAX_ACTIONS {
        return Ok(Visibility::TooMany(counter.count as u64));
    }
    let relationships = relationships(access, item).await?;
    let mut transaction = TransactionBuilder::default();
    for relationship in &relationships.listed {
        transaction.note_relationship(relationship.pair());
        transaction.push(relationship.show(item, shown));
    }
    transaction.assert_count(relationships.counter);
    Ok(if transaction.size() + OTHER_ACTIONS > MAX_ACTIONS {
        Visibility::TooMany(transaction.size() as u64)
    } else {
        Visibility::Transaction(transaction)
    })
}
