//! External ids: unique among the items of a kind in a collection, by a guard item.

use std::borrow::Cow;

use http::header;
use serde::{Deserialize, Serialize};
use table::{Access, AccessPattern, Action, Cause, Changes, EntityKey, Error, Escaped, Key};
use web::{Fault, Problem};

use crate::item::Item;
use crate::keys::{ExternalIdKey, ItemKey};
use crate::schema::PARKS;

/// The guard of an external id, with the key of the item that has it.
#[derive(Debug, Serialize, Deserialize)]
struct Guard<'a> {
    item: Cow<'a, Key>,
}

/// Creates the guard of the item's external id, if it has one.
pub fn hold(item: &Item) -> Result<Option<Action>, Error> {
    let held = item.key();
    key(item).map(|key| Action::create(&PARKS, key.key(), &Guard { item: Cow::Borrowed(&held) })).transpose()
}

/// Deletes the guard of the item's external id, if it has one.
pub fn release(item: &Item) -> Option<Action> {
    key(item).map(|key| Action::delete(&PARKS, key.key()))
}

/// Updates the guard to the item's new key, if it has an external id.
pub fn moved(from: &Item, to: &Item) -> Result<Option<Action>, Error> {
    let (old, new) = (from.key(), to.key());
    let changes = Changes::between(&Guard { item: Cow::Borrowed(&old) }, &Guard { item: Cow::Borrowed(&new) })?;
    Ok(key(to).map(|key| Action::update(&PARKS, key.key(), changes)))
}

/// The problem of an external id that another item has, with the path of that item. The check comes before a number is
/// allocated, so that a refused creation leaves no gap.
pub async fn held(access: &Access, pattern: &'static AccessPattern, item: &Item) -> Result<Option<Problem>, Problem> {
    let Some(key) = key(item) else { return Ok(None) };
    let Some(stored) = access.table(pattern, &PARKS).get_consistent(key.key()).await? else { return Ok(None) };
    let holder = ItemKey::parse(&stored.read::<Guard>()?.item);
    Ok(Some(holder.into_iter().fold(problem(), |problem, holder| problem.header(header::LOCATION, holder.href()))))
}

/// The problem of a transaction that failed because another item has the external id. `hold` is the position of
/// [`hold()`] in it.
pub fn taken(error: &Error, hold: usize) -> Option<Problem> {
    error.failed(hold).filter(|failed| failed.cause == Cause::Exists).map(|_| problem())
}

fn problem() -> Problem {
    Problem::taken(vec![Fault::pointer(
        "/externalId",
        "is the external id of another item of this kind in the collection",
    )])
}

fn key(item: &Item) -> Option<ExternalIdKey> {
    let external_id = Escaped::new(item.external_id.as_ref()?).ok()?;
    Some(ExternalIdKey { entity: item.kind()?, collection: item.collection()?, external_id })
}
