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
use crate::ports::{Fault, Ports, State, Time};
use crate::rules::{AsWritten, Rules};
use crate::settle::Settlement;
use crate::tasks::Settle;

/// What a generation was brought to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// Its index.
    pub generation: String,
    pub done: Settlement,
}

/// What is missing, by the document's version, which was read first, and the item. Other than in a settle, an item at
/// the document's version is indexed once more: its document may be another's, or be made of a shape that was lost.
pub fn repair(version: Option<u64>, item: Presence) -> Settlement {
    match (item, version) {
        (Presence::Absent, None) => Settlement::Done,
        // An odd version is a delete's: it is remembered already.
        (Presence::Absent, Some(version)) if version % 2 == 1 => Settlement::Done,
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
    for generation in written {
        if generation.mapping != documents.mapping().version {
            let other = format!("{} has another mapping than this code knows", generation.index);
            return Err(Fault::lasting("mirror", other));
        }
        let done = in_one::<R, _, _>(ports, documents, &generation, table, key).await?;
        repaired.push(Repaired { generation: generation.index, done });
    }
    Ok(Some(repaired))
}

async fn in_one<R: Rules, P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    generation: &Generation,
    table: &'static Table,
    key: &Key,
) -> Result<Settlement, Fault> {
    let targets = vec![Target::from(generation)];
    let context = Context { ports, documents, targets, received: ports.time().micros() };
    // Quarantine keeps the item as it is read; of one that is gone there is nothing to keep.
    let group = place(table, key.clone()).map(|whose| Group::new(whose, "", 0));
    let mut batch = Batch::new::<R>(context, group.into_iter().collect());
    batch.repair(Settle { group: 0, target: 0, own: None, repair: true });
    batch.run::<R>().await;
    match batch.groups.first() {
        Some(Group { repaired: Some(done), .. }) if batch.groups.iter().all(Group::handled) => Ok(*done),
        _ => Err(Fault::passing("mirror", batch.tally.trouble.unwrap_or_default())),
    }
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
            (Some(11), Presence::Absent, Settlement::Done),
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
