//! `GET /archive/posts/{postId}`

use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::{ONE, PostPath, PostView, SAMPLE};
use crate::access::{CALLER, ONE as ONE_ITEM};
use crate::authorization::{Caller, SIGNED_IN};
use crate::item::Post;
use crate::keys::PostKey;
use crate::names::Role;
use crate::schema::ARCHIVE;

pub fn route() -> Route {
    Route::get("getPost", ONE, SIGNED_IN, get)
        .summary("Get a post")
        .patterns(&[&CALLER, &ONE_ITEM])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE))
}

async fn get(cx: Context, Path(PostPath { post_id: post }): Path<PostPath>) -> Result<Tagged<PostView>, Problem> {
    Caller::with_role(&cx, Role::Volunteer).await?;
    let stored = cx.access().table(&ONE_ITEM, &ARCHIVE).get_consistent(PostKey { post }).await?;
    let stored = stored.ok_or_else(Problem::not_found)?;
    Ok(Tagged::new(&stored.read::<Post>()?.into(), stored.rev))
}
