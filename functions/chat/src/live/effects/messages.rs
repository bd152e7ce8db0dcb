//! Changes of messages.

use std::collections::BTreeSet;

use table::{EntityKey, Error, Rev};
use web::Record;

use super::{Effect, append};
use crate::keys::{GroupChatMessageKey, PrivateChatMessageKey};
use crate::live::event::{Event, EventMessage};
use crate::live::feed::Feed;
use crate::messages::{Message, MessageView, path_of};
use crate::names::{ChatId, MessageId, UserId};
use crate::notifications::NotificationType;
use crate::notifications::write::{MentionChange, NewNotification};

pub fn effects(record: &Record) -> Result<Vec<Effect>, Error> {
    let group = || GroupChatMessageKey::parse(&record.key).map(|key| (ChatId::Group(key.chat), key.message));
    let private = || PrivateChatMessageKey::parse(&record.key).map(|key| (ChatId::Private(key.chat), key.message));
    let Some((chat, id)) = group().or_else(private) else { return Ok(Vec::new()) };
    // The removal of a message belongs to the deletion of its chat.
    let Some(new) = record.read_new::<Message>()? else { return Ok(Vec::new()) };
    let feeds = feeds(chat, &new.member_ids);
    let old = record.read_old::<Message>()?;
    let Some(event) = event(chat, old.as_ref(), &new, record.rev()) else { return Ok(Vec::new()) };
    let mut effects = append(feeds, &event);
    let had_reactions = old.as_ref().is_some_and(|old| !old.reactions.is_empty());
    if matches!(event, Event::MessageDeleted { .. }) && had_reactions {
        effects.push(Effect::DeleteReactions { chat, message: id });
    }
    match old {
        Some(old) => effects.extend(changed_mentions(chat, &old, &new)),
        None => effects.extend(mentions(chat, id, &new)),
    }
    Ok(effects)
}

/// Returns the effects of the mentions that are no longer in a message, and of those that an edit has added.
fn changed_mentions(chat: ChatId, old: &Message, new: &Message) -> Vec<Effect> {
    let removed = old.mentions.difference(&new.mentions).map(|user| (*user, MentionChange::Removed));
    let added = new.mentions.difference(&old.mentions).map(|user| (*user, MentionChange::Added));
    let of_others = removed.chain(added).filter(|(user, _)| *user != new.sender_id);
    of_others.map(|(user, change)| Effect::MentionChanged { chat, message: new.id, user, change }).collect()
}

/// Returns the feeds of a chat's events: its own, or those of both members of a private chat.
pub fn feeds(chat: ChatId, members: &BTreeSet<UserId>) -> Vec<Feed> {
    match chat {
        ChatId::Group(chat) => vec![Feed::GroupChat(chat)],
        ChatId::Private(_) => members.iter().copied().map(Feed::User).collect(),
    }
}

fn event(chat: ChatId, old: Option<&Message>, new: &Message, rev: u64) -> Option<Event> {
    let view = || EventMessage::View(Box::new(MessageView::new(new.clone(), Rev::new(rev))));
    let Some(old) = old else { return Some(Event::MessageCreated { chat, message: view() }) };
    if new.deleted_at.is_some() {
        let deleted = Event::MessageDeleted { chat, message_id: new.id, deleted_by: new.deleted_by, rev };
        return old.deleted_at.is_none().then_some(deleted);
    }
    if old.content != new.content || old.editted_at != new.editted_at {
        return Some(Event::MessageEdited { chat, message: view() });
    }
    let last = new.last_reaction.as_ref().filter(|_| old.reactions != new.reactions)?;
    Some(Event::Reaction {
        chat,
        message_id: new.id,
        user_id: last.by,
        reaction: last.kind.clone(),
        on: last.on,
        reactions: new.reactions.clone(),
        rev,
    })
}

fn mentions(chat: ChatId, message: MessageId, new: &Message) -> impl Iterator<Item = Effect> {
    let path = path_of(chat);
    let mentioned = new.mentions.iter().filter(|user| **user != new.sender_id);
    mentioned.map(move |user| Effect::Mention {
        chat,
        message,
        notification: NewNotification {
            user: *user,
            notification_type: NotificationType::Mention,
            target: format!("{path}/messages/{message}"),
            actor: Some(new.sender_id),
        },
    })
}
