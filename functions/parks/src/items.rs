//! Operations on items of every kind, one file each.

pub mod create;
pub mod create_collection;
pub mod delete;
pub mod geometry;
pub mod get;
pub mod get_many;
pub mod list;
pub mod restore;
pub mod retype;
pub mod update;

use table::{Access, AccessPattern, Action, Condition, Error, Key, Rev, Stored, item};
use web::{Context, EntityTag, Problem, Tagged};

use crate::access::ITEM;
use crate::item::Item;
use crate::keys::Parent;
use crate::schema::PARKS;
use crate::view::{ItemView, View};

/// An item as it was read.
#[derive(Clone, Debug)]
pub struct LoadedItem {
    pub stored: Stored,
    pub item: Item,
}

impl LoadedItem {
    pub fn new(stored: Stored) -> Result<Self, Error> {
        Ok(Self { item: stored.read()?, stored })
    }

    /// Loads an item, with a consistent read for administrators. 404 if the view does not show it.
    pub async fn load(cx: &Context, pattern: &'static AccessPattern, key: Key, view: View) -> Result<Self, Problem> {
        let parks = cx.access().table(pattern, &PARKS);
        let stored = match view {
            View::Visitor => parks.get(key).await?,
            View::Administrator => parks.get_consistent(key).await?,
        };
        let loaded = Self::new(stored.ok_or_else(Problem::not_found)?)?;
        if view.shows(&loaded.item) { Ok(loaded) } else { Err(Problem::not_found()) }
    }

    /// Loads an item that is not deleted, for an administrator.
    pub async fn load_live(cx: &Context, key: Key) -> Result<Self, Problem> {
        let loaded = Self::load(cx, &ITEM, key, View::Administrator).await?;
        if loaded.item.deleted() { Err(Problem::not_found()) } else { Ok(loaded) }
    }

    /// The update of the item. Fails if the item has changed since it was read.
    pub fn update_to(&self, after: &Item) -> Result<Action, Error> {
        let changes = after.changes_of(&self.stored)?;
        Ok(Action::update(&PARKS, self.stored.key.clone(), changes).if_unchanged(&self.stored))
    }

    /// The item after an update.
    pub fn updated(mut self, item: Item, rev: Rev) -> Self {
        self.stored.rev = Some(rev);
        Self { item, ..self }
    }

    /// The tag of the administrators' view as JSON without embedded shapes.
    pub fn tag(&self) -> EntityTag {
        self.stored.rev.into()
    }

    /// The response with the administrators' view.
    pub fn tagged(&self) -> Tagged<ItemView> {
        let view = View::Administrator;
        Tagged::new(&ItemView::new(&self.item, view), self.tag()).map(|answer| view.cached(answer))
    }
}

/// The key of the item with this global id.
pub async fn by_global_id(
    access: &Access,
    pattern: &'static AccessPattern,
    global_id: &str,
) -> Result<Option<Key>, Error> {
    let found = access.table(pattern, &PARKS).query(global_id).index("globalId").first().await?;
    Ok(found.map(|stored| stored.key))
}

/// Fails unless the parent exists and is not deleted. None for the root, which always exists.
pub fn check_live(parent: &Parent) -> Option<Action> {
    parent.key().map(|key| Action::check(&PARKS, key).when(is_live()))
}

/// Holds while the item is not deleted.
pub fn is_live() -> Condition {
    Condition::Equals("isDeleted", item::flag(false))
}
