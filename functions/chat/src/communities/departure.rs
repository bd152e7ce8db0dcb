//! The begin of leaving a community. The member is marked first: from then on no transaction makes the user a member or the
//! owner of a group chat there. Then a job leaves the group chats, and the community last.

use jobs::{DoneOrAccepted, Job, Start, Status, accepted, work, work_again};
use table::{Access, AccessPattern, Action, Changes, Condition, item};
use web::{Context, Either, NoContent, Problem};

use super::owned_chats::owns_chat;
use super::{Ban, Community, CommunityMember, OWNER_MUST_TRANSFER};
use crate::access::{COMMUNITIES, GROUP_CHATS, LIVE};
use crate::audit::{AuditedAction, Log, entry};
use crate::jobs::{ChatJobs, Details, Kind, NewJob};
use crate::keys::{BanKey, CommunityKey, CommunityMemberKey};
use crate::names::{CommunityId, Millisecond, UserId};
use crate::schema;

/// A member, and the group chats of the community that the member owns.
pub const LOAD_DEPARTURE: AccessPattern =
    AccessPattern::new("loadDeparture", &[COMMUNITIES.get(), COMMUNITIES.query(), GROUP_CHATS.batch_get()]);

/// The mark of a member who leaves, the job, the ban, and the entry in the audit log.
pub const BEGIN_DEPARTURE: AccessPattern =
    AccessPattern::new("beginDeparture", &[COMMUNITIES.update(), COMMUNITIES.check(), COMMUNITIES.put(), LIVE.put()]);

/// Why a member leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    Left,
    Removed { by: UserId, reason: String },
    Banned { by: UserId, reason: String },
}

/// Makes a member leave, and works on it for as long as the request may last. A user who is no member has left.
pub async fn depart(
    cx: &Context,
    community: &Community,
    user: UserId,
    cause: Cause,
) -> Result<DoneOrAccepted<ChatJobs>, Problem> {
    if community.founder == user {
        return Err(founder());
    }
    let key = CommunityMemberKey { community: community.id, user };
    let member = cx.access().table(&LOAD_DEPARTURE, &schema::COMMUNITIES).get_consistent(key).await?;
    let Some(member) = member.map(|stored| stored.read::<CommunityMember>()).transpose()? else {
        return Ok(Either::First(NoContent));
    };
    let (id, job) = match member.leaving_job {
        Some(id) => (id, work_again::<ChatJobs>(cx, &user, id).await?),
        None => {
            if owns_chat(cx.access(), &LOAD_DEPARTURE, community.id, user).await? {
                return Err(owner_of_chat());
            }
            let new = begin(cx, community, user, cause).await?;
            (new.id, work(cx, new.lease()).await)
        }
    };
    match job.status {
        Status::Succeeded => Ok(Either::First(NoContent)),
        // The user was made the owner of a group chat just before the mark.
        Status::Failed => Err(owner_of_chat()),
        _ => Ok(Either::Second(accepted::<ChatJobs>(&user, id, job))),
    }
}

/// 409 for the founder, and for a member who owns a group chat of the community.
pub async fn require_no_owner(cx: &Context, community: &Community, user: UserId) -> Result<(), Problem> {
    if community.founder == user {
        return Err(founder());
    }
    if owns_chat(cx.access(), &LOAD_DEPARTURE, community.id, user).await? { Err(owner_of_chat()) } else { Ok(()) }
}

fn founder() -> Problem {
    OWNER_MUST_TRANSFER.because("The founder hands the community over before leaving it.")
}

fn owner_of_chat() -> Problem {
    OWNER_MUST_TRANSFER.because("The owner of a group chat hands it over or deletes it before leaving its community.")
}

/// Marks the member and creates the job, in one transaction with the ban and the entry in the audit log.
async fn begin(cx: &Context, community: &Community, user: UserId, cause: Cause) -> Result<NewJob, Problem> {
    let (id, clock) = (community.id, &cx.engines().clock);
    let (mut ban, mut audited) = (None, None);
    match cause {
        Cause::Left => {}
        Cause::Removed { by, reason } => {
            audited = Some(entry(clock, Log::Community(id), by, AuditedAction::RemoveMember, user, &reason)?);
        }
        Cause::Banned { by, reason } => {
            audited = Some(entry(clock, Log::Community(id), by, AuditedAction::BanMember, user, &reason)?);
            ban = Some(Ban::new(clock, by, reason));
        }
    }
    let by = cx.principal().signed_in()?.idpid().to_string();
    let (job, mut actions) = mark(cx.access(), (id, user), Some(by), Start::Leased)?;
    if let Some(ban) = ban {
        actions.push(Action::create(&schema::COMMUNITIES, BanKey { community: id, user }, &ban)?);
    }
    actions.extend(audited);
    match cx.access().transact(&BEGIN_DEPARTURE, &actions).await {
        Ok(_) => Ok(job),
        // Another request has changed the member, the ban or the founder since they were read.
        Err(table::Error::ConditionFailed(_)) => Err(Problem::lost_race()),
        Err(error) => Err(error.into()),
    }
}

/// Returns the job that makes a member leave, and the actions that mark the member and create the job. They fail for the
/// founder.
pub fn mark(
    access: &Access,
    (community, user): (CommunityId, UserId),
    by: Option<String>,
    start: Start,
) -> Result<(NewJob, Vec<Action>), Problem> {
    let details = Details { community: Some(community), chat: None };
    let job = Job::new(access, Kind::LeaveCommunity, details, by);
    let job = NewJob::new(access, user, job, start)?;
    let marked = Changes::new()
        .set("LeavingAt", item::text(Millisecond::now(&access.engines().clock).to_string()))
        .set("LeavingJob", item::text(job.id.to_string()));
    let mut actions = vec![
        Action::update(&schema::COMMUNITIES, CommunityMemberKey { community, user }, marked)
            .when(Condition::Absent("LeavingAt")),
        Action::check(&schema::COMMUNITIES, CommunityKey { community })
            .when(Condition::Absent("DeletingAt"))
            .when(Condition::Differs("Founder", item::text(user.to_string()))),
    ];
    actions.extend(job.actions.clone());
    Ok((job, actions))
}
