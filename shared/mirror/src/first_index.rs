//! Making a system's first index as a rebuild makes one: a generation, the config item, a consistent scan of the
//! tables, a refresh, and the alias. It can be stopped anywhere and begun again.

use std::time::Duration;

use futures::stream::{self, TryStreamExt};
use table::Engines;
use table::schema::{Search, System, Table};

use crate::batch::Batch;
use crate::context::Context;
use crate::documents::{Documents, Shapes};
use crate::engines::Production;
use crate::fold::{Change, Presence};
use crate::generation::{Generation, Generations, Targets, index_name, write_alias};
use crate::group::{Group, GroupKey, after, place};
use crate::item::{Item, presence, rev_value};
use crate::mapping::index_body;
use crate::ports::{Checkpoint, Fault, Index, Items, Page, Ports, Segment, State, Time};
use crate::record::{Side, Strange};
use crate::rules::{AsWritten, Rules};

/// How far the making of an index has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Its index and config item are there: from now on the stream function writes it, too.
    Published,
    /// A page of a table was written.
    Scanned { table: &'static str, items: usize },
    /// It is what readers search.
    Serving,
}

/// Into how many segments a table is scanned, all at once.
const SEGMENTS: u32 = 4;

/// How often a page is read again before the call gives up.
const ATTEMPTS: u64 = 5;

/// How long a segment waits in all for shapes that S3 refuses, before their items go to quarantine: less than a deployment
/// waits for a step forward.
const REFUSABLE: Duration = Duration::from_secs(60);

/// The longest pause before a page is read again of which S3 refuses a shape.
const PAUSE_REFUSED: Duration = Duration::from_secs(5);

/// Makes the system's first index and fills it from the tables, or goes on where an earlier call was stopped; with an
/// index that serves already, does nothing. Returns the generation. `progress` is called after every step.
///
/// Poison does not keep the index from serving: there is no older one that would serve better.
pub async fn create_first_index(
    documents: &impl Documents,
    shapes: &impl Shapes,
    engines: &Engines,
    progress: impl Fn(Progress) + Sync,
) -> Result<Generation, Fault> {
    let system = documents.tables();
    let ports = Production::new(engines, system, shapes, None)?;
    let alias = engines.config.search_name(system.name);
    create::<AsWritten, _, _>(&ports, documents, &alias, &progress).await
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
        return Err(Fault::lasting("mirror", "more than the first generation is being written"));
    };
    if !generation.filled {
        // Its strict mapping would refuse the documents of another version, one after the other.
        let known = documents.mapping().version;
        if generation.mapping != known {
            return Err(Fault::lasting("mirror", generation.unknown_mapping(known)));
        }
        scan_tables::<R, _, _>(ports, documents, generation, progress).await?;
        ports.index().refresh(&generation.index).await?;
        ports.index().serve(&generations.alias, &generation.index).await?;
        let filled = Generation { filled: true, ..generation.clone() };
        let epoch = generations.epoch + 1;
        let serving = Generations { epoch, alias: generations.alias.clone(), written: vec![filled] };
        if !ports.state().publish(&serving).await? {
            return Err(Fault::passing("mirror", "somebody else has changed the generations"));
        }
    }
    progress(Progress::Serving);
    Ok(generation.clone())
}

/// The config item, made with a new index where there is none.
async fn published<P: Ports, D: Documents>(ports: &P, documents: &D, alias: &str) -> Result<Generations, Fault> {
    if let Some(generations) = ports.state().generations().await? {
        return Ok(generations);
    }
    let mapping = documents.mapping();
    let mut number = 1;
    let index = loop {
        let index = index_name(alias, number);
        // A name that was used before, even by an index without config item, may hold anything.
        if ports.index().create(&index, &index_body(mapping, &write_alias(&index))?).await? {
            break index;
        }
        number += 1;
    };
    let generation = Generation { index, mapping: mapping.version, filled: false };
    let generations = Generations { epoch: 1, alias: alias.to_owned(), written: vec![generation] };
    if ports.state().publish(&generations).await? {
        return Ok(generations);
    }
    // Somebody else was quicker: theirs is filled by both.
    let theirs = ports.state().generations().await?;
    theirs.ok_or_else(|| Fault::passing("mirror", "the generations are there and not to be read"))
}

async fn scan_tables<R: Rules, P: Ports, D: Documents>(
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
    let mut vain = 0;
    // Of this segment: what is refused for good makes it wait once, however many items it is.
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
        let refusable_until = after(refused_since.unwrap_or(received), REFUSABLE);
        match write_page::<R, _, _>(context, table, &items, refusable_until).await {
            Ok(()) => {
                vain = 0;
                ports.state().save(&generation.index, table, segment, next.as_ref()).await?;
                progress(Progress::Scanned { table: table.name, items: items.len() });
                checkpoint = next.map_or(Checkpoint::Done, Checkpoint::After);
            }
            // The page is thrown away and read again: it may have grown too old, or S3 be slow.
            Err(unwritten) if unwritten.refused => {
                refused_since.get_or_insert(received);
                ports.time().pause(PAUSE_REFUSED).await;
            }
            Err(_) if vain < ATTEMPTS => {
                vain += 1;
                ports.time().pause(Duration::from_secs(vain)).await;
            }
            Err(unwritten) => return Err(unwritten.fault),
        }
    }
}

/// Why a page was not written as a whole.
struct Unwritten {
    fault: Fault,
    /// Whether S3 refuses a shape that it may give later.
    refused: bool,
}

/// Writes each item at its revision, as its stream record would, and stamps those without one.
async fn write_page<R: Rules, P: Ports, D: Documents>(
    context: Context<'_, P, D>,
    table: &'static Table,
    items: &[Item],
    refusable_until: i64,
) -> Result<(), Unwritten> {
    let groups = items.iter().enumerate().filter_map(|(at, item)| scanned::<R>(table, item, at));
    let groups = groups.map(|group| Group { refusable_until: Some(refusable_until), ..group }).collect();
    let mut batch = Batch::new::<R>(context, groups);
    batch.run::<R>().await;
    if batch.groups.iter().all(Group::handled) {
        Ok(())
    } else {
        let fault = Fault::passing("mirror", batch.tally.first_error.unwrap_or_default());
        Err(Unwritten { fault, refused: batch.tally.refused })
    }
}

/// An item as a group of its own; none if it is never searchable.
fn scanned<'i, R: Rules>(table: &'static Table, item: &'i Item, at: usize) -> Option<Group<'i>> {
    let text = item.as_str();
    let key = item.image().ok().and_then(|image| image.key(table).ok());
    let Some(key) = key else {
        return Some(Group { strange: Some(Strange::Keys), ..Group::new(GroupKey::Record, text, at) });
    };
    let rev = rev_value(text);
    let change = Change { old: Presence::Absent, new: presence(rev) };
    let group = Group::new(place(table, key)?, text, at);
    Some(Group { fold: Some(R::fold(None, change)), image: Some(Side { text, rev }), scanned: true, ..group })
}

/// The tables that may have documents.
pub(crate) fn searchable(system: &'static System) -> impl Iterator<Item = &'static Table> {
    let may = |table: &&'static Table| table.entities.iter().any(|entity| entity.search == Search::Document);
    system.tables.iter().copied().filter(may)
}
