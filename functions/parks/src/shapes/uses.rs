//! The number of items that use each shape in S3, counted by the transactions that attach and detach shapes.

use std::collections::BTreeMap;

use table::{Access, AccessPattern, Action, Changes, Condition, item};
use web::Problem;

use super::store::{self, Geometry, UNREFERENCED};
use crate::item::StoredShape;
use crate::schema::PARKS;

/// The change of the number of uses of each shape.
#[derive(Debug, Default)]
pub struct Uses(BTreeMap<String, i64>);

impl Uses {
    /// Records that a shape of an item replaces another.
    pub fn replace(&mut self, before: Option<&StoredShape>, after: Option<&StoredShape>) {
        for (shape, by) in [(before, -1), (after, 1)] {
            if let Some(StoredShape::Object(reference)) = shape {
                *self.0.entry(reference.sha256.clone()).or_default() += by;
            }
        }
    }

    /// The actions that count the uses. They fail if an attached shape is being swept, or if another request has changed the
    /// uses of a detached one since they were read.
    pub async fn actions(&self, access: &Access, pattern: &'static AccessPattern) -> Result<Vec<Action>, Problem> {
        let mut actions = Vec::new();
        for (sha256, by) in &self.0 {
            let key = store::key(sha256)?;
            let count = Changes::new().add("refs", *by);
            if *by > 0 {
                let stored = Condition::Equals("status", item::text("stored"));
                let used = count.remove("listPk").remove("listSk");
                actions.push(Action::update(&PARKS, key, used).when(stored));
            } else if *by < 0 {
                let Some(stored) = access.table(pattern, &PARKS).get_consistent(key.clone()).await? else { continue };
                let last = stored.read::<Geometry>()?.refs.saturating_add_signed(*by) == 0;
                let since = table::clock::rfc3339(access.engines().clock.now());
                let unused =
                    |count: Changes| count.set("listPk", item::text(UNREFERENCED)).set("listSk", item::text(since));
                let changes = if last { unused(count) } else { count };
                actions.push(Action::update(&PARKS, key, changes).if_unchanged(&stored));
            }
        }
        Ok(actions)
    }
}
