//! The leaving of a community: its group chats first, with the user's pending requests there, and the community last. The
//! transaction that created the job has marked the member, so the user becomes a member of no further chat there.

use ::jobs::{Counts, Step, Then, Worker};
use serde::{Deserialize, Serialize};
use table::{Access, Action, Changes, EntityKey, Key, Position};
use web::Problem;

use super::{ChatJobs, Lease};
use crate::access::LEAVE_COMMUNITY;
use crate::communities::owned_chats::{chats_of, owns_chat};
use crate::communities::{Community, subtract_membership};
use crate::group_chats::leaving;
use crate::keys::{BanKey, CommunityKey, CommunityMemberKey, GROUP_CHAT_PREFIX, GroupChatRowKey, RequestGuardKey};
use crate::live::end::end_subscriptions;
use crate::moderators;
use crate::names::{ChatId, CommunityId, GroupChatId, Millisecond, UserId};
use crate::requests::{RequestGuard, settling};
use crate::schema::{CHAT_REQUESTS, COMMUNITIES};

/// Group chats that one step leaves. Each has up to five actions, of the 98 that a step may have.
const BATCH: u32 = 15;

/// How far the leaving has come.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Checkpoint {
    phase: Phase,
    /// The last group chat that was looked at.
    after: Option<Position>,
    /// The group chats that the last step has left.
    left: Vec<GroupChatId>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Phase {
    /// Looks whether the user owns a group chat.
    #[default]
    Check,
    GroupChats,
    Community,
}

#[derive(Debug)]
pub struct LeaveCommunity;

impl Worker<ChatJobs> for LeaveCommunity {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let user = lease.group;
        let Some(community) = lease.job.details.community else {
            return Ok(Step::fail(&lease.job, "The job names no community."));
        };
        let mut checkpoint = lease.job.checkpoint::<Option<Checkpoint>>()?.unwrap_or_default();
        let counts = lease.job.counts;
        // After the commit of the step that left them, and again if this run dies before the next one.
        for chat in std::mem::take(&mut checkpoint.left) {
            end_subscriptions(access, user, ChatId::Group(chat), "removed", None).await?;
        }
        if checkpoint.phase == Phase::Check {
            if owns_chat(access, &LEAVE_COMMUNITY, community, user).await? {
                return stay(community, user, &checkpoint, counts);
            }
            checkpoint.phase = Phase::GroupChats;
        }
        if checkpoint.phase == Phase::GroupChats {
            let actions = leave_chats(access, community, user, &mut checkpoint).await?;
            let done = counts.done + checkpoint.left.len() as u64;
            let counts = Counts::new(counts.total.max(done), done);
            // The subscriptions to these chats end before the next step.
            if checkpoint.phase == Phase::GroupChats || !actions.is_empty() {
                return Step::new(actions, &checkpoint, counts, Then::Continue);
            }
        }
        Step::new(last_actions(access, community, user).await?, &checkpoint, counts, Then::Succeed)
    }
}

/// Returns the actions that leave the next group chats and withdraw the requests there, and moves the checkpoint.
async fn leave_chats(
    access: &Access,
    community: CommunityId,
    user: UserId,
    checkpoint: &mut Checkpoint,
) -> Result<Vec<Action>, Problem> {
    let rows = access.table(&LEAVE_COMMUNITY, &COMMUNITIES).query(CommunityKey { community }.key().pk);
    let rows = rows.begins_with(GROUP_CHAT_PREFIX).consistent().after(checkpoint.after.take());
    let page = rows.page(BATCH).await?;
    let chats = page.items.iter().filter_map(|row| GroupChatRowKey::parse(&row.key)).map(|key| key.chat);
    let chats: Vec<GroupChatId> = chats.collect();
    let mut actions = Vec::new();
    for chat in chats_of(access, &LEAVE_COMMUNITY, chats.iter().copied(), user).await? {
        actions.extend(leaving::actions(&chat, user)?);
        checkpoint.left.push(chat.id);
    }
    if !checkpoint.left.is_empty() {
        actions.push(leaving::subtract_memberships(user, checkpoint.left.len()));
    }
    actions.extend(withdrawals(access, &chats, user).await?);
    if page.next.is_none() {
        checkpoint.phase = Phase::Community;
    }
    checkpoint.after = page.next;
    Ok(actions)
}

/// Removes the mark of a member who owns a group chat. A ban goes with it, whether it began the leaving or came during it,
/// since no member is banned.
fn stay(community: CommunityId, user: UserId, checkpoint: &Checkpoint, counts: Counts) -> Result<Step, Problem> {
    let unmarked = Changes::new().remove("LeavingAt").remove("LeavingJob");
    let actions = vec![
        Action::update(&COMMUNITIES, CommunityMemberKey { community, user }, unmarked),
        Action::delete(&COMMUNITIES, BanKey { community, user }).or_absent(),
    ];
    let reason = "The user owns a group chat of the community.".to_owned();
    Step::new(actions, checkpoint, counts, Then::Fail(reason))
}

/// Returns the actions that withdraw the user's pending requests at these group chats.
async fn withdrawals(access: &Access, chats: &[GroupChatId], user: UserId) -> Result<Vec<Action>, Problem> {
    let keys: Vec<Key> = chats.iter().map(|chat| RequestGuardKey { chat: *chat, user }.key()).collect();
    let guards = access.table(&LEAVE_COMMUNITY, &CHAT_REQUESTS).batch_get_consistent(&keys).await?;
    let (now, mut actions) = (Millisecond::now(&access.engines().clock), Vec::new());
    for stored in guards.into_iter().flatten() {
        let guard: RequestGuard = stored.read()?;
        // A guard of a denied request keeps its time, also for a user who comes back.
        if guard.not_before.is_none()
            && let Some(key) = RequestGuardKey::parse(&stored.key)
        {
            actions.extend(settling::withdraw(key.chat, user, guard.request_id, now));
        }
    }
    Ok(actions)
}

/// Returns the actions that delete the member. They are empty if the deletion of the community has done so.
async fn last_actions(access: &Access, community: CommunityId, user: UserId) -> Result<Vec<Action>, Problem> {
    let table = access.table(&LEAVE_COMMUNITY, &COMMUNITIES);
    let member = CommunityMemberKey { community, user };
    if table.get_consistent(&member).await?.is_none() {
        return Ok(Vec::new());
    }
    let Some(stored) = table.get_consistent(CommunityKey { community }).await? else { return Ok(Vec::new()) };
    let read: Community = stored.read()?;
    let counted = moderators::without(&read.moderators, user)?.add("NumMembers", -1);
    Ok(vec![
        Action::delete(&COMMUNITIES, member),
        Action::update(&COMMUNITIES, CommunityKey { community }, counted)
            .when(moderators::unchanged(&read.moderators)?),
        subtract_membership(user),
    ])
}
