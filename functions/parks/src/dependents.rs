//! What must be gone before an item may be: the live items of the partitions below it, and its relationships.

use table::{Action, Changes, Condition, EntityKey, Error, Key, item};

use crate::item::Item;
use crate::keys::{LiveKey, Partition};
use crate::names::Kind;
use crate::schema::PARKS;

/// One count that must be 0, and its name for people.
#[derive(Debug)]
pub struct Dependents {
    pub name: &'static str,
    counter: Key,
}

/// The attribute in which a counter counts.
pub const COUNT: &str = "live";

/// Everything that can depend on an item: what lies in it and, but for a collection, its relationships.
pub fn of(item: &Item) -> Vec<Dependents> {
    let children = item.item_key().map(|key| key.children()).unwrap_or_default();
    let children = children.into_iter().map(|(name, partition)| Dependents::new(name, partition));
    let related = (item.kind() != Some(Kind::Collection)).then(|| relationships(item));
    children.chain(related).collect()
}

/// The relationships of an item, in which either end counts.
pub fn relationships(item: &Item) -> Dependents {
    Dependents::new("relationships", Partition::relationships(&item.pk, &item.sk))
}

/// How the count of the partition that the item lies in changes when the item comes or goes; a collection lies in none.
pub fn count(item: &Item, by: i64) -> Option<Action> {
    let partition = Partition::of(&item.pk);
    (item.kind() != Some(Kind::Collection))
        .then(|| Action::update(&PARKS, LiveKey { partition }.key(), Changes::new().add(COUNT, by)).or_absent())
}

impl Dependents {
    fn new(name: &'static str, partition: Partition) -> Self {
        Self { name, counter: LiveKey { partition }.key() }
    }

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
