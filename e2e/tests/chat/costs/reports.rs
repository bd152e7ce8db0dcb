//! Reports and the audit log.

use futures::future::join_all;
use serde_json::json;

use super::{Stage, text};
use crate::chat::conversation::{new_key, react};
use crate::chat::stage::{Chat, id};

pub async fn measure(stage: &mut Stage) {
    let asked = stage.creates_group_chat("Rivers", true).await;
    stage.many[25].user.post(&format!("{asked}/requests"), json!({})).await.is(201);
    let Stage { chat: Chat { ann, bob, .. }, admin, community, group, many, measured, .. } = stage;
    let message = json!({ "content": text(250) });
    let sent = many[25].user.post(&format!("{group}/messages"), message).once(&new_key()).await.is(201);
    let path = format!("{group}/messages/{}", sent.text("id"));
    react(&ann.user, &path, ":wave:").await.is(204);
    let chat = group.replace("/chat/groupchats", "groupchat");
    let about = |kind: &str, target: &str| json!({ "kind": kind, "targetId": target, "reason": "spam" });
    let mut of_message = about("message", sent.text("id"));
    of_message["chat"] = json!(chat);
    let new = many[0].user.post("/chat/reports", of_message.clone());
    let report = format!("/chat/reports/{}", id(&measured.of("report a message", new, 201).await));
    join_all(many[1..25].iter().map(async |member| {
        member.user.post("/chat/reports", of_message.clone()).await.is(201);
    }))
    .await;
    let of_person = bob.user.post("/chat/reports", about("person", &many[25].id));
    let of_person = format!("/chat/reports/{}", id(&measured.of("report a person", of_person, 201).await));
    let place = community.rsplit('/').next().unwrap();
    let of_place = bob.user.post("/chat/reports", about("community", place));
    measured.of("report a community", of_place, 201).await;
    measured.of("25 reports of a community", ann.user.get(&format!("{community}/reports")), 200).await;
    measured.of("25 reports of a group chat", ann.user.get(&format!("{group}/reports")), 200).await;
    measured.of("2 reports of the platform", admin.get("/chat/reports"), 200).await;
    measured.of("a report about a message", ann.user.get(&report), 200).await;
    measured.of("a report about a person", admin.get(&of_person), 200).await;
    let upheld = json!({ "status": "upheld", "measures": ["deleteMessage", "remove"], "reason": "Spam" });
    let settle = ann.user.post(&format!("{report}/settle"), upheld);
    measured.of("settle a report: delete the message and remove its sender from the community", settle, 200).await;
    let ban = json!({ "status": "upheld", "measures": ["ban"], "reason": "Spam" });
    let settle = admin.post(&format!("{of_person}/settle"), ban);
    measured.of("settle a report: ban the person from the platform", settle, 200).await;
    measured.of("25 entries of the audit log of a community", ann.user.get(&format!("{community}/audit")), 200).await;
    measured.of("the only entry of the audit log of the platform", admin.get("/chat/audit"), 200).await;
}
