//! The relationships of an item, all or in pages, and those that were detached when it was deleted.

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
    pub listed: Vec<Relationship>,
}

/// Loads the relationships of an item. Returns `None` if it has more than `max`.
pub async fn relationships_within(access: &Access, item: &ItemRef, max: usize) -> Result<Option<Relationships>, Error> {
    load(access, item, Some(max)).await.map(|found| (found.counter.count <= max).then_some(found))
}

/// Loads the relationships of an item.
pub async fn relationships(access: &Access, item: &ItemRef) -> Result<Relationships, Error> {
    load(access, item, None).await
}

/// Loads the relationships of an item, or at most `max` of them if it has more.
pub async fn relationships_up_to(access: &Access, item: &ItemRef, max: usize) -> Result<Relationships, Error> {
    load(access, item, Some(max)).await
}

/// Loads the relationships of an item, or at most `max` of them if it has more. If the index lags behind the counter,
/// waits for the index.
///
/// [`Error::Conflict`] if other requests keep adding relationships.
async fn load(access: &Access, item: &ItemRef, max: Option<usize>) -> Result<Relationships, Error> {
    let mut backoff = Backoff::new();
    loop {
        let counter = counters::load(access, &access::ALL_RELATIONSHIPS, counters::of_relationships(item)).await?;
        let listed = if counter.count == 0 { Vec::new() } else { list(access, item, max).await? };
        let has_all = listed.len() == counter.count;
        let has_some = max.is_some_and(|max| counter.count > max) && !listed.is_empty();
        if has_all || has_some {
            return Ok(Relationships { counter, listed });
        }
        if !backoff.wait().await {
            return Err(Error::Conflict);
        }
    }
}

/// Lists the relationships that the table and the index have, at most `max`. The index has only keys, so those items are
/// loaded.
async fn list(access: &Access, item: &ItemRef, max: Option<usize>) -> Result<Vec<Relationship>, Error> {
    let parks = access.table(&access::ALL_RELATIONSHIPS, &PARKS);
    let of = format!("rel::{item}");
    let (forward, reverse) = (parks.query(&of).consistent(), parks.query(&of).index("reverse"));
    let max = max.unwrap_or(usize::MAX);
    let limit = u32::try_from(max).unwrap_or(u32::MAX);
    let (forward, reverse) = try_join!(forward.page(limit), reverse.page(limit))?;
    let (mut listed, mut reverse) = (forward.items, reverse.items);
    reverse.truncate(max.saturating_sub(listed.len()));
    listed.extend(load_listed(parks, reverse).await?);
    listed.iter().map(Relationship::read).collect()
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

/// A position between two pages of the relationships of an item.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PagePosition {
    /// Among those that the table lists.
    Forward(Option<Position>),
    /// Among those that the index lists.
    Reverse(Option<Position>),
}

/// The relationships of an item in pages: first those that the table lists, then those that the index lists.
#[derive(Debug)]
pub struct RelationshipPages<'a> {
    access: &'a Access,
    item: &'a ItemRef,
    limit: usize,
    /// None after the last page.
    pub next: Option<PagePosition>,
}

impl<'a> RelationshipPages<'a> {
    /// Pages of at most `limit` relationships, from a position or from the start.
    pub fn new(access: &'a Access, item: &'a ItemRef, limit: usize, from: Option<PagePosition>) -> Self {
        Self { access, item, limit, next: Some(from.unwrap_or(PagePosition::Forward(None))) }
    }

    /// Returns the next page, which may be empty, or `None` after the last.
    pub async fn next_page(&mut self) -> Result<Option<Vec<Relationship>>, Error> {
        let Some(position) = self.next.clone() else { return Ok(None) };
        let parks = self.access.table(&access::ALL_RELATIONSHIPS, &PARKS);
        let of = format!("rel::{}", self.item);
        let limit = u32::try_from(self.limit).unwrap_or(u32::MAX);
        let found = match position {
            PagePosition::Forward(after) => {
                let page = parks.query(of).consistent().after(after).page(limit).await?;
                let next = page.next.map(|next| PagePosition::Forward(Some(next)));
                self.next = next.or(Some(PagePosition::Reverse(None)));
                page.items
            }
            PagePosition::Reverse(after) => {
                let page = parks.query(of).index("reverse").after(after).page(limit).await?;
                self.next = page.next.map(|next| PagePosition::Reverse(Some(next)));
                load_listed(parks, page.items).await?
            }
        };
        found.iter().map(Relationship::read).collect::<Result<_, _>>().map(Some)
    }
}

/// Loads the relationships that were detached when an item was deleted, or `max` of them if there are more. The counter
/// is loaded first: a request that detaches another one later changes it, so a transaction that asserts the counter
/// fails.
pub async fn detached_up_to(access: &Access, item: &ItemRef, max: usize) -> Result<Relationships, Error> {
    let counter = counters::load(access, &access::DETACHED, counters::of_relationships(item)).await?;
    let parks = access.table(&access::DETACHED, &PARKS);
    let limit = u32::try_from(max).unwrap_or(u32::MAX);
    let detached = parks.query(format!("detached::{item}")).consistent().page(limit).await?.items;
    Ok(Relationships { counter, listed: detached.iter().map(Relationship::read).collect::<Result<_, _>>()? })
}
