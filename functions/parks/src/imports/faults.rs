//! The faults of rows: stored batch by batch and gathered into one object at the end of the job.

use jobs::JobId;
use serde_json::{Value, json};
use table::objects::Objects;
use table::{Access, AccessPattern};
use web::Problem;

use super::row::RowFault;
use super::{Format, Plan};
use crate::access;
use crate::jobs::{Job, JobKind};
use crate::schema::BUCKET;

const PREFIX: &str = "faults/";

/// The limit of stored faults; the rest is counted.
const MAX_FAULTS: u64 = 10_000;

/// Stores the faults of a batch. They overwrite those of an earlier attempt at the same batch.
pub async fn keep(access: &Access, id: JobId, plan: &mut Plan, faults: &[RowFault]) -> Result<(), Problem> {
    let told: Vec<Value> = faults.iter().map(|fault| told(plan.format, fault)).collect();
    Ok(plan.faults.add(objects(access, &access::KEEP_FAULTS), &id.to_string(), MAX_FAULTS, &told).await?)
}

/// Stores the fault of a refused file.
pub async fn keep_of_file(
    access: &Access,
    id: JobId,
    plan: &mut Plan,
    pointer: &str,
    detail: &str,
) -> Result<(), Problem> {
    let told = [json!({ "pointer": pointer, "detail": detail })];
    Ok(plan.faults.add(objects(access, &access::KEEP_FAULTS), &id.to_string(), MAX_FAULTS, &told).await?)
}

/// Gathers the stored faults. To repeat it has the same result.
pub async fn gather(access: &Access, id: JobId, plan: &mut Plan) -> Result<(), Problem> {
    let count = plan.faults.entries;
    let whole = |faults| json!({ "faults": Value::Array(faults), "faultCount": count });
    Ok(plan.faults.gather(objects(access, &access::KEEP_FAULTS), &id.to_string(), whole).await?)
}

/// A signed link to the faults of a job that has ended. None if it has no faults.
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

fn told(format: Format, fault: &RowFault) -> Value {
    let counted = match format {
        Format::Geojson => "feature",
        Format::Csv => "row",
    };
    let mut told = json!({ counted: fault.number, "pointer": fault.pointer, "detail": fault.detail });
    if let (Some(external_id), Some(told)) = (&fault.external_id, told.as_object_mut()) {
        told.insert("externalId".to_owned(), external_id.as_str().into());
    }
    told
}
