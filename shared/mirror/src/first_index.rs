//! Creating a system's first index. It can be stopped at any point, and resumes with the next call.

use std::time::Duration;

use table::Engines;

use crate::context::AWAIT_BATCHES;
use crate::documents::{Documents, Shapes};
use crate::engines::Production;
use crate::generation::{Generation, Phase};
use crate::ports::{Fault, Ports, State};
use crate::rebuild::{Progress, Rebuild, rebuild, refused};

/// Creates the system's first index and fills it from the tables, or resumes an earlier call that was stopped. Does
/// nothing if an index serves already. Fails while a rebuild replaces the index. Returns the generation. `progress` is
/// called after every step. A step is tried again for as long as the patience allows.
pub(crate) async fn create_first_index(
    documents: &impl Documents,
    shapes: &impl Shapes,
    engines: &Engines,
    patience: Duration,
    progress: impl Fn(Progress) + Sync,
) -> Result<Generation, Fault> {
    let system = documents.tables();
    let ports = Production::new(engines, system, shapes, None)?;
    let alias = engines.config.search_name(system.name);
    create(&ports, documents, &alias, patience, &progress).await
}

pub(crate) async fn create<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    alias: &str,
    patience: Duration,
    progress: &(impl Fn(Progress) + Sync),
) -> Result<Generation, Fault> {
    let config = ports.state().generations().await?;
    if let Some(serving) = config.as_ref().and_then(|config| config.of(Phase::Serving)) {
        return Ok(serving.clone());
    }
    // An operator decides whether the new index may serve.
    if let Some(config) = config.filter(|config| !config.dropping.is_empty()) {
        let system = documents.tables().name;
        return Err(if config.written.is_empty() {
            refused(format_args!(
                "no index is written any more: create another one with `cairn rebuild start {system}`"
            ))
        } else {
            // It may end while the deployment tries again.
            let state = "a rebuild of the index has not ended";
            Fault::lasting("mirror", format_args!("{state}: resume it with `cairn rebuild start {system}`"))
        });
    }
    // The first index is filled at once. If an operator cancels it in the meantime, another one waits until no
    // invocation lives that has received what the first one has handled.
    let order = Rebuild { patience, wait: AWAIT_BATCHES, ..Rebuild::WITHOUT_WAIT };
    let config = rebuild(ports, documents, alias, order, progress).await?;
    config.of(Phase::Serving).cloned().ok_or_else(|| Fault::passing("mirror", "another call changes the index"))
}
