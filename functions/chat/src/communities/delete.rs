//! `DELETE /chat/communities/{communityId}`: the community is marked first, which hides it, then a job deletes its group
//! chats and items.

use jobs::{Job, JobKey, JobOf, JobViewOf, Start, accepted, begin_now};
use table::{AccessPattern, Action, Changes, Condition, item};
use web::{Accepted, Context, Path, Problem, Query, Route, Sample, problem};

use super::authorization::{CommunityAccess, LOAD_COMMUNITY};
use super::{CommunityPath, ONE};
use crate::access::{BEGIN_JOB, CALLER, COMMUNITIES, LIVE};
use crate::audit::{AuditedAction, Log, ReasonQuery, entry};
use crate::caller::{BANNED, SIGNED_IN};
use crate::jobs::{ChatJobs, Details, Kind, NewJob};
use crate::keys::CommunityKey;
use crate::names::Millisecond;
use crate::schema;

/// The mark of the community, the job, and the entry in the platform's audit log.
const MARK_COMMUNITY: AccessPattern =
    AccessPattern::new("markCommunity", &[COMMUNITIES.update(), COMMUNITIES.put(), LIVE.put(), LIVE.get()]);

pub fn route() -> Route {
    Route::delete("deleteCommunity", ONE, SIGNED_IN, delete)
        .summary("Delete a community with its group chats, as its founder or as an administrator")
        .patterns(&[&CALLER, &LOAD_COMMUNITY, &MARK_COMMUNITY, &BEGIN_JOB])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new("/chat/communities/019b76da-a800-7000-8000-000000000012"))
}

async fn delete(
    cx: Context,
    Path(path): Path<CommunityPath>,
    Query(query): Query<ReasonQuery>,
) -> Result<Accepted<JobViewOf<ChatJobs>>, Problem> {
    cx.retry(|| async {
        let access = CommunityAccess::load_also_deleted(&cx, path.community_id).await?;
        let (community, me) = (&access.community, access.me());
        let may_delete = access.caller.is_admin || community.founder == me;
        if let Some(job) = community.deletion_job {
            // To other callers a community that is being deleted is absent.
            let job = if may_delete { Some(job) } else { None }.ok_or_else(Problem::not_found)?;
            let stored = cx.access().table(&MARK_COMMUNITY, &schema::LIVE).get_consistent(JobKey { job }).await?;
            let read: JobOf<ChatJobs> = stored.ok_or_else(Problem::not_found)?.read()?;
            return Ok(accepted::<ChatJobs>(&me, job, read));
        }
        if !access.caller.is_admin {
            access.require_founder()?;
        }
        let clock = &cx.engines().clock;
        let by = cx.principal().signed_in()?.idpid().to_string();
        let details = Details { community: Some(community.id), chat: None };
        let job = Job::new(cx.access(), Kind::DeleteCommunity, details, Some(by));
        let job = NewJob::new(cx.access(), me, job, Start::After(0))?;
        let marked = Changes::new()
            .set("DeletingAt", item::text(Millisecond::now(clock).to_string()))
            .set("DeletionJob", item::text(job.id.to_string()))
            .remove("CountryKey")
            .remove("PlaceKey");
        let mut actions = vec![
            Action::update(&schema::COMMUNITIES, CommunityKey { community: community.id }, marked)
                .when(Condition::Absent("DeletingAt"))
                .when(Condition::Equals("Founder", item::text(community.founder.to_string()))),
            entry(clock, Log::Platform, me, AuditedAction::DeleteCommunity, community.id, query.text())?,
        ];
        actions.extend(job.actions.clone());
        match cx.access().transact(&MARK_COMMUNITY, &actions).await {
            Ok(_) => {}
            // Another request has deleted the community or handed it over.
            Err(error) if error.failed(0).is_some() => return Err(Problem::lost_race()),
            Err(error) => return Err(error.into()),
        }
        begin_now::<ChatJobs>(cx.access(), job.id).await;
        Ok(accepted::<ChatJobs>(&me, job.id, job.job))
    })
    .await
}
