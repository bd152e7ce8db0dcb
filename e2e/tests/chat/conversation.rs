//! Chats of both kinds with members, and what people do in them.

use chat::group_chats::{ChatMember, GroupChat};
use chat::keys::{GroupChatKey, member_key, message_key};
use chat::messages::Message;
use chat::names::{ChatId, CommunityId, GroupChatId, MessageId, UserId};
use chat::schema;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use serde_json::{Value, json};
use table::{Clock, EntityKey};

use super::stage::{Chat, Member, id};
use crate::harness::table::stored;
use crate::harness::{Answer, Call, User};

/// Starts the private chat of two people, and returns its path.
pub async fn private_chat(one: &Member, other: &Member) -> String {
    let started = one.user.post("/chat/privatechats", json!({ "userId": other.id })).await;
    assert!([200, 201].contains(&started.status), "{}", started.told());
    format!("/chat/privatechats/{}", id(&started))
}

/// Creates a group chat whose owner is the first of its members, and returns its path.
pub async fn group_chat(chat: &Chat, members: &[&Member]) -> String {
    let (community, group) = (CommunityId::now(&chat.cairn.clock), GroupChatId::now(&chat.cairn.clock));
    let created_at = group.time().to_string();
    let item = GroupChat {
        id: group,
        community_id: community,
        name: "Hikers".to_owned(),
        description: String::new(),
        capacity: 10_000,
        private: false,
        num_members: members.len() as u64,
        owner: members[0].id.parse().unwrap(),
        moderators: [].into(),
        created_at: created_at.clone(),
        deleting_at: None,
        deletion_job: None,
    };
    let table = chat.cairn.table_of(&schema::GROUP_CHATS);
    let mut items = vec![stored(&schema::GROUP_CHATS, &GroupChatKey { chat: group }.key(), &item)];
    for member in members {
        let user = user_id(member);
        let item = ChatMember::new(format!("GROUPCHAT#{group}"), user, created_at.clone());
        items.push(stored(&schema::GROUP_CHATS, &member_key(group.into(), user), &item));
    }
    table.put_all(items).await;
    format!("/chat/groupchats/{group}")
}

/// Creates a chat of each kind, of ann and bob. Ann owns the group chat, of which cy is a member, too.
pub async fn both_kinds(chat: &Chat) -> [String; 2] {
    [private_chat(&chat.ann, &chat.bob).await, group_chat(chat, &[&chat.ann, &chat.bob, &chat.cy]).await]
}

/// Returns the chat of a path.
pub fn chat_of(path: &str) -> ChatId {
    path.replace("/chat/", "").replace("chats/", "chat/").parse().unwrap()
}

pub fn user_id(member: &Member) -> UserId {
    member.id.parse().unwrap()
}

/// Returns a new idempotency key.
pub fn new_key() -> String {
    MessageId::now(&Clock::system()).to_string()
}

/// Returns the request that sends a message with a new idempotency key.
pub fn sending(user: &User, chat: &str, content: &str) -> Call {
    user.post(&format!("{chat}/messages"), json!({ "content": content })).once(&new_key())
}

/// Sends a message.
pub async fn send(user: &User, chat: &str, content: &str) -> Answer {
    sending(user, chat, content).await.is(201)
}

/// Returns the request that adds a reaction to the message of a path.
pub fn react(user: &User, message: &str, kind: &str) -> Call {
    user.call(Method::PUT, &format!("{message}/reactions/{}", encoded(kind)))
}

/// Returns the request that removes a reaction.
pub fn unreact(user: &User, message: &str, kind: &str) -> Call {
    user.delete(&format!("{message}/reactions/{}", encoded(kind)))
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// Writes messages directly, each at a time in milliseconds, and returns their ids in the order of the history.
pub async fn write_messages(chat: &Chat, path: &str, sender: &Member, times: impl Iterator<Item = i64>) -> Vec<String> {
    let place = chat_of(path);
    let mut ids: Vec<MessageId> = times.map(MessageId::at).collect();
    ids.sort();
    let table = chat::messages::table_of(place);
    let items = ids.iter().map(|id| {
        let message = Message::new(*id, user_id(sender), format!("message {id}"));
        stored(table, &message_key(place, *id), &message)
    });
    chat.cairn.table_of(table).put_all(items.collect()).await;
    ids.iter().map(MessageId::to_string).collect()
}

/// Changes the item of a member directly.
pub async fn change_member(chat: &Chat, path: &str, member: &Member, change: impl FnOnce(&mut ChatMember)) {
    let place = chat_of(path);
    let key = member_key(place, user_id(member));
    let table = chat.cairn.table_of(chat::messages::table_of(place));
    let item = table.get(&key.pk, key.sk.as_deref().unwrap()).await.unwrap();
    let mut value: ChatMember = table::item::from_item(item).unwrap();
    change(&mut value);
    table.put(stored(table.table, &key, &value)).await;
}

/// Returns the ids of a page's messages.
pub fn ids(page: &Answer) -> Vec<&str> {
    page.each("id").into_iter().filter_map(Value::as_str).collect()
}
