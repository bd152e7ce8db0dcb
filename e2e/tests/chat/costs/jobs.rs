//! Jobs, and the daily run of the retention.

use std::time::Duration;

use chat::schema::APPLY_RETENTION;
use reqwest::Method;
use serde_json::json;

use super::messages::{sending_with, write};
use super::{Stage, community, group_chat, notifications, text};
use crate::chat::conversation::{private_chat, react};
use crate::chat::people::register;
use crate::chat::stage::{Chat, Member, id};
use crate::harness::Answer;

pub async fn measure(stage: &mut Stage) {
    retention(stage).await;
    deletions(stage).await;
    people(stage).await;
    // What the other files have begun to delete.
    stage.chat.cairn.event("chat", ::jobs::RUN_JOBS, &json!({})).await.unwrap();
    let Stage { chat, measured, .. } = stage;
    let look = (::jobs::RUN_JOBS, &json!({}));
    measured.of_event("look for due jobs, none there", &chat.cairn, ::chat::app, look, Duration::ZERO).await;
}

/// Works on the job that a response has announced.
async fn work(stage: &mut Stage, what: &'static str, accepted: &Answer) {
    let job = accepted.header("location").rsplit('/').next().unwrap();
    let message = json!({ "Records": [{ "messageId": "1", "eventSource": "aws:sqs",
        "body": json!({ "job": job }).to_string() }] });
    let Stage { chat, measured, .. } = stage;
    measured.of_event(what, &chat.cairn, ::chat::app, ("runJob", &message), Duration::ZERO).await;
}

/// Applies the retention to 3 messages with a reaction each.
async fn retention(stage: &mut Stage) {
    let created = stage.chat.ann.user.post("/chat/communities", community("Marsh")).await.is(201);
    let place = format!("/chat/communities/{}", id(&created));
    let list = format!("{place}/groupchats");
    let group = stage.chat.ann.user.post(&list, group_chat("Reeds", false)).await.is(201);
    let group = format!("/chat/groupchats/{}", id(&group));
    let Stage { chat, measured, .. } = stage;
    let ann = &chat.ann;
    for message in write(chat, &group, ann, Duration::from_secs(10 * 24 * 3600), 3).await {
        react(&ann.user, &format!("{group}/messages/{message}"), ":wave:").await.is(204);
    }
    ann.user.patch(&place, json!({ "retentionDays": 7 })).await.is(200);
    let run = (APPLY_RETENTION, &json!({}));
    let what = "apply the retention of 2 communities: 3 messages are too old";
    measured.of_event(what, &chat.cairn, ::chat::app, run, Duration::ZERO).await;
}

/// Deletes a group chat, and a community with one.
async fn deletions(stage: &mut Stage) {
    let created = stage.chat.ann.user.post("/chat/communities", community("Marsh")).await.is(201);
    let place = format!("/chat/communities/{}", id(&created));
    let mut groups = Vec::new();
    stage.chat.bob.joins_community(place.rsplit('/').next().unwrap()).await.is(201);
    for name in ["Reeds", "Rushes"] {
        let new = group_chat(name, true);
        let group = stage.chat.ann.user.post(&format!("{place}/groupchats"), new).await.is(201);
        let group = format!("/chat/groupchats/{}", id(&group));
        stage.chat.bob.user.post(&format!("{group}/requests"), json!({})).await.is(201);
        for message in write(&stage.chat, &group, &stage.chat.ann, Duration::ZERO, 24).await.iter().take(1) {
            react(&stage.chat.ann.user, &format!("{group}/messages/{message}"), ":wave:").await.is(204);
        }
        groups.push(group);
    }
    let Stage { chat: Chat { ann, .. }, measured, .. } = stage;
    let deleted = measured.of("delete a group chat in a community", ann.user.delete(&groups[0]), 202).await;
    work(stage, "delete what is in a group chat: a member, a request, 24 messages and a reaction", &deleted).await;
    let Stage { chat: Chat { ann, .. }, measured, .. } = stage;
    let deleted = measured.of("delete a community", ann.user.delete(&place), 202).await;
    work(stage, "delete what is in a community: 2 members and such a group chat", &deleted).await;
}

/// Exports what is stored about a user, and deletes another.
async fn people(stage: &mut Stage) {
    let bob = &stage.chat.bob.user;
    let group = bob.get("/chat/me/groupchats").await.is(200);
    let group = format!("/chat/groupchats/{}", group["items"][0]["id"].as_str().unwrap());
    sending_with(bob, &group, json!({ "content": text(250) })).await.is(201);
    stage.chat.cairn.caught_up().await;
    let Stage { chat: Chat { bob, .. }, measured, .. } = stage;
    let export = bob.user.call(Method::POST, "/chat/me/export");
    let export = measured.of("start an export", export, 202).await;
    work(stage, "export what is stored about a user", &export).await;
    let Stage { chat: Chat { cairn, bob, .. }, measured, .. } = stage;
    let job = measured.of("a job with its file", bob.user.get(export.header("location")), 200).await;
    assert_eq!(job.text("status"), "succeeded", "{}", job.told());

    let kit = register(cairn, "kit").await;
    let kit = Member { user: kit.user, id: kit.id };
    private_chat(&kit, bob).await;
    notifications::write(&stage.chat, &kit, 1).await;
    let Stage { measured, .. } = stage;
    let deleted = measured.of("delete the caller's user", kit.user.delete("/chat/me"), 202).await;
    work(stage, "delete what belongs to a user: a session, a private chat and a notification", &deleted).await;
}
