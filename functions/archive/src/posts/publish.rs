//! `POST /archive/posts/{postId}/publish`

use ::jobs::{Start, begin_now};
use serde::Deserialize;
use table::{Action, Changes, EntityKey, Stored};
use utoipa::ToSchema;
use web::{Accepted, Context, Either, Json, Kind as ProblemKind, Path, Problem, Route, Sample, problem};

use super::{IN_TRANSIT, PostPath, in_transit, load_own, raced};
use crate::access::{BEGIN_JOB, CALLER, HIDDEN_RUNS, ONE as ONE_ITEM, START_RUN};
use crate::audit::now;
use crate::authorization::{Caller, SIGNED_IN};
use crate::hidden::{self, Hidden};
use crate::item::{Collection, Post, PostFile};
use crate::jobs::{ArchiveJobs, Details, Job, Kind, NewJob};
use crate::keys::{CollectionKey, PostRunKey};
use crate::names::{PostStatus, Role, RunNumber, UserId};
use crate::publishing::Checkpoint;
use crate::record::CorrectionsPolicy;
use crate::runs::get::RunView;
use crate::runs::{BadRows, Phase, Run, RunStatus, Totals};
use crate::schema::ARCHIVE;

pub const NO_FILE: ProblemKind = ProblemKind::new(409, "no-file", "The post has no file");

pub const NO_NAME_MAPPED: ProblemKind = ProblemKind::new(409, "no-name-mapped", "The mapping has no column with names");

/// Runs that may write records at once.
const MAX_COMING: usize = 100;

/// Seconds after which a client may try again while as many runs write records as may.
const RETRY_AFTER: u32 = 60;

/// How a file is published.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Publication {
    /// What happens to a file with rows that have errors.
    #[serde(default)]
    bad_rows: BadRows,
    /// What happens to a cell that was corrected by hand and that the file has with another text.
    #[serde(default)]
    corrections: CorrectionsPolicy,
    /// Publishes a file that has not changed, so that its places are looked up again.
    #[serde(default)]
    resolve: bool,
    /// Only checks the file.
    #[serde(default)]
    dry_run: bool,
}

pub fn route() -> Route {
    Route::post("publishPost", "/archive/posts/{postId}/publish", SIGNED_IN, publish)
        .summary("Start a run that publishes the file of a post, or only checks it")
        .patterns(&[&CALLER, &ONE_ITEM, &HIDDEN_RUNS, &START_RUN, &BEGIN_JOB])
        .problems(&[
            problem::FORBIDDEN,
            problem::NOT_FOUND,
            IN_TRANSIT,
            NO_FILE,
            NO_NAME_MAPPED,
            problem::CONFLICT,
            problem::TOO_MANY_REQUESTS,
        ])
        .sample(Sample::new("/archive/posts/7000000003/publish").body(r#"{"badRows":"skip"}"#).expects(202))
}

async fn publish(
    cx: Context,
    Path(path): Path<PostPath>,
    Json(publication): Json<Publication>,
) -> Result<Either<Json<RunView>, Accepted<RunView>>, Problem> {
    let caller = Caller::with_role(&cx, Role::Volunteer).await?;
    let access = cx.access();
    cx.retry(|| async {
        let (stored, post) = load_own(&cx, &caller, path.post_id).await?;
        if post.status.is_in_transit() {
            return Err(in_transit());
        }
        let Some(file) = post.file.clone() else {
            return Err(NO_FILE.because("Upload a CSV file first: `POST /archive/posts/{postId}/file`."));
        };
        if !post.mapping.iter().any(|column| column.field.is_name()) {
            return Err(NO_NAME_MAPPED.because("Map at least one column to `given`, `surname` or `name`."));
        }
        let collection = collection(&cx, &post).await?;
        if let Some(run) = unchanged(&cx, &post, (&file, &collection), publication).await? {
            end_last_error(&cx, &stored, &post).await?;
            return Ok(Either::First(Json(RunView::new(path.post_id, run))));
        }
        let (hidden, hidden_item) = hidden::load_stored(access).await?;
        if !publication.dry_run && hidden.coming >= MAX_COMING {
            let detail = format!("{MAX_COMING} posts are being published. Try again in a minute.");
            return Err(problem::TOO_MANY_REQUESTS.because(detail).retry_after(RETRY_AFTER));
        }
        let user = caller.clone().into_user(&cx).await?;
        let run =
            begin(&cx, (&stored, &post), (file, &collection), (publication, user.id), hidden_item.as_ref()).await?;
        let href = format!("/archive/posts/{}/runs/{}", path.post_id, run.run.0);
        Ok(Either::Second(Accepted::new(href, &RunView::new(path.post_id, run))))
    })
    .await
}

/// Reads the collection of a post, which is there while it has posts.
async fn collection(cx: &Context, post: &Post) -> Result<Collection, Problem> {
    let key = CollectionKey { collection: post.collection_id };
    let stored = cx.access().table(&ONE_ITEM, &ARCHIVE).get_consistent(key).await?;
    Ok(stored.ok_or_else(Problem::lost_race)?.read()?)
}

/// Returns the published run if a new one would write the same.
async fn unchanged(
    cx: &Context,
    post: &Post,
    (file, collection): (&PostFile, &Collection),
    publication: Publication,
) -> Result<Option<Run>, Problem> {
    let Some(run) = post.published_run.filter(|_| !publication.resolve && !publication.dry_run) else {
        return Ok(None);
    };
    let stored = cx.access().table(&START_RUN, &ARCHIVE).get_consistent(PostRunKey { post: post.id, run }).await?;
    let Some(stored) = stored else { return Ok(None) };
    let run: Run = stored.read()?;
    let is_same = run.file == file.sha256
        && run.format == file.inspection.format()
        && run.mapping == post.mapping
        && run.bad_rows == publication.bad_rows
        && run.closed_years.unwrap_or_default() == collection.closed_years.unwrap_or_default()
        && run.place_id == collection.place_id;
    Ok(is_same.then_some(run))
}

/// The last error does not concern a post whose file is the published one.
async fn end_last_error(cx: &Context, stored: &Stored, post: &Post) -> Result<(), Problem> {
    if post.last_error.is_none() {
        return Ok(());
    }
    let after = Post { last_error: None, updated_at: now(cx), ..post.clone() };
    let update = Action::update(&ARCHIVE, stored.key.clone(), Changes::between(post, &after)?).if_unchanged(stored);
    cx.access().write(&START_RUN, update).await.map(drop).map_err(raced)
}

/// Creates the next run of a post with its job. `hidden_runs` is the item of the hidden runs, as it was counted.
async fn begin(
    cx: &Context,
    (stored, post): (&Stored, &Post),
    (file, collection): (PostFile, &Collection),
    (publication, user): (Publication, UserId),
    hidden_runs: Option<&Stored>,
) -> Result<Run, Problem> {
    let access = cx.access();
    let number = RunNumber(post.run.0 + 1);
    let job = Job::new(access, Kind::Publish, Details { run: number }, None).at(&Checkpoint::new(post.status))?;
    let job = NewJob::new(access, post.id, job, Start::After(0))?;
    let run = Run {
        run: number,
        job: job.id,
        status: RunStatus::Running,
        phase: Phase::Checking,
        format: file.inspection.format(),
        headers: file.inspection.headers,
        file: file.sha256,
        bytes: file.bytes,
        mapping: post.mapping.clone(),
        collection_id: post.collection_id,
        closed_years: collection.closed_years,
        place_id: collection.place_id,
        bad_rows: publication.bad_rows,
        corrections: publication.corrections,
        dry_run: publication.dry_run,
        previous: post.last_published,
        totals: Totals::default(),
        first_id: None,
        last_id: None,
        problems: Vec::new(),
        has_report: false,
        corrected: Default::default(),
        has_kept_corrections: false,
        taken_down: Default::default(),
        reason: None,
        created_at: now(cx),
        created_by: user,
        ended_at: None,
    };
    let file = post.file.clone().map(|file| PostFile { is_in_run: true, ..file });
    let after = Post { status: PostStatus::Publishing, run: number, file, ..post.clone() };
    let changes = Changes::between(post, &after)?;
    let mut actions = vec![
        Action::update(&ARCHIVE, stored.key.clone(), changes).if_unchanged(stored),
        Action::create(&ARCHIVE, PostRunKey { post: post.id, run: number }.key(), &run)?,
    ];
    if !publication.dry_run {
        let hide = hidden::update(post.id, &[(number, Some(Hidden::Coming))]);
        // Requests at the same moment must not exceed the limit together. Before the first run there is no item.
        actions.push(match hidden_runs {
            Some(counted) => hide.if_unchanged(counted),
            None => hide,
        });
    }
    let id = job.id;
    actions.extend(job.actions);
    access.transact(&START_RUN, &actions).await.map_err(raced)?;
    begin_now::<ArchiveJobs>(access, id).await;
    Ok(run)
}
