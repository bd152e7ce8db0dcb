//! Creating a system's first index: a generation, the config item, a consistent scan of the tables, a refresh and the
//! alias. It can be stopped at any point, and resumes with the next call.

use std::time::Duration;

use futures::stream::{self, TryStreamExt};
use table::Engines;
use table::schema::{System, Table};

use crate::batch::Batch;
use crate::context::Context;
use crate::documents::{Documents, Shapes};
use crate::engines::Production;
use crate::fold::{Change, Presence};
use crate::generation::{Generation, Generations, Targets, index_name, write_alias};
use crate::group::{Group, GroupKey, after, group_key};
use crate::item::{Item, presence, rev_value};
use crate::mapping::index_body;
use crate::ports::{Checkpoint, Fault, Index, Items, Page, Ports, Segment, State, Time};
use crate::record::{RecordError, Side};
use crate::rules::{ProductionRules, Rules};

/// The progress of creating an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The index and the config item exist. From now on the stream function also writes the index.
    Published,
    /// A page of a table was written.
    Scanned { table: &'static str, items: usize },
    /// The readers' alias names the index.
    Serving,
}

/// The number of segments of a table, which are scanned concurrently.
const SEGMENTS: u32 = 4;

/// How often a page is retried before the call fails.
const ATTEMPTS: u64 = 5;

/// How long a segment waits in total for shapes that S3 refuses, before their items go to quarantine. Must be less than
/// a deployment waits for progress.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(60);

/// The longest pause before a page with a refused shape is retried.
const PAUSE_REFUSED: Duration = Duration::from_secs(5);

/// Creates the system's first index and fills it from the tables, or resumes an earlier call that was stopped. Does
/// nothing if an index serves already. Returns the generation. `progress` is called after every step.
///
/// The index serves even with items in quarantine, since there is no older index to keep.
pub async fn create_first_index(
    documents: &impl Documents,
    shapes: &impl Shapes,
    engines: &Engines,
    progress: impl Fn(Progress) + Sync,
) -> Result<Generation, Fault> {
    let system = documents.tables();
    let ports = Production::new(engines, system, shapes, None)?;
    let alias = engines.config.search_name(system.name);
    create::<ProductionRules, _, _>(&ports, documents, &alias, &progress).await
}

pub(crate) async fn create<R: Rules, P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    alias: &str,
    progress: &(impl Fn(Progress) + Sync),
) -> Result<Generation, Fault> {
    let generations = published(ports, documents, alias).await?;
    progress(Progress::Published);
    let [generation] = generations.written.as_slice() else {
        return Err(Fault::lasting("mirror", "more than one generation is written, so this is not the first index"));
    };
    if !generation.filled {
        generation.check_mapping(documents).map_err(|reason| Fault::lasting("mirror", reason))?;
        scan_tables::<R, _, _>(ports, documents, generation, progress).await?;
        ports.index().refresh(&generation.index).await?;
        ports.index().serve(&generations.alias, &generation.index).await?;
        let filled = Generation { filled: true, ..generation.clone() };
        let epoch = generations.epoch + 1;
        let serving = Generations { epoch, alias: generations.alias.clone(), paused: false, written: vec![filled] };
        if !ports.state().publish(&serving).await? {
            return Err(Fault::passing("mirror", "the generations were changed concurrently"));
        }
    }
    progress(Progress::Serving);
    Ok(generation.clone())
}

/// Returns the config item, after creating it and an index if there is none.
async fn published<P: Ports, D: Documents>(ports: &P, documents: &D, alias: &str) -> Result<Generations, Fault> {
    if let Some(generations) = ports.state().generations().await? {
        return Ok(generations);
    }
    let mapping = documents.mapping();
    let mut number = 1;
    let index = loop {
        let index = index_name(alias, number);
        // An index that exists already, even one without a config item, may have any content.
        if ports.index().create(&index, &index_body(mapping, &write_alias(&index))?).await? {
            break index;
        }
        number += 1;
    };
    let generation = Generation { index, mapping: mapping.version, filled: false };
    let generations = Generations { epoch: 1, alias: alias.to_owned(), paused: false, written: vec![generation] };
    if ports.state().publish(&generations).await? {
        return Ok(generations);
    }
    // A concurrent call has published its index. Both calls fill that one.
    let published = ports.state().generations().await?;
    published.ok_or_else(|| Fault::passing("mirror", "the generations exist and could not be read"))
}

pub(crate) async fn scan_tables<R: Rules, P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    generation: &Generation,
    progress: &(impl Fn(Progress) + Sync),
) -> Result<(), Fault> {
    let segments = searchable(documents.tables())
        .flat_map(|table| (0..SEGMENTS).map(move |number| (table, Segment { number, of: SEGMENTS })));
    stream::iter(segments.map(Ok))
        .try_for_each_concurrent(SEGMENTS as usize, |(table, segment)| {
            scan_segment::<R, _, _>(ports, documents, generation, table, segment, progress)
        })
        .await
}

async fn scan_segment<R: Rules, P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    generation: &Generation,
    table: &'static Table,
    segment: Segment,
    progress: &(impl Fn(Progress) + Sync),
) -> Result<(), Fault> {
    let mut checkpoint = ports.state().checkpoint(&generation.index, table, segment).await?;
    let mut failures = 0;
    // The segment waits only once, even if many shapes are refused permanently.
    let mut refused_since = None;
    loop {
        let last = match &checkpoint {
            Checkpoint::Start => None,
            Checkpoint::After(key) => Some(key),
            Checkpoint::Done => return Ok(()),
        };
        let received = ports.time().micros();
        let Page { items, next } = ports.items().scan(table, segment, last).await?;
        let context = Context { ports, documents, targets: Targets::new(std::slice::from_ref(generation)), received };
        let refusal_deadline = after(refused_since.unwrap_or(received), REFUSAL_TIMEOUT);
        match write_page::<R, _, _>(context, table, &items, refusal_deadline).await {
            Ok(()) => {
                failures = 0;
                ports.state().save(&generation.index, table, segment, next.as_ref()).await?;
                progress(Progress::Scanned { table: table.name, items: items.len() });
                checkpoint = next.map_or(Checkpoint::Done, Checkpoint::After);
            }
            // The page is discarded and read again: it may be too old, or S3 may be slow.
            Err(unwritten) if unwritten.refused => {
                refused_since.get_or_insert(received);
                ports.time().pause(PAUSE_REFUSED).await;
            }
            Err(_) if failures < ATTEMPTS => {
                failures += 1;
                ports.time().pause(Duration::from_secs(failures)).await;
            }
            Err(unwritten) => return Err(unwritten.fault),
        }
    }
}

/// The reason why a page was not fully written.
struct Unwritten {
    fault: Fault,
    /// Whether S3 refuses a shape and a retry may help.
    refused: bool,
}

/// Writes each item at its revision, as its stream record would, and stamps items without a revision.
async fn write_page<R: Rules, P: Ports, D: Documents>(
    context: Context<'_, P, D>,
    table: &'static Table,
    items: &[Item],
    refusal_deadline: i64,
) -> Result<(), Unwritten> {
    let groups = items.iter().enumerate().filter_map(|(at, item)| scanned::<R>(table, item, at));
    let groups = groups.map(|group| Group { refusal_deadline: Some(refusal_deadline), ..group }).collect();
    let mut batch = Batch::new::<R>(context, groups);
    batch.run::<R>().await;
    if batch.groups.iter().all(Group::handled) {
        Ok(())
    } else {
        let refused = batch.tally.refused;
        Err(Unwritten { fault: Fault::passing("mirror", batch.tally.into_reason()), refused })
    }
}

/// Creates a group of one item. Returns `None` if the item is never searchable.
fn scanned<'i, R: Rules>(table: &'static Table, item: &'i Item, at: usize) -> Option<Group<'i>> {
    let text = item.as_str();
    let key = item.image().ok().and_then(|image| image.key(table).ok());
    let Some(key) = key else {
        return Some(Group { record_error: Some(RecordError::Keys), ..Group::new(GroupKey::Record, text, at) });
    };
    let rev = rev_value(text);
    let change = Change { old: Presence::Absent, new: presence(rev) };
    let group = Group::new(group_key(table, key)?, text, at);
    Some(Group { fold: Some(R::fold(None, change)), image: Some(Side { text, rev }), scanned: true, ..group })
}

/// Returns the tables that may have documents.
pub(crate) fn searchable(system: &'static System) -> impl Iterator<Item = &'static Table> {
    system.tables.iter().copied().filter(|table| table.is_searchable())
}
