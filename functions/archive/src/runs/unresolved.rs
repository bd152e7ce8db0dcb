//! `GET /archive/posts/{postId}/runs/{run}/unresolved`

use web::{Context, Page, PageQuery, Path, Problem, Query, Route, Sample, problem};

use super::get::{RunPath, load_with_report};
use crate::access::{CALLER, ONE, REPORTS, RUN, RUN_REPORT};
use crate::authorization::SIGNED_IN;
use crate::publishing::{UnresolvedText, unresolved_name};
use crate::schema::BUCKET;

pub fn route() -> Route {
    Route::get("listUnresolvedPlaces", "/archive/posts/{postId}/runs/{run}/unresolved", SIGNED_IN, list)
        .summary("List the place texts of a run that mean no place, or only in part, the most frequent first")
        .patterns(&[&CALLER, &RUN, &ONE, &RUN_REPORT])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND])
        .sample(Sample::new("/archive/posts/7000000003/runs/1/unresolved"))
}

async fn list(
    cx: Context,
    Path(path): Path<RunPath>,
    Query(query): Query<PageQuery>,
) -> Result<Page<UnresolvedText>, Problem> {
    let run = load_with_report(&cx, path).await?;
    // The list of a run never changes, so a position in it is exact.
    let from: usize = cx.cursor(query.cursor.as_deref())?.unwrap_or(0);
    let reports = cx.access().objects(&RUN_REPORT, BUCKET, REPORTS.prefix);
    let stored = match reports.get(&unresolved_name(path.post_id, run.run)).await {
        Ok(stored) => stored,
        Err(error) => {
            // The deletion of the post may have begun meanwhile.
            load_with_report(&cx, path).await?;
            return Err(error.into());
        }
    };
    let texts: Vec<UnresolvedText> = serde_json::from_slice(&stored).map_err(Problem::internal)?;
    let to = from.saturating_add(query.limit.0 as usize);
    let next_cursor = cx.cursor_to((to < texts.len()).then_some(to))?;
    let items = texts.into_iter().take(to).skip(from).collect();
    Ok(Page { items, next_cursor })
}
