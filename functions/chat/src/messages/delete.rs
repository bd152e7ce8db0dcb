//! `DELETE /chat/{kind}/{chatId}/messages/{messageId}`, by the sender or by a moderator of the group chat.

use std::collections::BTreeMap;

use serde::Serialize;
use table::{Access, AccessPattern, Action, Changes, Condition, Error, item};
use web::{Context, IfMatch, NoContent, Path, Problem, Query, Route, Sample, problem};

use super::{MEMBERSHIP, MESSAGE, Membership, Message, MessagePath, ONE, SAMPLE, load, membership, table_of};
use crate::access::{CALLER, COMMUNITIES, GROUP_CHATS, PRIVATE_CHATS};
use crate::audit::{self, AuditedAction, Log, ReasonQuery};
use crate::caller::{BANNED, SIGNED_IN};
use crate::group_chats::GroupChat;
use crate::keys::{GroupChatKey, chat_partition, message_key};
use crate::names::{ChatId, CommunityId, MessageId, Millisecond, UserId};
use crate::schema;

/// The group chat, for its moderators.
const MODERATORS: AccessPattern = AccessPattern::new("moderators", &[GROUP_CHATS.get()]);

/// A message that becomes a placeholder, with the entry of the audit log if a moderator deletes it.
const DELETE_MESSAGE: AccessPattern =
    AccessPattern::new("deleteMessage", &[GROUP_CHATS.update(), PRIVATE_CHATS.update(), COMMUNITIES.put()]);

/// The reactions to a deleted message.
pub const DELETE_REACTIONS: AccessPattern = AccessPattern::new(
    "deleteReactions",
    &[GROUP_CHATS.query(), GROUP_CHATS.batch_delete(), PRIVATE_CHATS.query(), PRIVATE_CHATS.batch_delete()],
);

pub fn route() -> Route {
    Route::delete("deleteMessage", ONE, SIGNED_IN, delete)
        .summary("Delete a message; a placeholder without content remains")
        .patterns(&[&CALLER, &MEMBERSHIP, &MESSAGE, &MODERATORS, &DELETE_MESSAGE, &DELETE_REACTIONS])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new(SAMPLE))
}

async fn delete(
    cx: Context,
    Path(path): Path<MessagePath>,
    Query(query): Query<ReasonQuery>,
    tag: IfMatch,
) -> Result<NoContent, Problem> {
    let chat = path.chat()?;
    let member = membership(&cx, chat).await?;
    cx.retry_stale(&tag, || async {
        let (message, stored) = load(&cx, chat, path.message_id).await?;
        let moderated = authorize(&cx, &member, &message).await?;
        if message.deleted_at.is_none() {
            tag.check(stored.rev)?;
            let (clock, by) = (&cx.engines().clock, member.caller.id);
            let placeholder = to_placeholder(chat, message.id, Millisecond::now(clock), Some(by))?;
            let mut actions = vec![tag.guard(placeholder, &stored)];
            if let Some(community) = moderated {
                let (log, action) = (Log::Community(community), AuditedAction::DeleteMessage);
                actions.push(audit::entry(clock, log, by, action, message.id, query.text())?);
            }
            match cx.access().transact(&DELETE_MESSAGE, &actions).await {
                Ok(_) => {}
                // The next attempt finds out what has changed.
                Err(error) if error.failed(0).is_some() => return Err(Problem::stale()),
                Err(error) => return Err(error.into()),
            }
        }
        // A repeated deletion also finishes one that was interrupted here.
        delete_reactions(cx.access(), &DELETE_REACTIONS, chat, message.id).await?;
        Ok(NoContent)
    })
    .await
}

/// Returns the community in whose audit log the deletion is entered, if a moderator deletes the message of another member;
/// 403 for anybody else but the sender.
async fn authorize(cx: &Context, member: &Membership, message: &Message) -> Result<Option<CommunityId>, Problem> {
    if message.sender_id == member.caller.id {
        return Ok(None);
    }
    let forbidden = || Problem::forbidden("Only the sender and the moderators of a group chat can delete a message.");
    let ChatId::Group(chat) = member.chat else { return Err(forbidden()) };
    let stored = cx.access().table(&MODERATORS, &schema::GROUP_CHATS).get_consistent(GroupChatKey { chat }).await?;
    let chat: GroupChat = stored.ok_or_else(Problem::not_found)?.read()?;
    if chat.is_moderated_by(member.caller.id) { Ok(Some(chat.community_id)) } else { Err(forbidden()) }
}

/// Returns the update that makes a message a placeholder. It fails if the message is one.
pub fn to_placeholder(
    chat: ChatId,
    message: MessageId,
    deleted_at: Millisecond,
    deleted_by: Option<UserId>,
) -> Result<Action, Error> {
    #[derive(Serialize)]
    #[serde(rename_all = "PascalCase")]
    struct Placeholder {
        reactions: BTreeMap<String, u64>,
        deleted_at: String,
        deleted_by: Option<UserId>,
    }
    let placeholder = Placeholder { reactions: BTreeMap::new(), deleted_at: deleted_at.to_string(), deleted_by };
    let changes = Changes::new().remove("Content").remove("Mentions").remove("LastReaction");
    let set = item::to_item(&placeholder)?;
    let changes = set.into_iter().fold(changes, |changes, (name, value)| changes.set(&name, value));
    let update = Action::update(table_of(chat), message_key(chat, message), changes);
    Ok(update.when(Condition::Absent("DeletedAt")))
}

/// Deletes the reactions to a message that is a placeholder, so that no others are added.
pub async fn delete_reactions(
    access: &Access,
    pattern: &'static AccessPattern,
    chat: ChatId,
    message: MessageId,
) -> Result<(), Error> {
    let table = access.table(pattern, table_of(chat));
    let reactions = table.query(chat_partition(chat)).begins_with(format!("REACTION#{message}#")).consistent();
    let keys: Vec<_> = reactions.all().await?.into_iter().map(|reaction| reaction.key).collect();
    table.batch_delete(&keys).await
}
