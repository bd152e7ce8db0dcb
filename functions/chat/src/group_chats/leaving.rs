//! Leaving a group chat: the actions that end a membership, alone or with others in one transaction.

use table::{Action, Changes, Condition, Error, item};

use super::GroupChat;
use crate::keys::{GroupChatCountKey, GroupChatKey, GroupChatMemberKey};
use crate::moderators;
use crate::names::UserId;
use crate::schema::GROUP_CHATS;

/// Returns the actions that delete a member and subtract it from its chat. They fail for the owner, and if the moderators
/// have changed since the chat was read.
pub fn actions(chat: &GroupChat, user: UserId) -> Result<[Action; 2], Error> {
    let counted = moderators::without(&chat.moderators, user)?.add("NumMembers", -1);
    Ok([
        Action::delete(&GROUP_CHATS, GroupChatMemberKey { chat: chat.id, user }),
        Action::update(&GROUP_CHATS, GroupChatKey { chat: chat.id }, counted)
            .when(Condition::Differs("Owner", item::text(user.to_string())))
            .when(moderators::unchanged(&chat.moderators)?),
    ])
}

/// Returns the subtraction of this number of group chats from the memberships of a user.
pub fn subtract_memberships(user: UserId, number: usize) -> Action {
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    Action::update(&GROUP_CHATS, GroupChatCountKey { user }, Changes::new().add("Num", -number))
}
