//! `POST /tracker/tenants/{tenantId}/projects/{projectId}/exports`

use jobs::limits::TOO_MANY_JOBS;
use jobs::{JobId, Jobs, begin_now};
use serde::Deserialize;
use utoipa::ToSchema;
use web::{Accepted, Context, Fault, IdempotencyKey, Json, Order, Path, Problem, Route, Sample, problem};

use super::ExportParams;
use crate::access::{BEGIN_JOB, EXPORT, MEMBERSHIP, OPEN_JOBS, PROJECT};
use crate::attributes::{ATTRIBUTE_BUSY, refusal};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::grid::query::{ParsedQuery, by_number, columns};
use crate::imports::UNMAPPED_COLUMN;
use crate::jobs::view::{JobView, view};
use crate::jobs::{Details, Job, Kind, Limited, TrackerJobs};
use crate::names::AttributeId;
use crate::project::Consistency;
use crate::projects::ProjectPath;
use crate::schema::TRACKER;

/// The parameters of a grid, whose rows are exported with the columns Number, Name, State and the attributes.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewExport {
    /// `number`, `name`, `state`, `createdAt`, `updatedAt`, or the id of an attribute.
    #[serde(default = "by_number")]
    #[schema(default = "number", max_length = 50)]
    sort: String,
    #[serde(default)]
    order: Order,
    /// At most 10 filters `column:op:value` as on the grid.
    #[serde(default)]
    #[schema(max_items = 10)]
    filter: Vec<String>,
    /// The ids of attributes, in any order; all if absent.
    #[serde(default)]
    #[schema(nullable = false, max_items = 100)]
    columns: Option<Vec<AttributeId>>,
}

pub fn route() -> Route {
    Route::post("createExport", "/tracker/tenants/{tenantId}/projects/{projectId}/exports", SIGNED_IN, create)
        .summary("Create a CSV file of all rows of a grid; the job links to it when it has ended")
        .patterns(&[&MEMBERSHIP, &PROJECT, &OPEN_JOBS, &EXPORT, &BEGIN_JOB])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, ATTRIBUTE_BUSY, TOO_MANY_JOBS, UNMAPPED_COLUMN])
        .sample(
            Sample::new("/tracker/tenants/tenant-0807/projects/project-35e9/exports")
                .body(r#"{"sort":"name","filter":["state:eq:open"]}"#),
        )
}

async fn create(
    cx: Context,
    Path(path): Path<ProjectPath>,
    once: IdempotencyKey,
    Json(new): Json<NewExport>,
) -> Result<Accepted<JobView>, Problem> {
    let me = TenantAccess::load(&cx, path.tenant_id).await?.me;
    if let Some(earlier) = once.earlier(&cx, &EXPORT, &TRACKER).await? {
        return Ok(earlier);
    }
    let schema = path.load(&cx, Consistency::Strong).await?;
    let query = ParsedQuery::of_body(&schema, &new.sort, new.order, &new.filter).map_err(Problem::faults)?;
    query.check_busy(&schema)?;
    let columns = columns(&schema, new.columns.as_deref()).map_err(|indexes| {
        let fault = |index| Fault::pointer(format!("/columns/{index}"), "is not an attribute of this project");
        UNMAPPED_COLUMN.because("The export was not created.").at(indexes.into_iter().map(fault).collect())
    })?;
    let params = ExportParams {
        columns: columns.into_iter().map(|attribute| attribute.id).collect(),
        checkpoint: query.start(&schema),
        sort: new.sort,
        order: new.order,
        filter: new.filter,
        upload: None,
        kept: None,
        rows: 0,
    };
    let (id, details) = (JobId::new(), Details::project(path.project_id));
    let job = Job::new(cx.access(), Kind::Export, details, Some(me.to_string())).at(&params)?;
    let (view, href) = (view(id, job.clone()), TrackerJobs::href(&path.tenant_id, id));
    let new = Limited { tenant: path.tenant_id, project: path.project_id, person: me, id, job };
    let accepted = cx.retry(|| async {
        let actions = match new.create(cx.access()).await {
            Ok(actions) => actions,
            // The same request, sent twice at once, may have taken the last place.
            Err(problem) if problem.kind() == TOO_MANY_JOBS => {
                return once.earlier(&cx, &EXPORT, &TRACKER).await?.ok_or(problem);
            }
            Err(problem) => return Err(problem),
        };
        once.accept(&cx, &EXPORT, &TRACKER, actions, href.clone(), &view).await.map_err(refusal)
    });
    let accepted = accepted.await?;
    begin_now::<TrackerJobs>(cx.access(), id).await;
    Ok(accepted)
}
