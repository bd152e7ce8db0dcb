//! Exports of what is stored about a user: a job walks through the tables, and writes each row that names the user as a
//! line of JSON into a file.

pub mod create;
mod line;
mod step;
mod walk;

pub use step::Export;
pub use walk::SENT_MESSAGES;

use ::jobs::{JobId, JobOf, Status};
use serde::{Deserialize, Serialize};
use table::objects::Upload;
use table::{Access, AccessPattern, Error};
use web::Problem;

use crate::access::EXPORTS;
use crate::jobs::{ChatJobs, Kind};
use crate::schema::BUCKET;
use walk::Walk;

/// A link to the file of an export.
pub const EXPORT_LINK: AccessPattern = AccessPattern::new("exportLink", &[EXPORTS.get()]);

/// The removal of the file of an export.
pub const REMOVE_EXPORT: AccessPattern = AccessPattern::new("removeExport", &[EXPORTS.delete()]);

/// How long the list of a user's exports has an export, in seconds: longer than its file is kept.
const RETENTION_SECONDS: i64 = 9 * 24 * 3600;

/// The file of an export, in the list of its user's.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Listed {
    /// Seconds since 1970.
    expires: i64,
}

/// The progress of an export: the checkpoint of its job.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Progress {
    walk: Walk,
    /// The uploaded parts, after the first.
    upload: Option<Upload>,
    /// The objects with lines that runs have kept because they were not enough for a part.
    kept: Vec<String>,
    /// Whether the last of these objects has the lines after the uploaded parts.
    is_kept: bool,
    /// The number of lines in the parts and in that object.
    lines: u64,
}

/// Returns the link to the file of an export that has succeeded, valid for 5 minutes.
pub async fn link(access: &Access, id: JobId, job: &JobOf<ChatJobs>) -> Result<Option<String>, Problem> {
    if job.kind != Kind::Export || job.status != Status::Succeeded {
        return Ok(None);
    }
    Ok(Some(access.objects(&EXPORT_LINK, BUCKET, EXPORTS.prefix).get_link(&object(id)).await?.url))
}

/// Deletes the file of an export, if it exists.
pub async fn remove(access: &Access, pattern: &'static AccessPattern, id: JobId) -> Result<(), Error> {
    access.objects(pattern, BUCKET, EXPORTS.prefix).delete(&object(id)).await
}

fn object(id: JobId) -> String {
    format!("{id}.jsonl")
}
