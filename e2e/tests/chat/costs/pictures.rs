//! Pictures and exports.

use std::time::Duration;

use serde_json::{Value, json};

use super::Stage;
use crate::chat::pictures::png;
use crate::chat::stage::{Chat, Member};
use crate::harness::measured::Measured;
use crate::harness::send_file;

pub async fn measure(stage: &mut Stage) {
    let Stage { chat, community, measured, .. } = stage;
    let community = community.rsplit('/').next().unwrap();
    let file = png(64, 64, [90, 120, 60, 255]);
    let of_person = json!({ "kind": "avatar", "bytes": file.len() });
    let of_community = json!({ "kind": "communityAvatar", "communityId": community, "bytes": file.len() });
    let created = measured.of("create a picture", chat.ann.user.post("/chat/pictures", of_person), 201).await;
    let picture = created.header("location").to_owned();
    assert_eq!(send_file(&created, &file).await, 200);
    store(chat, measured, "store a picture", (&chat.ann, created.text("id"))).await;
    measured.of("a picture", chat.ann.user.get(&picture), 200).await;
    let without = chat.ann.user.patch("/chat/me", json!({ "avatarURL": null }));
    measured.of("remove the caller's picture", without, 200).await;
    let created = chat.ann.user.post("/chat/pictures", of_community);
    let created = measured.of("create a picture of a community", created, 201).await;
    assert_eq!(send_file(&created, &file).await, 200);
    store(chat, measured, "store a picture of a community", (&chat.ann, created.text("id"))).await;
}

async fn store(chat: &Chat, measured: &mut Measured, what: &'static str, (user, picture): (&Member, &str)) {
    let key = format!("incoming/{}/{picture}", user.id);
    let event: Value = json!({ "Records": [{ "s3": { "bucket": { "name": "chat" }, "object": { "key": key } } }] });
    measured.of_event(what, &chat.cairn, ::chat::app, ("storePicture", &event), Duration::ZERO).await;
}
