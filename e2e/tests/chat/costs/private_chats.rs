//! Private chats. The list of the caller's chats has the badges of each chat.

use reqwest::Method;
use serde_json::json;

use super::Stage;
use crate::chat::stage::{Chat, id};

pub async fn measure(stage: &mut Stage) {
    let Stage { chat: Chat { ann, bob, .. }, many, measured, .. } = stage;
    let with = |user: &str| json!({ "userId": user });
    let start = ann.user.post("/chat/privatechats", with(&bob.id));
    let chat = format!("/chat/privatechats/{}", id(&measured.of("start a private chat", start, 201).await));
    let again = ann.user.post("/chat/privatechats", with(&bob.id));
    measured.of("start a private chat that exists", again, 200).await;
    measured.of("a private chat", bob.user.get(&chat), 200).await;
    measured.of("rename a private chat", bob.user.patch(&chat, json!({ "name": "Weekend" })), 200).await;
    let block = format!("{chat}/block");
    measured.of("block the other member", bob.user.call(Method::PUT, &block), 204).await;
    measured.of("unblock the other member", bob.user.delete(&block), 204).await;
    for member in &many[..25] {
        ann.user.post("/chat/privatechats", with(&member.id)).await.is(201);
    }
}
