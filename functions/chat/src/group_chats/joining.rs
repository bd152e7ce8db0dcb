//! Joining a group chat: the actions of its transaction, and the problems of their conditions. Members join, moderators add
//! members, and approved requests lead to the same four actions.

use table::{Action, Changes, Condition, Error, Failed, Item, item};
use web::Problem;

use super::{CHAT_FULL, ChatMember, GroupChat, MAX_MEMBERSHIPS, NOT_IN_COMMUNITY, REQUEST_NEEDED, count_membership};
use crate::communities::{TOO_MANY_MEMBERSHIPS, check_member};
use crate::keys::{GroupChatKey, GroupChatMemberKey};
use crate::names::UserId;
use crate::schema::GROUP_CHATS;

/// How a user becomes a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By the user's own act, unless the chat is private.
    Joins,
    /// By the act of a moderator.
    Added,
}

/// Returns the actions by which a user becomes a member. They count the member, create the row, check the membership of
/// the community, and count the user's memberships.
pub fn actions(chat: &GroupChat, user: UserId, member: &ChatMember, way: Way) -> Result<[Action; 4], Error> {
    let id = chat.id;
    let mut counted = Action::update(&GROUP_CHATS, GroupChatKey { chat: id }, Changes::new().add("NumMembers", 1))
        .when(Condition::Absent("DeletingAt"))
        // DynamoDB cannot subtract in a condition, so the capacity is compared with the one that was read.
        .when(Condition::Equals("Capacity", item::number(chat.capacity)))
        .when(Condition::AtMost("NumMembers", item::number(i128::from(chat.capacity) - 1)));
    if way == Way::Joins {
        counted = counted.when(Condition::Equals("Private", item::flag(false)));
    }
    Ok([
        counted,
        Action::create(&GROUP_CHATS, GroupChatMemberKey { chat: id, user }, member)?,
        check_member(chat.community_id, user),
        count_membership(user),
    ])
}

/// Returns the problem of a transaction whose actions from the index `first` on are those of [`actions`]. The caller looks
/// first whether the user is a member already.
pub fn problem(error: Error, first: usize, chat: &GroupChat, way: Way) -> Problem {
    match (error.failed(first), error.failed(first + 2), error.failed(first + 3)) {
        (Some(failed), ..) => refusal(failed, chat, way),
        (None, Some(_), _) if way == Way::Joins => Problem::not_found(),
        (None, Some(_), _) => NOT_IN_COMMUNITY.because("The user is not a member of the community of this group chat."),
        (None, None, Some(_)) => too_many_memberships(),
        (None, None, None) => error.into(),
    }
}

fn refusal(failed: &Failed, chat: &GroupChat, way: Way) -> Problem {
    let Some(found) = &failed.item else { return Problem::not_found() };
    let holds = |condition: Condition, found: &Item| condition.holds(found);
    if !holds(Condition::Absent("DeletingAt"), found) {
        Problem::not_found()
    } else if way == Way::Joins && !holds(Condition::Equals("Private", item::flag(false)), found) {
        request_needed()
    } else if !holds(Condition::Equals("Capacity", item::number(chat.capacity)), found) {
        Problem::lost_race()
    } else {
        CHAT_FULL.because(format!("The group chat has all of its {} members.", chat.capacity))
    }
}

pub fn request_needed() -> Problem {
    REQUEST_NEEDED.because("The group chat is private. Send a request to its moderators.")
}

pub fn too_many_memberships() -> Problem {
    TOO_MANY_MEMBERSHIPS.because(format!("A user is a member of at most {MAX_MEMBERSHIPS} group chats."))
}
