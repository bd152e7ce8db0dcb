//! The relationships of an item, all or in pages, and all that were detached when it was deleted.

use futures::try_join;
use serde::{Deserialize, Serialize};
use table::{Access, Backoff, Error, Key, Position, Stored, TableAccess};

use super::counters::{self, Counter};
use crate::access;
use crate::keys::ItemRef;
use crate::relationships::Relationship;
use crate::schema::PARKS;

/// Relationships of an item. If the counter counts as many, they are all for as long as it does not change.
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

/// Loads the relationships of an item, or `max` of them if it has more. Waits for an index that lags behind the
/// counter.
pub async fn relationships_up_to(access: &Access, item: &ItemRef, max: usize) -> Result<Relationships, Error> {
    let mut backoff = Backoff::new();
    loop {
        let counter = counters::load(access, &access::ALL_RELATIONSHIPS, counters::of_relationships(item)).await?;
        if counter.count <= max {
            return load(access, item, counter).await;
        }
        let (mut pages, mut all) = (Pages::new(access, item, max, None), Vec::new());
        while all.len() < max
            && let Some(page) = pages.page().await?
        {
            all.extend(page);
        }
        if !all.is_empty() {
            all.truncate(max);
            return Ok(Relationships { counter, all });
        }
        if !backoff.wait().await {
            return Err(Error::Conflict);
        }
    }
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
    all.extend(load_listed(parks, reverse).await?);
    all.iter().map(Relationship::read).collect()
}

/// Loads the relationships that the index lists.
async fn load_listed(parks: TableAccess<'_>, listed: Vec<Stored>) -> Result<Vec<Stored>, Error> {
    let keys: Vec<Key> = listed.into_iter().map(|stored| stored.key).collect();
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    // As it was before an update that the counter does not count, a relationship would count as hidden already.
    Ok(parks.batch_get_consistent(&keys).await?.into_iter().flatten().collect())
}

/// A place between two pages of the relationships of an item.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Place {
    /// Among those that the table lists.
    Forward(Option<Position>),
    /// Among those that the index lists.
    Reverse(Option<Position>),
}

/// The relationships of an item in pages: first those that the table lists, then those that the index lists.
#[derive(Debug)]
pub struct Pages<'a> {
    access: &'a Access,
    item: &'a ItemRef,
    limit: usize,
    /// None after the last page.
    pub next: Option<Place>,
}

impl<'a> Pages<'a> {
    /// Pages of at most `limit` relationships, from a place or from the start.
    pub fn new(access: &'a Access, item: &'a ItemRef, limit: usize, from: Option<Place>) -> Self {
        Self { access, item, limit, next: Some(from.unwrap_or(Place::Forward(None))) }
    }

    /// The next page. A page may be short, or empty.
    pub async fn page(&mut self) -> Result<Option<Vec<Relationship>>, Error> {
        let Some(place) = self.next.clone() else { return Ok(None) };
        let parks = self.access.table(&access::ALL_RELATIONSHIPS, &PARKS);
        let of = format!("rel::{}", self.item);
        let limit = u32::try_from(self.limit).unwrap_or(u32::MAX);
        let found = match place {
            Place::Forward(after) => {
                let page = parks.query(of).consistent().after(after).page(limit).await?;
                self.next = Some(if page.next.is_some() { Place::Forward(page.next) } else { Place::Reverse(None) });
                page.items
            }
            Place::Reverse(after) => {
                let page = parks.query(of).index("reverse").after(after).page(limit).await?;
                self.next = page.next.map(|next| Place::Reverse(Some(next)));
                load_listed(parks, page.items).await?
            }
        };
        found.iter().map(Relationship::read).collect::<Result<_, _>>().map(Some)
    }
}

/// Loads the relationships that were detached when an item was deleted. The counter is loaded first: a request that
/// detaches another one later changes it, so a transaction that asserts the counter fails.
pub async fn detached(access: &Access, item: &ItemRef) -> Result<Relationships, Error> {
    let counter = counters::load(access, &access::DETACHED, counters::of_relationships(item)).await?;
    let parks = access.table(&access::DETACHED, &PARKS);
    let detached = parks.query(format!("detached::{item}")).consistent().all().await?;
    Ok(Relationships { counter, all: detached.iter().map(Relationship::read).collect::<Result<_, _>>()? })
}
