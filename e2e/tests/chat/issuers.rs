//! People whom another issuer signs in.

use std::collections::BTreeSet;

use chat::schema::USERS;
use futures::future::join_all;
use local::identity::Person;
use serde_json::json;

use super::identity::platform_without_stream_readers;
use super::people::{address, password, register, registration};
use crate::harness::{Cairn, Setup, sized};
use crate::tests;

tests! { chat_issuers:
    person_of_another_issuer_seen_by_50_requests_at_once_is_one_user,
    same_subject_of_two_issuers_is_two_users,
    role_of_a_foreign_token_is_that_of_the_caller,
    address_of_a_registered_user_is_not_taken_over,
    person_of_another_issuer_changes_the_username_without_a_password,
    without_own_login_registration_is_absent_and_the_rest_works,
}

async fn person_of_another_issuer_seen_by_50_requests_at_once_is_one_user() {
    let cairn = platform_without_stream_readers().await;
    let ann = cairn.person("ann", Person { address: Some("ann@example.org"), ..Person::new("ann") }).await;
    let seen = join_all((0..sized(50, 200)).map(|_| ann.get("/chat/me").into_future())).await;
    let ids: BTreeSet<String> = seen.into_iter().map(|answer| answer.is(200).text("id").to_owned()).collect();
    assert_eq!(ids.len(), 1);
    let keys = cairn.table_of(&USERS).partitions().await;
    let kinds: BTreeSet<&str> = keys.iter().map(|key| key.split('#').next().unwrap()).collect();
    assert_eq!((keys.len(), kinds), (4, BTreeSet::from(["ISSUER", "USER", "USEREMAIL", "USERNAME"])));
}

async fn same_subject_of_two_issuers_is_two_users() {
    let cairn = platform_without_stream_readers().await;
    let of = |issuer: &'static str| Person { issuer, name: Some("Ann Field"), ..Person::new("7") };
    let (one, other) = (cairn.person("one", of("idp")).await, cairn.person("other", of("acme")).await);
    let (one, other) = (one.get("/chat/me").await.is(200), other.get("/chat/me").await.is(200));
    assert_ne!(one["id"], other["id"]);
    assert_eq!(one.text("username"), "annfield");
    assert!(other.text("username").starts_with("annfield."), "{}", other.told());
    assert_eq!((one.text("name"), other.text("name")), ("Ann Field", "Ann Field"));
}

async fn role_of_a_foreign_token_is_that_of_the_caller() {
    let cairn = platform_without_stream_readers().await;
    let of = |roles: &'static [&'static str]| Person { roles, ..Person::new("ada") };
    let (ada, plain) = (cairn.person("ada", of(&["chat-admin"])).await, cairn.person("plain", of(&[])).await);
    let me = ada.get("/chat/me").await.is(200);
    assert_eq!(me["role"], "admin");
    assert_eq!(ada.patch("/chat/me", json!({ "bio": "Moss" })).await.is(200)["role"], "admin");
    assert_eq!(ada.put("/chat/me/username", json!({ "username": "moss" })).await.is(200)["role"], "admin");
    // Without the role in the token the same person is a user, as others see the person.
    assert_eq!(plain.get("/chat/me").await.is(200)["role"], "user");
    assert_eq!(plain.get(&format!("/chat/users/{}", me.text("id"))).await.is(200)["role"], "user");
}

async fn address_of_a_registered_user_is_not_taken_over() {
    let cairn = platform_without_stream_readers().await;
    let ann = register(&cairn, "ann").await;
    let with = address("ann");
    let other = cairn.person("ann", Person { address: Some(&with), ..Person::new("ann") }).await;
    let seen = other.get("/chat/me").await.is(200);
    assert_ne!(seen["id"], ann.id);
    assert!(seen["email"].is_null() && seen.text("username").starts_with("ann."), "{}", seen.told());
    assert_eq!(ann.user.get("/chat/me").await.is(200)["email"], with);
}

async fn person_of_another_issuer_changes_the_username_without_a_password() {
    let cairn = platform_without_stream_readers().await;
    let ann = cairn.person("ann", Person::new("ann")).await;
    ann.patch("/chat/me", json!({ "bio": "Moss" })).await.refused(403, "forbidden");
    ann.get("/chat/me").await.is(200);
    assert_eq!(ann.put("/chat/me/username", json!({ "username": "moss" })).await.is(200).text("username"), "moss");
    assert_eq!(ann.put("/chat/me/email", json!({ "email": "a@b.org" })).await.is(200).text("email"), "a@b.org");
    let change = json!({ "password": "fern on stones", "currentPassword": "fern" });
    ann.put("/chat/me/password", change).await.refused(403, "forbidden");
    ann.delete("/chat/me/sessions/current").await.refused(404, "not-found");
    ann.delete("/chat/me/sessions").await.is(204);
}

async fn without_own_login_registration_is_absent_and_the_rest_works() {
    let cairn = Cairn::with(Setup { own_login: false, ..Setup::of("chat") }).await;
    let visitor = cairn.visitor();
    visitor.post("/chat/users", registration("ann")).await.refused(404, "not-found");
    let login = json!({ "login": "ann", "password": password("ann") });
    visitor.post("/chat/sessions", login).await.refused(404, "not-found");
    visitor.post("/chat/sessions/refresh", json!({ "refreshToken": "none" })).await.refused(404, "not-found");
    visitor.get("/chat/.well-known/jwks.json").await.refused(404, "not-found");
    let ann = cairn.person("ann", Person::new("ann")).await;
    let id = ann.get("/chat/me").await.is(200).text("id").to_owned();
    ann.patch("/chat/me", json!({ "bio": "Moss" })).await.is(200);
    assert_eq!(ann.get(&format!("/chat/users/{id}")).await.is(200).text("bio"), "Moss");
}
