//! Users: first sight, roles, and what only administrators see.

use std::collections::BTreeSet;

use futures::future::join_all;
use local::identity::Person;
use serde_json::json;

use super::stage::{Archive, id, listed};
use crate::harness::User;
use crate::tests;

tests! { archive_users:
    fifty_first_requests_at_once_create_one_user,
    disabled_user_is_refused_whatever_the_token_says,
    higher_role_of_token_and_user_counts,
    role_of_a_user_is_changed_by_other_administrators_only,
    deleted_user_is_new_at_the_next_sight_and_posts_keep_the_id,
    person_changes_name_and_address,
    sort_keys_and_addresses_reach_no_other_caller,
}

async fn fifty_first_requests_at_once_create_one_user() {
    let archive = Archive::new().await;
    let person = Person { issuer: "idp", ..Person::new("auth0|5f7c") };
    let user = archive.cairn.person("a new person", person).await;
    let answers = join_all((0..50).map(|_| async { user.get("/archive/me").await.is(200) })).await;
    let ids: BTreeSet<String> = answers.iter().map(id).collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    archive.administrator.get("/archive/me").await.is(200);
    let listed = listed(&archive.administrator, "/archive/users", "id").await;
    assert_eq!(listed.iter().filter(|listed| ids.contains(*listed)).count(), 1, "{listed:?}");
    assert_eq!(listed.len(), 2);
    let keys = archive.items().await.into_keys().filter(|key| key.starts_with("userKey#")).count();
    assert_eq!(keys, 2);
    let item = archive.table().get(ids.first().unwrap(), "user").await.unwrap();
    let sort_key = item["GSISK"].as_s().unwrap();
    assert!(sort_key.starts_with("iss=") && sort_key.ends_with("&sub=auth0%7C5f7c"), "{sort_key}");
}

async fn disabled_user_is_refused_whatever_the_token_says() {
    let archive = Archive::new().await;
    let path = format!("/archive/users/{}", id(&archive.editor.get("/archive/me").await.is(200)));
    assert_eq!(archive.administrator.patch(&path, json!({ "enabled": false })).await.is(200)["enabled"], false);
    for call in [
        archive.editor.get("/archive/me"),
        archive.editor.patch("/archive/me", json!({ "name": "Edi" })),
        archive.editor.post("/archive/categories", json!({ "name": "Births" })),
        archive.editor.get("/archive/posts"),
    ] {
        call.await.refused(403, "forbidden");
    }
    // What is public is public for everybody.
    archive.editor.get("/archive/categories").await.is(200);
    archive.administrator.patch(&path, json!({ "enabled": true })).await.is(200);
    archive.editor.get("/archive/me").await.is(200);
}

async fn higher_role_of_token_and_user_counts() {
    let archive = Archive::new().await;
    let plain = archive.cairn.person("plain", Person::new("pia")).await;
    plain.get("/archive/posts").await.refused(403, "forbidden");
    let me = plain.get("/archive/me").await.is(200);
    assert_eq!(me.text("role"), "none");
    let path = format!("/archive/users/{}", id(&me));
    archive.administrator.patch(&path, json!({ "role": "editor" })).await.is(200);
    plain.post("/archive/categories", json!({ "name": "Births" })).await.is(201);
    assert_eq!(plain.get("/archive/me").await.is(200).text("role"), "editor");
    plain.get("/archive/users").await.refused(403, "forbidden");
    // A lower role of the user takes nothing from the token.
    let of_editor = format!("/archive/users/{}", id(&archive.editor.get("/archive/me").await.is(200)));
    archive.administrator.patch(&of_editor, json!({ "role": "volunteer" })).await.is(200);
    assert_eq!(archive.editor.get("/archive/me").await.is(200).text("role"), "editor");
    assert_eq!(archive.administrator.get(&of_editor).await.is(200).text("role"), "volunteer");
}

async fn role_of_a_user_is_changed_by_other_administrators_only() {
    let archive = Archive::new().await;
    let path = format!("/archive/users/{}", id(&archive.administrator.get("/archive/me").await.is(200)));
    archive.administrator.patch(&path, json!({ "enabled": false })).await.refused(409, "own-account");
    archive.administrator.delete(&path).await.refused(409, "own-account");
    archive.editor.patch(&path, json!({ "role": "none" })).await.refused(403, "forbidden");
    archive.administrator.patch("/archive/users/7999999999", json!({})).await.refused(404, "not-found");
}

async fn deleted_user_is_new_at_the_next_sight_and_posts_keep_the_id() {
    let archive = Archive::new().await;
    let category = archive.category("Births").await;
    let collection = archive.collection("Llanfair", &[&category]).await;
    let post = format!("/archive/posts/{}", archive.post("Births 1837", &collection).await);
    let owner = archive.volunteer.get(&post).await.is(200).text("ownerId").to_owned();
    archive.administrator.delete(&format!("/archive/users/{owner}")).await.is(204);
    archive.administrator.get(&format!("/archive/users/{owner}")).await.refused(404, "not-found");
    let again = id(&archive.volunteer.get("/archive/me").await.is(200));
    assert!(owner < again, "{owner}, {again}");
    assert_eq!(archive.editor.get(&post).await.is(200).text("ownerId"), owner);
    archive.volunteer.patch(&post, json!({ "name": "Mine" })).await.refused(403, "forbidden");
}

async fn person_changes_name_and_address() {
    let archive = Archive::new().await;
    let person = Person { name: Some("Zoë Field"), address: Some("zoe@example.org"), ..Person::new("zoe") };
    let zoe = archive.cairn.person("zoe", person).await;
    let me = zoe.get("/archive/me").await.is(200);
    assert_eq!((me.text("name"), me.text("email")), ("Zoë Field", "zoe@example.org"));
    let changed = zoe.patch("/archive/me", json!({ "name": "Zoë Hill", "email": null })).await.is(200);
    assert_eq!((changed.text("name"), changed["email"].is_null()), ("Zoë Hill", true));
    assert_eq!(zoe.get("/archive/me").await.is(200).text("name"), "Zoë Hill");
    // A person may do so at first sight.
    let yan = archive.cairn.person("yan", Person::new("yan")).await;
    assert_eq!(yan.patch("/archive/me", json!({ "name": "Yan" })).await.is(200).text("name"), "Yan");
    zoe.patch("/archive/me", json!({ "email": "zoe", "name": " " })).await.faulty(&["/email", "/name"]);
    zoe.patch("/archive/me", json!({ "role": "administrator" })).await.faulty(&["/role"]);
}

async fn sort_keys_and_addresses_reach_no_other_caller() {
    let archive = Archive::new().await;
    let roles: &[&str] = &["archive-editor"];
    let person = Person { roles, name: Some("Quill"), address: Some("quill@example.org"), ..Person::new("quillsub") };
    let quill = archive.cairn.person("quill", person).await;
    quill.get("/archive/me").await.is(200);
    let created = quill.post("/archive/categories", json!({ "name": "Births" })).await.is(201);
    let new = json!({ "name": "Llanfair", "categoryIds": [id(&created)] });
    let collection = id(&quill.post("/archive/collections", new).await.is(201));
    let new = json!({ "name": "Secret draft", "collectionId": collection });
    quill.post("/archive/posts", new).await.is(201);
    archive.cairn.caught_up().await;
    let of_all = |user: &User| {
        let user = user.clone();
        let paths = [
            "/archive/categories".to_owned(),
            format!("/archive/categories/{}", id(&created)),
            format!("/archive/categories/{}/collections", id(&created)),
            "/archive/collections".to_owned(),
            format!("/archive/collections/{collection}"),
            "/archive/settings".to_owned(),
            "/archive/search/catalog?q=births".to_owned(),
            "/archive/search/catalog?q=quill".to_owned(),
            "/archive/search/catalog?q=secret".to_owned(),
        ];
        async move {
            let mut told = String::new();
            for path in paths {
                told.push_str(&user.get(&path).await.is(200).body.to_string());
            }
            told
        }
    };
    for user in [&archive.visitor, &archive.volunteer] {
        let told = of_all(user).await;
        for secret in ["quill", "Quill", "Secret draft", "iss=", "sub="] {
            assert!(!told.contains(secret), "{secret}: {told}");
        }
    }
    for path in ["/archive/posts", "/archive/users", "/archive/search/posts?q=secret", "/archive/search/users?q=quill"]
    {
        archive.visitor.get(path).await.refused(401, "not-signed-in");
    }
    archive.volunteer.get("/archive/search/users?q=quill").await.refused(403, "forbidden");
    let users = archive.administrator.get("/archive/users").await.is(200).body.to_string();
    assert!(users.contains("quill@example.org") && !users.contains("sub="), "{users}");
}
