//! What was wrong with rows: kept batch by batch, and in the end one object that a job links to.

use serde_json::{Value, json};
use table::objects::Objects;
use table::{Access, AccessPattern};
use web::Problem;

use super::row::RowFault;
use super::{Format, Plan};
use crate::access;
use crate::jobs::{Job, JobKind};
use crate::names::JobId;
use crate::schema::BUCKET;

const PREFIX: &str = "faults/";

/// The most faults that are kept; the rest are counted.
const MOST: u64 = 10_000;

/// Keeps the faults of a batch, over those that an earlier try of the same batch has kept.
pub async fn keep(access: &Access, id: JobId, plan: &mut Plan, faults: &[RowFault]) -> Result<(), Problem> {
    let told: Vec<Value> = faults.iter().map(|fault| told(plan.format, fault)).collect();
    Ok(plan.faults.add(objects(access, &access::KEEP_FAULTS), &id.to_string(), MOST, &told).await?)
}

/// Keeps the one fault of a file that is refused whole.
pub async fn keep_of_file(
    access: &Access,
    id: JobId,
    plan: &mut Plan,
    pointer: &str,
    detail: &str,
) -> Result<(), Problem> {
    let told = [json!({ "pointer": pointer, "detail": detail })];
    Ok(plan.faults.add(objects(access, &access::KEEP_FAULTS), &id.to_string(), MOST, &told).await?)
}

/// Puts together what was kept. Doing it again makes the same.
pub async fn gather(access: &Access, id: JobId, plan: &mut Plan) -> Result<(), Problem> {
    let count = plan.faults.entries;
    let whole = |faults| json!({ "faults": Value::Array(faults), "faultCount": count });
    Ok(plan.faults.gather(objects(access, &access::KEEP_FAULTS), &id.to_string(), whole).await?)
}

/// Where the faults of a job that has ended can be fetched; nothing if it has none.
pub async fn link(access: &Access, id: JobId, job: &Job) -> Result<Option<String>, Problem> {
    if job.kind != JobKind::Import || job.ended_at.is_none() {
        return Ok(None);
    }
    let plan: Plan = serde_json::from_value(job.checkpoint.clone()).map_err(Problem::internal)?;
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
