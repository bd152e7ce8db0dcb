//! Memberships, and the caller's own tenants. What each principal is answered by every operation, scenario 13 among it,
//! is stated in `e2e/tenancy.md`.

use serde_json::json;

use super::fixture::{Fixture, PROJECT, TENANT, person, platform_admin};
use crate::tests;

tests! { tracker_tenancy:
    members_come_and_go,
    everybody_sees_their_own_tenants,
    person_of_unknown_issuer_is_refused,
}

async fn members_come_and_go() {
    let fixture = Fixture::new().await;
    let members = format!("{TENANT}/members");
    let eve = person(&fixture.cairn, "eve").await;
    let new = json!({ "idpid": "local:eve", "role": "editor", "name": "Eve" });
    let made = fixture.ada.post(&members, new.clone()).await.is(201);
    assert_eq!(made.header("location"), format!("{members}/local:eve"));
    fixture.ada.post(&members, new).await.refused(409, "exists");
    eve.get(PROJECT).await.is(200);
    eve.post(&format!("{PROJECT}/issues"), json!({ "name": "Mine" })).await.is(201);
    let changed = fixture.ada.patch(&format!("{members}/local:eve"), json!({ "role": "viewer" })).if_match(&made.tag());
    changed.await.is(200);
    eve.post(&format!("{PROJECT}/issues"), json!({ "name": "Mine" })).await.refused(403, "forbidden");
    assert_eq!(fixture.ada.get(&members).await.is(200).each("idpid").len(), 4);
    eve.delete(&format!("{members}/local:eve")).await.is(204);
    eve.get(PROJECT).await.refused(404, "not-found");
    fixture.ada.delete(&format!("{members}/local:ada")).await.refused(409, "last-admin");
    fixture.ada.patch(&format!("{members}/local:ada"), json!({ "role": "viewer" })).await.refused(409, "last-admin");
    let second = json!({ "idpid": "local:second", "role": "admin" });
    let second = fixture.ada.post(&members, second).await.is(201).header("location").to_owned();
    fixture.ada.delete(&second).await.is(204);
}

async fn everybody_sees_their_own_tenants() {
    let fixture = Fixture::new().await;
    let pat = platform_admin(&fixture.cairn).await;
    let eve = person(&fixture.cairn, "eve").await;
    assert_eq!(eve.get("/tracker/me/tenants").await.is(200)["items"], json!([]));
    let made = pat.post("/tracker/tenants", json!({ "name": "Zoo", "admin": "local:ada" })).await.is(201);
    let zoo = made.header("location").to_owned();
    let mine = fixture.ada.get("/tracker/me/tenants").await.is(200);
    assert_eq!(mine.each("name"), ["ACME Engineering", "Zoo"]);
    assert_eq!(mine.each("role"), ["admin", "admin"]);
    let renamed = fixture.ada.patch(&zoo, json!({ "name": "Aquarium" })).if_match(&made.tag()).await.is(200);
    assert_eq!(renamed["name"], "Aquarium");
    assert_eq!(pat.get("/tracker/tenants").await.is(200).each("name"), ["ACME Engineering", "Aquarium", "Big Media"]);
    assert_eq!(pat.get("/tracker/tenants?prefix=A&limit=1").await.is(200).each("name"), ["ACME Engineering"]);
    pat.delete(&zoo).await.is(204);
    assert_eq!(fixture.ada.get("/tracker/me/tenants").await.is(200).each("name"), ["ACME Engineering"]);
}

async fn person_of_unknown_issuer_is_refused() {
    let fixture = Fixture::new().await;
    let pat = platform_admin(&fixture.cairn).await;
    for idpid in ["lcoal:typo", "LOCAL:ada", "address:xyz"] {
        let member = json!({ "idpid": idpid, "role": "admin" });
        let refused = fixture.ada.post(&format!("{TENANT}/members"), member).await.refused(422, "unprocessable");
        assert_eq!(refused["errors"][0]["pointer"], "/idpid");
        let tenant = json!({ "name": "Zoo", "admin": idpid });
        pat.post("/tracker/tenants", tenant).await.refused(422, "unprocessable");
    }
    // The only administrator stays the only one.
    fixture.ada.delete(&format!("{TENANT}/members/local:ada")).await.refused(409, "last-admin");
}
