//! `DELETE /chat/groupchats/{chatId}/members/{userId}`, by the user or a moderator.

use table::{AccessPattern, Cause};
use web::{Context, NoContent, Path, Problem, Query, Route, Sample, problem};

use super::authorization::{GroupChatAccess, LOAD_GROUP_CHAT};
use super::leaving::{actions, subtract_memberships};
use super::{GroupChatUserPath, MEMBER, SAMPLE_BOB};
use crate::access::{CALLER, COMMUNITIES, GROUP_CHATS};
use crate::audit::{AuditedAction, Log, ReasonQuery, entry};
use crate::caller::{BANNED, SIGNED_IN};
use crate::communities::OWNER_MUST_TRANSFER;
use crate::live::end::{END_SUBSCRIPTIONS, end_subscriptions};
use crate::names::ChatId;

/// The end of a membership, with the entry in the audit log.
const LEAVE_GROUP_CHAT: AccessPattern =
    AccessPattern::new("leaveGroupChat", &[GROUP_CHATS.delete(), GROUP_CHATS.update(), COMMUNITIES.put()]);

pub fn route() -> Route {
    Route::delete("leaveGroupChat", MEMBER, SIGNED_IN, leave)
        .summary("Leave a group chat, or remove a member")
        .patterns(&[&CALLER, &LOAD_GROUP_CHAT, &LEAVE_GROUP_CHAT, &END_SUBSCRIPTIONS])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, OWNER_MUST_TRANSFER, problem::CONFLICT])
        .sample(Sample::new(SAMPLE_BOB))
}

async fn leave(
    cx: Context,
    Path(path): Path<GroupChatUserPath>,
    Query(query): Query<ReasonQuery>,
) -> Result<NoContent, Problem> {
    cx.retry(|| async {
        let access = GroupChatAccess::load(&cx, path.chat_id).await?;
        let (chat, me, user) = (&access.chat, access.me(), path.user_id.id_for(access.me()));
        if user != me {
            access.require_moderator()?;
        }
        if chat.owner == user {
            return Err(
                OWNER_MUST_TRANSFER.because("The owner hands the group chat over or deletes it before leaving.")
            );
        }
        if user != me && user == access.community.founder && me != chat.owner {
            return Err(Problem::forbidden("Only the owner removes the founder of the community from a group chat."));
        }
        let mut all = actions(chat, user)?.to_vec();
        all.push(subtract_memberships(user, 1));
        if user != me {
            let log = Log::Community(chat.community_id);
            all.push(entry(&cx.engines().clock, log, me, AuditedAction::RemoveMember, user, query.text())?);
        }
        match cx.access().transact(&LEAVE_GROUP_CHAT, &all).await {
            Ok(_) => {}
            // The user has left already, or was never a member. An earlier request may have been stopped before it ended the
            // subscriptions.
            Err(error) if error.failed(0).is_some_and(|failed| failed.cause == Cause::Missing) => {}
            // The owner or the moderators have changed since they were read, or the chat was deleted.
            Err(error) if error.failed(1).is_some() => return Err(Problem::lost_race()),
            Err(error) => return Err(error.into()),
        }
        end_subscriptions(cx.access(), user, ChatId::Group(chat.id), "removed", None).await?;
        Ok(NoContent)
    })
    .await
}
