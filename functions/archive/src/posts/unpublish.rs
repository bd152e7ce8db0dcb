//! `POST /archive/posts/{postId}/unpublish`

use web::{Accepted, Context, Kind, Path, Problem, Route, Sample, problem};

use super::{IN_TRANSIT, PostPath, PostView, in_transit, load_own};
use crate::access::{BEGIN_JOB, CALLER, ONE as ONE_ITEM, WITHDRAW};
use crate::authorization::{Caller, SIGNED_IN};
use crate::names::{PostStatus, Role};
use crate::publishing::withdraw;

pub const NOT_PUBLISHED: Kind = Kind::new(409, "not-published", "The post is not published");

pub fn route() -> Route {
    Route::post("unpublishPost", "/archive/posts/{postId}/unpublish", SIGNED_IN, unpublish)
        .summary("Withdraw the records of a post from readers; its file stays")
        .patterns(&[&CALLER, &ONE_ITEM, &WITHDRAW, &BEGIN_JOB])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, IN_TRANSIT, NOT_PUBLISHED, problem::CONFLICT])
        .sample(Sample::new("/archive/posts/7000000003/unpublish"))
}

async fn unpublish(cx: Context, Path(path): Path<PostPath>) -> Result<Accepted<PostView>, Problem> {
    let caller = Caller::with_role(&cx, Role::Volunteer).await?;
    let post = cx
        .retry(|| async {
            let (stored, post) = load_own(&cx, &caller, path.post_id).await?;
            if post.status.is_in_transit() {
                return Err(in_transit());
            }
            if post.published_run.is_none() {
                return Err(NOT_PUBLISHED.because("Readers see no record of the post."));
            }
            withdraw::begin(&cx, &stored, PostStatus::Unpublishing).await
        })
        .await?;
    Ok(Accepted::new(format!("/archive/posts/{}", path.post_id), &post.into()))
}
