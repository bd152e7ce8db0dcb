//! From an event's bytes to those of bulk requests, and nothing else: what the mirror computes, to be measured.

use table::Config;

use crate::build::{Materials, build};
use crate::documents::{Documents, Shapes};
use crate::generation::TargetId;
use crate::group::{Gathered, gather};
use crate::record::{Tables, records};
use crate::rules::AsWritten;
use crate::task::Tasks;
use crate::work::Failure;

/// The bulk requests, of at most `size` bytes each, that an event asks for in one generation. `request` is called with
/// each, as production sends them one after the other; `now` is in microseconds.
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
    let Gathered { mut groups, .. } = gather::<AsWritten>(&records, &tables);
    let mut tasks = Tasks::default();
    groups.iter_mut().flat_map(|group| group.start::<AsWritten>(TargetId::FIRST)).for_each(|task| tasks.push(task));
    let materials = || Materials { documents, shapes, now };
    while let Some(built) = build::<AsWritten, _, _>(materials(), &groups, &mut tasks.writes, size).await {
        request(&built.bulk.lines);
    }
    Ok(())
}
