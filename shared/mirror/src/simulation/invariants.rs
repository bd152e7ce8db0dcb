//! The invariants of the mirror.
//!
//! - *content*: the documents behind the alias equal the documents of the items;
//! - *versions*: the version of a document never decreases;
//! - *writes*: the mirror never creates an item;
//! - *revisions*: every searchable item gets a valid revision;
//! - *report*: every record is counted once, and exactly the records from the checkpoint on are reported;
//! - *quarantine*: the markers are those of the items that cannot be indexed;
//! - *termination*: every schedule comes to rest.

use serde_json::{Value, json};
use table::Key;

use super::world::{Attributes, World};
use super::writers::keys;
use crate::audit::{Wanted, WantedDocument};
use crate::documents::DetailLevel;
use crate::fold::Presence;
use crate::generation::Phase;
use crate::item::presence;
use crate::quarantine::Subject;

/// Checks the invariants *content*, *revisions* and *quarantine* when no invocation is running.
pub(crate) fn at_rest(world: &World) -> Result<(), String> {
    let serving = world.generations.as_ref().filter(|generations| generations.of(Phase::Serving).is_some());
    let Some(generations) = serving else { return Ok(()) };
    let generation = &generations.written[0].index;
    let visible = world.search.visible(&generations.alias);
    let markers = world.open_markers(generation);
    if let Some(lost) = world.markers.values().find(|marker| matches!(marker.subject, Subject::Record(_))) {
        return Err(format!("quarantine: {lost:?} for a record that has a key"));
    }
    for key in keys() {
        let item = world.table.get(&key);
        let rev = item.map(|item| rev(item).ok_or(format!("revisions: {key:?} has no valid revision"))).transpose()?;
        let marked = markers.get(&Subject::Item { table: "trees".to_owned(), key: key.clone() }.name()).copied();
        let document = visible.get(&key.document_id());
        let poison = item.is_some_and(poisonous);
        match (poison, marked) {
            (true, marked) if marked != rev => {
                return Err(format!("quarantine: {key:?} is quarantined at {rev:?} and its marker says {marked:?}"));
            }
            // A request that was refused as a whole may send a valid item to quarantine.
            (false, Some(_)) if marked == rev && world.refused_whole => {}
            // The invocation that set the marker was stopped before it could clear it. The key's next write or a repair
            // clears it.
            (false, Some(marked)) if rev.is_none_or(|rev| marked <= rev) && world.cut_short => {}
            (false, Some(marked)) => {
                return Err(format!("quarantine: {key:?} has a marker at {marked} and needs none"));
            }
            _ => {}
        }
        // A concurrent invocation may have indexed a valid item, which then is visible.
        let refused = world.refused_whole && marked.is_some() && marked == rev && document.is_none();
        let quarantined = poison || refused;
        let wanted = item.filter(|_| !quarantined).zip(rev).and_then(|(item, rev)| wanted(&key, item, rev));
        if document.map(|document| &document.source) != wanted.as_ref() {
            return Err(format!("content: {key:?} is {item:?}\n wanted {wanted:?}\n search shows {document:?}"));
        }
        if let Some(document) = document
            && Some(document.version) != rev
        {
            return Err(format!("{key:?} is shown at version {} and has {rev:?}", document.version));
        }
    }
    Ok(())
}

/// Checks the invariants *versions* and *writes*, which hold at any time.
pub(crate) fn always(world: &World) -> Result<(), String> {
    match (&world.search.version_decrease, &world.forbidden_write) {
        (Some(version_decrease), _) => Err(format!("versions: {version_decrease}")),
        (None, Some(forbidden_write)) => Err(format!("writes: {forbidden_write}")),
        (None, None) => Ok(()),
    }
}

fn rev(item: &Attributes) -> Option<u64> {
    match presence(item.get("rev").map(Value::to_string).as_deref()) {
        Presence::At(rev) => Some(rev.number()),
        Presence::Absent | Presence::Unrevised => None,
    }
}

fn hidden(item: &Attributes) -> bool {
    item.contains_key("hidden")
}

fn poisonous(item: &Attributes) -> bool {
    !hidden(item) && (item["name"]["S"].is_null() || item.contains_key("size"))
}

/// Returns the document that search must have if its shape has this level. It is written out without the code of the
/// mirror.
pub(crate) fn reference(key: &Key, item: &Attributes, rev: u64, level: DetailLevel) -> Wanted {
    if hidden(item) {
        return Wanted::Hidden;
    }
    if poisonous(item) {
        return Wanted::Unfit;
    }
    let mut document = json!({"pk": key.pk, "sk": key.sk, "entity": "leaf", "rev": rev, "name": item["name"]["S"]});
    let mut shapes = Vec::new();
    if let Some(area) = item.get("area").and_then(|area| area["S"].as_str()) {
        let (status, text) = match level {
            DetailLevel::Full => ("full", area),
            DetailLevel::Fine | DetailLevel::Coarse => ("coarse", area.get(..2).unwrap()),
            DetailLevel::Envelope => ("envelope", area.get(..1).unwrap()),
            DetailLevel::None => ("none", ""),
        };
        if level != DetailLevel::None {
            document["area"] = json!({"type": text});
            document["areaTolerance"] = json!(1);
        }
        document["areaStatus"] = json!(status);
        shapes.push(("area".to_owned(), status.to_owned()));
    }
    Wanted::Document(WantedDocument { source: document.to_string(), shapes })
}

/// Returns the document that a reader should find.
fn wanted(key: &Key, item: &Attributes, rev: u64) -> Option<Value> {
    if hidden(item) {
        return None;
    }
    let mut document = json!({"pk": key.pk, "sk": key.sk, "entity": "leaf", "rev": rev, "name": item["name"]["S"]});
    if let Some(area) = item.get("area").and_then(|area| area["S"].as_str()) {
        let first = |bytes| area.get(..bytes).unwrap_or(area);
        let levels = [("full", area), ("coarse", first(2)), ("envelope", first(1))];
        match levels.iter().find(|(_, text)| !text.contains('x')) {
            Some((status, text)) => {
                document["area"] = json!({"type": text});
                document["areaStatus"] = json!(status);
                document["areaTolerance"] = json!(1);
            }
            None => document["areaStatus"] = json!("none"),
        }
    }
    Some(document)
}
