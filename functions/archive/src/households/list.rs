//! `GET /archive/posts/{postId}/households`

use table::{EntityKey, Position, Stored};
use web::{Context, Page, PageQuery, Path, Problem, Query, Route, Sample, problem};

use super::{HouseholdView, listed};
use crate::access::{CALLER, HOUSEHOLDS, ONE};
use crate::keys::{HOUSEHOLD_PREFIX, RecordHouseholdKey};
use crate::names::RunNumber;
use crate::posts::PostPath;
use crate::schema::ARCHIVE;
use crate::viewer::{READERS, Viewer, published, require_published};

pub fn route() -> Route {
    Route::get("listHouseholds", "/archive/posts/{postId}/households", READERS, list)
        .summary("List the households of a published post with their first members")
        .patterns(&[&CALLER, &ONE, &HOUSEHOLDS])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new("/archive/posts/7000000003/households"))
}

async fn list(
    cx: Context,
    Path(PostPath { post_id: post }): Path<PostPath>,
    Query(query): Query<PageQuery>,
) -> Result<Page<HouseholdView>, Problem> {
    let viewer = Viewer::load(&cx).await?;
    let after: Option<Position> = cx.cursor(query.cursor.as_deref())?;
    let (items, next) = cx
        .retry(|| async {
            let (_, run) = published(&cx, post).await?;
            let households = cx.access().table(&HOUSEHOLDS, &ARCHIVE).query(post.to_string());
            // A household may have members in other runs only, or only members who are closed to the caller.
            let seen = |page: Vec<Stored>| {
                let views: Result<Vec<_>, Problem> = page.iter().map(|stored| view(stored, run, &viewer)).collect();
                async { views }
            };
            let households = households.begins_with(HOUSEHOLD_PREFIX).after(after.clone());
            let page = households.page_of(query.limit.0, seen).await?;
            require_published(&cx, post, run).await?;
            Ok(page)
        })
        .await?;
    Ok(Page { items, next_cursor: cx.cursor_to(next)? })
}

fn view(stored: &Stored, run: RunNumber, viewer: &Viewer) -> Result<Option<HouseholdView>, Problem> {
    let key = RecordHouseholdKey::parse(&stored.key).ok_or_else(|| Problem::internal("a household has no number"))?;
    Ok(listed(key.household, stored, run, viewer)?)
}
