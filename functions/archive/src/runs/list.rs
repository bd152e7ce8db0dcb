//! `GET /archive/posts/{postId}/runs`

use web::{Context, Page, PageQuery, Path, Problem, Query, Route, Sample, problem};

use super::Run;
use super::get::RunView;
use crate::access::{CALLER, RUNS};
use crate::authorization::{Caller, SIGNED_IN};
use crate::keys::RUN_PREFIX;
use crate::names::Role;
use crate::posts::PostPath;
use crate::schema::ARCHIVE;

pub fn route() -> Route {
    Route::get("listRuns", "/archive/posts/{postId}/runs", SIGNED_IN, list)
        .summary("List the runs of a post, newest first")
        .patterns(&[&CALLER, &RUNS])
        .problems(&[problem::FORBIDDEN])
        .sample(Sample::new("/archive/posts/7000000003/runs"))
}

async fn list(
    cx: Context,
    Path(path): Path<PostPath>,
    Query(query): Query<PageQuery>,
) -> Result<Page<RunView>, Problem> {
    Caller::with_role(&cx, Role::Volunteer).await?;
    let after = cx.cursor(query.cursor.as_deref())?;
    let runs = cx.access().table(&RUNS, &ARCHIVE).query(path.post_id.to_string()).begins_with(RUN_PREFIX);
    let page = runs.backward().after(after).page(query.limit.0).await?;
    cx.page(page, |stored| Ok(RunView::new(path.post_id, stored.read::<Run>()?)))
}
