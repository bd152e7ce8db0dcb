//! `GET /archive/posts/{postId}/runs/{run}/unresolved`

use serde::Serialize;
use utoipa::ToSchema;
use web::{Context, Json, Path, Problem, Route, Sample, problem};

use super::get::{RunPath, load_with_report};
use crate::access::{CALLER, REPORTS, RUN, RUN_REPORT};
use crate::authorization::SIGNED_IN;
use crate::publishing::{UnresolvedText, unresolved_name};
use crate::schema::BUCKET;

/// The place texts of a run that mean no place.
#[derive(Debug, Serialize, ToSchema)]
pub struct Unresolved {
    /// The 1 000 most frequent texts, the most frequent first.
    items: Vec<UnresolvedText>,
}

pub fn route() -> Route {
    Route::get("listUnresolvedPlaces", "/archive/posts/{postId}/runs/{run}/unresolved", SIGNED_IN, list)
        .summary("List the place texts of a run that mean no place, or only in part, the most frequent first")
        .patterns(&[&CALLER, &RUN, &RUN_REPORT])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND])
        .sample(Sample::new("/archive/posts/7000000003/runs/1/unresolved"))
}

async fn list(cx: Context, Path(path): Path<RunPath>) -> Result<Json<Unresolved>, Problem> {
    let run = load_with_report(&cx, path).await?;
    let reports = cx.access().objects(&RUN_REPORT, BUCKET, REPORTS.prefix);
    let stored = reports.get(&unresolved_name(path.post_id, run.run)).await?;
    Ok(Json(Unresolved { items: serde_json::from_slice(&stored).map_err(Problem::internal)? }))
}
