//! The invariants of the mirror.
//!
//! - *content*: the documents behind the alias equal the documents of the items;
//! - *versions*: the version of a document never decreases;
//! - *writes*: the mirror never creates an item;
//! - *revisions*: every searchable item gets a valid revision;
//! - *report*: every record is counted once, and exactly the records from the checkpoint on are reported;
//! - *quarantine*: the markers are those of the items that cannot be indexed;
//! - *readers*: the readers' alias always names an index that exists and has every document;
//! - *termination*: every schedule comes to rest.

use serde_json::{Value, json};
use table::Key;

use super::search::Document;
use super::toy::{CURED_AREA, UNAVAILABLE};
use super::world::{Attributes, World};
use super::writers::keys;
use crate::audit::{Wanted, WantedDocument};
use crate::documents::DetailLevel;
use crate::fold::Presence;
use crate::generation::{Generation, Phase};
use crate::item::presence;
use crate::quarantine::Subject;

/// Checks the invariants that hold when nothing is under way.
pub(crate) fn at_rest(world: &World) -> Result<(), String> {
    let Some(generations) = &world.generations else { return Ok(()) };
    if let Some(lost) = world.markers.values().find(|marker| matches!(marker.subject, Subject::Record(_))) {
        return Err(format!("quarantine: {lost:?} for a record that has a key"));
    }
    if let Some(lost) = world.markers.values().find(|marker| !world.kept.contains_key(&marker.object)) {
        return Err(format!("quarantine: the record of {lost:?} is not kept"));
    }
    let serving = generations.of(Phase::Serving).map(|generation| &*generation.index);
    if world.search.reader(&generations.alias) != serving {
        let reader = world.search.reader(&generations.alias);
        return Err(format!("readers: they search {reader:?}, and {serving:?} serves"));
    }
    for generation in generations.written.iter().filter(|generation| generation.is_filled()) {
        let markers = world.open_markers(&generation.index);
        let visible = world.search.visible_in(&generation.index);
        let ids = keys().map(|key| key.document_id());
        if let Some(other) = visible.keys().find(|id| !ids.contains(id)) {
            return Err(format!("content: {other} is visible and is no item"));
        }
        for key in keys() {
            let marked = markers.get(&Subject::Item { table: "trees".to_owned(), key: key.clone() }.name()).copied();
            let document = visible.get(&key.document_id()).copied();
            check_key(world, generation, &key, marked, document)
                .map_err(|broken| format!("{broken}\n in {}", generation.index))?;
        }
    }
    Ok(())
}

fn check_key(
    world: &World,
    generation: &Generation,
    key: &Key,
    marked: Option<u64>,
    document: Option<&Document>,
) -> Result<(), String> {
    let item = world.table.get(key);
    let rev = item.map(|item| rev(item).ok_or(format!("revisions: {key:?} has no valid revision"))).transpose()?;
    let cured = world.release.cured;
    let poison = item.is_some_and(|item| !cured && (poisonous(item) || (!hidden(item) && has_no_shape(item))));
    match (poison, marked) {
        // It may be above: see below.
        (true, marked) if marked < rev => {
            return Err(format!("quarantine: {key:?} is quarantined at {rev:?} and its marker says {marked:?}"));
        }
        // A request that was refused as a whole may send a valid item to quarantine.
        (false, Some(_)) if marked == rev && world.refused_whole => {}
        // The invocation that set the marker was stopped before it could clear it. The key's next write or a repair
        // clears it.
        (false, Some(marked)) if rev.is_none_or(|rev| marked <= rev) && world.cut_short => {}
        // A host whose clock is behind created the item again, below a tombstone that was swept or whose record was given
        // up, or stamped it after a foreign write had removed its revision. A write above the marker clears it, or the
        // next audit.
        (false, Some(marked)) if rev.is_some_and(|rev| rev < marked) => {}
        (false, Some(marked)) => {
            return Err(format!("quarantine: {key:?} has a marker at {marked} and needs none"));
        }
        _ => {}
    }
    // A concurrent invocation may have indexed a valid item, which then is visible.
    let refused = world.refused_whole && marked.is_some() && marked == rev && document.is_none();
    let quarantined = poison || refused;
    let searchable = item.filter(|_| !quarantined).zip(rev);
    let wanted = searchable.and_then(|(item, rev)| wanted(key, item, rev, generation.mapping == 2));
    if document.map(|document| &document.source) != wanted.as_ref() {
        return Err(format!("content: {key:?} is {item:?}\n wanted {wanted:?}\n search shows {document:?}"));
    }
    match document {
        Some(document) if Some(document.version) != rev => {
            Err(format!("content: {key:?} is shown at version {} and has {rev:?}", document.version))
        }
        _ => Ok(()),
    }
}

/// Checks the invariants *versions*, *writes* and *readers*, which hold at any time.
pub(crate) fn always(world: &World) -> Result<(), String> {
    if let Some(broken) = &world.search.broken {
        return Err(format!("versions: {broken}"));
    }
    if let Some(forbidden_write) = &world.forbidden_write {
        return Err(format!("writes: {forbidden_write}"));
    }
    let Some(config) = &world.generations else { return Ok(()) };
    let Some(reader) = world.search.reader(&config.alias) else { return Ok(()) };
    let is_filling = config.of(Phase::Filling).is_some_and(|generation| generation.index == reader);
    if is_filling && config.written.len() + config.dropping.len() > 1 || !world.search.exists(reader) {
        return Err(format!("readers: they search {reader}, which is not whole: {config:?}"));
    }
    Ok(())
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

/// Whether the item has a shape that only a cured release gets.
fn has_no_shape(item: &Attributes) -> bool {
    area(item).is_some_and(|area| UNAVAILABLE.contains(&area))
}

fn area(item: &Attributes) -> Option<&str> {
    item.get("area").and_then(|area| area["S"].as_str())
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
fn wanted(key: &Key, item: &Attributes, rev: u64, is_labelled: bool) -> Option<Value> {
    if hidden(item) {
        return None;
    }
    let name = item["name"]["S"].as_str().unwrap_or("a number");
    let mut document = json!({"pk": key.pk, "sk": key.sk, "entity": "leaf", "rev": rev, "name": name});
    if is_labelled {
        document["label"] = json!(name);
    }
    let area = area(item).map(|area| if UNAVAILABLE.contains(&area) { CURED_AREA } else { area });
    if let Some(area) = area {
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
