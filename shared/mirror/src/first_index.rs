//! Creating a system's first index. It can be stopped at any point, and resumes with the next call.

use table::Engines;

use crate::documents::{Documents, Shapes};
use crate::engines::Production;
use crate::generation::{Generation, Phase};
use crate::ports::{Fault, Ports, State};
use crate::rebuild::{Progress, Rebuild, rebuild};

/// Creates the system's first index and fills it from the tables, or resumes an earlier call that was stopped. Does
/// nothing if an index serves already. Fails while a rebuild replaces the index. Returns the generation. `progress` is
/// called after every step.
pub(crate) async fn create_first_index(
    documents: &impl Documents,
    shapes: &impl Shapes,
    engines: &Engines,
    progress: impl Fn(Progress) + Sync,
) -> Result<Generation, Fault> {
    let system = documents.tables();
    let ports = Production::new(engines, system, shapes, None)?;
    let alias = engines.config.search_name(system.name);
    create(&ports, documents, &alias, &progress).await
}

pub(crate) async fn create<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    alias: &str,
    progress: &(impl Fn(Progress) + Sync),
) -> Result<Generation, Fault> {
    let config = ports.state().generations().await?;
    if let Some(serving) = config.as_ref().and_then(|config| config.of(Phase::Serving)) {
        return Ok(serving.clone());
    }
    // An operator decides whether the new index may serve.
    if config.is_some_and(|config| !config.dropping.is_empty()) {
        let system = documents.tables().name;
        let reason = format_args!("a rebuild replaces the index: resume it with `cairn rebuild start {system}`");
        return Err(Fault::lasting("mirror", reason));
    }
    let config = rebuild(ports, documents, alias, Rebuild::WITHOUT_PAUSE, progress).await?;
    config.of(Phase::Serving).cloned().ok_or_else(|| Fault::passing("mirror", "another call changes the index"))
}
