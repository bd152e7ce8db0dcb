//! Repair of every item of one entity, in place: in every generation its documents are made equal to the items. What was
//! stopped is done by another call from the start, since a repair of what is right changes nothing.

use futures::stream::{self, StreamExt, TryStreamExt};
use table::Engines;
use table::schema::{Search, System, Table};

use crate::batch::Batch;
use crate::context::Context;
use crate::documents::{Documents, Shapes};
use crate::engines::Production;
use crate::fill::SEGMENTS;
use crate::generation::{Generation, Targets};
use crate::group::{Group, group_key};
use crate::ports::{Fault, Items, Page, Ports, Segment, State, Time};
use crate::repair::key_json;
use crate::report::RepairOutcome;
use crate::rules::{ProductionRules, Rules};

/// The result of the repair of an entity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepairedEntity {
    /// The number of items of the entity.
    pub items: usize,
    /// The number of those that are in quarantine now.
    pub quarantined: usize,
}

/// Repairs every item of the entity with this name. Returns `None` if the system has no searchable entity with this
/// name. `scanned` is called after every page, with the number of its items, of all entities.
pub async fn repair_entity(
    documents: &impl Documents,
    shapes: &impl Shapes,
    engines: &Engines,
    entity: &str,
    scanned: impl Fn(usize) + Sync,
) -> Result<Option<RepairedEntity>, Fault> {
    let system: &'static System = documents.tables();
    let ports = Production::new(engines, system, shapes, None)?;
    repair_items::<ProductionRules, _, _>(&ports, documents, entity, &scanned).await
}

pub(crate) async fn repair_items<R: Rules, P: Ports, D: Documents>(
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
    let written = ports.state().generations().await?.map(|generations| generations.written).unwrap_or_default();
    if written.is_empty() {
        return Err(Fault::lasting("mirror", "no index is published yet: create the first index"));
    }
    let checked = written.iter().try_for_each(|generation| generation.check_mapping(documents));
    checked.map_err(|reason| Fault::lasting("mirror", reason))?;
    let segments = tables.into_iter().flat_map(|table| (0..SEGMENTS).map(move |number| (table, number)));
    let repaired = segments.map(|(table, number)| {
        repair_segment::<R, _, _>(ports, documents, &written, entity, table, Segment { number, of: SEGMENTS }, scanned)
    });
    let repaired: Vec<_> = repaired.collect();
    let add = |one: RepairedEntity, other: RepairedEntity| RepairedEntity {
        items: one.items + other.items,
        quarantined: one.quarantined + other.quarantined,
    };
    let repaired: Vec<_> = stream::iter(repaired).buffered(SEGMENTS as usize).try_collect().await?;
    Ok(Some(repaired.into_iter().fold(RepairedEntity::default(), add)))
}

async fn repair_segment<R: Rules, P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    written: &[Generation],
    entity: &str,
    table: &'static Table,
    segment: Segment,
    scanned: &(impl Fn(usize) + Sync),
) -> Result<RepairedEntity, Fault> {
    let (mut repaired, mut after) = (RepairedEntity::default(), None);
    loop {
        let received = ports.time().micros();
        let Page { items, next } = ports.items().scan(table, segment, after.as_ref()).await?;
        let keys = items.iter().filter_map(|item| item.image().ok()?.key(table).ok());
        let keys = keys.filter(|key| table.entity_of(key).is_some_and(|of| of.name == entity));
        let groups = keys.enumerate().filter_map(|(place, key)| {
            let json = key_json(table, &key);
            Some(Group { repaired: Some(RepairOutcome::Nothing), ..Group::new(group_key(table, key)?, json, place) })
        });
        let context = Context { ports, documents, targets: Targets::new(written), received };
        let mut batch = Batch::repair::<R>(context, groups.collect());
        batch.run::<R>().await;
        if !batch.groups.iter().all(Group::handled) {
            return Err(Fault::passing("mirror", batch.tally.into_reason()));
        }
        let is_quarantined = |group: &&Group<'_>| matches!(group.repaired, Some(RepairOutcome::Quarantined { .. }));
        repaired.items += batch.groups.iter().count();
        repaired.quarantined += batch.groups.iter().filter(is_quarantined).count();
        scanned(items.len());
        after = match next {
            Some(next) => Some(next),
            None => return Ok(repaired),
        };
    }
}
