//! Messages, reactions and read positions.

use std::time::Duration;

use chat::keys::message_key;
use chat::messages::{Message, table_of};
use chat::names::MessageId;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Stage, text};
use crate::chat::conversation::{change_member, chat_of, new_key, react, unreact, user_id};
use crate::chat::stage::{Chat, Member, id};
use crate::harness::table::stored;
use crate::harness::{Call, User};

/// Sends a message of half a KB.
fn sending(user: &User, chat: &str) -> Call {
    sending_with(user, chat, json!({ "content": text(250) }))
}

pub fn sending_with(user: &User, chat: &str, message: Value) -> Call {
    user.post(&format!("{chat}/messages"), message).once(&new_key())
}

/// Writes messages of half a KB directly, a second apart, the last of them this long ago.
pub async fn write(chat: &Chat, path: &str, sender: &Member, before: Duration, count: i64) -> Vec<MessageId> {
    let now = chat.cairn.clock.micros() / 1000 - i64::try_from(before.as_millis()).unwrap();
    let place = chat_of(path);
    let ids: Vec<MessageId> = (0..count).map(|number| MessageId::at(now - 1000 * (count - number))).collect();
    let item = |id: &MessageId| {
        let message = Message::new(*id, user_id(sender), text(250));
        stored(table_of(place), &message_key(place, *id), &message)
    };
    chat.cairn.table_of(table_of(place)).put_all(ids.iter().map(item).collect()).await;
    ids
}

pub async fn measure(stage: &mut Stage) {
    let chats = private_and_group(stage).await;
    for (kind, chat) in [("group", &chats[1]), ("private", &chats[0])] {
        in_chat(stage, kind == "group", chat).await;
    }
    in_group(stage).await;
    lists_of_chats(stage).await;
}

/// Returns the private chat of ann and bob, and a group chat in which both are.
async fn private_and_group(stage: &Stage) -> [String; 2] {
    let Chat { ann, bob, .. } = &stage.chat;
    let started = ann.user.post("/chat/privatechats", json!({ "userId": bob.id })).await.is(200);
    let open = stage.creates_group_chat("Cliffs", false).await;
    bob.user.call(Method::PUT, &format!("{open}/members/me")).await.is(201);
    [format!("/chat/privatechats/{}", id(&started)), open]
}

/// Measures what members do in a chat of either kind.
async fn in_chat(stage: &mut Stage, is_group: bool, chat: &str) {
    let named = |group: &'static str, private: &'static str| if is_group { group } else { private };
    // From before the members joined, so that they are not unread.
    let position = write(&stage.chat, chat, &stage.chat.ann, Duration::from_secs(3600), 60).await[30];
    let Stage { chat: Chat { ann, bob, .. }, measured, .. } = stage;
    let what = named("send a message", "send a message in a private chat");
    let sent = measured.of(what, sending(&ann.user, chat), 201).await;
    let what = named("send a reply that mentions a member", "send a reply that mentions the other member");
    let content = format!("@bob {}", text(240));
    let reply = json!({ "content": content, "replyTo": sent["id"] });
    measured.of(what, sending_with(&ann.user, chat, reply), 201).await;
    let message = format!("{chat}/messages/{}", sent.text("id"));
    let page = |query: &str| bob.user.get(&format!("{chat}/messages?{query}"));
    measured.of(named("the newest 25 messages", "the newest 25 messages in private"), page(""), 200).await;
    if is_group {
        measured.of("25 older messages", page(&format!("before={position}")), 200).await;
        measured.of("25 messages after one", page("after=2026-01-01T00:00:00Z"), 200).await;
        measured.of("25 messages around one", page(&format!("around={position}")), 200).await;
        measured.of("the newest 25 messages with the names of their people", page("include=people"), 200).await;
    }
    measured.of(named("a message", "a private message"), bob.user.get(&message), 200).await;
    let what = named("react to a message", "react to a private message");
    measured.of(what, react(&bob.user, &message, ":wave:"), 204).await;
    let what = named("react to a message with a second kind", "react to a private message with a second kind");
    measured.of(what, react(&bob.user, &message, "👍"), 204).await;
    let what = named("a message with a reaction of the caller", "a private message with a reaction of the caller");
    measured.of(what, bob.user.get(&message), 200).await;
    let what = named("remove a reaction", "remove a reaction to a private message");
    measured.of(what, unreact(&bob.user, &message, "👍"), 204).await;
    let what = named("the reactions to a message of one member", "the reactions to a private message");
    measured.of(what, bob.user.get(&format!("{message}/reactions")), 200).await;
    let edit = json!({ "content": text(255) });
    measured.of(named("edit a message", "edit a private message"), ann.user.patch(&message, edit), 200).await;
    let read = format!("{chat}/read");
    let what = named("the read state, with 2 unread", "the read state of a private chat, with 2 unread");
    measured.of(what, bob.user.get(&read), 200).await;
    let up_to = json!({ "upTo": sent["id"] });
    let what = named("mark a message as read", "mark a private message as read");
    measured.of(what, bob.user.put(&read, up_to), 200).await;
    let what = named("2 readers of a message", "2 readers of a private message");
    measured.of(what, ann.user.get(&format!("{message}/readers")), 200).await;
    let preferences = json!({ "mutedUntil": "2027-01-01T00:00:00.000Z", "hidden": false });
    let what = named("mute a group chat", "mute a private chat");
    measured.of(what, bob.user.put(&format!("{chat}/preferences"), preferences), 200).await;
    let what = named("delete a message with one person's reactions", "delete a private message with reactions");
    measured.of(what, ann.user.delete(&message), 204).await;
}

/// Measures what has to do with the number of a group chat's members and messages.
async fn in_group(stage: &mut Stage) {
    let group = stage.group.clone();
    let ids = write(&stage.chat, &group, &stage.chat.ann, Duration::ZERO, 110).await;
    let Stage { chat, many, measured, .. } = stage;
    let ann = &chat.ann;
    let (message, read) = (format!("{group}/messages/{}", ids[109]), format!("{group}/read"));
    for member in &many[..25] {
        // What was sent before a member joined is read.
        change_member(chat, &group, member, |stored| stored.joined_at = ids[0].time().to_string()).await;
        react(&member.user, &message, ":wave:").await.is(204);
    }
    measured.of("25 reactions to a message", ann.user.get(&format!("{message}/reactions")), 200).await;
    many[0].user.put(&read, json!({ "upTo": ids[9] })).await.is(200);
    measured.of("the read state, with 100 unread", many[0].user.get(&read), 200).await;
    for member in &many[..25] {
        member.user.put(&read, json!({ "upTo": ids[109] })).await.is(200);
    }
    measured.of("the read state, with none unread", many[0].user.get(&read), 200).await;
    measured.of("25 readers of a message", ann.user.get(&format!("{message}/readers")), 200).await;
    let moderated = sending(&many[0].user, &group).await.is(201);
    let moderated = format!("{group}/messages/{}", moderated.text("id"));
    measured.of("delete a message as a moderator", ann.user.delete(&moderated), 204).await;
}

/// Measures the lists of the caller's chats, each of which has a message.
async fn lists_of_chats(stage: &mut Stage) {
    let Stage { chat: Chat { ann, .. }, measured, .. } = stage;
    for path in ["/chat/me/groupchats", "/chat/me/privatechats"] {
        for chat in ann.user.get(path).await.is(200)["items"].as_array().unwrap() {
            let kind = path.rsplit('/').next().unwrap();
            let chat = format!("/chat/{kind}/{}", chat["id"].as_str().unwrap());
            sending(&ann.user, &chat).await.is(201);
        }
    }
    measured.of("25 of the caller's group chats", ann.user.get("/chat/me/groupchats"), 200).await;
    let counted = ann.user.get("/chat/me/groupchats?counts=true");
    measured.of("25 of the caller's group chats, counted, with nothing unread", counted, 200).await;
    measured.of("25 of the caller's private chats", ann.user.get("/chat/me/privatechats"), 200).await;
    let named = ann.user.get("/chat/me/privatechats?include=people");
    measured.of("25 of the caller's private chats with their people", named, 200).await;
}
