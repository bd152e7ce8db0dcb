//! `POST .../exports`: a grid is asked for as a file.

use serde::Deserialize;
use utoipa::ToSchema;
use web::{Answer, Fault, Order, Problem, Request};

use super::Plan;
use crate::access::EXPORT;
use crate::callers::{at_least, me};
use crate::grid::list::{Question, by_number, check_busy, columns};
use crate::imports::UNMAPPED_COLUMN;
use crate::items::Role;
use crate::names::{AttributeId, WorkId};
use crate::project::Read;
use crate::projects::{self, ProjectPath};
use crate::schema::TRACKER;
use crate::work::routes::WorkView;
use crate::work::{Kind, Start, Work, begin_job};

/// The grid's own parameters: every row of it is in the file, whose columns are Number, Name, State and attributes.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewExport {
    /// `number`, `name`, `state`, or the id of an attribute.
    #[serde(default = "by_number")]
    #[schema(default = "number", max_length = 50)]
    sort: String,
    #[serde(default)]
    order: Order,
    /// At most 10 of `column:op:value`, as the grid takes them.
    #[serde(default)]
    #[schema(max_items = 10)]
    filter: Vec<String>,
    /// The ids of attributes, in any order; all if absent.
    #[serde(default)]
    #[schema(nullable = false, max_items = 100)]
    columns: Option<Vec<AttributeId>>,
}

pub async fn begin(request: Request) -> Result<Answer, Problem> {
    let ProjectPath { tenant_id, project_id } = request.path()?;
    at_least(&request, tenant_id, Role::Viewer).await?;
    let new: NewExport = request.json()?;
    if let Some(answer) = request.earlier(&EXPORT, &TRACKER).await? {
        return Ok(answer);
    }
    let schema = projects::read(&request, tenant_id, project_id, Read::Strong).await?;
    let question = Question::read(&schema, &new.sort, new.order, &new.filter).map_err(|faults| {
        let fault = |(name, detail)| Fault::pointer(format!("/{name}"), detail);
        Problem::faults(faults.into_iter().map(fault).collect())
    })?;
    check_busy(&schema, Some(question.sort.column), &question.filters)?;
    let columns = columns(&schema, new.columns.as_deref()).map_err(|place| {
        let fault = Fault::pointer(format!("/columns/{place}"), "is no attribute of this project");
        UNMAPPED_COLUMN.because("Nothing was begun.").at(vec![fault])
    })?;
    let plan = Plan {
        columns: columns.into_iter().map(|attribute| attribute.id).collect(),
        at: question.begin(&schema),
        sort: new.sort,
        order: new.order,
        filter: new.filter,
        upload: None,
        kept: None,
        rows: 0,
    };
    let who = me(&request)?.to_string();
    let work = Work {
        checkpoint: serde_json::to_value(plan).map_err(Problem::internal)?,
        ..Work::new(request.access(), Kind::Export, (Some(project_id), None), Some(who))
    };
    let id = WorkId::new();
    let view = WorkView::new(id, work.clone(), true);
    begin_job(&request, &EXPORT, (tenant_id, id), &work, Start::After(0), &view).await
}
