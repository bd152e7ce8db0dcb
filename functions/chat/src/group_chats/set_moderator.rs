//! `PUT /chat/groupchats/{chatId}/moderators/{userId}`

use table::{AccessPattern, Action, Condition, item};
use web::{Context, NoContent, Path, Problem, Query, Route, Sample, problem};

use super::authorization::{GroupChatAccess, LOAD_GROUP_CHAT};
use super::{GroupChatUserPath, MODERATOR, SAMPLE_MODERATOR};
use crate::access::{CALLER, COMMUNITIES, GROUP_CHATS};
use crate::audit::{AuditedAction, Log, ReasonQuery, entry};
use crate::caller::{BANNED, SIGNED_IN};
use crate::keys::GroupChatMemberKey;
use crate::moderators::{TOO_MANY_MODERATORS, unchanged, with};
use crate::schema;

const SET_MODERATOR: AccessPattern =
    AccessPattern::new("setChatModerator", &[GROUP_CHATS.update(), GROUP_CHATS.check(), COMMUNITIES.put()]);

pub fn route() -> Route {
    Route::put("setChatModerator", MODERATOR, SIGNED_IN, set)
        .summary("Add a moderator to a group chat")
        .patterns(&[&CALLER, &LOAD_GROUP_CHAT, &SET_MODERATOR])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, TOO_MANY_MODERATORS, problem::CONFLICT])
        .sample(Sample::new(SAMPLE_MODERATOR))
}

async fn set(
    cx: Context,
    Path(path): Path<GroupChatUserPath>,
    Query(query): Query<ReasonQuery>,
) -> Result<NoContent, Problem> {
    cx.retry(|| async {
        let access = GroupChatAccess::load(&cx, path.chat_id).await?;
        access.require_owner()?;
        let (chat, me, user) = (&access.chat, access.me(), path.user_id.id_for(access.me()));
        if chat.is_moderated_by(user) {
            return Ok(NoContent);
        }
        let (log, changes) = (Log::Community(chat.community_id), with(&chat.moderators, user)?);
        let actions = [
            Action::update(&schema::GROUP_CHATS, access.stored.key.clone(), changes)
                .when(Condition::Absent("DeletingAt"))
                .when(Condition::Equals("Owner", item::text(me.to_string())))
                .when(unchanged(&chat.moderators)?),
            Action::check(&schema::GROUP_CHATS, GroupChatMemberKey { chat: chat.id, user }),
            entry(&cx.engines().clock, log, me, AuditedAction::SetModerator, user, query.text())?,
        ];
        match cx.access().transact(&SET_MODERATOR, &actions).await {
            Ok(_) => Ok(NoContent),
            // The user is not a member.
            Err(error) if error.failed(1).is_some() => Err(Problem::not_found()),
            Err(error) if error.failed(0).is_some() => Err(Problem::lost_race()),
            Err(error) => Err(error.into()),
        }
    })
    .await
}
