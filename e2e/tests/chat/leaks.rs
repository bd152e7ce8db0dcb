//! Secrets are where they belong, and nowhere else. The harness checks responses and log lines of all tests; here it is
//! what is stored.

use chat::schema::{SYSTEM, USERS};
use reqwest::Method;
use serde_json::json;

use super::identity::platform;
use super::people::{address, attempt, log_in, password, refresh, register};
use crate::harness::Cairn;
use crate::harness::leaks::{ADDRESS, secret_in};
use crate::tests;

tests! { chat_leaks:
    secrets_in_wrong_requests_are_in_no_response,
    secrets_are_stored_in_their_places_only,
    secret_is_recognized_in_any_text,
}

/// Each response is checked by the harness.
async fn secrets_in_wrong_requests_are_in_no_response() {
    let cairn = platform().await;
    let ann = register(&cairn, "ann").await;
    let (visitor, secret, token) = (cairn.visitor(), password("ann"), ann.refresh_token.as_str());
    for body in [
        json!({ "login": "ann", "password": [&secret] }),
        json!({ "login": "ann", "password": { "is": &secret } }),
        json!({ "login": [&secret], "password": &secret }),
        json!({ "login": "ann", "password": &secret, "remember": &secret }),
        json!({ "login": "ann", "password": secret.repeat(100) }),
        json!([&secret]),
        json!(&secret),
    ] {
        visitor.post("/chat/sessions", body.clone()).await.is(400);
        visitor.post("/chat/users", body.clone()).await.is(400);
        visitor.post("/chat/password-resets", body.clone()).await.is(400);
        ann.user.put("/chat/me/password", body).await.is(400);
    }
    let broken = format!(r#"{{"login": "ann", "password": "{secret}""#);
    visitor.call(Method::POST, "/chat/sessions").bytes("application/json", broken).await.is(400);
    for body in [json!({ "refreshToken": [token] }), json!({ "refreshToken": token, "again": token }), json!(token)] {
        visitor.post("/chat/sessions/refresh", body).await.is(400);
    }
    let in_path = format!("/chat/me/sessions/{token}");
    ann.user.delete(&in_path).await.is(404);
    ann.user.get(&format!("/chat/me/sessions?cursor={token}")).await.is(400);
    cairn.user("ann", &format!("Basic {token}")).get("/chat/me").await.is(401);
    cairn.user("ann", &format!("Bearer {token}")).get("/chat/me").await.is(401);
}

async fn secrets_are_stored_in_their_places_only() {
    let cairn = platform().await;
    let (ann, bob) = (register(&cairn, "ann").await, register(&cairn, "bob").await);
    let new = json!({ "password": "fern on stones", "currentPassword": password("ann") });
    ann.user.put("/chat/me/password", new).await.is(204);
    refresh(&cairn, &ann.refresh_token).await.is(200);
    attempt(&cairn, &address("ann"), &password("bob")).await.is(401);
    log_in(&cairn, "bob").await;
    bob.user.patch("/chat/me", json!({ "bio": "Moss" })).await.is(200);
    cairn.caught_up().await;

    for table in SYSTEM.tables {
        for mut item in cairn.table_of(table).items().await {
            let is_user = table.name == USERS.name;
            let hash = item.remove("PasswordHash");
            assert!(hash.is_none_or(|hash| is_user && hash.as_s().unwrap().starts_with("$argon2id$")), "{item:?}");
            let text = format!("{item:?}");
            assert_eq!(secret_in(&text), None, "{text}");
            assert!(is_user || !text.contains(ADDRESS), "{text}");
        }
    }
    let documents = documents(&cairn).await;
    assert!(documents.contains("Moss") || documents.contains("Person bob"), "{documents}");
    for secret in [secret_in(&documents), documents.contains('@').then_some("an address")] {
        assert_eq!(secret, None, "{documents}");
    }
    for file in files(&cairn.bucket("chat")) {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        assert_eq!(secret_in(&text), None, "{}", file.display());
    }
}

/// Returns all documents as text.
async fn documents(cairn: &Cairn) -> String {
    let index = format!("{}-000001", cairn.engines().config.search_name("chat"));
    let all = json!({ "query": { "match_all": {} }, "size": 1000 });
    cairn.search_engine(Method::POST, &format!("/{index}/_search"), &all).await["hits"].to_string()
}

fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

async fn secret_is_recognized_in_any_text() {
    let cairn = platform().await;
    let ann = register(&cairn, "ann").await;
    for (secret, kind) in [
        (password("ann"), "a password"),
        (ann.access_token.clone(), "an access token"),
        (ann.refresh_token.clone(), "a refresh token"),
        ("$argon2id$v=19$m=19456,t=2,p=1$".to_owned(), "a hash"),
    ] {
        assert_eq!(secret_in(&format!("é: \"{secret}\"")), Some(kind));
    }
    assert_eq!(secret_in(&format!("{} {}. {}", ann.id, ann.session, ann.id)), None);
}
