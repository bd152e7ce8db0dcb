//! All relationships of an item, and all that were kept when it was deleted.

use futures::try_join;
use table::{Access, Backoff, Error, Key};

use super::counters::{self, Counter};
use crate::access;
use crate::relationships::{End, Relationship};
use crate::schema::PARKS;

/// All relationships of an item, with the counter that proves it as long as it stays as it is.
#[derive(Clone, Debug)]
pub struct Relationships {
    pub counter: Counter,
    pub all: Vec<Relationship>,
}

/// The relationships of an item. Where the index lags behind the counter, waits for it.
///
/// [`Error::Conflict`] if others keep relating it meanwhile.
pub async fn relationships(access: &Access, end: &End) -> Result<Relationships, Error> {
    let mut backoff = Backoff::new();
    loop {
        let counter = counters::read(access, &access::ALL_RELATIONSHIPS, counters::of_relationships(end)).await?;
        if counter.count == 0 {
            return Ok(Relationships { counter, all: Vec::new() });
        }
        let all = listed(access, end).await?;
        if all.len() == counter.count {
            return Ok(Relationships { counter, all });
        }
        if !backoff.wait().await {
            return Err(Error::Conflict);
        }
    }
}

/// What the table and the index show: the index only names them, so they are read besides.
async fn listed(access: &Access, end: &End) -> Result<Vec<Relationship>, Error> {
    let parks = access.table(&access::ALL_RELATIONSHIPS, &PARKS);
    let of = format!("rel::{end}");
    let (forward, reverse) = (parks.query(&of).consistent(), parks.query(&of).index("reverse"));
    let (mut all, reverse) = try_join!(forward.all(), reverse.all())?;
    let reverse: Vec<Key> = reverse.into_iter().map(|stored| stored.key).collect();
    if !reverse.is_empty() {
        all.extend(parks.batch_get(&reverse).await?.into_iter().flatten());
    }
    all.iter().map(Relationship::read).collect()
}

/// The relationships that were kept when an item was deleted. The counter is read first: whoever adds one after that
/// changes it, so that a transaction which proves the counter fails.
pub async fn detached(access: &Access, end: &End) -> Result<Relationships, Error> {
    let counter = counters::read(access, &access::DETACHED, counters::of_relationships(end)).await?;
    let parks = access.table(&access::DETACHED, &PARKS);
    let kept = parks.query(format!("detached::{end}")).consistent().all().await?;
    Ok(Relationships { counter, all: kept.iter().map(Relationship::read).collect::<Result<_, _>>()? })
}
