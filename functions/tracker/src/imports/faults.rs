//! What was wrong with records: the first of them in the work itself, all of them in one object that it links to.

use serde_json::{Value, json};
use table::Access;
use web::Problem;

use super::ImportParams;
use crate::access::{KEEP_FAULTS, LINKS};
use crate::names::WorkId;
use crate::schema::BUCKET;
use crate::work::{Kind, RowFault, Work};

const PREFIX: &str = "faults/";

/// The most faults that are kept; the rest are counted.
const MOST: u64 = 10_000;

/// Keeps the faults of a batch, over those that an earlier try of the same batch has kept.
pub async fn keep(access: &Access, id: WorkId, params: &mut ImportParams, faults: &[RowFault]) -> Result<(), Problem> {
    let told: Result<Vec<Value>, _> = faults.iter().map(serde_json::to_value).collect();
    let objects = access.objects(&KEEP_FAULTS, BUCKET, PREFIX);
    Ok(params.faults.add(objects, &id.id(), MOST, &told.map_err(Problem::internal)?).await?)
}

/// Puts together what was kept. Doing it again makes the same.
pub async fn gather(access: &Access, id: WorkId, params: &mut ImportParams) -> Result<(), Problem> {
    let count = params.faults.entries;
    let whole = |faults| json!({ "faults": Value::Array(faults), "faultCount": count });
    Ok(params.faults.gather(access.objects(&KEEP_FAULTS, BUCKET, PREFIX), &id.id(), whole).await?)
}

/// Where the faults of an import that has ended can be fetched; nothing if it has none.
pub async fn link(access: &Access, id: WorkId, work: &Work) -> Result<Option<String>, Problem> {
    if work.kind != Kind::Import || work.state.is_open() {
        return Ok(None);
    }
    let params: ImportParams = serde_json::from_value(work.checkpoint.clone()).map_err(Problem::internal)?;
    Ok(params.faults.link(access.objects(&LINKS, BUCKET, PREFIX), &id.id()).await?)
}
