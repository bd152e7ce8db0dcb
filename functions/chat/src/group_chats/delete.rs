//! `DELETE /chat/groupchats/{chatId}`: the chat is marked first, which hides it, then a job deletes its contents.

use jobs::{Job, JobKey, JobOf, JobViewOf, Start, accepted, begin_now};
use table::{AccessPattern, Action, Changes, Condition, item};
use web::{Accepted, Context, Path, Problem, Query, Route, Sample, problem};

use super::authorization::{GroupChatAccess, LOAD_GROUP_CHAT};
use super::{GroupChatPath, ONE};
use crate::access::{BEGIN_JOB, CALLER, COMMUNITIES, GROUP_CHATS, LIVE};
use crate::audit::{AuditedAction, Log, ReasonQuery, entry};
use crate::caller::{BANNED, SIGNED_IN};
use crate::jobs::{ChatJobs, Details, Kind, NewJob};
use crate::keys::{CommunityKey, GroupChatRowKey};
use crate::names::Millisecond;
use crate::schema;

/// The mark of the chat, the end of its row in the community, the job, and the entries in the audit logs.
const MARK_GROUP_CHAT: AccessPattern = AccessPattern::new(
    "markGroupChat",
    &[GROUP_CHATS.update(), COMMUNITIES.delete(), COMMUNITIES.update(), COMMUNITIES.put(), LIVE.put(), LIVE.get()],
);

pub fn route() -> Route {
    Route::delete("deleteGroupChat", ONE, SIGNED_IN, delete)
        .summary("Delete a group chat, as its owner, as the founder of its community or as an administrator")
        .patterns(&[&CALLER, &LOAD_GROUP_CHAT, &MARK_GROUP_CHAT, &BEGIN_JOB])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new("/chat/groupchats/019b76da-a800-7000-8000-000000000022"))
}

async fn delete(
    cx: Context,
    Path(path): Path<GroupChatPath>,
    Query(query): Query<ReasonQuery>,
) -> Result<Accepted<JobViewOf<ChatJobs>>, Problem> {
    cx.retry(|| async {
        let access = GroupChatAccess::load_also_deleted(&cx, path.chat_id).await?;
        let (chat, me) = (&access.chat, access.me());
        let is_in_charge = [chat.owner, access.community.founder].contains(&me);
        let may_delete = access.caller.is_admin || is_in_charge;
        if let Some(job) = chat.deletion_job {
            // To other callers a chat that is being deleted is absent.
            let job = if may_delete { Some(job) } else { None }.ok_or_else(Problem::not_found)?;
            let stored = cx.access().table(&MARK_GROUP_CHAT, &schema::LIVE).get_consistent(JobKey { job }).await?;
            let read: JobOf<ChatJobs> = stored.ok_or_else(Problem::not_found)?.read()?;
            return Ok(accepted::<ChatJobs>(&me, job, read));
        }
        let is_deleted = chat.deleting_at.is_some() || access.community.deleting_at.is_some();
        if is_deleted || !(access.is_in_community || access.caller.is_admin) {
            return Err(Problem::not_found());
        }
        if !may_delete {
            access.require_owner()?;
        }
        let (community, clock) = (chat.community_id, &cx.engines().clock);
        let by = cx.principal().signed_in()?.idpid().to_string();
        let details = Details { community: Some(community), chat: Some(chat.id) };
        let job = Job::new(cx.access(), Kind::DeleteGroupChat, details, Some(by));
        let job = NewJob::new(cx.access(), me, job, Start::After(0))?;
        let marked = Changes::new()
            .set("DeletingAt", item::text(Millisecond::now(clock).to_string()))
            .set("DeletionJob", item::text(job.id.to_string()));
        let counted = Changes::new().add("NumGroupChats", -1);
        let mut actions = vec![
            Action::update(&schema::GROUP_CHATS, access.stored.key.clone(), marked)
                .when(Condition::Absent("DeletingAt"))
                .when(Condition::Equals("Owner", item::text(chat.owner.to_string()))),
            Action::delete(&schema::COMMUNITIES, GroupChatRowKey { community, chat: chat.id }),
            Action::update(&schema::COMMUNITIES, CommunityKey { community }, counted)
                .when(Condition::Absent("DeletingAt"))
                .when(Condition::Equals("Founder", item::text(access.community.founder.to_string()))),
            entry(clock, Log::Community(community), me, AuditedAction::DeleteGroupChat, chat.id, query.text())?,
        ];
        if !is_in_charge {
            // Administrators read what each of them has done in any community.
            actions.push(entry(clock, Log::Platform, me, AuditedAction::DeleteGroupChat, chat.id, query.text())?);
        }
        actions.extend(job.actions.clone());
        match cx.access().transact(&MARK_GROUP_CHAT, &actions).await {
            Ok(_) => {}
            // Another request has deleted the chat or its community, or handed one of them over.
            Err(table::Error::ConditionFailed(_)) => return Err(Problem::lost_race()),
            Err(error) => return Err(error.into()),
        }
        begin_now::<ChatJobs>(cx.access(), job.id).await;
        Ok(accepted::<ChatJobs>(&me, job.id, job.job))
    })
    .await
}
