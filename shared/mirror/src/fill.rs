//! Filling an index by a consistent scan of the tables. It can be stopped at any point, and resumes with the next call.

use std::time::Duration;

use futures::stream::{self, TryStreamExt};
use table::Key;
use table::schema::{System, Table};

use crate::batch::Batch;
use crate::context::Context;
use crate::documents::Documents;
use crate::fold::{Change, Presence, fold};
use crate::generation::{Generation, Phase, Targets};
use crate::group::{Group, GroupKey, after, group_key};
use crate::item::{Item, presence, rev_value};
use crate::ports::{Checkpoint, Fault, Items, Page, Ports, Segment, State, Time};
use crate::record::{RecordError, Side};

/// The number of segments of a table that one call scans concurrently.
pub(crate) const SEGMENTS: u32 = 4;

/// The number of shares into which a rebuild by functions divides the tables, and of its concurrent invocations.
pub(crate) const SHARES: u32 = 8;

/// How often a page is read again before the step fails.
const ATTEMPTS: u64 = 3;

/// How often in a row the requests of a page are retried before it is read again.
const MAX_RETRIES: u32 = 5;

/// How long a page is written. The rest is then read again. It is much shorter than an invocation, and than the age after
/// which a page is not used any more.
const PAGE_TIME: Duration = Duration::from_mins(1);

/// How long a segment waits in total for shapes that S3 refuses, before their items go to quarantine. Must be less than
/// a deployment waits for progress.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(60);

/// The longest pause before a page with a refused shape is retried.
const PAUSE_REFUSED: Duration = Duration::from_secs(5);

/// A share of the tables. Several calls can fill an index at once, each from a share of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) number: u32,
    pub(crate) of: u32,
}

impl Share {
    /// Everything, as one share.
    pub(crate) const WHOLE: Self = Self { number: 0, of: 1 };

    /// Returns the segments of each table.
    fn segments(self) -> impl Iterator<Item = Segment> {
        let Self { number, of } = self;
        (0..SEGMENTS).map(move |segment| Segment { number: number * SEGMENTS + segment, of: of * SEGMENTS })
    }
}

/// Writes every item of a share of the tables to a generation, or continues where an earlier call was stopped. `scanned`
/// is called after every page, with the table and the number of items.
pub(crate) async fn scan_tables<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    generation: &Generation,
    share: Share,
    scanned: &(impl Fn(&'static str, usize) + Sync),
) -> Result<(), Fault> {
    let segments =
        searchable(documents.tables()).flat_map(|table| share.segments().map(move |segment| (table, segment)));
    stream::iter(segments.map(Ok))
        .try_for_each_concurrent(SEGMENTS as usize, |(table, segment)| {
            scan_segment(ports, documents, generation, table, segment, scanned)
        })
        .await
}

async fn scan_segment<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    generation: &Generation,
    table: &'static Table,
    segment: Segment,
    scanned: &(impl Fn(&'static str, usize) + Sync),
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
        let (written, next, unwritten) = match write_page(context, table, &items, refusal_deadline).await {
            Ok(()) => (items.len(), next, None),
            // The rest is discarded and read again: it may be too old, or S3 may be slow.
            Err(unwritten) => {
                let (written, last) = last_written(table, &items, unwritten.written);
                (written, last, Some(unwritten))
            }
        };
        if written > 0 || unwritten.is_none() {
            failures = 0;
            ports.state().save(&generation.index, table, segment, next.as_ref()).await?;
            scanned(table.name, written);
            check_wanted(ports, generation).await?;
            checkpoint = next.map_or(Checkpoint::Done, Checkpoint::After);
        }
        match unwritten {
            None => {}
            Some(unwritten) if unwritten.refused => {
                refused_since.get_or_insert(received);
                ports.time().pause(PAUSE_REFUSED).await;
            }
            Some(_) if written > 0 => {}
            Some(_) if failures < ATTEMPTS => {
                failures += 1;
                ports.time().pause(Duration::from_secs(failures)).await;
            }
            Some(unwritten) => return Err(unwritten.fault),
        }
    }
}

/// Returns the number of a page's items up to the last of its first `written` items that a scan can continue after, and
/// the key of that item.
fn last_written(table: &Table, items: &[Item], written: usize) -> (usize, Option<Key>) {
    let key = |item: &Item| item.image().ok()?.key(table).ok();
    let keys = items.iter().take(written).enumerate().rev();
    let last = keys.filter_map(|(place, item)| Some((place + 1, key(item)?))).next();
    last.map_or((0, None), |(written, key)| (written, Some(key)))
}

/// Whether a generation has every item of a share.
pub(crate) async fn is_scanned<P: Ports>(
    ports: &P,
    system: &'static System,
    generation: &Generation,
    share: Share,
) -> Result<bool, Fault> {
    for table in searchable(system) {
        for segment in share.segments() {
            if ports.state().checkpoint(&generation.index, table, segment).await? != Checkpoint::Done {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Checks that the generation is still to be filled, since an operator may pause or cancel its rebuild.
pub(crate) async fn check_wanted<P: Ports>(ports: &P, generation: &Generation) -> Result<(), Fault> {
    let config = ports.state().generations().await?;
    match config.as_ref().and_then(|config| Some((config.rebuild_paused, config.of(Phase::Filling)?))) {
        Some((false, filling)) if filling.index == generation.index => Ok(()),
        Some((true, _)) => Err(Fault::lasting("mirror", "the rebuild is paused: resume or cancel it")),
        _ => Err(Fault::lasting("mirror", "the rebuild was cancelled, or another call has finished it")),
    }
}

/// The reason why a page was not fully written.
struct Unwritten {
    /// The number of items before the first that was not written.
    written: usize,
    fault: Fault,
    /// Whether S3 refuses a shape and a retry may help.
    refused: bool,
}

/// Writes each item at its revision, as its stream record would, and stamps items without a revision.
async fn write_page<P: Ports, D: Documents>(
    context: Context<'_, P, D>,
    table: &'static Table,
    items: &[Item],
    refusal_deadline: i64,
) -> Result<(), Unwritten> {
    let groups = items.iter().enumerate().filter_map(|(at, item)| group_of(table, item, at));
    let groups = groups.map(|group| Group { refusal_deadline: Some(refusal_deadline), ..group }).collect();
    let until = after(context.ports.time().micros(), PAGE_TIME);
    let mut batch = Batch::new(context, groups).with_max_retries(MAX_RETRIES).with_until(until);
    batch.run().await;
    match batch.groups.iter().find(|group| !group.handled()) {
        None => Ok(()),
        Some(first) => {
            let (written, refused) = (first.places.first, batch.tally.refused);
            let reason = batch.tally.first_error.unwrap_or_else(|| "a page took too long".to_owned());
            Err(Unwritten { written, fault: Fault::passing("mirror", reason), refused })
        }
    }
}

/// Creates a group of one item. Returns `None` if the item is never searchable.
fn group_of<'i>(table: &'static Table, item: &'i Item, at: usize) -> Option<Group<'i>> {
    let text = item.as_str();
    let key = item.image().ok().and_then(|image| image.key(table).ok());
    let Some(key) = key else {
        return Some(Group { record_error: Some(RecordError::Keys), ..Group::new(GroupKey::Record, text, at) });
    };
    let rev = rev_value(text);
    let change = Change { old: Presence::Absent, new: presence(rev) };
    let group = Group::new(group_key(table, key)?, text, at);
    Some(Group { fold: Some(fold(None, change)), image: Some(Side { text, rev }), scanned: true, ..group })
}

/// Returns the tables that may have documents.
pub(crate) fn searchable(system: &'static System) -> impl Iterator<Item = &'static Table> {
    system.tables.iter().copied().filter(|table| table.is_searchable())
}
