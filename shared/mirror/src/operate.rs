//! What operators ask of the mirror.

use futures::stream::{self, StreamExt, TryStreamExt};
use table::Engines;
use table::schema::System;

use crate::engines::{DynamoItems, DynamoState};
use crate::fold::Presence;
use crate::generation::Generations;
use crate::item::{presence, rev_value};
use crate::ports::{Fault, Items, State};
use crate::quarantine::{Marker, Subject};
use crate::requests::CONCURRENCY;

/// Why a marker has nothing to say any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Staleness {
    /// Its item is gone.
    Gone,
    /// Its item has a higher revision than the one that was refused.
    Overtaken,
}

/// The generations that are written; none before the first index.
pub async fn generations(system: &'static System, engines: &Engines) -> Result<Option<Generations>, Fault> {
    DynamoState::new(engines, system).generations().await
}

/// What is in quarantine, with the index of the generation that could not take it.
pub async fn quarantined(system: &'static System, engines: &Engines) -> Result<Vec<(String, Marker)>, Fault> {
    let state = DynamoState::new(engines, system);
    let mut found = Vec::new();
    for generation in state.generations().await?.into_iter().flat_map(|generations| generations.written) {
        let markers = state.markers(&generation.index).await?;
        found.extend(markers.into_iter().map(|marker| (generation.index.clone(), marker)));
    }
    Ok(found)
}

/// Compares markers with their items, in their order. None for a marker that is still true.
pub async fn stale(
    system: &'static System,
    engines: &Engines,
    markers: &[Marker],
) -> Result<Vec<Option<Staleness>>, Fault> {
    let items = DynamoItems::new(engines);
    let compared: Vec<_> = markers.iter().map(|marker| staleness(&items, system, marker)).collect();
    stream::iter(compared).buffered(CONCURRENCY).try_collect().await
}

/// Clears a marker that no write clears, or that is stale. Any other stays: its item could be neither found nor be seen
/// to be in quarantine.
pub async fn dismiss(
    system: &'static System,
    engines: &Engines,
    generation: &str,
    marker: &Marker,
) -> Result<(), Fault> {
    if marker.is_cleared_by_writes() && staleness(&DynamoItems::new(engines), system, marker).await?.is_none() {
        let reason = "the item is in the table as it was refused: fix it, and its next write clears the marker";
        return Err(Fault::lasting("mirror", reason));
    }
    DynamoState::new(engines, system).clear(generation, &marker.subject.name(), marker.rev).await
}

pub(crate) async fn staleness(
    items: &impl Items,
    system: &'static System,
    marker: &Marker,
) -> Result<Option<Staleness>, Fault> {
    let Subject::Item { table, key } = &marker.subject else { return Ok(None) };
    let Some(table) = system.tables.iter().find(|known| known.name == table) else { return Ok(None) };
    Ok(match items.read(table, key).await? {
        None => Some(Staleness::Gone),
        Some(item) => match presence(rev_value(item.as_str())) {
            Presence::At(rev) if rev.number() > marker.rev => Some(Staleness::Overtaken),
            _ => None,
        },
    })
}
