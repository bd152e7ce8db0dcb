//! The contents of a group chat that is being deleted: members with their counts, requests, messages with their reactions,
//! the list of reports, and the feed. Both the deletion of a chat and that of its community go through them in batches.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use table::{Access, AccessPattern, Action, EntityKey, Key};
use web::Problem;

use crate::group_chats::leaving;
use crate::keys::{
    FeedHeadKey, GroupChatCountKey, GroupChatKey, GroupChatMemberKey, MEMBER_PREFIX, MESSAGE_PREFIX, REPORT_PREFIX,
    REQUEST_PREFIX, RequestGuardKey,
};
use crate::live::end::end_feed;
use crate::live::feed::Feed;
use crate::names::{GroupChatId, Millisecond};
use crate::requests::{ChatRequest, RequestStatus, Settlement, settling};
use crate::schema::{CHAT_REQUESTS, COMMUNITIES, GROUP_CHATS, LIVE};

/// Members that one step deletes. Each has two actions, of the 98 that a step may have.
const MEMBERS: u32 = 49;
/// Requests that one step withdraws. Each has three actions.
const REQUESTS: u32 = 32;
/// Other items that one step deletes.
const BATCH: u32 = 100;

/// How far the deletion of the contents has come.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Contents {
    phase: Phase,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Phase {
    #[default]
    Members,
    Requests,
    Messages,
    Reports,
    Feed,
    Done,
}

/// A batch of the contents: the actions that delete it, and the number of its items.
pub struct Batch {
    pub actions: Vec<Action>,
    pub items: u64,
}

impl Contents {
    /// Returns the next batch, and moves to the position after it. Returns none when nothing is left.
    pub async fn next(
        &mut self,
        access: &Access,
        pattern: &'static AccessPattern,
        chat: GroupChatId,
    ) -> Result<Option<Batch>, Problem> {
        loop {
            let (batch, next) = match self.phase {
                Phase::Members => (members(access, pattern, chat).await?, Phase::Requests),
                Phase::Requests => (requests(access, pattern, chat).await?, Phase::Messages),
                Phase::Messages => (messages(access, pattern, chat).await?, Phase::Reports),
                Phase::Reports => (reports(access, pattern, chat).await?, Phase::Feed),
                Phase::Feed => (feed(access, pattern, chat).await?, Phase::Done),
                Phase::Done => return Ok(None),
            };
            if batch.items > 0 {
                return Ok(Some(batch));
            }
            if self.phase == Phase::Members {
                // Only members subscribe, so there are no later subscriptions.
                end_feed(access, chat, None).await?;
            }
            self.phase = next;
        }
    }
}

/// Deletes members, and subtracts the chat from their memberships. A user who was deleted first has no count of them.
async fn members(access: &Access, pattern: &'static AccessPattern, chat: GroupChatId) -> Result<Batch, Problem> {
    let table = access.table(pattern, &GROUP_CHATS);
    let members = table.query(GroupChatKey { chat }.key().pk).begins_with(MEMBER_PREFIX).consistent();
    let page = members.page(MEMBERS).await?;
    let members: Vec<_> = page.items.iter().filter_map(|stored| GroupChatMemberKey::parse(&stored.key)).collect();
    let counts: Vec<Key> = members.iter().map(|member| GroupChatCountKey { user: member.user }.key()).collect();
    let counts = table.batch_get_consistent(&counts).await?;
    let mut actions = Vec::new();
    for (member, count) in members.into_iter().zip(counts) {
        actions.extend(count.map(|_| leaving::subtract_memberships(member.user, 1)));
        actions.push(Action::delete(&GROUP_CHATS, member));
    }
    Ok(Batch { actions, items: page.items.len() as u64 })
}

/// Deletes the requests of the chat, withdraws the pending ones of their users, and deletes the guards.
async fn requests(access: &Access, pattern: &'static AccessPattern, chat: GroupChatId) -> Result<Batch, Problem> {
    let requests = access.table(pattern, &CHAT_REQUESTS).query(GroupChatKey { chat }.key().pk);
    let page = requests.begins_with(REQUEST_PREFIX).consistent().page(REQUESTS).await?;
    let now = Millisecond::now(&access.engines().clock);
    let (mut actions, mut guards) = (Vec::new(), BTreeSet::new());
    for stored in &page.items {
        let request: ChatRequest = stored.read()?;
        if request.status == RequestStatus::Pending {
            let withdrawn = Settlement { status: RequestStatus::Withdrawn, by: request.user_id, at: now };
            let [of_user, _] = settling::rows((chat, request.user_id, request.id), withdrawn);
            actions.push(of_user);
        }
        actions.push(Action::delete(&CHAT_REQUESTS, stored.key.clone()));
        guards.insert(request.user_id);
    }
    let guard = |user| Action::delete(&CHAT_REQUESTS, RequestGuardKey { chat, user }).or_absent();
    actions.extend(guards.into_iter().map(guard));
    Ok(Batch { actions, items: page.items.len() as u64 })
}

/// Deletes messages, and after them reactions. Without members no further ones are written.
async fn messages(access: &Access, pattern: &'static AccessPattern, chat: GroupChatId) -> Result<Batch, Problem> {
    let table = access.table(pattern, &GROUP_CHATS);
    let rest = table.query(GroupChatKey { chat }.key().pk).between(MESSAGE_PREFIX, AFTER_REACTIONS).consistent();
    let keys: Vec<Key> = rest.page(BATCH).await?.items.into_iter().map(|stored| stored.key).collect();
    table.batch_delete(&keys).await?;
    Ok(Batch { actions: Vec::new(), items: keys.len() as u64 })
}

/// Deletes the list of reports about messages of the chat. The reports themselves belong to the community.
async fn reports(access: &Access, pattern: &'static AccessPattern, chat: GroupChatId) -> Result<Batch, Problem> {
    let table = access.table(pattern, &COMMUNITIES);
    let listed = table.query(GroupChatKey { chat }.key().pk).begins_with(REPORT_PREFIX).consistent();
    let keys: Vec<Key> = listed.page(BATCH).await?.items.into_iter().map(|stored| stored.key).collect();
    table.batch_delete(&keys).await?;
    Ok(Batch { actions: Vec::new(), items: keys.len() as u64 })
}

/// The end of the sort keys of messages and reactions: `$` is the character after `#`.
const AFTER_REACTIONS: &str = "REACTION$";

/// Deletes the events of the chat's feed, and its head last.
async fn feed(access: &Access, pattern: &'static AccessPattern, chat: GroupChatId) -> Result<Batch, Problem> {
    let feed = Feed::GroupChat(chat);
    let table = access.table(pattern, &LIVE);
    let entries = table.query(format!("FEED#{feed}")).consistent().page(BATCH).await?;
    let mut keys: Vec<Key> = entries.items.into_iter().map(|stored| stored.key).collect();
    let items = keys.len() as u64;
    if entries.next.is_none() {
        keys.push(FeedHeadKey { feed }.key());
    }
    table.batch_delete(&keys).await?;
    Ok(Batch { actions: Vec::new(), items })
}
