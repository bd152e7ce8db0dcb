//! `DELETE /chat/groupchats/{chatId}/moderators/{userId}`

use table::{AccessPattern, Action, Condition, item};
use web::{Context, NoContent, Path, Problem, Query, Route, Sample, problem};

use super::authorization::{GroupChatAccess, LOAD_GROUP_CHAT};
use super::{GroupChatUserPath, MODERATOR, SAMPLE_MODERATOR};
use crate::access::{CALLER, COMMUNITIES, GROUP_CHATS};
use crate::audit::{AuditedAction, Log, ReasonQuery, entry};
use crate::caller::{BANNED, SIGNED_IN};
use crate::communities::OWNER_MUST_TRANSFER;
use crate::moderators::{unchanged, without};
use crate::schema;

const UNSET_MODERATOR: AccessPattern =
    AccessPattern::new("unsetChatModerator", &[GROUP_CHATS.update(), COMMUNITIES.put()]);

pub fn route() -> Route {
    Route::delete("unsetChatModerator", MODERATOR, SIGNED_IN, unset)
        .summary("Remove a moderator from a group chat; the user stays a member")
        .patterns(&[&CALLER, &LOAD_GROUP_CHAT, &UNSET_MODERATOR])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, OWNER_MUST_TRANSFER, problem::CONFLICT])
        .sample(Sample::new(SAMPLE_MODERATOR))
}

async fn unset(
    cx: Context,
    Path(path): Path<GroupChatUserPath>,
    Query(query): Query<ReasonQuery>,
) -> Result<NoContent, Problem> {
    cx.retry(|| async {
        let access = GroupChatAccess::load(&cx, path.chat_id).await?;
        access.require_owner()?;
        let (chat, me, user) = (&access.chat, access.me(), path.user_id.id_for(access.me()));
        if chat.owner == user {
            return Err(OWNER_MUST_TRANSFER.because("The owner moderates until the group chat is handed over."));
        }
        if !chat.moderators.contains(&user) {
            return Err(Problem::not_found());
        }
        let log = Log::Community(chat.community_id);
        let actions = [
            Action::update(&schema::GROUP_CHATS, access.stored.key.clone(), without(&chat.moderators, user)?)
                .when(Condition::Absent("DeletingAt"))
                .when(Condition::Equals("Owner", item::text(me.to_string())))
                .when(unchanged(&chat.moderators)?),
            entry(&cx.engines().clock, log, me, AuditedAction::UnsetModerator, user, query.text())?,
        ];
        match cx.access().transact(&UNSET_MODERATOR, &actions).await {
            Ok(_) => Ok(NoContent),
            Err(error) if error.failed(0).is_some() => Err(Problem::lost_race()),
            Err(error) => Err(error.into()),
        }
    })
    .await
}
