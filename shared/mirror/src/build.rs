//! Building bulk requests: documents from items, one request at a time. Each shape is read and written before the next
//! is read.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures::FutureExt;
use table::never;
use table::schema::Entity;

use crate::document::{Found, ShapeSource};
use crate::documents::{DetailLevel, Documents, Obstacle, Shape, ShapeStatus, ShapeUnavailable, Shapes, document_of};
use crate::generation::{TargetId, Targets};
use crate::group::{GroupId, Groups};
use crate::image::Image;
use crate::lines::{Identity, close_document, open_document, write_shape, write_tombstone};
use crate::task::{Content, Write};

/// A request that is ready to be sent.
#[derive(Debug)]
pub(crate) struct Bulk<'a> {
    pub(crate) target: TargetId,
    pub(crate) lines: String,
    pub(crate) writes: Vec<Write<'a>>,
}

/// A request, and the writes that could not be part of it.
#[derive(Debug)]
pub(crate) struct Built<'a> {
    pub(crate) bulk: Bulk<'a>,
    pub(crate) unfit: Vec<(Write<'a>, String)>,
    pub(crate) unavailable: Vec<(Write<'a>, ShapeUnavailable)>,
    /// The groups whose items are hidden from search in their present state.
    pub(crate) hidden: Vec<GroupId>,
    /// The number of shapes whose object does not exist.
    pub(crate) missing: usize,
}

impl Built<'_> {
    fn is_empty(&self) -> bool {
        self.bulk.writes.is_empty() && self.unfit.is_empty() && self.unavailable.is_empty()
    }
}

/// The reason why a document could not be written.
enum Unwritten {
    Unfit(String),
    Unavailable(ShapeUnavailable),
}

/// The maximum size of a request in bytes, unless one document alone is larger.
pub(crate) const MAX_BYTES: usize = 5_000_000;

/// The size in bytes that is expected of a document.
const TYPICAL_DOCUMENT_BYTES: usize = 2048;

/// The inputs of documents other than their items.
#[derive(Debug)]
pub(crate) struct Materials<'c, S, D> {
    pub(crate) documents: &'c D,
    /// The generations, which decide the version of the documents.
    pub(crate) targets: &'c Targets,
    pub(crate) shapes: &'c S,
    /// The time that tombstones contain, in microseconds since 1970-01-01T00:00:00Z.
    pub(crate) now: i64,
}

/// Builds a request from the queue's first writes, all for one generation, until the next would make it larger than this
/// size or the time is up. Only a request of one write may be larger.
/// Returns `None` if the queue is empty or the time is up from the start.
pub(crate) async fn build<'a, S: Shapes, D: Documents>(
    materials: Materials<'_, S, D>,
    groups: &Groups<'_>,
    queue: &mut VecDeque<Write<'a>>,
    size: usize,
    is_time_up: impl Fn() -> bool,
) -> Option<Built<'a>> {
    let target = queue.front().filter(|_| !is_time_up())?.target;
    let expected = queue.len().saturating_mul(TYPICAL_DOCUMENT_BYTES).min(size);
    let bulk = Bulk { target, lines: String::with_capacity(expected), writes: Vec::new() };
    let mut built = Built { bulk, unfit: Vec::new(), unavailable: Vec::new(), hidden: Vec::new(), missing: 0 };
    while built.bulk.lines.len() < size
        && (built.is_empty() || !is_time_up())
        && let Some(mut write) = queue.pop_front_if(|write| write.target == target)
    {
        let Some(identity) = groups[write.group].identity() else {
            never!("a write of a group that cannot have a document");
            built.unfit.push((write, "its key cannot have a document".to_owned()));
            continue;
        };
        let before = built.bulk.lines.len();
        let (hidden, missing) = (built.hidden.len(), built.missing);
        match write_lines(&materials, identity, &mut write, &mut built).await {
            // A write that makes the request larger is the first of the next one, so a request of one write can be had.
            Ok(()) if before > 0 && built.bulk.lines.len() > size => {
                built.bulk.lines.truncate(before);
                built.hidden.truncate(hidden);
                built.missing = missing;
                queue.push_front(write);
                break;
            }
            Ok(()) => built.bulk.writes.push(write),
            Err(unwritten) => {
                built.bulk.lines.truncate(before);
                match unwritten {
                    Unwritten::Unfit(reason) => built.unfit.push((write, reason)),
                    Unwritten::Unavailable(reason) => built.unavailable.push((write, reason)),
                }
            }
        }
    }
    Some(built)
}

async fn write_lines<S: Shapes, D: Documents>(
    materials: &Materials<'_, S, D>,
    identity: &Identity,
    write: &mut Write<'_>,
    built: &mut Built<'_>,
) -> Result<(), Unwritten> {
    let lines = &mut built.bulk.lines;
    let (item, versioning) = match &write.content {
        Content::Tombstone(versioning) => {
            write_tombstone(lines, identity, write.version, *versioning, materials.now);
            return Ok(());
        }
        Content::Item(item, versioning) => (item, *versioning),
    };
    let version = materials.targets[write.target].mapping;
    let found = create_document(materials.documents, version, identity.entity, item).map_err(Unwritten::Unfit)?;
    let document = match found {
        Found::Document(document) => document,
        // The tombstone has the item's own revision, since it is the item's present state and not a delete.
        Found::Hidden => {
            write_tombstone(lines, identity, write.version, versioning, materials.now);
            built.hidden.push(write.group);
            return Ok(());
        }
    };
    open_document(lines, identity, write.version, versioning, document.fields());
    for (place, (field, source)) in document.shapes().iter().enumerate() {
        if write.levels.len() == place {
            write.levels.push((field, DetailLevel::Full));
        }
        let Some((_, level)) = write.levels.get_mut(place) else { continue };
        let shape = match *level {
            DetailLevel::None => Shape::NONE,
            requested => read_shape(materials.shapes, source, requested).await?,
        };
        match shape.status {
            // The next level is coarser than the returned one, which may be coarser than the requested one.
            ShapeStatus::At(returned) => *level = returned,
            ShapeStatus::Missing => built.missing += 1,
        }
        write_shape(lines, field, &shape);
    }
    close_document(lines);
    Ok(())
}

/// Creates the document of an item with this version of the mapping. The error says why it cannot be created. A panic
/// affects its own item only, and no other record of the batch.
pub(crate) fn create_document(
    documents: &impl Documents,
    version: u32,
    entity: &'static Entity,
    item: &str,
) -> Result<Found, String> {
    let image = Image::parse(item).map_err(|fault| fault.to_string())?;
    let found = catch_unwind(AssertUnwindSafe(|| document_of(documents, version, entity, &image)));
    found.map_err(|panic| panicked(panic.as_ref()))?.map_err(|fault| fault.to_string())
}

async fn read_shape(shapes: &impl Shapes, source: &ShapeSource, level: DetailLevel) -> Result<Shape, Unwritten> {
    match AssertUnwindSafe(shapes.shape(source, level)).catch_unwind().await {
        Ok(Ok(shape)) => Ok(shape),
        Ok(Err(unavailable)) if unavailable.obstacle == Obstacle::Lasting => {
            Err(Unwritten::Unfit(unavailable.to_string()))
        }
        Ok(Err(unavailable)) => Err(Unwritten::Unavailable(unavailable)),
        Err(panic) => Err(Unwritten::Unfit(panicked(panic.as_ref()))),
    }
}

/// Returns the error text for a panic, with its message.
fn panicked(panic: &(dyn Any + Send)) -> String {
    let message = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("its document could not be created: the code panicked: {}", message.unwrap_or("without a message"))
}
