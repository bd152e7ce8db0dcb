//! What must be gone before an item may be: the live items of the partitions below it, and its relationships.

use table::{Action, Condition, Error, Key, item};

use crate::item::Item;
use crate::keys::Partition;
use crate::names::Kind;
use crate::relationships::End;
use crate::schema::PARKS;
use crate::structure::counters;

/// One count that must be 0, and its name for people.
#[derive(Debug)]
pub struct Dependents {
    pub name: &'static str,
    counter: Key,
}

/// The attribute in which a counter counts.
pub const COUNT: &str = "live";

/// Everything that can depend on an item.
pub fn of(item: &Item) -> Vec<Dependents> {
    let children = item.item_key().map(|key| key.children()).unwrap_or_default().into_iter();
    let children = children.map(|(name, partition)| Dependents { name, counter: counters::of_items(partition) });
    children.chain(relationships(item)).collect()
}

/// The relationships of an item, in which either end counts; a collection has none.
pub fn relationships(item: &Item) -> Option<Dependents> {
    let end = End::of(&item.pk, &item.sk)?;
    Some(Dependents { name: "relationships", counter: counters::of_relationships(&end) })
}

/// How the count of the partition that the item lies in changes when the item comes or goes; a collection lies in none.
pub fn count(item: &Item, by: i64) -> Option<Action> {
    (item.kind() != Some(Kind::Collection)).then(|| counters::add(counters::of_items(Partition::of(&item.pk)), by))
}

impl Dependents {
    /// Fails unless there are none.
    pub fn none(&self) -> Action {
        Action::check(&PARKS, self.counter.clone()).when(Condition::Equals(COUNT, item::number(0))).or_absent()
    }
}

/// The counts that kept a transaction from being done; `first` is the place of the first of these checks in it.
pub fn found<'a>(dependents: &'a [Dependents], first: usize, error: &Error) -> Vec<(&'a str, u64)> {
    let counted = |(index, dependents): (usize, &'a Dependents)| {
        let item = error.failed(first + index)?.item.as_ref()?;
        let count = item.get(COUNT)?.as_n().ok()?.parse().ok()?;
        Some((dependents.name, count))
    };
    dependents.iter().enumerate().filter_map(counted).collect()
}
