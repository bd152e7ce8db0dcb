//! The deletion of a community: its group chats one after the other, its members, bans, reports and audit log, and the
//! community itself last. The request that created the job has marked the community, so no user can join it any more.

use ::jobs::{Counts, Step, Then, Worker};
use serde::{Deserialize, Serialize};
use table::{Access, Action, Changes, EntityKey, Key, Position, Query, Stored, item};
use web::Problem;

use super::group_chat_contents::Contents;
use super::{ChatJobs, Lease};
use crate::access::DELETE_COMMUNITY;
use crate::communities::{Community, subtract_membership};
use crate::keys::{
    AUDIT_PREFIX, CommunityKey, CommunityMemberKey, GROUP_CHAT_PREFIX, GroupChatKey, GroupChatRowKey, MEMBER_PREFIX,
    REPORT_PREFIX, RetentionKey,
};
use crate::names::{CommunityId, GroupChatId, Millisecond};
use crate::pictures::remove_dropped;
use crate::schema::{COMMUNITIES, GROUP_CHATS};

/// Group chats that one step marks, of the 98 actions that a step may have.
const MARKS: u32 = 98;
/// Members that one step deletes. Each has two actions, of the 98 that a step may have.
const MEMBERS: u32 = 49;
/// Other items that one step deletes.
const BATCH: u32 = 100;

/// How far the deletion has come.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Checkpoint {
    /// The last group chat that was marked, until all are.
    after_marked: Option<Position>,
    chats_are_marked: bool,
    /// The group chat that is being deleted.
    chat: Option<(GroupChatId, Contents)>,
    chats_are_deleted: bool,
}

#[derive(Debug)]
pub struct DeleteCommunity;

impl Worker<ChatJobs> for DeleteCommunity {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let Some(community) = lease.job.details.community else {
            return Ok(Step::fail(&lease.job, "The job names no community."));
        };
        let mut checkpoint = lease.job.checkpoint::<Option<Checkpoint>>()?.unwrap_or_default();
        let batch = match batch_of_chats(access, community, &mut checkpoint).await? {
            Some(batch) => Some(batch),
            None => batch_of_community(access, community).await?,
        };
        let done = lease.job.counts.done;
        match batch {
            Some((actions, items)) => {
                let done = done + items;
                Step::new(actions, &Some(checkpoint), Counts::new(done, done), Then::Continue)
            }
            None => {
                remove_pictures(access, community).await?;
                let community = [CommunityKey { community }.key(), RetentionKey { community }.key()];
                let last = community.map(|key| Action::delete(&COMMUNITIES, key).or_absent()).to_vec();
                Step::new(last, &Some(checkpoint), Counts::new(done, done), Then::Succeed)
            }
        }
    }
}

/// Removes the pictures of the community from the bucket.
async fn remove_pictures(access: &Access, community: CommunityId) -> Result<(), Problem> {
    let table = access.table(&DELETE_COMMUNITY, &COMMUNITIES);
    let Some(stored) = table.get_consistent(CommunityKey { community }).await? else { return Ok(()) };
    let community: Community = stored.read()?;
    Ok(remove_dropped(access, [&community.avatar_url, &community.cover_photo_url], &[]).await?)
}

type Batch = (Vec<Action>, u64);

/// Returns the next batch of the group chats, none when all are deleted.
async fn batch_of_chats(
    access: &Access,
    community: CommunityId,
    checkpoint: &mut Checkpoint,
) -> Result<Option<Batch>, Problem> {
    if !checkpoint.chats_are_marked {
        let marks = mark_chats(access, community, checkpoint).await?;
        if !marks.is_empty() {
            return Ok(Some((marks, 0)));
        }
    }
    if checkpoint.chat.is_none() && !checkpoint.chats_are_deleted {
        let row = rows_of_chats(access, community).first().await?;
        let key = row.and_then(|row| GroupChatRowKey::parse(&row.key));
        checkpoint.chat = key.map(|key| (key.chat, Contents::default()));
        checkpoint.chats_are_deleted = checkpoint.chat.is_none();
    }
    let Some((chat, contents)) = &mut checkpoint.chat else { return Ok(None) };
    let chat = *chat;
    if let Some(batch) = contents.next(access, &DELETE_COMMUNITY, chat).await? {
        return Ok(Some((batch.actions, batch.items)));
    }
    checkpoint.chat = None;
    let row = Action::delete(&COMMUNITIES, GroupChatRowKey { community, chat });
    let last = [row, Action::delete(&GROUP_CHATS, GroupChatKey { chat })];
    Ok(Some((last.map(Action::or_absent).to_vec(), 1)))
}

/// Marks the next group chats. After that no user joins them or sends messages there, while the others are deleted.
async fn mark_chats(
    access: &Access,
    community: CommunityId,
    checkpoint: &mut Checkpoint,
) -> Result<Vec<Action>, Problem> {
    let rows = rows_of_chats(access, community).after(checkpoint.after_marked.take());
    let page = rows.page(MARKS).await?;
    checkpoint.chats_are_marked = page.next.is_none();
    checkpoint.after_marked = page.next;
    let now = Millisecond::now(&access.engines().clock).to_string();
    let mark = |row: &Stored| {
        let GroupChatRowKey { chat, .. } = GroupChatRowKey::parse(&row.key)?;
        let marked = Changes::new().set("DeletingAt", item::text(&now));
        Some(Action::update(&GROUP_CHATS, GroupChatKey { chat }, marked))
    };
    Ok(page.items.iter().filter_map(mark).collect())
}

/// Returns the query of the rows of the community's group chats.
fn rows_of_chats(access: &Access, community: CommunityId) -> Query<'_> {
    let rows = access.table(&DELETE_COMMUNITY, &COMMUNITIES).query(CommunityKey { community }.key().pk);
    rows.begins_with(GROUP_CHAT_PREFIX).consistent()
}

/// Returns the next batch of the community's other items, none when only the community is left.
async fn batch_of_community(access: &Access, community: CommunityId) -> Result<Option<Batch>, Problem> {
    let table = access.table(&DELETE_COMMUNITY, &COMMUNITIES);
    let partition = table.query(CommunityKey { community }.key().pk).consistent();
    let page = partition.clone().begins_with(MEMBER_PREFIX).page(MEMBERS).await?;
    let members: Vec<_> = page.items.iter().filter_map(|stored| CommunityMemberKey::parse(&stored.key)).collect();
    if !members.is_empty() {
        let items = members.len() as u64;
        let actions = |key: CommunityMemberKey| [subtract_membership(key.user), Action::delete(&COMMUNITIES, key)];
        return Ok(Some((members.into_iter().flat_map(actions).collect(), items)));
    }
    for (from, to) in [(AUDIT_PREFIX, AFTER_BANS), (REPORT_PREFIX, AFTER_REPORTS)] {
        let page = partition.clone().between(from, to).page(BATCH).await?;
        let keys: Vec<Key> = page.items.into_iter().map(|stored| stored.key).collect();
        if !keys.is_empty() {
            table.batch_delete(&keys).await?;
            return Ok(Some((Vec::new(), keys.len() as u64)));
        }
    }
    Ok(None)
}

/// The ends of ranges of sort keys: `$` is the character after `#`.
const AFTER_BANS: &str = "BAN$";
const AFTER_REPORTS: &str = "REPORT$";
