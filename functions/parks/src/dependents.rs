//! The dependents of an item: its live children and its relationships. An item with dependents is only deleted with them.

use table::{Action, Condition, Error, Key, item};

use crate::cascade::counters::{self, COUNT};
use crate::item::Item;
use crate::keys::Partition;
use crate::names::Kind;
use crate::schema::PARKS;

/// One kind of dependents, with its name in problems.
#[derive(Debug)]
pub struct Dependents {
    pub name: &'static str,
    counter: Key,
}

/// All kinds of dependents of an item.
pub fn of(item: &Item) -> Vec<Dependents> {
    let children = item.children().into_iter();
    let children = children.map(|(name, partition)| Dependents { name, counter: counters::of_items(partition) });
    children.chain(relationships(item)).collect()
}

/// The relationships of an item. None for a collection, which has none.
fn relationships(item: &Item) -> Option<Dependents> {
    let item = item.reference()?;
    Some(Dependents { name: "relationships", counter: counters::of_relationships(&item) })
}

/// Adds to the count of the item's partition. None for a collection, which is not counted.
pub fn count(item: &Item, by: i64) -> Option<Action> {
    (item.kind() != Some(Kind::Collection)).then(|| counters::add(counters::of_items(Partition::of(&item.pk)), by))
}

impl Dependents {
    /// Fails unless there are none.
    pub fn check_none(&self) -> Action {
        Action::check(&PARKS, self.counter.clone()).when(Condition::Equals(COUNT, item::number(0))).or_absent()
    }
}

/// The counts for which a transaction failed. `first` is the position of the first of these checks in it.
pub fn found<'a>(dependents: &'a [Dependents], first: usize, error: &Error) -> Vec<(&'a str, u64)> {
    let counted = |(index, dependents): (usize, &'a Dependents)| {
        let item = error.failed(first + index)?.item.as_ref()?;
        let count = item.get(COUNT)?.as_n().ok()?.parse().ok()?;
        Some((dependents.name, count))
    };
    dependents.iter().enumerate().filter_map(counted).collect()
}
