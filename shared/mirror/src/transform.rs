//! The computation of the mirror without IO, from an event's bytes to those of bulk requests, for benchmarks.

use table::Config;

use crate::build::{Materials, build};
use crate::documents::{Documents, Shapes};
use crate::generation::{Generation, Phase, TargetId, Targets};
use crate::group::{Gathered, gather};
use crate::record::{Tables, records};
use crate::task::Tasks;
use crate::work::Failure;

/// Builds the bulk requests of an event for one generation, each of at most `size` bytes. `request` is called with
/// each, in the order in which production sends them. `now` is in microseconds.
pub async fn transform(
    documents: &impl Documents,
    shapes: &impl Shapes,
    config: &Config,
    payload: &[u8],
    size: usize,
    now: i64,
    mut request: impl FnMut(&str),
) -> Result<(), Failure> {
    let payload = str::from_utf8(payload).map_err(|_| Failure::NotText)?;
    let records = records(payload)?;
    let tables = Tables::new(documents.tables(), config);
    let Gathered { mut groups, .. } = gather(&records, &tables);
    let mut tasks = Tasks::default();
    let mapping = documents.mapping().version;
    let targets = Targets::new(&[Generation { index: String::new(), mapping, phase: Phase::Serving }]);
    groups.iter_mut().flat_map(|group| group.start(TargetId::FIRST, &targets)).for_each(|task| tasks.start(task));
    let materials = || Materials { documents, targets: &targets, shapes, now };
    while let Some(built) = build(materials(), &groups, &mut tasks.writes, size, || false).await {
        request(&built.bulk.lines);
    }
    Ok(())
}
