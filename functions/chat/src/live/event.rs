//! The events of feeds, as clients receive them. A feed stores them without the content of messages, which is read again
//! for a later delivery, so that a deleted text never returns.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::messages::MessageView;
use crate::names::{ChatId, CommunityId, MessageId, NotificationId, UserId};
use crate::notifications::NotificationView;

/// An event of a feed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all_fields = "camelCase")]
pub enum Event {
    #[serde(rename = "message.created")]
    MessageCreated { chat: ChatId, message: EventMessage },
    #[serde(rename = "message.edited")]
    MessageEdited { chat: ChatId, message: EventMessage },
    #[serde(rename = "message.deleted")]
    MessageDeleted { chat: ChatId, message_id: MessageId, deleted_by: Option<UserId>, rev: u64 },
    #[serde(rename = "reaction")]
    Reaction {
        chat: ChatId,
        message_id: MessageId,
        user_id: UserId,
        reaction: String,
        on: bool,
        /// How many people have reacted with each kind.
        reactions: BTreeMap<String, u64>,
        rev: u64,
    },
    /// A user has read a chat up to a message.
    #[serde(rename = "read")]
    Read { chat: ChatId, user_id: UserId, up_to: MessageId, rev: u64 },
    /// A user has joined or left a chat or a community.
    #[serde(rename = "membership")]
    Membership {
        #[serde(skip_serializing_if = "Option::is_none")]
        chat: Option<ChatId>,
        #[serde(skip_serializing_if = "Option::is_none")]
        community: Option<CommunityId>,
        user_id: UserId,
        state: MembershipState,
    },
    #[serde(rename = "chat.changed")]
    ChatChanged { chat: ChatId, details: ChatDetails, rev: u64 },
    #[serde(rename = "chat.deleted")]
    ChatDeleted { chat: ChatId },
    #[serde(rename = "notification")]
    Notification { notification: NotificationView },
    #[serde(rename = "notification.deleted")]
    NotificationDeleted { notification_id: NotificationId, rev: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MembershipState {
    Joined,
    Left,
}

/// The message of an event: for clients with its content, in a feed by its id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EventMessage {
    Stored(MessageId),
    #[serde(skip_deserializing)]
    View(Box<MessageView>),
}

/// The details of a chat. A private chat has a name and a description only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChatDetails {
    pub name: String,
    pub description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_id: Option<UserId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moderator_ids: Option<BTreeSet<UserId>>,
}

impl Event {
    /// Returns the event without the content of a message.
    pub fn without_content(self) -> Self {
        let by_id = |message| match message {
            EventMessage::View(view) => EventMessage::Stored(view.id),
            stored => stored,
        };
        match self {
            Self::MessageCreated { chat, message } => Self::MessageCreated { chat, message: by_id(message) },
            Self::MessageEdited { chat, message } => Self::MessageEdited { chat, message: by_id(message) },
            other => other,
        }
    }

    /// Returns the message whose content the event lacks.
    pub fn lacking(&self) -> Option<(ChatId, MessageId)> {
        match self {
            Self::MessageCreated { chat, message: EventMessage::Stored(id) }
            | Self::MessageEdited { chat, message: EventMessage::Stored(id) } => Some((*chat, *id)),
            _ => None,
        }
    }

    /// Returns the event with a message as it is now. The event of a message that does not exist any more reports its
    /// deletion, since numbers must have no hole.
    pub fn with_message(self, now: Option<MessageView>) -> Self {
        let (Some((chat, message_id)), now) = (self.lacking(), now.map(Box::new)) else { return self };
        match (self, now) {
            (Self::MessageCreated { .. }, Some(view)) => {
                Self::MessageCreated { chat, message: EventMessage::View(view) }
            }
            (Self::MessageEdited { .. }, Some(view)) => Self::MessageEdited { chat, message: EventMessage::View(view) },
            _ => Self::MessageDeleted { chat, message_id, deleted_by: None, rev: 0 },
        }
    }
}
