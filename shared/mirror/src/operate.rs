//! What operators ask of the mirror.

use table::Engines;
use table::schema::System;

use crate::engines::DynamoState;
use crate::generation::Generations;
use crate::ports::{Fault, State};
use crate::quarantine::Marker;

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
