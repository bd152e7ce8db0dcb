//! `POST .../imports`: a file is announced; the answer says where to send it, and names the work.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use table::objects::{Declared, Gathered};
use utoipa::ToSchema;
use web::{Answer, Fault, Kind, Problem, Request};

use super::column::Target;
use super::records::At;
use super::step::WAITS;
use super::{LARGEST, LONGEST_HEADER, Mode, Numbers, OnError, PREFIX, Phase, Plan};
use crate::access::IMPORT;
use crate::callers::{at_least, me};
use crate::items::Role;
use crate::names::WorkId;
use crate::project::{Read, Schema};
use crate::projects::{self, ProjectPath};
use crate::schema::{BUCKET, TRACKER};
use crate::values::distinct;
use crate::work::routes::WorkView;
use crate::work::{Start, Work, WorkState, begin_job};

pub const UNMAPPED_COLUMN: Kind = Kind::new(422, "unmapped-column", "A column of the file means nothing here");

/// The most columns that a mapping may name.
const MOST_COLUMNS: usize = 200;

/// A CSV file that is about to be sent (RFC 4180, UTF-8).
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewImport {
    /// The exact size of the file, at most 200 MB.
    #[schema(minimum = 1)]
    bytes: u64,
    mode: Mode,
    on_error: OnError,
    /// What headers of the file mean that are not named as in the project: `number`, `name`, `state`, the id of an
    /// attribute, or null to leave a column out.
    #[serde(default, deserialize_with = "distinct")]
    columns: BTreeMap<String, Option<String>>,
}

/// Where to send the file, and the work that begins when it has arrived.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportLink {
    #[serde(flatten)]
    work: WorkView,
    /// Takes one `PUT` for 15 minutes.
    link: String,
    /// Header fields that the `PUT` must carry.
    headers: BTreeMap<String, String>,
}

pub async fn announce(request: Request) -> Result<Answer, Problem> {
    let ProjectPath { tenant_id, project_id } = request.path()?;
    at_least(&request, tenant_id, Role::Editor).await?;
    let new: NewImport = request.json()?;
    if let Some(answer) = request.earlier(&IMPORT, &TRACKER).await? {
        return Ok(answer);
    }
    if new.columns.len() > MOST_COLUMNS {
        let detail = format!("must be at most {MOST_COLUMNS} columns");
        return Err(Problem::faults(vec![Fault::pointer("/columns", detail)]));
    }
    if new.bytes > LARGEST {
        return Err(Problem::too_large(format!("A file to import has at most {LARGEST} bytes; cut it into several.")));
    }
    let schema = projects::read(&request, tenant_id, project_id, Read::Strong).await?;
    let plan = Plan {
        bytes: new.bytes,
        mode: new.mode,
        on_error: new.on_error,
        mapping: mapping(&schema, new.columns)?,
        looks: 0,
        phase: Phase::Checking,
        at: At::default(),
        columns: Vec::new(),
        headers: Vec::new(),
        numbers: Numbers::default(),
        met: None,
        faults: Gathered::default(),
    };
    let (access, id, who) = (request.access(), WorkId::new(), me(&request)?.to_string());
    let work = Work {
        state: WorkState::Waiting,
        checkpoint: serde_json::to_value(plan).map_err(Problem::internal)?,
        ..Work::new(access, crate::work::Kind::Import, (Some(project_id), None), Some(who))
    };
    let declared = Declared { bytes: new.bytes, sha256: None };
    let link = access.objects(&IMPORT, BUCKET, PREFIX).put_link(&id.id(), declared).await?;
    let headers = link.headers.into_iter().collect();
    let view = ImportLink { work: WorkView::new(id, work.clone(), true), link: link.url, headers };
    begin_job(&request, &IMPORT, (tenant_id, id), &work, Start::After(WAITS), &view).await
}

fn mapping(schema: &Schema, columns: BTreeMap<String, Option<String>>) -> Result<Vec<(String, Target)>, Problem> {
    let too_long = columns.keys().find(|header| header.chars().count() > LONGEST_HEADER);
    if let Some(header) = too_long {
        let pointer = format!("/columns{}", web::fault::pointer_step(header));
        let detail = format!("must be a header of at most {LONGEST_HEADER} characters");
        return Err(Problem::faults(vec![Fault::pointer(pointer, detail)]));
    }
    let (mut mapping, mut faults) = (Vec::new(), Vec::new());
    for (header, meant) in columns {
        match Target::parse(meant.as_deref(), schema) {
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
    Err(UNMAPPED_COLUMN.because("Nothing was begun; `errors` tells what each column may mean.").at(faults))
}
