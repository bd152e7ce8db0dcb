//! Counters: the number of relationships of an item, or of live items of a partition.

use table::{Access, AccessPattern, Action, Changes, Condition, EntityKey, Error, Key, Stored};

use crate::keys::{ItemRef, LiveKey, Partition};
use crate::schema::PARKS;

/// The attribute that holds the count.
pub const COUNT: &str = "live";

/// A loaded counter.
#[derive(Clone, Debug)]
pub struct Counter {
    pub count: usize,
    key: Key,
    stored: Option<Stored>,
}

/// The counter of an item's relationships. A relationship counts at both of its ends.
pub fn of_relationships(item: &ItemRef) -> Key {
    LiveKey { partition: Partition::relationships(item.pk(), item.sk()) }.key()
}

/// The counter of the live items of a partition.
pub fn of_items(partition: Partition) -> Key {
    LiveKey { partition }.key()
}

/// Adds to a counter, whatever its count is; 0 only gives it a new revision. The first addition creates the counter.
pub fn add(counter: Key, by: i64) -> Action {
    let counted = counted(&counter, by);
    if by < 0 { counted } else { counted.or_absent() }
}

pub async fn load(access: &Access, pattern: &'static AccessPattern, counter: Key) -> Result<Counter, Error> {
    let stored = access.table(pattern, &PARKS).get_consistent(counter.clone()).await?;
    let count = match &stored {
        None => 0,
        Some(stored) => match stored.item.get(COUNT) {
            None => 0,
            // Relationships that were written outside the platform, and deleted on it, may have made the count negative.
            Some(count) => count
                .as_n()
                .ok()
                .and_then(|count| count.parse::<i64>().ok())
                .map(|count| usize::try_from(count).unwrap_or(0))
                .ok_or_else(|| Error::Misfit(format!("the counter {counter:?} has no count")))?,
        },
    };
    Ok(Counter { count, key: counter, stored })
}

impl Counter {
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// Deletes the counter. Fails if it has changed since it was loaded.
    pub fn delete(&self) -> Action {
        match &self.stored {
            Some(stored) => Action::delete(&PARKS, self.key.clone()).if_unchanged(stored),
            None => self.add(0),
        }
    }

    /// Adds to the counter. Fails if it has changed since it was loaded.
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
