//! `GET /archive/posts/{postId}/runs`

use web::{Context, Page, PageQuery, Path, Problem, Query, Route, Sample, problem};

use super::Run;
use super::get::RunView;
use crate::access::{CALLER, ONE, RUNS};
use crate::authorization::{Caller, SIGNED_IN};
use crate::keys::{PostKey, RUN_PREFIX};
use crate::names::Role;
use crate::posts::PostPath;
use crate::schema::ARCHIVE;

pub fn route() -> Route {
    Route::get("listRuns", "/archive/posts/{postId}/runs", SIGNED_IN, list)
        .summary("List the runs of a post, newest first")
        .patterns(&[&CALLER, &RUNS, &ONE])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND])
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
    // A post with runs is there, and most have some.
    if page.items.is_empty() {
        let post = cx.access().table(&ONE, &ARCHIVE).get(PostKey { post: path.post_id }).await?;
        post.ok_or_else(Problem::not_found)?;
    }
    cx.page(page, |stored| Ok(RunView::new(path.post_id, stored.read::<Run>()?)))
}
