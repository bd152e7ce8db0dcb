//! Communities: P3 to P7 of the access patterns, and the transactions on them.

use reqwest::Method;
use serde_json::json;

use super::{Stage, community, text};
use crate::chat::stage::{Chat, id};

pub async fn measure(stage: &mut Stage) {
    let Stage { chat: Chat { ann, bob, cy, .. }, community: place, many, measured, .. } = stage;
    let new = community("Bog");
    let created = measured.of("create a community", ann.user.post("/chat/communities", new), 201).await;
    let other = format!("/chat/communities/{}", id(&created));
    for number in 1..25 {
        let new = community(&format!("Community {number}"));
        many[0].user.post("/chat/communities", new).await.is(201);
    }
    measured.of("25 communities of a country", bob.user.get("/chat/communities?country=Canada"), 200).await;
    measured.of("a community", bob.user.get(place), 200).await;
    measured.of("25 of the caller's communities", many[0].user.get("/chat/me/communities"), 200).await;
    let described = json!({ "topic": "Mosses", "retentionDays": 365 });
    measured.of("set the retention of a community", ann.user.patch(&other, described), 200).await;
    let moved = json!({ "location": { "country": "Wales" } });
    measured.of("move a community to another country", ann.user.patch(&other, moved), 200).await;
    let me = |place: &str| format!("{place}/members/me");
    measured.of("join a community", bob.user.call(Method::PUT, &me(&other)), 201).await;
    let handed_over = json!({ "founderId": bob.id });
    measured.of("hand a community over", ann.user.patch(&other, handed_over), 200).await;
    measured.of("25 members of a community", ann.user.get(&format!("{place}/members")), 200).await;
    let named = format!("{place}/members?include=people");
    measured.of("25 members of a community with their names", ann.user.get(&named), 200).await;
    let moderator = format!("{place}/moderators/{}", many[1].id);
    measured.of("make a member a moderator", ann.user.call(Method::PUT, &moderator), 204).await;
    measured.of("make a moderator a plain member", ann.user.delete(&moderator), 204).await;

    // Cy is in one group chat, and asks to join another one.
    let ids: Vec<String> = {
        let mut ids = Vec::new();
        for private in [false, true] {
            let new = super::group_chat("Fens", private);
            ids.push(id(&ann.user.post(&format!("{place}/groupchats"), new).await.is(201)));
        }
        ids
    };
    let community = place.rsplit('/').next().unwrap();
    let joins = async || {
        cy.joins_community(community).await.is(201);
        cy.joins_group_chat(&ids[0]).await.is(201);
        let ask = format!("/chat/groupchats/{}/requests", ids[1]);
        cy.user.post(&ask, json!({ "note": text(60) })).await.is(201);
    };
    joins().await;
    measured
        .of("leave a community, with one of its 3 group chats and a request", cy.user.delete(&me(place)), 204)
        .await;
    joins().await;
    let of_cy = format!("{place}/members/{}", cy.id);
    measured.of("remove such a member", ann.user.delete(&of_cy), 204).await;
    joins().await;
    let ban = |user: &str| format!("{place}/bans/{user}");
    let reason = || json!({ "reason": "Advertises in every chat" });
    measured.of("ban such a member", ann.user.put(&ban(&cy.id), reason()), 204).await;
    measured.of("ban a user who is no member", ann.user.put(&ban(&bob.id), reason()), 204).await;
    let chats = format!("{other}/members/me");
    many[2].user.call(Method::PUT, &chats).await.is(201);
    for member in &many[..25] {
        bob.user.put(&format!("{other}/bans/{}", member.id), reason()).await.is(204);
    }
    measured.of("25 bans of a community", bob.user.get(&format!("{other}/bans")), 200).await;
    measured.of("end a ban from a community", ann.user.delete(&ban(&bob.id)), 204).await;
    ann.user.delete(&ban(&cy.id)).await.is(204);
    for chat in &ids {
        ann.user.delete(&format!("/chat/groupchats/{chat}")).await.is(202);
    }
}
