//! `POST /archive/posts/{postId}/cancel`

use ::jobs::{Cancellation, NOT_CANCELLABLE, begin_now};
use table::EntityKey;
use web::{Accepted, Context, Path, Problem, Route, Sample, problem};

use super::{PostPath, load_own};
use crate::access::{BEGIN_JOB, CALLER, CANCEL_RUN, ONE as ONE_ITEM};
use crate::authorization::{Caller, SIGNED_IN};
use crate::jobs::{ArchiveJobs, Job};
use crate::keys::{JobKey, PostRunKey};
use crate::names::{PostStatus, Role};
use crate::publishing::Checkpoint;
use crate::runs::Run;
use crate::runs::get::RunView;
use crate::schema::ARCHIVE;

pub fn route() -> Route {
    Route::post("cancelPublishing", "/archive/posts/{postId}/cancel", SIGNED_IN, cancel)
        .summary("Cancel the run of a post before readers see it; what it has written is deleted")
        .patterns(&[&CALLER, &ONE_ITEM, &CANCEL_RUN, &BEGIN_JOB])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, NOT_CANCELLABLE, problem::CONFLICT])
        .sample(Sample::new("/archive/posts/7000000003/cancel").expects(409))
}

async fn cancel(cx: Context, Path(path): Path<PostPath>) -> Result<Accepted<RunView>, Problem> {
    let caller = Caller::with_role(&cx, Role::Volunteer).await?;
    let (access, post) = (cx.access(), path.post_id);
    cx.retry(|| async {
        let (_, before) = load_own(&cx, &caller, post).await?;
        if before.status != PostStatus::Publishing {
            return Err(NOT_CANCELLABLE.because("No run works on the post."));
        }
        let archive = access.table(&CANCEL_RUN, &ARCHIVE);
        let run = archive.get_consistent(PostRunKey { post, run: before.run }.key()).await?;
        let run: Run = run.ok_or_else(Problem::lost_race)?.read()?;
        let stored = archive.get_consistent(JobKey { job: run.job }.key()).await?.ok_or_else(Problem::lost_race)?;
        let job: Job = stored.read()?;
        if !job.checkpoint::<Checkpoint>()?.phase.is_cancellable() {
            return Err(NOT_CANCELLABLE.because("Readers see the run already, or it is being undone."));
        }
        match ::jobs::cancel::<ArchiveJobs>(access, &CANCEL_RUN, (&post, run.job), &stored).await? {
            Cancellation::Ended | Cancellation::Requested(_) => {
                begin_now::<ArchiveJobs>(access, run.job).await;
                Ok(Accepted::new(format!("/archive/posts/{post}/runs/{}", run.run.0), &RunView::new(post, run)))
            }
        }
    })
    .await
}
