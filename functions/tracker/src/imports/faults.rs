//! The faults of records: the first are in the job itself, and all are in one object that the job links to.

use jobs::{JobId, RowFault};
use serde_json::{Value, json};
use table::Access;
use web::Problem;

use super::ImportParams;
use crate::access::{KEEP_FAULTS, LINKS};
use crate::jobs::{Job, Kind};
use crate::schema::BUCKET;

const PREFIX: &str = "faults/";

/// Faults that are stored; the others are only counted.
const MAX_FAULTS: u64 = 10_000;

/// Stores the faults of a batch. A repeated batch overwrites its faults.
pub async fn keep(access: &Access, id: JobId, params: &mut ImportParams, faults: &[RowFault]) -> Result<(), Problem> {
    let values: Result<Vec<Value>, _> = faults.iter().map(serde_json::to_value).collect();
    let objects = access.objects(&KEEP_FAULTS, BUCKET, PREFIX);
    Ok(params.faults.add(objects, &id.to_string(), MAX_FAULTS, &values.map_err(Problem::internal)?).await?)
}

/// Merges the stored faults into one object. Merging again gives the same object.
pub async fn gather(access: &Access, id: JobId, params: &mut ImportParams) -> Result<(), Problem> {
    let count = params.faults.entries;
    let whole = |faults| json!({ "faults": Value::Array(faults), "faultCount": count });
    Ok(params.faults.gather(access.objects(&KEEP_FAULTS, BUCKET, PREFIX), &id.to_string(), whole).await?)
}

/// The link to the faults of an import that has ended. None if it has no faults.
pub async fn link(access: &Access, id: JobId, job: &Job) -> Result<Option<String>, Problem> {
    if job.kind != Kind::Import || job.is_open() {
        return Ok(None);
    }
    let params: ImportParams = job.checkpoint()?;
    Ok(params.faults.link(access.objects(&LINKS, BUCKET, PREFIX), &id.to_string()).await?)
}
