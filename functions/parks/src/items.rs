//! What is done with an item, whatever its kind: one file for each thing.

pub mod change;
pub mod create;
pub mod create_collection;
pub mod delete;
pub mod geometry;
pub mod list;
pub mod read;
pub mod restore;
pub mod retype;

use table::{Access, AccessPattern, Action, Cause, Condition, Error, Key, Rev, Stored, item};
use web::{Answer, EntityTag, Problem, Request};

use crate::item::Item;
use crate::keys::Parent;
use crate::schema::PARKS;
use crate::view::{ItemView, View};

/// An item as it was read: what the table holds, and the same as this system's type.
#[derive(Clone, Debug)]
pub struct Read {
    pub stored: Stored,
    pub item: Item,
}

impl Read {
    /// What a change has made of it.
    pub fn changed(mut self, item: Item, rev: Rev) -> Self {
        self.stored.rev = Some(rev);
        Self { item, ..self }
    }

    /// The tag of what administrators see, as JSON without embedded shapes.
    pub fn tag(&self) -> EntityTag {
        self.stored.rev.into()
    }
}

/// The item with this key as far as the view shows it: visitors read eventually, administrators consistently.
pub async fn read(
    request: &Request,
    pattern: &'static AccessPattern,
    key: Option<Key>,
    view: View,
) -> Result<Read, Problem> {
    let key = key.ok_or_else(Problem::not_found)?;
    let parks = request.access().table(pattern, &PARKS);
    let stored = match view {
        View::Visitor => parks.get(key).await?,
        View::Administrator => parks.get_consistent(key).await?,
    };
    let stored = stored.ok_or_else(Problem::not_found)?;
    let item: Item = stored.read()?;
    if view.shows(&item) { Ok(Read { stored, item }) } else { Err(Problem::not_found()) }
}

/// The item as a change has left it.
pub fn administrators_answer(read: &Read) -> Answer {
    let view = View::Administrator;
    view.cached(Answer::ok(&ItemView::new(&read.item, view)).etag(read.tag()))
}

/// The present as items store it, and who is acting.
pub fn stamp(request: &Request) -> (String, Option<String>) {
    stamped(request.access(), request.principal().known().map(|known| known.idpid().to_string()))
}

/// The present as items store it, for this person.
pub fn stamped(access: &Access, who: Option<String>) -> (String, Option<String>) {
    (table::clock::rfc3339(access.engines().clock.now()), who)
}

/// Fails unless the parent is there and not deleted. The root always is.
pub fn live(parent: &Parent) -> Option<Action> {
    let live = Condition::Equals("isDeleted", item::flag(false));
    parent.key().map(|key| Action::check(&PARKS, key).when(live))
}

/// Whether a transaction failed because the item of its first action has changed since it was read.
pub fn lost(error: &Error) -> bool {
    error.failed(0).is_some_and(|failed| failed.cause == Cause::Stale)
}

/// What becomes of a change that lost against another: with `If-Match` the client decides anew, without it the change
/// is made again on what is now there.
pub fn again(request: &Request) -> Result<(), Problem> {
    if request.if_match().is_absent() { Ok(()) } else { Err(Problem::stale()) }
}
