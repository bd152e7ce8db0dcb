//! `DELETE /archive/posts/{postId}`

use web::{Accepted, Context, IfMatch, Path, Problem, Route, Sample, problem};

use super::{IN_TRANSIT, ONE, PostPath, PostView, SAMPLE, in_transit, load_own};
use crate::access::{BEGIN_JOB, CALLER, ONE as ONE_ITEM, WITHDRAW};
use crate::authorization::{Caller, SIGNED_IN};
use crate::names::{PostStatus, Role};
use crate::publishing::withdraw;

pub fn route() -> Route {
    Route::delete("deletePost", ONE, SIGNED_IN, delete)
        .summary("Delete a post with its records and files: one of the caller, or any as an editor")
        .patterns(&[&CALLER, &ONE_ITEM, &WITHDRAW, &BEGIN_JOB])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, IN_TRANSIT, problem::CONFLICT])
        .sample(Sample::new(SAMPLE))
}

/// The same request again responds with 202, too, for as long as the post is being deleted.
async fn delete(
    cx: Context,
    Path(PostPath { post_id }): Path<PostPath>,
    tag: IfMatch,
) -> Result<Accepted<PostView>, Problem> {
    let caller = Caller::with_role(&cx, Role::Volunteer).await?;
    let post = cx
        .retry_stale(&tag, || async {
            let (stored, post) = load_own(&cx, &caller, post_id).await?;
            if post.status == PostStatus::Deleting {
                return Ok(post);
            }
            tag.check(stored.rev)?;
            if post.status.is_in_transit() {
                return Err(in_transit());
            }
            withdraw::begin(&cx, &stored, PostStatus::Deleting).await
        })
        .await?;
    Ok(Accepted::new(format!("/archive/posts/{post_id}"), &post.into()))
}
