//! Retention: a daily run makes messages placeholders that are older than their community keeps them.
//!
//! The row of each group chat has the place up to which this is done, so a run that is stopped is continued by the next
//! one, and no message is read twice.

use std::collections::VecDeque;

use futures::stream::{self, StreamExt, TryStreamExt};
use table::{Access, AccessPattern, Action, Changes, Condition, EntityKey, Error, Page, Stored, item};
use tokio::time::{Duration, Instant};
use web::{Event, EventFailure, Problem, RunSummary};

use crate::access::{COMMUNITIES, GROUP_CHATS};
use crate::communities::Community;
use crate::keys::{CommunityKey, GROUP_CHAT_PREFIX, GroupChatKey, GroupChatRowKey, MESSAGE_PREFIX, RetentionKey};
use crate::messages::Message;
use crate::messages::delete::{delete_reactions, to_placeholder};
use crate::names::{ChatId, CommunityId, Millisecond};
use crate::schema;

/// The communities that keep messages for some days only, their group chats, and the old messages with their reactions.
pub const RETENTION: AccessPattern = AccessPattern::new(
    "retention",
    &[
        COMMUNITIES.query(),
        COMMUNITIES.get(),
        COMMUNITIES.update(),
        COMMUNITIES.check(),
        COMMUNITIES.delete(),
        GROUP_CHATS.query(),
        GROUP_CHATS.update(),
        GROUP_CHATS.batch_delete(),
    ],
);

/// The attribute of a group chat's row with the place up to which old messages are placeholders.
const DONE_UP_TO: &str = "RetainedFrom";

const PAGE: u32 = 100;
const CONCURRENCY: usize = 8;

/// The time before the end of the function at which no further page is begun.
const MARGIN: Duration = Duration::from_secs(20);

/// The time of a community's turn.
const TURN: Duration = Duration::from_secs(20);

/// Returns the action that lists a community for the daily run. It is in the transaction that changes the days. The run
/// takes a community without days off the list.
pub fn list(community: CommunityId) -> Action {
    Action::update(&schema::COMMUNITIES, RetentionKey { community }, Changes::new()).or_absent()
}

/// The handler `applyRetention`. The communities take turns, beginning with any of them, so that one with many old messages
/// does not keep the others waiting.
pub async fn apply_retention(event: Event) -> Result<bytes::Bytes, EventFailure> {
    let end = event.deadline.checked_sub(MARGIN).unwrap_or(event.deadline);
    let mut waiting = listed(event.access()).await.map_err(EventFailure::new)?;
    fastrand::shuffle(waiting.make_contiguous());
    let mut summary = RunSummary::default();
    while let Some(community) = waiting.pop_front().filter(|_| Instant::now() < end) {
        let outcome = of_community(event.access(), community, end.min(Instant::now() + TURN)).await;
        match &outcome {
            Ok(Turn::Done) => {}
            Ok(Turn::Over) => {
                waiting.push_back(community);
                continue;
            }
            Err(problem) => tracing::error!(%community, %problem, "retention failed; will retry on the next run"),
        }
        summary.count(outcome.is_err());
    }
    event.finish(summary)
}

/// How a turn of a community has ended.
enum Turn {
    /// It has no more old messages.
    Done,
    /// It may have more.
    Over,
}

/// Returns the communities that may keep messages for some days only.
async fn listed(access: &Access) -> Result<VecDeque<CommunityId>, Error> {
    let rows = access.table(&RETENTION, &schema::COMMUNITIES).query("RETENTION");
    let (mut listed, mut after) = (VecDeque::new(), None);
    loop {
        let page = rows.clone().after(after).page(PAGE).await?;
        listed.extend(page.items.iter().filter_map(|row| Some(RetentionKey::parse(&row.key)?.community)));
        after = page.next;
        if after.is_none() {
            return Ok(listed);
        }
    }
}

async fn of_community(access: &Access, community: CommunityId, end: Instant) -> Result<Turn, Problem> {
    let table = access.table(&RETENTION, &schema::COMMUNITIES);
    let stored = table.get_consistent(CommunityKey { community }).await?;
    let days = stored.map(|stored| stored.read::<Community>()).transpose()?.and_then(|found| found.retention_days);
    let Some(days) = days else {
        take_off_the_list(access, community).await?;
        return Ok(Turn::Done);
    };
    let oldest = Millisecond::now(&access.engines().clock).millis() - i64::from(days) * 24 * 60 * 60 * 1000;
    let Some(oldest) = Millisecond::at(oldest) else { return Ok(Turn::Done) };
    let rows = table.query(CommunityKey { community }.key().pk).begins_with(GROUP_CHAT_PREFIX);
    let mut after = None;
    loop {
        let page = rows.clone().after(after).page(PAGE).await?;
        for row in &page.items {
            of_group_chat(access, row, oldest, end).await?;
        }
        after = page.next;
        if Instant::now() >= end {
            return Ok(Turn::Over);
        }
        if after.is_none() {
            return Ok(Turn::Done);
        }
    }
}

/// Deletes the row of a community that has been deleted or keeps all messages.
async fn take_off_the_list(access: &Access, community: CommunityId) -> Result<(), Problem> {
    let keeps_all = Condition::Absent("RetentionDays");
    let actions = [
        Action::check(&schema::COMMUNITIES, CommunityKey { community }).when(keeps_all).or_absent(),
        Action::delete(&schema::COMMUNITIES, RetentionKey { community }).or_absent(),
    ];
    match access.transact(&RETENTION, &actions).await {
        // The founder has set days meanwhile.
        Ok(_) | Err(Error::ConditionFailed(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Makes the messages of a group chat placeholders that are older than this time.
async fn of_group_chat(access: &Access, row: &Stored, oldest: Millisecond, end: Instant) -> Result<(), Problem> {
    let Some(key) = GroupChatRowKey::parse(&row.key) else { return Ok(()) };
    let messages = access.table(&RETENTION, &schema::GROUP_CHATS).query(GroupChatKey { chat: key.chat }.key().pk);
    let done = row.item.get(DONE_UP_TO).and_then(|done| done.as_s().ok()).cloned();
    let mut from = done.unwrap_or_else(|| MESSAGE_PREFIX.to_owned());
    let to = format!("{MESSAGE_PREFIX}{oldest}");
    while from < to && Instant::now() < end {
        let Page { items, next } = messages.clone().between(&from, &to).page(PAGE).await?;
        let Some(last) = items.last().and_then(|last| last.key.sk.clone()) else { return Ok(()) };
        let deletions = stream::iter(items).map(|stored| delete(access, key.chat.into(), stored));
        deletions.buffer_unordered(CONCURRENCY).try_collect::<()>().await?;
        // The text is after the key of the last message.
        from = format!("{last}#");
        let changes = Changes::new().set(DONE_UP_TO, item::text(&from));
        match access.write(&RETENTION, Action::update(&schema::COMMUNITIES, &key, changes)).await {
            Ok(_) => {}
            // The group chat is being deleted.
            Err(Error::NotFound) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        if next.is_none() {
            return Ok(());
        }
    }
    Ok(())
}

/// Makes a message a placeholder, and deletes its reactions, also if an earlier run was stopped between the two.
async fn delete(access: &Access, chat: ChatId, stored: Stored) -> Result<(), Problem> {
    let message: Message = stored.read()?;
    if message.deleted_at.is_none() {
        let now = Millisecond::now(&access.engines().clock);
        match access.write(&RETENTION, to_placeholder(chat, message.id, now, None)?).await {
            // The sender or a moderator has deleted it meanwhile, or the chat is being deleted.
            Ok(_) | Err(Error::ConditionFailed(_) | Error::NotFound) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(delete_reactions(access, &RETENTION, chat, message.id).await?)
}
