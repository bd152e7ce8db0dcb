//! Repair of every item of one entity, in place: in every generation its documents are made equal to the items. What was
//! stopped is done by another call from the start, since a repair of what is right changes nothing.

use futures::stream::{self, StreamExt, TryStreamExt};
use table::schema::{Search, System, Table};
use table::{Engines, Key};

use crate::documents::{Documents, Shapes};
use crate::engines::Production;
use crate::fill::SEGMENTS;
use crate::ports::{Fault, Items, Page, Ports, Segment};
use crate::repair::{item_to_repair, keep_reason, repair_documents, writable_generations};
use crate::report::RepairOutcome;

/// The maximum number of items that are repaired at a time. They must be repaired before their data is too old.
const MAX_REPAIRED_AT_ONCE: usize = 250;

/// The result of the repair of an entity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepairedEntity {
    /// The number of items of the entity.
    pub items: usize,
    /// The number of those that are in quarantine now.
    pub quarantined: usize,
    /// The number of those that could not be repaired now.
    pub failed: usize,
    /// Reasons of repairs that failed, at most ten.
    pub reasons: Vec<String>,
}

/// Repairs every item of the entity with this name. Returns `None` if the system has no searchable entity with this
/// name. `scanned` is called after every page, with the number of its items, of all entities.
pub(crate) async fn repair_entity_items(
    documents: &impl Documents,
    shapes: &impl Shapes,
    engines: &Engines,
    entity: &str,
    scanned: impl Fn(usize) + Sync,
) -> Result<Option<RepairedEntity>, Fault> {
    let system: &'static System = documents.tables();
    let ports = Production::new(engines, system, shapes, None)?;
    repair_items(&ports, documents, entity, &scanned).await
}

pub(crate) async fn repair_items<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    entity: &str,
    scanned: &(impl Fn(usize) + Sync),
) -> Result<Option<RepairedEntity>, Fault> {
    let has_entity = |table: &&'static Table| {
        table.entities.iter().any(|known| known.name == entity && known.search == Search::Document)
    };
    let tables: Vec<&'static Table> = documents.tables().tables.iter().copied().filter(has_entity).collect();
    if tables.is_empty() {
        return Ok(None);
    }
    let segments = tables.into_iter().flat_map(|table| (0..SEGMENTS).map(move |number| (table, number)));
    let repaired = segments.map(|(table, number)| {
        repair_segment(ports, documents, entity, table, Segment { number, of: SEGMENTS }, scanned)
    });
    let repaired: Vec<_> = repaired.collect();
    let repaired: Vec<_> = stream::iter(repaired).buffered(SEGMENTS as usize).try_collect().await?;
    let mut total = RepairedEntity::default();
    repaired.into_iter().for_each(|segment| total.add(segment));
    Ok(Some(total))
}

/// An item that cannot be repaired delays no other.
async fn repair_segment<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    entity: &str,
    table: &'static Table,
    segment: Segment,
    scanned: &(impl Fn(usize) + Sync),
) -> Result<RepairedEntity, Fault> {
    let (mut repaired, mut after) = (RepairedEntity::default(), None);
    loop {
        let Page { items, next } = ports.items().scan(table, segment, after.as_ref()).await?;
        let keys = items.iter().filter_map(|item| item.image().ok()?.key(table).ok());
        let keys = keys.filter(|key| table.entity_of(key).is_some_and(|of| of.name == entity));
        let keys: Vec<Key> = keys.collect();
        for keys in keys.chunks(MAX_REPAIRED_AT_ONCE) {
            let groups = keys.iter().filter_map(|key| item_to_repair(table, key)).collect();
            // The generations are read each time, since a scan may take longer than a rebuild.
            let generations = writable_generations(ports, documents).await?;
            let outcomes = repair_documents(ports, documents, &generations, groups).await;
            outcomes.into_iter().for_each(|outcome| repaired.count(outcome));
        }
        scanned(items.len());
        after = match next {
            Some(next) => Some(next),
            None => return Ok(repaired),
        };
    }
}

impl RepairedEntity {
    fn count(&mut self, outcome: Result<RepairOutcome, String>) {
        self.items += 1;
        match outcome {
            Ok(RepairOutcome::Quarantined { .. }) => self.quarantined += 1,
            Ok(_) => {}
            Err(reason) => {
                self.failed += 1;
                keep_reason(&mut self.reasons, reason);
            }
        }
    }

    fn add(&mut self, other: Self) {
        self.items += other.items;
        self.quarantined += other.quarantined;
        self.failed += other.failed;
        other.reasons.into_iter().for_each(|reason| keep_reason(&mut self.reasons, reason));
    }
}
