//! All relationships of an item, and all that were detached when it was deleted.

use futures::try_join;
use table::{Access, Backoff, Error, Key};

use super::counters::{self, Counter};
use crate::access;
use crate::keys::ItemRef;
use crate::relationships::Relationship;
use crate::schema::PARKS;

/// All relationships of an item. As long as the counter does not change, they are all.
#[derive(Clone, Debug)]
pub struct Relationships {
    pub counter: Counter,
    pub all: Vec<Relationship>,
}

/// Loads the relationships of an item, or none if the counter says that they are more than `max`.
pub async fn relationships_within(access: &Access, item: &ItemRef, max: usize) -> Result<Option<Relationships>, Error> {
    let counter = counters::load(access, &access::ALL_RELATIONSHIPS, counters::of_relationships(item)).await?;
    if counter.count > max {
        return Ok(None);
    }
    load(access, item, counter).await.map(Some)
}

/// Loads the relationships of an item. If the index lags behind the counter, waits for the index.
///
/// [`Error::Conflict`] if other requests keep adding relationships.
pub async fn relationships(access: &Access, item: &ItemRef) -> Result<Relationships, Error> {
    let counter = counters::load(access, &access::ALL_RELATIONSHIPS, counters::of_relationships(item)).await?;
    load(access, item, counter).await
}

async fn load(access: &Access, item: &ItemRef, mut counter: Counter) -> Result<Relationships, Error> {
    let mut backoff = Backoff::new();
    loop {
        if counter.count == 0 {
            return Ok(Relationships { counter, all: Vec::new() });
        }
        let all = listed(access, item).await?;
        if all.len() == counter.count {
            return Ok(Relationships { counter, all });
        }
        if !backoff.wait().await {
            return Err(Error::Conflict);
        }
        counter = counters::load(access, &access::ALL_RELATIONSHIPS, counters::of_relationships(item)).await?;
    }
}

/// The relationships that the table and the index list. The index has only keys, so those items are loaded.
async fn listed(access: &Access, item: &ItemRef) -> Result<Vec<Relationship>, Error> {
    let parks = access.table(&access::ALL_RELATIONSHIPS, &PARKS);
    let of = format!("rel::{item}");
    let (forward, reverse) = (parks.query(&of).consistent(), parks.query(&of).index("reverse"));
    let (mut all, reverse) = try_join!(forward.all(), reverse.all())?;
    let reverse: Vec<Key> = reverse.into_iter().map(|stored| stored.key).collect();
    if !reverse.is_empty() {
        // As it was before an update that the counter does not count, a relationship would count as hidden already.
        all.extend(parks.batch_get_consistent(&reverse).await?.into_iter().flatten());
    }
    all.iter().map(Relationship::read).collect()
}

/// Loads the relationships that were detached when an item was deleted. The counter is loaded first: a request that
/// detaches another one later changes it, so a transaction that asserts the counter fails.
pub async fn detached(access: &Access, item: &ItemRef) -> Result<Relationships, Error> {
    let counter = counters::load(access, &access::DETACHED, counters::of_relationships(item)).await?;
    let parks = access.table(&access::DETACHED, &PARKS);
    let detached = parks.query(format!("detached::{item}")).consistent().all().await?;
    Ok(Relationships { counter, all: detached.iter().map(Relationship::read).collect::<Result<_, _>>()? })
}
