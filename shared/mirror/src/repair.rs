//! Repair of one key: every generation is brought to what the table has, whatever its document was.

use table::schema::{System, Table};
use table::{Engines, Key};

use crate::batch::Batch;
use crate::context::{Context, Target};
use crate::documents::{Documents, Shapes};
use crate::engines::Production;
use crate::fold::Presence;
use crate::generation::Generation;
use crate::group::{Group, Whose, place};
use crate::json::{write_member, write_text};
use crate::ports::{Fault, Ports, State, Time};
use crate::quarantine::Code;
use crate::rules::{AsWritten, Rules};
use crate::settle::Settlement;
use crate::tasks::Settle;

/// What a generation was brought to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// Its index.
    pub generation: String,
    pub outcome: RepairOutcome,
}

/// What a repair has done to a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepairOutcome {
    /// The document was written at this revision of its item.
    Written(u64),
    /// The item is not to be found in its present state: a tombstone was written at its revision.
    Hidden(u64),
    /// The item is gone: a tombstone was written at this version.
    Deleted(u64),
    /// The item was given a revision above its document, whose own stream record brings the document.
    Stamped,
    /// The item was changed meanwhile: the stream record of that change brings the document.
    Overtaken,
    /// The document cannot be written.
    Quarantined { code: Code, reason: String },
    /// The document is what its item says already, or there is neither.
    Nothing,
}

impl From<Settlement> for RepairOutcome {
    fn from(settlement: Settlement) -> Self {
        match settlement {
            Settlement::Index(version) => Self::Written(version),
            Settlement::Done => Self::Nothing,
            Settlement::Stamp { .. } => Self::Stamped,
            Settlement::Tombstone(version) => Self::Deleted(version),
        }
    }
}

impl RepairOutcome {
    /// What is written of the item is a tombstone.
    pub(crate) fn hide(&mut self) {
        if let Self::Written(version) = *self {
            *self = Self::Hidden(version);
        }
    }
}

/// What is missing, by the document's version, which was read first, and the item. Other than in a settle, an item at
/// the document's version is indexed once more: its document may be another's, or be made of a shape that was lost.
pub fn repair(version: Option<u64>, item: Presence) -> Settlement {
    match (item, version) {
        (Presence::Absent, None) => Settlement::Done,
        // Over an equal one, too: the document at an odd version may be a live one.
        (Presence::Absent, Some(version)) => Settlement::Tombstone(version | 1),
        (Presence::Unrevised, above) => Settlement::Stamp { above },
        (Presence::At(rev), Some(version)) if rev.number() < version => Settlement::Stamp { above: Some(version) },
        (Presence::At(rev), _) => Settlement::Index(rev.number()),
    }
}

/// Repairs a key in every generation that is written. After a stamp it is the stamp's own stream record that brings the
/// document. None where the key's items have no documents.
pub async fn repair_key(
    documents: &impl Documents,
    shapes: &impl Shapes,
    engines: &Engines,
    table: &'static Table,
    key: &Key,
) -> Result<Option<Vec<Repaired>>, Fault> {
    let system: &'static System = documents.tables();
    let ports = Production::new(engines, system, shapes, None)?;
    in_every_generation::<AsWritten, _, _>(&ports, documents, table, key).await
}

pub(crate) async fn in_every_generation<R: Rules, P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    table: &'static Table,
    key: &Key,
) -> Result<Option<Vec<Repaired>>, Fault> {
    let Some(Whose::Item { .. }) = place(table, key.clone()) else { return Ok(None) };
    let mut repaired = Vec::new();
    let written = ports.state().generations().await?.map(|generations| generations.written).unwrap_or_default();
    if written.is_empty() {
        return Err(Fault::lasting("mirror", "no index is published yet: create the first index"));
    }
    for generation in written {
        if generation.mapping != documents.mapping().version {
            return Err(Fault::lasting("mirror", generation.unknown_mapping(documents.mapping().version)));
        }
        let outcome = in_one::<R, _, _>(ports, documents, &generation, table, key).await?;
        repaired.push(Repaired { generation: generation.index, outcome });
    }
    Ok(Some(repaired))
}

async fn in_one<R: Rules, P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    generation: &Generation,
    table: &'static Table,
    key: &Key,
) -> Result<RepairOutcome, Fault> {
    let targets = vec![Target::from(generation)];
    let context = Context { ports, documents, targets, received: ports.time().micros() };
    // Quarantine keeps the item as it is read; where it is not read, its key.
    let group = place(table, key.clone())
        .map(|whose| Group { repaired: Some(RepairOutcome::Nothing), ..Group::new(whose, key_json(table, key), 0) });
    let mut batch = Batch::new::<R>(context, group.into_iter().collect());
    // A key that no document can have goes to quarantine by itself.
    if batch.tasks.is_empty() {
        batch.repair(Settle { group: 0, target: 0, own: None, repair: true, hides: None });
    }
    batch.run::<R>().await;
    match batch.groups.first() {
        Some(Group { repaired: Some(outcome), .. }) if batch.groups.iter().all(Group::handled) => Ok(outcome.clone()),
        _ => Err(Fault::passing("mirror", batch.tally.trouble.unwrap_or_default())),
    }
}

/// The key's attributes in DynamoDB JSON.
fn key_json(table: &Table, key: &Key) -> String {
    let mut json = "{".to_owned();
    for (name, value) in [(Some(table.pk), Some(&key.pk)), (table.sk, key.sk.as_ref())] {
        if let Some((name, value)) = name.zip(value) {
            write_member(&mut json, name);
            json.push_str(r#"{"S":"#);
            write_text(&mut json, value);
            json.push('}');
        }
    }
    json.push('}');
    json
}

#[cfg(test)]
mod tests {
    use table::Rev;

    use super::*;

    #[test]
    fn the_item_is_the_truth_and_the_version_only_says_how() {
        let at = |rev| Presence::At(Rev::new(rev).unwrap());
        for (version, item, expected) in [
            (None, Presence::Absent, Settlement::Done),
            (Some(11), Presence::Absent, Settlement::Tombstone(11)),
            (Some(10), Presence::Absent, Settlement::Tombstone(11)),
            (None, Presence::Unrevised, Settlement::Stamp { above: None }),
            (Some(10), Presence::Unrevised, Settlement::Stamp { above: Some(10) }),
            (Some(11), at(10), Settlement::Stamp { above: Some(11) }),
            (Some(12), at(10), Settlement::Stamp { above: Some(12) }),
            (Some(10), at(10), Settlement::Index(10)),
            (Some(10), at(12), Settlement::Index(12)),
            (None, at(12), Settlement::Index(12)),
        ] {
            assert_eq!(repair(version, item), expected, "{version:?} {item:?}");
        }
    }
}
