//! One step of an export: reads pages of the grid as rows, and uploads them when they are enough for a part of the file.

use std::time::{Duration, Instant};

use bytes::Bytes;
use jobs::{Counts, Step, Then, Worker};
use serde::Serialize;
use sheet::guarded;
use table::objects::LEAST_PART;
use table::{Access, Error};
use web::Problem;

use super::{ExportParams, PREFIX, object};
use crate::access::WRITE_EXPORT;
use crate::grid::list::total;
use crate::grid::page::{Page, Source};
use crate::grid::query::{Checkpoint, ParsedQuery};
use crate::items::Issue;
use crate::jobs::{Lease, TrackerJobs};
use crate::names::AttributeId;
use crate::project::{Consistency, Schema};
use crate::schema::BUCKET;
use crate::values::Type;
use crate::views::ValueView;

/// The longest time of a step, so that clients see the counts change.
const MAX_STEP: Duration = Duration::from_secs(1);

/// Issues of a page.
const PAGE: u32 = 100;

/// Seconds to wait for an attribute whose values are being rewritten.
const WAIT_FOR_ATTRIBUTE: u64 = 60;

/// The next part of the file.
#[derive(Debug)]
struct Part {
    /// The number of rows before it, which tells the checkpoint that it follows.
    before: u64,
    file: Vec<u8>,
    rows: u64,
    checkpoint: Checkpoint,
}

/// A row of the file, as text.
#[derive(Serialize)]
struct Row(Vec<String>);

/// Works on an export. It keeps the rows that it has read beyond the checkpoint.
#[derive(Debug, Default)]
pub struct Export(Option<Part>);

impl Worker<TrackerJobs> for Export {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let start = Instant::now();
        let mut params: ExportParams = lease.job.checkpoint()?;
        let schema = match lease.job.details.project {
            Some(project) => Schema::load(access, lease.group, project, Consistency::Strong).await?,
            None => None,
        };
        let Some(schema) = schema else { return Ok(Step::fail(&lease.job, "its project was deleted")) };
        let Ok(query) = ParsedQuery::of_body(&schema, &params.sort, params.order, &params.filter) else {
            return Ok(Step::fail(&lease.job, "a column that it sorts or filters by was deleted"));
        };
        if query.check_busy(&schema).is_err() {
            return Ok(Step::unchanged(&lease.job, Then::Wait(WAIT_FOR_ATTRIBUTE)));
        }
        if query.digest(&schema) != params.checkpoint.digest {
            return Ok(Step::fail(&lease.job, "the columns by which it sorts or filters have changed"));
        }
        let mut counts = lease.job.counts;
        if counts.total == 0 {
            let total = total(access, &schema, &query.filters).await?;
            counts.total = total.map_or(0, |total| total.value);
        }
        let mut part = match self.0.take() {
            Some(part) if part.before == params.rows => part,
            _ => {
                let file = match &params.kept {
                    Some(name) => access.objects(&WRITE_EXPORT, BUCKET, PREFIX).get(name).await.map(Vec::from),
                    None => Ok(heading(&schema, &params)),
                };
                match file {
                    Ok(file) => {
                        Part { before: params.rows, file, rows: params.rows, checkpoint: params.checkpoint.clone() }
                    }
                    Err(Error::NotFound) => return restart(lease, params, &query, &schema),
                    Err(error) => return Err(error.into()),
                }
            }
        };
        while part.file.len() < LEAST_PART && start.elapsed() < MAX_STEP {
            let source = Source::new(&schema, &query, &part.checkpoint);
            let row = |_, _, issue: &Issue| Row(row(&schema, &params.columns, issue));
            let Page { rows, next } = source.page(access, &schema, &query, part.checkpoint.clone(), PAGE, row).await?;
            for Row(cells) in &rows {
                sheet::write(cells.iter().map(String::as_str), &mut part.file);
            }
            part.rows += rows.len() as u64;
            match next {
                Some(next) => part.checkpoint = next,
                None => {
                    let rows = part.rows;
                    match finish(access, lease, &params, part).await {
                        Ok(()) => {}
                        Err(Error::NotFound) => return restart(lease, params, &query, &schema),
                        Err(error) => return Err(error.into()),
                    }
                    params.rows = rows;
                    return Step::new(Vec::new(), &params, Counts { total: rows, done: rows, ..counts }, Then::Succeed);
                }
            }
        }
        let counts = Counts { total: counts.total.max(part.rows), done: part.rows, ..counts };
        if part.file.len() >= LEAST_PART {
            let objects = access.objects(&WRITE_EXPORT, BUCKET, PREFIX);
            let upload = match params.upload.take() {
                Some(upload) => upload,
                None => objects.begin_upload(&object(lease.id), CSV).await?,
            };
            match objects.add_part(&object(lease.id), upload, Bytes::from(part.file)).await {
                Ok(upload) => params.upload = Some(upload),
                Err(Error::NotFound) => return restart(lease, params, &query, &schema),
                Err(error) => return Err(error.into()),
            }
            (params.checkpoint, params.rows, params.kept) = (part.checkpoint, part.rows, None);
        } else {
            self.0 = Some(part);
        }
        Step::new(Vec::new(), &params, counts, Then::Continue)
    }

    /// Stores the rows for the next run, under a name that no other run writes, so that an export advances even if each run
    /// reads only a few rows. None if the checkpoint has all of them.
    async fn suspend(&mut self, access: &Access, lease: &Lease) -> Result<Option<Step>, Problem> {
        let params: ExportParams = lease.job.checkpoint()?;
        let Some(part) = self.0.take().filter(|part| part.before == params.rows && part.rows > params.rows) else {
            return Ok(None);
        };
        let name = format!("{}-{:016x}.part", lease.id, fastrand::u64(..));
        access.objects(&WRITE_EXPORT, BUCKET, PREFIX).put(&name, Bytes::from(part.file), CSV).await?;
        let counts = Counts { total: lease.job.counts.total.max(part.rows), done: part.rows, ..lease.job.counts };
        let params = ExportParams { checkpoint: part.checkpoint, rows: part.rows, kept: Some(name), ..params };
        Step::new(Vec::new(), &params, counts, Then::Wait(0)).map(Some)
    }
}

/// Starts again: S3 aborts an upload after a day, and stored rows expire.
fn restart(lease: &Lease, params: ExportParams, query: &ParsedQuery, schema: &Schema) -> Result<Step, Problem> {
    let params = ExportParams { upload: None, kept: None, rows: 0, checkpoint: query.start(schema), ..params };
    Step::new(Vec::new(), &params, Counts { done: 0, ..lease.job.counts }, Then::Continue)
}

const CSV: &str = "text/csv; charset=utf-8";

/// Completes the file. It is complete already if an earlier run has crashed after that.
async fn finish(access: &Access, lease: &Lease, params: &ExportParams, part: Part) -> Result<(), Error> {
    let (objects, name) = (access.objects(&WRITE_EXPORT, BUCKET, PREFIX), object(lease.id));
    let Some(upload) = params.upload.clone() else {
        return objects.put(&name, Bytes::from(part.file), CSV).await;
    };
    let complete = async {
        let upload = match part.file.is_empty() {
            true => upload,
            false => objects.add_part(&name, upload, Bytes::from(part.file)).await?,
        };
        objects.complete_upload(&name, &upload).await
    };
    match complete.await {
        Ok(()) => Ok(()),
        Err(error) => match objects.head(&name).await {
            Ok(_) => Ok(()),
            Err(Error::NotFound) => Err(error),
            Err(other) => Err(other),
        },
    }
}

/// The header, if no part was uploaded before.
fn heading(schema: &Schema, params: &ExportParams) -> Vec<u8> {
    let mut file = Vec::new();
    if params.upload.is_none() {
        let name = |id: &AttributeId| schema.column(*id).map_or("", |attribute| attribute.item.name.as_str());
        let names = params.columns.iter().map(|id| guarded(name(id)).into_owned());
        let header: Vec<String> = ["Number", "Name", "State"].map(str::to_owned).into_iter().chain(names).collect();
        sheet::write(header.iter().map(String::as_str), &mut file);
    }
    file
}

fn row(schema: &Schema, columns: &[AttributeId], issue: &Issue) -> Vec<String> {
    let mut cells = vec![issue.num.to_string(), guarded(&issue.name).into_owned(), issue.state.as_str().to_owned()];
    cells.extend(columns.iter().map(|id| cell(schema, *id, issue).unwrap_or_default()));
    cells
}

fn cell(schema: &Schema, id: AttributeId, issue: &Issue) -> Option<String> {
    let (attribute, value) = (schema.column(id)?, issue.value(id)?);
    Some(match ValueView::new(attribute, value) {
        ValueView::Choice { label, .. } => guarded(&label).into_owned(),
        ValueView::Text(text) if matches!(attribute.item.of, Type::Text) => guarded(&text).into_owned(),
        ValueView::Text(text) => text,
    })
}
