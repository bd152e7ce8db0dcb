//! The item that counts the categories, and the collections in each. One update of it checks and counts all categories
//! of a collection, so that a transaction has an action left for each row.

use table::{Action, Changes, Condition, Item, item};

use crate::keys::CategoryUseKey;
use crate::names::CategoryId;
use crate::schema::ARCHIVE;

/// The most categories of an archive. All of them are counted in one item.
pub const MAX_CATEGORIES: u64 = 1_000;

/// The attribute that counts the categories.
const CATEGORIES: &str = "n";

/// Returns the attribute that counts the collections of a category.
fn attribute(category: CategoryId) -> String {
    format!("c{category}")
}

/// Adds a category, unless there are as many as there may be.
pub fn added(category: CategoryId) -> Action {
    let changes = Changes::new().set(&attribute(category), item::number(0)).add(CATEGORIES, 1);
    let room = Condition::AtMost(CATEGORIES, item::number(MAX_CATEGORIES - 1));
    Action::update(&ARCHIVE, CategoryUseKey {}, changes).when(room).or_absent()
}

/// Removes a category, unless it has collections.
pub fn removed(category: CategoryId) -> Action {
    let changes = Changes::new().remove(&attribute(category)).add(CATEGORIES, -1);
    let unused = Condition::NamedEquals(attribute(category), item::number(0));
    Action::update(&ARCHIVE, CategoryUseKey {}, changes).when(unused)
}

/// Counts a collection in the categories that it enters, which must exist, and no more in those that it leaves.
pub fn counted(enters: &[CategoryId], leaves: &[CategoryId]) -> Action {
    let mut changes = Changes::new();
    for (categories, more) in [(enters, 1), (leaves, -1)] {
        for category in categories {
            changes = changes.add(&attribute(*category), more);
        }
    }
    let action = Action::update(&ARCHIVE, CategoryUseKey {}, changes);
    enters.iter().fold(action, |action, category| action.when(Condition::NamedPresent(attribute(*category))))
}

/// Whether the category exists, according to the item that a failed condition found.
pub fn is_known(found: Option<&Item>, category: CategoryId) -> bool {
    found.is_some_and(|item| item.contains_key(&attribute(category)))
}

/// Returns the number of collections of a category.
pub fn collections(found: Option<&Item>, category: CategoryId) -> u64 {
    let count = found.and_then(|item| item.get(&attribute(category))?.as_n().ok()?.parse().ok());
    count.unwrap_or_default()
}
