//! Lookup of the item that a document id names.

use local::{Served, systems};
use table::Key;
use table::schema::{Search, Table};

use crate::failure::Failure;

/// Returns the item of a document id: its system, its table and its key. If several tables could have it, the id starts
/// with the table, as in the names of `cairn quarantine ls`.
pub fn find(id: &str) -> Result<(&'static Served, &'static Table, Key), Failure> {
    let candidates = candidates(systems::ALL, id);
    match candidates.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Failure::new(format!(
            "No searchable item can have the key `{id}`.\nUse its partition key, `#` and its sort key: \
             `geozone::bcparks_1#1`."
        ))),
        [(_, first, _), ..] => {
            let tables: Vec<&str> = candidates.iter().map(|(_, table, _)| table.name).collect();
            Err(Failure::new(format!(
                "The key fits several tables: {}.\nPut the table before it: `{}/{id}`.",
                tables.join(", "),
                first.name,
            )))
        }
    }
}

/// Returns the keys that could have this document id: one for each `#`, and one without a sort key.
pub fn keys(id: &str) -> impl Iterator<Item = Key> {
    let cuts = id.match_indices('#').filter_map(move |(at, _)| Some(Key::new(id.get(..at)?, id.get(at + 1..)?)));
    cuts.chain([Key::partition(id)])
}

/// Returns the tables that could have the key. If it has several `#`, the templates of the entities decide where the
/// partition key ends.
fn candidates<'a>(known: &'a [Served], text: &str) -> Vec<(&'a Served, &'static Table, Key)> {
    let tables = known.iter().flat_map(|served| served.system.tables.iter().map(move |table| (served, *table)));
    tables
        .filter_map(|(served, table)| {
            let id = text.strip_prefix(table.name).and_then(|rest| rest.strip_prefix('/')).unwrap_or(text);
            let searched = |key: &Key| table.entity_of(key).is_some_and(|entity| entity.search == Search::Document);
            keys(id).find(searched).map(|key| (served, table, key))
        })
        .collect()
}
