//! Requests to join a private group chat.

use futures::future::join_all;
use reqwest::Method;
use serde_json::json;

use super::{Stage, text};
use crate::chat::stage::{Chat, id};

pub async fn measure(stage: &mut Stage) {
    let chat = stage.creates_group_chat("Springs", true).await;
    let Stage { chat: Chat { ann, bob, .. }, many, measured, .. } = stage;
    let list = format!("{chat}/requests");
    let note = json!({ "note": text(60) });
    let new = id(&measured.of("create a request", bob.user.post(&list, note.clone()), 201).await);
    join_all(many[..25].iter().map(async |member| member.user.post(&list, note.clone()).await.is(201))).await;
    let pending = measured.of("25 pending requests of a group chat", ann.user.get(&list), 200).await;
    let all = ann.user.get(&format!("{list}?status=all"));
    measured.of("25 requests of a group chat", all, 200).await;
    measured.of("the only pending request of the caller", bob.user.get("/chat/me/requests"), 200).await;
    let own = format!("/chat/me/requests/{new}");
    measured.of("a request of the caller", bob.user.get(&own), 200).await;
    let of = |request: &str| format!("{list}/{request}");
    measured.of("a request of a group chat", ann.user.get(&of(&new)), 200).await;
    measured.of("mark a request as seen", ann.user.patch(&of(&new), json!({ "seen": true })), 200).await;
    let [approved, denied] = [0, 1].map(|number: usize| of(pending["items"][number]["id"].as_str().unwrap()));
    let settle = |request: &str, how: &str| ann.user.call(Method::POST, &format!("{request}/{how}"));
    measured.of("approve a request", settle(&approved, "approve"), 200).await;
    measured.of("deny a request", settle(&denied, "deny"), 200).await;
    measured.of("withdraw a request", bob.user.delete(&own), 204).await;
}
