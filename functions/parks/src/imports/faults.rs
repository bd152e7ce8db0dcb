//! The report of an import: the faults of its rows, its refused shapes and the items that it has hidden. Its entries are
//! stored batch by batch and gathered into one object at the end of the job.

use jobs::JobId;
use serde_json::{Value, json};
use table::objects::Objects;
use table::{Access, AccessPattern};
use web::Problem;

use super::refused_shape::RefusedShape;
use super::row::RowFault;
use super::{Format, Plan};
use crate::access;
use crate::jobs::{Job, JobKind};
use crate::schema::BUCKET;

const PREFIX: &str = "faults/";

/// The limit of stored entries; the rest is counted.
const MAX_ENTRIES: u64 = 10_000;

/// The members of stored entries that are no faults.
const SHAPE: &str = "shape";
const HIDDEN: &str = "hidden";

/// A part of the report.
#[derive(Debug)]
pub enum Entry<'a> {
    Row(&'a RowFault),
    /// A fault of the file, at a JSON pointer into it.
    File {
        pointer: &'a str,
        detail: &'a str,
    },
    /// A row that is imported although its shape is refused.
    Shape {
        number: u64,
        external_id: &'a str,
        refused: &'a RefusedShape,
    },
    /// An item that the file does not have and that is hidden, with its path.
    Hidden {
        external_id: &'a str,
        path: String,
    },
    /// Why such an item is not hidden.
    NotHidden(&'a RowFault),
}

/// Stores the entries of a batch. They overwrite those of an earlier attempt at the same batch.
pub async fn keep(access: &Access, id: JobId, plan: &mut Plan, entries: &[Entry<'_>]) -> Result<(), Problem> {
    let told: Vec<Value> = entries.iter().map(|entry| told(plan.format, entry)).collect();
    plan.refused_shapes += entries.iter().filter(|entry| matches!(entry, Entry::Shape { .. })).count() as u64;
    plan.hidden += entries.iter().filter(|entry| matches!(entry, Entry::Hidden { .. })).count() as u64;
    Ok(plan.faults.add(objects(access, &access::KEEP_FAULTS), &id.to_string(), MAX_ENTRIES, &told).await?)
}

/// Gathers the stored entries. To repeat it has the same result.
pub async fn gather(access: &Access, id: JobId, plan: &mut Plan) -> Result<(), Problem> {
    let (shapes, hidden) = (plan.refused_shapes, plan.hidden);
    let faults = plan.faults.entries.saturating_sub(shapes + hidden);
    let whole = |entries: Vec<Value>| {
        let of = |name: &str| entries.iter().filter_map(|entry| entry.get(name).cloned()).collect::<Vec<_>>();
        let (of_shapes, of_hidden) = (of(SHAPE), of(HIDDEN));
        let is_fault = |entry: &Value| entry.get(SHAPE).or(entry.get(HIDDEN)).is_none();
        let of_faults = entries.into_iter().filter(is_fault).collect::<Vec<_>>();
        json!({
            "faults": of_faults, "faultCount": faults,
            "shapes": of_shapes, "shapeCount": shapes,
            "hidden": of_hidden, "hiddenCount": hidden,
        })
    };
    Ok(plan.faults.gather(objects(access, &access::KEEP_FAULTS), &id.to_string(), whole).await?)
}

/// A signed link to the report of a job that has ended. None if it has no entries.
pub async fn link(access: &Access, id: JobId, job: &Job) -> Result<Option<String>, Problem> {
    if job.kind != JobKind::Import || job.is_open() {
        return Ok(None);
    }
    let plan: Plan = job.checkpoint()?;
    Ok(plan.faults.link(objects(access, &access::READ_FAULTS), &id.to_string()).await?)
}

fn objects<'a>(access: &'a Access, pattern: &'static AccessPattern) -> Objects<'a> {
    access.objects(pattern, BUCKET, PREFIX)
}

fn told(format: Format, entry: &Entry<'_>) -> Value {
    let counted = format.counted();
    match entry {
        Entry::Row(RowFault { number, external_id, pointer, detail }) => {
            let mut told = json!({ counted: number, "pointer": pointer, "detail": detail });
            if let (Some(external_id), Some(told)) = (external_id, told.as_object_mut()) {
                told.insert("externalId".to_owned(), external_id.as_str().into());
            }
            told
        }
        Entry::File { pointer, detail } => json!({ "pointer": pointer, "detail": detail }),
        Entry::Shape { number, external_id, refused: RefusedShape { outcome, pointer, detail } } => json!({ SHAPE: {
            counted: number, "externalId": external_id, "outcome": outcome, "pointer": pointer, "detail": detail,
        } }),
        Entry::Hidden { external_id, path } => json!({ HIDDEN: { "externalId": external_id, "path": path } }),
        Entry::NotHidden(RowFault { external_id, detail, .. }) => {
            json!({ "externalId": external_id, "pointer": "/isVisible", "detail": detail })
        }
    }
}
