//! Exports of a grid as a CSV file in S3: a job walks the grid page by page, and a link serves the file.

pub mod create;
mod step;

pub use step::Export;

use jobs::{JobId, Status};
use serde::{Deserialize, Serialize};
use table::Access;
use table::objects::Upload;
use web::{Order, Problem};

use crate::access::LINKS;
use crate::grid::query::Checkpoint;
use crate::jobs::{Job, Kind};
use crate::names::AttributeId;
use crate::schema::BUCKET;

const PREFIX: &str = "exports/";

/// The parameters and the progress of an export: the checkpoint of its job.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExportParams {
    sort: String,
    order: Order,
    filter: Vec<String>,
    /// The attributes of the columns after those that every file has.
    columns: Vec<AttributeId>,
    /// The checkpoint of the walk through the grid.
    #[serde(rename = "at")]
    checkpoint: Checkpoint,
    /// The uploaded parts, after the first.
    upload: Option<Upload>,
    /// The object with the rows after these parts, where a run has ended before they were enough for a part.
    #[serde(default)]
    kept: Option<String>,
    /// The number of rows in the parts and in `kept`.
    rows: u64,
}

/// The link to the file of an export that has succeeded.
pub async fn link(access: &Access, id: JobId, job: &Job) -> Result<Option<String>, Problem> {
    if job.kind != Kind::Export || job.status != Status::Succeeded {
        return Ok(None);
    }
    Ok(Some(access.objects(&LINKS, BUCKET, PREFIX).get_link(&object(id)).await?.url))
}

fn object(id: JobId) -> String {
    format!("{}.csv", id)
}
