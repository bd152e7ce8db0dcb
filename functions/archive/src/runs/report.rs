//! `GET /archive/posts/{postId}/runs/{run}/report`

use serde::Serialize;
use utoipa::ToSchema;
use web::{Context, Json, Path, Problem, Route, Sample, problem};

use super::get::{RunPath, load_with_report};
use crate::access::{CALLER, ONE, REPORTS, RUN, RUN_REPORT};
use crate::authorization::SIGNED_IN;
use crate::publishing::report_name;
use crate::schema::BUCKET;

/// A link to all problems of a run.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReportLink {
    /// A CSV file with line, column, code and text, valid for 5 minutes.
    link: String,
}

pub fn route() -> Route {
    Route::get("getReport", "/archive/posts/{postId}/runs/{run}/report", SIGNED_IN, get)
        .summary("Get a link to all problems of a run as CSV")
        .patterns(&[&CALLER, &RUN, &ONE, &RUN_REPORT])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND])
        .sample(Sample::new("/archive/posts/7000000003/runs/1/report"))
}

async fn get(cx: Context, Path(path): Path<RunPath>) -> Result<Json<ReportLink>, Problem> {
    let run = load_with_report(&cx, path).await?;
    let reports = cx.access().objects(&RUN_REPORT, BUCKET, REPORTS.prefix);
    Ok(Json(ReportLink { link: reports.get_link(&report_name(path.post_id, run.run)).await?.url }))
}
