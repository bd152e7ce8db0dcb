//! `POST /tracker/tenants/{tenantId}/projects/{projectId}/imports`: the response has the link that takes the file, and the
//! job that waits for it.

use std::collections::BTreeMap;

use jobs::limits::TOO_MANY_JOBS;
use jobs::{JobId, Jobs};
use serde::{Deserialize, Serialize};
use table::objects::{Declared, Gathered};
use utoipa::ToSchema;
use web::{Context, Created, Fault, IdempotencyKey, Json, Kind, Path, Problem, Route, Sample, problem};

use super::column::{Target, UnknownColumns};
use super::dates::DateOrder;
use super::records::FileOffset;
use super::{ImportParams, MAX_FILE_BYTES, MAX_HEADER, Mode, Numbers, OnError, PREFIX, Phase};
use crate::access::{IMPORT, MEMBERSHIP, OPEN_JOBS, PROJECT};
use crate::attributes::refusal;
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::jobs::view::{JobView, view};
use crate::jobs::{Details, Job, Kind as JobKind, Limited, TrackerJobs};
use crate::project::{Consistency, Schema};
use crate::projects::ProjectPath;
use crate::schema::{BUCKET, TRACKER};
use crate::values::distinct;

pub const UNMAPPED_COLUMN: Kind = Kind::new(422, "unmapped-column", "A column is not part of the project");

/// Columns that a mapping may name.
const MAX_COLUMNS: usize = 200;

/// A CSV file to import, as spreadsheets write it: with commas, semicolons or tabs, in UTF-8, UTF-16 (with a byte-order
/// mark) or Windows-1252.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewImport {
    /// The exact size of the file, at most 200 MB.
    #[schema(minimum = 1)]
    bytes: u64,
    mode: Mode,
    on_error: OnError,
    /// The meaning of headers that are not named as in the project: `number`, `name`, `state`, the id of an attribute, or
    /// null to leave the column out.
    #[serde(default, deserialize_with = "distinct")]
    columns: BTreeMap<String, Option<String>>,
    #[serde(default)]
    unknown_columns: UnknownColumns,
    #[serde(default)]
    date_order: DateOrder,
}

/// The link that takes the file, and the job that starts when the file has arrived.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportLink {
    #[serde(flatten)]
    job: JobView,
    /// Takes one `PUT` for 15 minutes.
    link: String,
    /// Header fields that the `PUT` must have.
    headers: BTreeMap<String, String>,
}

pub fn route() -> Route {
    Route::post("createImport", "/tracker/tenants/{tenantId}/projects/{projectId}/imports", SIGNED_IN, create)
        .summary(
            "Create an import of issues from a CSV file of up to 200 MB; the response has the link that takes the file",
        )
        .patterns(&[&MEMBERSHIP, &PROJECT, &OPEN_JOBS, &IMPORT])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::TOO_LARGE, TOO_MANY_JOBS, UNMAPPED_COLUMN])
        .sample(
            Sample::new("/tracker/tenants/tenant-0807/projects/project-35e9/imports")
                .body(r#"{"bytes":1000,"mode":"create","onError":"skip","columns":{"Priority":null}}"#),
        )
}

async fn create(
    cx: Context,
    Path(path): Path<ProjectPath>,
    once: IdempotencyKey,
    Json(new): Json<NewImport>,
) -> Result<Created<ImportLink>, Problem> {
    let caller = TenantAccess::load(&cx, path.tenant_id).await?;
    caller.require_editor()?;
    if let Some(earlier) = once.earlier(&cx, &IMPORT, &TRACKER).await? {
        return Ok(earlier);
    }
    if new.columns.len() > MAX_COLUMNS {
        let detail = format!("must have at most {MAX_COLUMNS} columns");
        return Err(Problem::faults(vec![Fault::pointer("/columns", detail)]));
    }
    if new.bytes > MAX_FILE_BYTES {
        let detail = format!("A file to import has at most {MAX_FILE_BYTES} bytes. Split it into several files.");
        return Err(Problem::too_large(detail));
    }
    let schema = path.load(&cx, Consistency::Strong).await?;
    let params = ImportParams {
        bytes: new.bytes,
        mode: new.mode,
        on_error: new.on_error,
        mapping: mapping(&schema, new.columns)?,
        unknown_columns: new.unknown_columns,
        date_order: new.date_order,
        format: None,
        phase: Phase::Checking,
        offset: FileOffset::default(),
        columns: Vec::new(),
        headers: Vec::new(),
        numbers: Numbers::default(),
        seen: None,
        faults: Gathered::default(),
        waited_to: 0,
    };
    let (access, id, person) = (cx.access(), JobId::new(), caller.me);
    let (details, who) = (Details::project(path.project_id), Some(person.to_string()));
    let job = Job::new(access, JobKind::Import, details, who).waiting_for_file().at(&params)?;
    let declared = Declared { bytes: new.bytes, sha256: None };
    let link = access.objects(&IMPORT, BUCKET, PREFIX).put_link(&id.to_string(), declared).await?;
    let headers = link.headers.into_iter().collect();
    let view = ImportLink { job: view(id, job.clone()), link: link.url, headers };
    let href = TrackerJobs::href(&path.tenant_id, id);
    let new = Limited { tenant: path.tenant_id, project: path.project_id, person, id, job };
    cx.retry(|| async {
        let actions = match new.create(access).await {
            Ok(actions) => actions,
            // The same request, sent twice at once, may have taken the last place.
            Err(problem) if problem.kind() == TOO_MANY_JOBS => {
                return once.earlier(&cx, &IMPORT, &TRACKER).await?.ok_or(problem);
            }
            Err(problem) => return Err(problem),
        };
        once.create(&cx, &IMPORT, &TRACKER, actions, href.clone(), &view).await.map_err(refusal)
    })
    .await
}

fn mapping(schema: &Schema, columns: BTreeMap<String, Option<String>>) -> Result<Vec<(String, Target)>, Problem> {
    let too_long = columns.keys().find(|header| header.chars().count() > MAX_HEADER);
    if let Some(header) = too_long {
        let pointer = format!("/columns{}", web::fault::pointer_step(header));
        let detail = format!("must be a header of at most {MAX_HEADER} characters");
        return Err(Problem::faults(vec![Fault::pointer(pointer, detail)]));
    }
    let (mut mapping, mut faults) = (Vec::new(), Vec::new());
    for (header, meaning) in columns {
        match Target::parse(meaning.as_deref(), schema) {
            Some(target) => mapping.push((header, target)),
            None => {
                let pointer = format!("/columns{}", web::fault::pointer_step(&header));
                let detail = "must be `number`, `name`, `state`, the id of an attribute of this project, or null";
                faults.push(Fault::pointer(pointer, detail));
            }
        }
    }
    if faults.is_empty() {
        return Ok(mapping);
    }
    Err(UNMAPPED_COLUMN.because("The import was not created. `errors` lists the columns.").at(faults))
}
