//! Settling a request: the actions on its two rows and its guard.

use table::{Action, Changes, Condition, EntityKey, item};

use super::{RequestStatus, Settlement};
use crate::keys::{RequestGuardKey, RequestOfChatKey, RequestOfUserKey};
use crate::names::{GroupChatId, Millisecond, RequestId, UserId};
use crate::schema::CHAT_REQUESTS;

/// Returns the updates of both rows of a pending request: that of the user and that of the chat.
pub fn rows((chat, user, request): (GroupChatId, UserId, RequestId), settlement: Settlement) -> [Action; 2] {
    let time = request.time();
    let changes = Changes::new()
        .set("Status", item::text(settlement.status.as_str()))
        .set("SettledAt", item::text(settlement.at.to_string()))
        .set("SettledBy", item::text(settlement.by.to_string()))
        .remove("PendingId");
    let keys = [RequestOfUserKey { user, time, request }.key(), RequestOfChatKey { chat, time, request }.key()];
    let is_pending = || Condition::Equals("Status", item::text(RequestStatus::Pending.as_str()));
    keys.map(|key| Action::update(&CHAT_REQUESTS, key, changes.clone()).when(is_pending()))
}

/// Returns the deletion of the guard of a request, so that the user may ask again.
pub fn free_guard(chat: GroupChatId, user: UserId, request: RequestId) -> Action {
    let of_request = Condition::Equals("RequestId", item::text(request.to_string()));
    Action::delete(&CHAT_REQUESTS, RequestGuardKey { chat, user }).when(of_request)
}

/// Returns the actions that withdraw a pending request.
pub fn withdraw(chat: GroupChatId, user: UserId, request: RequestId, at: Millisecond) -> [Action; 3] {
    let withdrawn = Settlement { status: RequestStatus::Withdrawn, by: user, at };
    let [of_user, of_chat] = rows((chat, user, request), withdrawn);
    [of_user, of_chat, free_guard(chat, user, request)]
}
