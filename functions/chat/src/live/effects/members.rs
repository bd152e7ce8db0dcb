//! Changes of the members of chats.

use table::{EntityKey, Error};
use web::Record;

use super::{Effect, append};
use crate::group_chats::ChatMember;
use crate::keys::{GroupChatMemberKey, PrivateChatMemberKey};
use crate::live::event::{Event, MembershipState};
use crate::live::feed::Feed;
use crate::messages::path_of;
use crate::names::{ChatId, PrivateChatId, UserId};
use crate::notifications::NotificationType;
use crate::notifications::write::NewNotification;

pub fn effects(record: &Record) -> Result<Vec<Effect>, Error> {
    let group = || GroupChatMemberKey::parse(&record.key).map(|key| (ChatId::Group(key.chat), key.user));
    let private = || PrivateChatMemberKey::parse(&record.key).map(|key| (ChatId::Private(key.chat), key.user));
    let Some((chat, user)) = group().or_else(private) else { return Ok(Vec::new()) };
    Ok(match (record.read_old::<ChatMember>()?, record.read_new::<ChatMember>()?) {
        (None, Some(new)) => {
            let mut effects = membership(chat, user, &new, MembershipState::Joined);
            // The approval of a request has a notification of its own.
            effects.extend(new.added_by.filter(|by| *by != user).map(|by| Effect::Notify(added(chat, user, by))));
            effects
        }
        (Some(old), None) => {
            let mut effects = membership(chat, user, &old, MembershipState::Left);
            if let ChatId::Group(chat) = chat {
                effects.push(Effect::EndSubscriptions { user, chat });
            }
            effects
        }
        (Some(old), Some(new)) => {
            let mut effects = read(chat, user, &old, &new, record.rev());
            if let ChatId::Private(chat) = chat {
                effects.extend(end_of_presence(chat, user, &old, &new));
            }
            effects
        }
        (None, None) => Vec::new(),
    })
}

fn membership(chat: ChatId, user: UserId, member: &ChatMember, state: MembershipState) -> Vec<Effect> {
    let event = Event::Membership { chat: Some(chat), community: None, user_id: user, state };
    match chat {
        ChatId::Group(chat) => append([Feed::GroupChat(chat), Feed::User(user)], &event),
        ChatId::Private(_) => append(member.member_ids.iter().copied().map(Feed::User), &event),
    }
}

fn added(chat: ChatId, user: UserId, by: UserId) -> NewNotification {
    let notification_type = match chat {
        ChatId::Group(_) => NotificationType::Added,
        ChatId::Private(_) => NotificationType::PrivateChatStarted,
    };
    NewNotification { user, notification_type, target: path_of(chat), actor: Some(by) }
}

/// Returns the event of a position. The move by sending a message has none.
fn read(chat: ChatId, user: UserId, old: &ChatMember, new: &ChatMember, rev: u64) -> Vec<Effect> {
    let Some(up_to) = new.last_read_id.filter(|_| old.last_read_id != new.last_read_id) else { return Vec::new() };
    if new.last_sent_id == Some(up_to) && old.last_sent_id != new.last_sent_id {
        return Vec::new();
    }
    let event = Event::Read { chat, user_id: user, up_to, rev };
    match chat {
        ChatId::Group(_) => append([Feed::User(user)], &event),
        ChatId::Private(_) => append(new.member_ids.iter().copied().map(Feed::User), &event),
    }
}

fn end_of_presence(chat: PrivateChatId, user: UserId, old: &ChatMember, new: &ChatMember) -> Option<Effect> {
    let blocked = old.blocked_at.is_none() && new.blocked_at.is_some();
    let gone = old.gone_at.is_none() && new.gone_at.is_some();
    let other = new.member_ids.iter().copied().find(|other| *other != user)?;
    (blocked || gone).then_some(Effect::EndPresence { chat, one: user, other })
}
