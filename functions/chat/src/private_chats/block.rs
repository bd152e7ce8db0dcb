//! `PUT /chat/privatechats/{chatId}/block`

use table::{AccessPattern, Action, Changes, Condition, Error, item};
use web::{Context, NoContent, Path, Problem, Route, Sample, problem};

use super::{BLOCK, PrivateChatPath, SAMPLE_BLOCK};
use crate::access::{CALLER, PRIVATE_CHATS};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::group_chats::ChatMember;
use crate::keys::PrivateChatMemberKey;
use crate::live::end::{END_SUBSCRIPTIONS, end_presence};
use crate::names::{Millisecond, PrivateChatId, UserId};
use crate::schema;

/// The block of the other member, on the caller's own member item.
pub const SET_BLOCK: AccessPattern = AccessPattern::new("setBlock", &[PRIVATE_CHATS.update()]);

/// Both members, on the caller's own member item.
const FIND_MEMBERS: AccessPattern = AccessPattern::new("findMembers", &[PRIVATE_CHATS.get()]);

pub fn route() -> Route {
    Route::put("block", BLOCK, SIGNED_IN, block)
        .summary(
            "Add a block: the other member of a private chat can no longer send, edit, react or update the chat, and \
             neither sees the other's presence",
        )
        .patterns(&[&CALLER, &SET_BLOCK, &FIND_MEMBERS, &END_SUBSCRIPTIONS])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new(SAMPLE_BLOCK))
}

async fn block(cx: Context, Path(path): Path<PrivateChatPath>) -> Result<NoContent, Problem> {
    let caller = Caller::load(&cx).await?;
    let now = Millisecond::now(&cx.engines().clock).to_string();
    let changes = Changes::new().set("BlockedAt", item::text(now));
    set(&cx, path.chat_id, caller.id, changes, Condition::Absent("BlockedAt")).await?;
    let key = PrivateChatMemberKey { chat: path.chat_id, user: caller.id };
    let member = cx.access().table(&FIND_MEMBERS, &schema::PRIVATE_CHATS).get_consistent(key).await?;
    let member = member.ok_or_else(Problem::not_found)?.read::<ChatMember>()?;
    for other in member.member_ids.into_iter().filter(|member| *member != caller.id) {
        end_presence(cx.access(), caller.id, other, None).await?;
    }
    Ok(NoContent)
}

/// Changes the block unless it is as wanted already.
pub async fn set(
    cx: &Context,
    chat: PrivateChatId,
    user: UserId,
    changes: Changes,
    needed: Condition,
) -> Result<NoContent, Problem> {
    let update = Action::update(&schema::PRIVATE_CHATS, PrivateChatMemberKey { chat, user }, changes).when(needed);
    match cx.access().write(&SET_BLOCK, update).await {
        Ok(_) | Err(Error::ConditionFailed(_)) => Ok(NoContent),
        // A user who is no member does not learn whether the chat exists.
        Err(error) => Err(error.into()),
    }
}
