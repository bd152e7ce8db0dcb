//! The index of a system at the start. It is created if it is missing, and created again if the search engine or the
//! mapping has changed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mirror::{Generations, Phase, Rebuild};
use opensearch::indices::{IndicesExistsParts, IndicesRefreshParts};
use table::Engines;

use super::Served;
use crate::error::StartError;
use crate::progress::Progress;

const STAGE: &str = "index";

/// Refuses a search engine in which an index that this state folder does not know serves a system. Each platform would
/// take the readers from the other's index.
pub(super) async fn refuse_taken(systems: &[Served], engines: &Engines) -> Result<(), StartError> {
    let url = &engines.config.search;
    let mut taken = Vec::new();
    for served in systems {
        let alias = engines.config.search_name(served.system.name);
        let indexes = mirror::indexes_of(&alias, engines).await.map_err(|fault| {
            StartError::new(format!("Reading the alias `{alias}` at {url} failed: {fault}"), "Start again")
        })?;
        taken.extend(indexes);
    }
    if taken.is_empty() {
        return Ok(());
    }
    let happened =
        format!("OpenSearch at {url} has an index that this state folder does not know: {}", taken.join(", "));
    let remedy = format!(
        "Choose another engine with `--search`. If no other platform uses it, delete it first: `curl -X DELETE {url}/{}`",
        taken.join(",")
    );
    Err(StartError::new(happened, remedy))
}

/// Creates the index of a system, or creates it again if it is lost or has another mapping. `kept` means that the search
/// engine is the same as at the last start. An index with the mapping of the release before is only created again if
/// `rebuilds`.
pub(super) async fn bring_up(
    served: &Served,
    engines: &Arc<Engines>,
    kept: bool,
    rebuilds: bool,
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
    if let Some(generations) = generations {
        let raised = is_raised(served, &generations, rebuilds);
        let kept = kept && serves(engines, &generations).await.map_err(failed)?;
        if raised || !kept {
            mirror::abandon_indexes(served.system, engines).await.map_err(|fault| failed(fault.to_string()))?;
        }
        if raised && kept {
            progress.note(format!("The mapping of {name} has changed: its index is created again from the tables."));
        }
        // An operator's rebuild, which has another index that serves, is left to the operator.
        if !raised
            && kept
            && let Some(serving) = generations.of(Phase::Serving)
        {
            progress.started(STAGE);
            progress.finished(STAGE, serving.index.clone());
            return Ok(());
        }
        // Without an index that serves, a paused rebuild must end first: its operator needs a running platform.
        mirror::resume_rebuild(served.system, engines, Rebuild::WITHOUT_WAIT)
            .await
            .map_err(|fault| failed(fault.to_string()))?;
    }

    progress.started(STAGE);
    let total = served.count_items(engines).await;
    let items = Arc::<AtomicU64>::default();
    let (count, listener) = (Arc::clone(&items), progress.clone());
    let scanned = Box::new(move |step: mirror::Progress| {
        if let mirror::Progress::Scanned { items, .. } = step {
            let items = items as u64;
            let done = count.fetch_add(items, Ordering::SeqCst) + items;
            listener.advanced(STAGE, done, total.map(|total| total.max(done)));
        }
    });
    // No invocation runs yet, so there is nothing to wait for.
    let generations = (served.rebuild)(Arc::clone(engines), Rebuild::WITHOUT_WAIT, scanned).await;
    let generations = generations.map_err(|fault| failed(fault.to_string()))?;
    let index = generations.of(Phase::Serving).map(|serving| serving.index.clone()).unwrap_or_default();
    let outcome = match items.load(Ordering::SeqCst) {
        0 => index,
        items => format!("{index}, filled from {items} items"),
    };
    progress.finished(STAGE, outcome);
    Ok(())
}

/// Whether an index has a mapping other than the code's own. That of the release before is written, too.
fn is_raised(served: &Served, generations: &Generations, rebuilds: bool) -> bool {
    let own = (served.mapping)().version;
    let previous = (served.previous_mapping)().map(|previous| previous.version).filter(|_| !rebuilds);
    generations.written.iter().any(|generation| generation.mapping != own && Some(generation.mapping) != previous)
}

/// Whether every written index exists, and the readers' alias is right. The engine's folder may have been deleted, or the
/// alias changed by others. Fails if that cannot be known now, since creating indexes again takes long and ends the
/// rebuild that an operator has begun.
async fn serves(engines: &Engines, generations: &Generations) -> Result<bool, String> {
    let search = engines.search().map_err(|error| error.to_string())?;
    for generation in &generations.written {
        let index = [generation.index.as_str()];
        let there = search.indices().exists(IndicesExistsParts::Index(&index)).send().await;
        match there.map_err(|error| error.to_string())?.status_code().as_u16() {
            200 => {}
            404 => return Ok(false),
            status => return Err(format!("OpenSearch answered {status} when asked for {}", generation.index)),
        }
    }
    mirror::is_readers_alias_right(generations, engines).await.map_err(|fault| fault.to_string())
}

/// Refreshes the index of a system.
pub(super) async fn refresh(engines: &Engines, name: String) {
    let Ok(search) = engines.search() else { return };
    if let Err(error) = search.indices().refresh(IndicesRefreshParts::Index(&[&name])).send().await {
        tracing::warn!(index = name, %error, "refreshing an index failed");
    }
}
