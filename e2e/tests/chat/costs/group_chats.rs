//! Group chats and their members.

use reqwest::Method;
use serde_json::json;

use super::{Stage, group_chat};
use crate::chat::stage::{Chat, id};

pub async fn measure(stage: &mut Stage) {
    let Stage { chat: Chat { ann, bob, .. }, community: place, group, many, measured, .. } = stage;
    let community = place.rsplit('/').next().unwrap();
    let list = format!("{place}/groupchats");
    let created = ann.user.post(&list, group_chat("Peat", false));
    let open = format!("/chat/groupchats/{}", id(&measured.of("create a group chat", created, 201).await));
    for number in 0..25 {
        ann.user.post(&list, group_chat(&format!("Chat {number}"), true)).await.is(201);
    }
    measured.of("25 group chats of a community", many[0].user.get(&list), 200).await;
    measured.of("a group chat", many[0].user.get(&open), 200).await;
    measured.of("the community of a group chat", many[0].user.get(&format!("{open}/community")), 200).await;
    measured.of("rename a group chat", ann.user.patch(&open, json!({ "name": "Peats" })), 200).await;
    bob.joins_community(community).await.is(201);
    let me = format!("{open}/members/me");
    measured.of("join a group chat", bob.user.call(Method::PUT, &me), 201).await;
    let of = |number: usize| format!("{open}/members/{}", many[number].id);
    measured.of("add a member to a group chat", ann.user.call(Method::PUT, &of(0)), 201).await;
    measured.of("25 members of a group chat", ann.user.get(&format!("{group}/members")), 200).await;
    let named = format!("{group}/members?include=people");
    measured.of("25 members of a group chat with their names", ann.user.get(&named), 200).await;
    let moderator = format!("{open}/moderators/{}", bob.id);
    measured.of("make a member a moderator of a group chat", ann.user.call(Method::PUT, &moderator), 204).await;
    measured.of("make a moderator of a group chat a plain member", ann.user.delete(&moderator), 204).await;
    measured.of("hand a group chat over", ann.user.patch(&open, json!({ "ownerId": bob.id })), 200).await;
    measured.of("leave a group chat", ann.user.delete(&me), 204).await;
    measured.of("remove a member from a group chat", bob.user.delete(&of(0)), 204).await;
    measured.of("delete a group chat", bob.user.delete(&open), 202).await;
}
