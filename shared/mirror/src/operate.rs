//! The operators' requests to the mirror.

use futures::stream::{self, StreamExt, TryStreamExt};
use table::Engines;
use table::schema::System;

use crate::engines::{DynamoItems, DynamoState, OpenSearchIndex};
use crate::fold::Presence;
use crate::generation::Generations;
use crate::item::{presence, rev_value};
use crate::ports::{Fault, Items, State};
use crate::quarantine::{Marker, Subject};
use crate::requests::CONCURRENCY;

/// The reason why a marker is stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Staleness {
    /// Its item does not exist.
    Gone,
    /// Its item has another revision than the one that was refused. It is lower if the item was deleted and a writer
    /// whose clock is behind has created it again.
    Changed,
}

/// Returns the generations that are written, or `None` before the first index.
pub async fn generations(system: &'static System, engines: &Engines) -> Result<Option<Generations>, Fault> {
    DynamoState::new(engines, system).generations().await
}

/// Returns the indexes that an alias names.
pub async fn indexes_of(alias: &str, engines: &Engines) -> Result<Vec<String>, Fault> {
    let named = OpenSearchIndex::new(engines)?.indexes_of_alias(alias).await?;
    Ok(named.into_iter().map(|named| named.index).collect())
}

/// Returns the markers of every generation, each with the generation's index.
pub async fn quarantined(system: &'static System, engines: &Engines) -> Result<Vec<(String, Marker)>, Fault> {
    let state = DynamoState::new(engines, system);
    let mut found = Vec::new();
    for generation in state.generations().await?.into_iter().flat_map(|generations| generations.written) {
        let mut after = None::<String>;
        loop {
            let page = state.markers_after(&generation.index, after.as_deref()).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.subject.name());
            found.extend(page.into_iter().map(|marker| (generation.index.clone(), marker)));
        }
    }
    Ok(found)
}

/// Returns the markers of these subjects in every generation, each with the generation's index.
pub async fn markers_of(
    system: &'static System,
    engines: &Engines,
    subjects: &[Subject],
) -> Result<Vec<(String, Marker)>, Fault> {
    let state = DynamoState::new(engines, system);
    let mut found = Vec::new();
    for generation in state.generations().await?.into_iter().flat_map(|generations| generations.written) {
        for subject in subjects {
            let marker = state.marker(&generation.index, &subject.name()).await?;
            found.extend(marker.map(|marker| (generation.index.clone(), marker)));
        }
    }
    Ok(found)
}

/// Compares markers with their items. Returns one result for each marker, in their order. `None` means that it is not
/// stale.
pub async fn stale(
    system: &'static System,
    engines: &Engines,
    markers: &[Marker],
) -> Result<Vec<Option<Staleness>>, Fault> {
    let items = DynamoItems::new(engines);
    let compared: Vec<_> = markers.iter().map(|marker| staleness(&items, system, marker)).collect();
    stream::iter(compared).buffered(CONCURRENCY).try_collect().await
}

/// Clears a marker that is stale or that no update of its item clears. Any other marker is kept, since without it an
/// item that search lacks would not be listed in quarantine. Returns false if the marker was written again since it was
/// read, and stays.
pub async fn dismiss(
    system: &'static System,
    engines: &Engines,
    generation: &str,
    marker: &Marker,
) -> Result<bool, Fault> {
    check_dismissal(system, engines, marker).await?;
    DynamoState::new(engines, system).clear_seen(generation, &marker.subject.name(), marker.as_open()).await
}

/// Returns an error if the marker cannot be dismissed.
pub async fn check_dismissal(system: &'static System, engines: &Engines, marker: &Marker) -> Result<(), Fault> {
    if marker.is_cleared_by_writes() && staleness(&DynamoItems::new(engines), system, marker).await?.is_none() {
        let reason = "the item is unchanged since it was refused: fix it, and its next write clears the marker";
        return Err(Fault::lasting("mirror", reason));
    }
    Ok(())
}

pub(crate) async fn staleness(
    items: &impl Items,
    system: &'static System,
    marker: &Marker,
) -> Result<Option<Staleness>, Fault> {
    let Subject::Item { table, key } = &marker.subject else { return Ok(None) };
    let Some(table) = system.tables.iter().find(|known| known.name == table) else { return Ok(None) };
    let Some(item) = items.read(table, key).await? else { return Ok(Some(Staleness::Gone)) };
    let is_changed = match presence(rev_value(item.as_str())) {
        Presence::At(rev) => !marker.as_open().keeps_in_quarantine(Some(rev.number())),
        Presence::Absent | Presence::Unrevised => false,
    };
    Ok(is_changed.then_some(Staleness::Changed))
}
