//! Events that a client has missed. Those of messages get the messages as they are now.

use std::collections::HashMap;

use table::{Access, AccessPattern, Error, Key};

use super::feeds::Entry;
use crate::access::{GROUP_CHATS as ON_GROUP_CHATS, PRIVATE_CHATS as ON_PRIVATE_CHATS};
use crate::keys::message_key;
use crate::messages::{Message, MessageView};
use crate::names::{ChatId, MessageId};
use crate::schema::{GROUP_CHATS, PRIVATE_CHATS};

/// The messages of events.
pub const MESSAGES: AccessPattern =
    AccessPattern::new("messagesOfEvents", &[ON_GROUP_CHATS.batch_get(), ON_PRIVATE_CHATS.batch_get()]);

/// The messages of events in the feeds of group chats.
pub const MESSAGES_OF_GROUP_CHATS: AccessPattern =
    AccessPattern::new("messagesOfGroupChats", &[ON_GROUP_CHATS.batch_get()]);

/// Reads the messages of events by a pattern such as [`MESSAGES`], and returns the events with them.
pub async fn with_messages(
    access: &Access,
    pattern: &'static AccessPattern,
    entries: Vec<Entry>,
) -> Result<Vec<Entry>, Error> {
    let lacking: Vec<(ChatId, MessageId)> = entries.iter().filter_map(|entry| entry.event.lacking()).collect();
    let (group, private): (Vec<_>, Vec<_>) =
        lacking.into_iter().partition(|(chat, _)| matches!(chat, ChatId::Group(_)));
    let mut messages: HashMap<MessageId, MessageView> = HashMap::new();
    for (table, of_kind) in [(&GROUP_CHATS, group), (&PRIVATE_CHATS, private)] {
        if of_kind.is_empty() {
            continue;
        }
        let keys: Vec<Key> = of_kind.iter().map(|(chat, message)| message_key(*chat, *message)).collect();
        for stored in access.table(pattern, table).batch_get_consistent(&keys).await?.into_iter().flatten() {
            let message: Message = stored.read()?;
            messages.insert(message.id, MessageView::new(message, stored.rev));
        }
    }
    let complete = |entry: Entry| {
        let message = entry.event.lacking().and_then(|(_, message)| messages.get(&message).cloned());
        Entry { event: entry.event.with_message(message), ..entry }
    };
    Ok(entries.into_iter().map(complete).collect())
}
