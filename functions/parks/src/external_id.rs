//! External ids: unique among the items of one kind in one collection, by an item of their own.

use std::borrow::Cow;

use http::header;
use serde::{Deserialize, Serialize};
use table::{Access, AccessPattern, Action, Cause, Changes, EntityKey, Error, Escaped, Key};
use web::{Fault, Problem};

use crate::item::Item;
use crate::keys::{ExternalIdKey, ItemKey};
use crate::schema::PARKS;

/// Names the item that holds the external id.
#[derive(Debug, Serialize, Deserialize)]
struct Guard<'a> {
    item: Cow<'a, Key>,
}

/// Holds the item's external id, where it has one.
pub fn hold(item: &Item) -> Result<Option<Action>, Error> {
    let held = item.key();
    key(item).map(|key| Action::create(&PARKS, key.key(), &Guard { item: Cow::Borrowed(&held) })).transpose()
}

/// Lets go of the item's external id, where it has one.
pub fn release(item: &Item) -> Option<Action> {
    key(item).map(|key| Action::delete(&PARKS, key.key()))
}

/// Names the item by its new key, where it has an external id.
pub fn moved(from: &Item, to: &Item) -> Result<Option<Action>, Error> {
    let (old, new) = (from.key(), to.key());
    let changes = Changes::between(&Guard { item: Cow::Borrowed(&old) }, &Guard { item: Cow::Borrowed(&new) })?;
    Ok(key(to).map(|key| Action::update(&PARKS, key.key(), changes)))
}

/// The problem, if another item holds it already: known before a number is taken, a refused create leaves no gap. Names
/// where that item is, for who wants to make it only if it is not there.
pub async fn held(access: &Access, pattern: &'static AccessPattern, item: &Item) -> Result<Option<Problem>, Problem> {
    let Some(key) = key(item) else { return Ok(None) };
    let Some(stored) = access.table(pattern, &PARKS).get_consistent(key.key()).await? else { return Ok(None) };
    let holder = ItemKey::parse(&stored.read::<Guard>()?.item);
    Ok(Some(holder.into_iter().fold(problem(), |problem, holder| problem.header(header::LOCATION, holder.href()))))
}

/// The problem, if a transaction failed because another item holds the external id; `hold` is that action's place.
pub fn taken(error: &Error, hold: usize) -> Option<Problem> {
    error.failed(hold).filter(|failed| failed.cause == Cause::Exists).map(|_| problem())
}

fn problem() -> Problem {
    Problem::taken(vec![Fault::pointer("/externalId", "is held by another item of its kind here")])
}

fn key(item: &Item) -> Option<ExternalIdKey> {
    let external_id = Escaped::new(item.external_id.as_ref()?).ok()?;
    Some(ExternalIdKey { entity: item.kind()?, collection: item.collection()?, external_id })
}
