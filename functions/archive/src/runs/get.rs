//! `GET /archive/posts/{postId}/runs/{run}`

use serde::{Deserialize, Serialize};
use table::EntityKey;
use utoipa::ToSchema;
use web::{Answer, Context, Path, Problem, Route, Sample, problem};

use super::{BadRows, Phase, Run, RunStatus, Totals};
use crate::access::{CALLER, RUN};
use crate::authorization::{Caller, SIGNED_IN};
use crate::keys::PostRunKey;
use crate::names::{PostId, PostStatus, Role, RunNumber, UserId};
use crate::posts;
use crate::record::CorrectionsPolicy;
use crate::register::Problem as FileProblem;
use crate::schema::ARCHIVE;

pub const ONE: &str = "/archive/posts/{postId}/runs/{run}";

/// The path of a run.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunPath {
    pub post_id: PostId,
    /// The number of the run among those of its post.
    #[schema(minimum = 1)]
    pub run: u32,
}

/// A run in responses.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Run)]
pub struct RunView {
    pub post_id: PostId,
    pub run: RunNumber,
    pub status: RunStatus,
    pub phase: Phase,
    pub bad_rows: BadRows,
    pub corrections: CorrectionsPolicy,
    pub dry_run: bool,
    pub totals: Totals,
    /// The first 50 problems, errors before warnings. The report has all.
    pub problems: Vec<FileProblem>,
    /// Why it has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub created_at: String,
    pub created_by: UserId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
}

impl RunView {
    pub fn new(post_id: PostId, run: Run) -> Self {
        Self {
            post_id,
            run: run.run,
            status: run.status,
            phase: run.phase,
            bad_rows: run.bad_rows,
            corrections: run.corrections,
            dry_run: run.dry_run,
            totals: run.totals,
            problems: run.problems,
            reason: run.reason,
            created_at: run.created_at,
            created_by: run.created_by,
            ended_at: run.ended_at,
        }
    }
}

pub fn route() -> Route {
    Route::get("getRun", ONE, SIGNED_IN, get)
        .summary("Get a run of a post with its first 50 problems")
        .patterns(&[&CALLER, &RUN])
        .answers::<RunView>(200)
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND])
        .sample(Sample::new("/archive/posts/7000000003/runs/1"))
}

async fn get(cx: Context, Path(path): Path<RunPath>) -> Result<Answer, Problem> {
    let run = load(&cx, path).await?;
    let is_open = run.status == RunStatus::Running;
    let answer = Answer::ok(&RunView::new(path.post_id, run));
    Ok(if is_open { answer.retry_after(1) } else { answer })
}

/// Reads a run for a volunteer. 404 if there is none.
async fn load(cx: &Context, path: RunPath) -> Result<Run, Problem> {
    Caller::with_role(cx, Role::Volunteer).await?;
    let key = PostRunKey { post: path.post_id, run: RunNumber(path.run) }.key();
    let stored = cx.access().table(&RUN, &ARCHIVE).get_consistent(key).await?;
    Ok(stored.ok_or_else(Problem::not_found)?.read()?)
}

/// Reads a run for a volunteer. 404 also for one that has not read its file to the end, since it has no report, and
/// while its post is being deleted, since the report is deleted before the run.
pub async fn load_with_report(cx: &Context, path: RunPath) -> Result<Run, Problem> {
    let run = load(cx, path).await?;
    if !run.has_report {
        return Err(Problem::not_found());
    }
    let (_, post) = posts::load(cx, path.post_id).await?;
    if post.status == PostStatus::Deleting { Err(Problem::not_found()) } else { Ok(run) }
}
