//! The index of a system at the start. It is created if it is missing, and created again if the search engine or the
//! mapping has changed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aws_sdk_dynamodb::error::DisplayErrorContext;
use mirror::Generations;
use table::{Engines, create_tables};

use super::Served;
use crate::error::StartError;
use crate::progress::Progress;

const STAGE: &str = "index";

/// Creates or updates the index of a system from its tables. `kept` means that the search engine is the same as at the
/// last start.
pub(super) async fn bring_up(
    served: &Served,
    engines: &Arc<Engines>,
    kept: bool,
    progress: &Progress,
) -> Result<(), StartError> {
    let name = served.system.name;
    let failed = |reason: String| {
        StartError::new(
            format!("Creating the index of {name} failed: {reason}"),
            "Start again to resume it. If that does not help, `cairn local reset` starts over",
        )
    };
    let generations = mirror::generations(served.system, engines).await.map_err(|fault| failed(fault.to_string()))?;
    let mut replaced = Vec::new();
    if let Some(generations) = generations {
        let known = (served.mapping)().version;
        let raised = generations.written.iter().any(|generation| generation.mapping != known);
        let kept = kept && serves(engines, &generations).await;
        if raised || !kept {
            forget(served, engines).await.map_err(failed)?;
        }
        if raised && kept {
            replaced = generations.written;
            progress.note(format!("The mapping of {name} has changed: its index is created again from the tables."));
        }
    }

    progress.started(STAGE);
    let total = items_of(served, engines).await;
    let items = Arc::<AtomicU64>::default();
    let (count, listener) = (Arc::clone(&items), progress.clone());
    let scanned = Box::new(move |step: mirror::Progress| {
        if let mirror::Progress::Scanned { items, .. } = step {
            let items = items as u64;
            let done = count.fetch_add(items, Ordering::SeqCst) + items;
            listener.advanced(STAGE, done, total.map(|total| total.max(done)));
        }
    });
    let made = (served.first_index)(Arc::clone(engines), scanned).await;
    let generation = made.map_err(|fault| failed(fault.to_string()))?;
    let outcome = match items.load(Ordering::SeqCst) {
        0 => generation.index,
        items => format!("{}, filled from {items} items", generation.index),
    };
    progress.finished(STAGE, outcome);
    for generation in replaced {
        drop_index(engines, &generation.index).await;
    }
    Ok(())
}

/// Estimates the number of items that a scan reads, for the progress bar only.
async fn items_of(served: &Served, engines: &Engines) -> Option<u64> {
    let mut total = 0;
    for table in served.system.tables.iter().filter(|table| table.is_searchable()) {
        let described = engines.dynamodb().describe_table().table_name(engines.config.table(table.name)).send().await;
        total += u64::try_from(described.ok()?.table?.item_count?).ok()?;
    }
    Some(total)
}

/// Whether every written index exists. The engine's folder may have been deleted.
async fn serves(engines: &Engines, generations: &Generations) -> bool {
    for generation in &generations.written {
        let url = format!("{}/{}", engines.config.search, generation.index);
        let there = reqwest::Client::new().head(url).send().await.is_ok_and(|answer| answer.status().is_success());
        if !there {
            return false;
        }
    }
    true
}

/// Deletes an index that is no longer read or written. If that fails, it merely takes disk space.
async fn drop_index(engines: &Engines, index: &str) {
    let dropped = reqwest::Client::new().delete(format!("{}/{index}", engines.config.search)).send().await;
    if let Err(error) = dropped.and_then(reqwest::Response::error_for_status) {
        tracing::warn!(index, %error, "deleting a replaced index failed");
    }
}

/// Refreshes an index.
pub(super) async fn refresh(search: &str, name: String) {
    if let Err(error) = reqwest::Client::new().post(format!("{search}/{name}/_refresh")).send().await {
        tracing::warn!(index = name, %error, "refreshing an index failed");
    }
}

/// Empties the mirror's own table, which describes another index. Its quarantine markers are deleted, too. Items that
/// still cannot be indexed are quarantined again.
async fn forget(served: &Served, engines: &Engines) -> Result<(), String> {
    let table = engines.config.table(&format!("{}-mirror", served.system.name));
    let deleted = engines.dynamodb().delete_table().table_name(&table).send().await;
    deleted.map_err(|error| DisplayErrorContext(error).to_string())?;
    create_tables(engines.dynamodb(), &engines.config, served.system).await.map_err(|error| error.to_string())
}
