//! Counters: how many relationships an item has, or how many live items lie in a partition.

use table::{Access, AccessPattern, Action, Changes, Condition, EntityKey, Error, Key, Stored};

use crate::dependents::COUNT;
use crate::keys::{LiveKey, Partition};
use crate::relationships::End;
use crate::schema::PARKS;

/// A counter as it was read.
#[derive(Clone, Debug)]
pub struct Counter {
    pub count: usize,
    key: Key,
    stored: Option<Stored>,
}

/// The counter of an item's relationships, in which either end counts.
pub fn of_relationships(end: &End) -> Key {
    LiveKey { partition: Partition::relationships(end.pk(), end.sk()) }.key()
}

/// The counter of the live items of a partition.
pub fn of_items(partition: Partition) -> Key {
    LiveKey { partition }.key()
}

/// Counts, whatever the counter holds; 0 only marks that something has happened. The first to count makes it.
pub fn add(counter: Key, by: i64) -> Action {
    let counted = counted(&counter, by);
    if by < 0 { counted } else { counted.or_absent() }
}

pub async fn read(access: &Access, pattern: &'static AccessPattern, counter: Key) -> Result<Counter, Error> {
    let stored = access.table(pattern, &PARKS).get_consistent(counter.clone()).await?;
    let count = stored.as_ref().and_then(|stored| stored.item.get(COUNT)?.as_n().ok()?.parse().ok());
    Ok(Counter { count: count.unwrap_or(0), key: counter, stored })
}

impl Counter {
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// Ends it, and fails if anything has been counted since it was read.
    pub fn delete(&self) -> Action {
        match &self.stored {
            Some(stored) => Action::delete(&PARKS, self.key.clone()).if_unchanged(stored),
            None => self.add(0),
        }
    }

    /// Counts, and fails if anything has been counted since it was read.
    pub fn add(&self, by: i64) -> Action {
        match &self.stored {
            Some(stored) if by == 0 => Action::check(&PARKS, self.key.clone()).if_unchanged(stored),
            Some(stored) => counted(&self.key, by).if_unchanged(stored),
            None if by == 0 => Action::check(&PARKS, self.key.clone()).when(Condition::Absent(COUNT)).or_absent(),
            None => counted(&self.key, by).when(Condition::Absent(COUNT)).or_absent(),
        }
    }
}

fn counted(counter: &Key, by: i64) -> Action {
    Action::update(&PARKS, counter.clone(), Changes::new().add(COUNT, by))
}
