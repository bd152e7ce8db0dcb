//! What was wrong with rows: kept batch by batch, and in the end one object that a job links to.

use serde_json::{Value, json};
use table::Access;
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
    let room = usize::try_from(MOST.saturating_sub(plan.faults)).unwrap_or(usize::MAX);
    let kept: Vec<Value> = faults.iter().take(room).map(|fault| told(plan.format, fault)).collect();
    plan.faults += faults.len() as u64;
    if kept.is_empty() {
        return Ok(());
    }
    put(access, &part(id, plan.fault_parts), &json!(kept)).await?;
    plan.fault_parts += 1;
    Ok(())
}

/// Puts together what was kept. Doing it again makes the same.
pub async fn gather(access: &Access, id: JobId, plan: &Plan) -> Result<(), Problem> {
    if plan.faults == 0 {
        return Ok(());
    }
    let objects = access.objects(&access::KEEP_FAULTS, BUCKET, PREFIX);
    let mut all: Vec<Value> = Vec::new();
    for number in 0..plan.fault_parts {
        let kept = objects.get(&part(id, number)).await?;
        all.extend(serde_json::from_slice::<Vec<Value>>(&kept).map_err(Problem::internal)?);
    }
    put(access, &whole(id), &json!({ "faults": all, "faultCount": plan.faults })).await
}

/// Where the faults of a job that has ended can be fetched; nothing if it has none.
pub async fn link(access: &Access, id: JobId, job: &Job) -> Result<Option<String>, Problem> {
    if job.kind != JobKind::Import || job.ended_at.is_none() {
        return Ok(None);
    }
    let plan: Plan = serde_json::from_value(job.checkpoint.clone()).map_err(Problem::internal)?;
    if plan.faults == 0 {
        return Ok(None);
    }
    let objects = access.objects(&access::READ_FAULTS, BUCKET, PREFIX);
    Ok(Some(objects.get_link(&whole(id)).await?.url))
}

async fn put(access: &Access, name: &str, body: &Value) -> Result<(), Problem> {
    let objects = access.objects(&access::KEEP_FAULTS, BUCKET, PREFIX);
    Ok(objects.put(name, body.to_string().into(), "application/json").await?)
}

fn told(format: Format, fault: &RowFault) -> Value {
    let counted = match format {
        Format::Geojson => "feature",
        Format::Csv => "row",
    };
    json!({ counted: fault.number, "pointer": fault.pointer, "detail": fault.detail })
}

fn part(id: JobId, number: u64) -> String {
    format!("{id}/{number}.json")
}

fn whole(id: JobId) -> String {
    format!("{id}.json")
}
