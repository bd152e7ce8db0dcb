//! Users and their sessions: P1, P2 and P16 of the access patterns.

use std::time::Duration;

use chat::schema::USERS;
use local::identity::Person;
use reqwest::Method;
use serde_json::json;

use super::Stage;
use crate::chat::follower::open;
use crate::chat::identity::weak_hash;
use crate::chat::people::{address, attempt, log_in, password, refresh, registration};
use crate::chat::stage::{Chat, Member};
use crate::harness::table::text;

pub async fn measure(stage: &mut Stage) {
    let Stage { chat: Chat { cairn, bob, visitor, .. }, admin, measured, .. } = stage;
    measured.of("register", visitor.post("/chat/users", registration("dee")), 201).await;
    measured.of("log in by a username", attempt(cairn, "dee", &password("dee")), 201).await;
    let users = cairn.table_of(&USERS);
    let mut dee = users.items().await.into_iter().find(|item| item.contains_key("PasswordHash")).unwrap();
    let weak = format!("$argon2id$v=19$m=64,t=1,p=1$bW9zcyBvbiBzdG9uZXM${}", weak_hash(&password("dee")));
    dee.insert("PasswordHash".to_owned(), text(&weak));
    users.put(dee).await;
    let what = "log in by an address, with a hash that is renewed";
    measured.of(what, attempt(cairn, &address("dee"), &password("dee")), 201).await;
    let dee = log_in(cairn, "dee").await;
    measured.of("the caller's user", dee.user.get("/chat/me"), 200).await;
    let eve = cairn.person("eve", Person { name: Some("Eve Field"), ..Person::new("eve") }).await;
    measured.of("a person of another issuer at first sight", eve.get("/chat/me"), 200).await;
    measured.of("a person of another issuer", eve.get("/chat/me"), 200).await;
    measured
        .of("update the caller's profile", dee.user.patch("/chat/me", json!({ "bio": super::text(480) })), 200)
        .await;
    let current = password("dee");
    let new = json!({ "username": "deer", "currentPassword": current });
    measured.of("change the caller's username", dee.user.put("/chat/me/username", new), 200).await;
    let new = json!({ "username": "dee", "currentPassword": current });
    dee.user.put("/chat/me/username", new).await.is(200);
    let new = json!({ "email": address("dee.field"), "currentPassword": current });
    measured.of("change the caller's address", dee.user.put("/chat/me/email", new), 200).await;
    measured.of("3 sessions of the caller", dee.user.get("/chat/me/sessions"), 200).await;
    let new = json!({ "password": current, "currentPassword": current });
    let changed = dee.user.put("/chat/me/password", new);
    measured.of("change the caller's password, with 2 other sessions", changed, 204).await;

    let other = log_in(cairn, "dee").await;
    let member = Member { user: other.user.clone(), id: other.id };
    let mut socket = open(&member).await;
    let session = format!("/chat/me/sessions/{}", other.session);
    measured.of("log out, with a connection", dee.user.delete(&session), 204).await;
    socket.ended().await;
    measured.of("log out everywhere", dee.user.delete("/chat/me/sessions"), 204).await;
    let of_dee = format!("/chat/users/{}", dee.id);
    let code = admin.call(Method::POST, &format!("{of_dee}/password-resets"));
    let code = measured.of("create a reset code", code, 201).await;
    let reset = json!({ "code": code["code"], "password": current });
    measured.of("reset a password", visitor.post("/chat/password-resets", reset), 204).await;
    measured.of("a user", bob.user.get(&of_dee), 200).await;
    measured.of("a user by the username", bob.user.get("/chat/usernames/dee"), 200).await;
    let role = admin.put(&format!("{of_dee}/role"), json!({ "role": "admin" }));
    measured.of("set a role", role, 200).await;
    let ban = format!("{of_dee}/ban");
    measured.of("ban a user", admin.put(&ban, json!({ "reason": "Spam" })), 204).await;
    measured.of("end the ban of a user", admin.delete(&ban), 204).await;

    let session = log_in(cairn, "dee").await;
    let next = refresh(cairn, &session.refresh_token);
    measured.of("refresh a session", next, 200).await;
    cairn.clock.advance(Duration::from_secs(21));
    let stolen = refresh(cairn, &session.refresh_token);
    measured.of("end a session whose old refresh token is used again", stolen, 401).await;
}
