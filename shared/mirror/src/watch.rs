//! The progress of a rebuild that another process carries out.

use table::Engines;
use table::schema::System;

use crate::audit::read_by_rebuild_audit;
use crate::engines::{DynamoState, OpenSearchIndex};
use crate::generation::{Generations, Phase};
use crate::ports::{Fault, State};

/// The progress of a rebuild.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RebuildProgress {
    pub generations: Generations,
    /// The number of documents of the index that is filled, if there is one.
    pub documents: Option<u64>,
    /// The number of items and documents that its comparison has read, if that has begun.
    pub compared: Option<u64>,
}

/// Returns the progress of the rebuild that is under way.
pub async fn rebuild_progress(system: &'static System, engines: &Engines) -> Result<RebuildProgress, Fault> {
    let state = DynamoState::new(engines, system);
    let generations = state.generations().await?.unwrap_or_default();
    let Some(filling) = generations.of(Phase::Filling) else {
        return Ok(RebuildProgress { generations, documents: None, compared: None });
    };
    let documents = OpenSearchIndex::new(engines)?.count(&filling.write_alias()).await?;
    let compared = read_by_rebuild_audit(&state, &filling.index).await?;
    Ok(RebuildProgress { generations, documents: Some(documents), compared })
}
