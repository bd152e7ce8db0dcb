//! Changes of group chats and private chats.

use table::{EntityKey, Error};
use web::Record;

use super::messages::feeds;
use super::{Effect, append};
use crate::group_chats::GroupChat;
use crate::keys::{GroupChatKey, PrivateChatKey};
use crate::live::event::{ChatDetails, Event};
use crate::live::feed::Feed;
use crate::names::{ChatId, UserId};
use crate::notifications::NotificationType;
use crate::notifications::write::NewNotification;
use crate::private_chats::PrivateChat;

pub fn effects(record: &Record) -> Result<Vec<Effect>, Error> {
    if let Some(GroupChatKey { chat }) = GroupChatKey::parse(&record.key) {
        let (Some(old), Some(new)) = (record.read_old::<GroupChat>()?, record.read_new::<GroupChat>()?) else {
            return Ok(Vec::new());
        };
        let id = ChatId::Group(chat);
        if new.deleting_at.is_some() {
            if old.deleting_at.is_some() {
                return Ok(Vec::new());
            }
            let mut effects = append([Feed::GroupChat(chat)], &Event::ChatDeleted { chat: id });
            effects.push(Effect::EndFeed { chat });
            return Ok(effects);
        }
        let (before, details) = (of_group_chat(&old), of_group_chat(&new));
        if before == details {
            return Ok(Vec::new());
        }
        let event = Event::ChatChanged { chat: id, details, rev: record.rev() };
        let mut effects = append([Feed::GroupChat(chat)], &event);
        // A new owner may have been no moderator, and a former owner may become one by the same change.
        let promoted = new.moderators.difference(&old.moderators).copied().filter(|user| old.owner != *user);
        effects.extend(promoted.map(|user| made_moderator(user, format!("/chat/groupchats/{chat}"), new.owner)));
        return Ok(effects);
    }
    if let Some(PrivateChatKey { chat }) = PrivateChatKey::parse(&record.key) {
        let (Some(old), Some(new)) = (record.read_old::<PrivateChat>()?, record.read_new::<PrivateChat>()?) else {
            return Ok(Vec::new());
        };
        let (before, details) = (of_private_chat(&old), of_private_chat(&new));
        if before != details {
            let chat = ChatId::Private(chat);
            let event = Event::ChatChanged { chat, details, rev: record.rev() };
            return Ok(append(feeds(chat, &new.member_ids), &event));
        }
    }
    Ok(Vec::new())
}

/// Returns the notification of a new moderator.
pub fn made_moderator(user: UserId, target: String, by: UserId) -> Effect {
    Effect::Notify(NewNotification {
        user,
        notification_type: NotificationType::MadeModerator,
        target,
        actor: Some(by),
    })
}

fn of_group_chat(chat: &GroupChat) -> ChatDetails {
    ChatDetails {
        name: chat.name.clone(),
        description: chat.description.clone(),
        capacity: Some(chat.capacity),
        private: Some(chat.private),
        owner_id: Some(chat.owner),
        moderator_ids: Some(chat.moderators.clone()),
    }
}

fn of_private_chat(chat: &PrivateChat) -> ChatDetails {
    ChatDetails {
        name: chat.name.clone(),
        description: chat.description.clone(),
        capacity: None,
        private: None,
        owner_id: None,
        moderator_ids: None,
    }
}
