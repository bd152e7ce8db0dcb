//! Memberships, and the lists of the caller's own tenants.

use bytes::Bytes;
use http::Request;
use serde_json::{Value, json};
use table::{Config, Engines, EntityKey};
use tracker::audit::Audit;
use tracker::items::{Member, Role};
use tracker::keys::MemberKey;
use tracker::schema::TRACKER;

use super::fixture::{Fixture, PROJECT, TENANT, person, platform_admin};
use crate::harness::relay::before_first_transaction;
use crate::harness::table::{Table, stored, text};
use crate::tests;

tests! { tracker_tenancy:
    members_are_added_updated_and_removed,
    caller_lists_own_tenants_only,
    names_list_by_folded_case_and_accents,
    person_of_unknown_issuer_is_refused,
    member_of_unknown_issuer_becomes_no_administrator,
    administrator_of_unknown_issuer_does_not_count_as_another,
    administrator_who_cannot_sign_in_can_be_removed_while_another_is_left,
    administrator_of_a_tenant_that_is_being_deleted_finds_none,
    administrator_leaves_while_another_is_removed,
}

async fn members_are_added_updated_and_removed() {
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

async fn caller_lists_own_tenants_only() {
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

async fn names_list_by_folded_case_and_accents() {
    let fixture = Fixture::new().await;
    let pat = platform_admin(&fixture.cairn).await;
    let projects = format!("{TENANT}/projects");
    let long = format!("Zebra {}", "\u{10400}".repeat(190));
    for name in ["Zebra", "apple", "Éclair", "Banana", "eclair", &long] {
        pat.post("/tracker/tenants", json!({ "name": name })).await.is(201);
        fixture.ada.post(&projects, json!({ "name": name })).await.is(201);
    }
    let of_tenants = ["ACME Engineering", "apple", "Banana", "Big Media", "eclair", "Éclair", "Zebra", &long];
    let of_projects = ["apple", "Banana", "eclair", "Éclair", "Forth Rail Bridge", "Zebra", &long];
    for (user, path, expected) in
        [(&pat, "/tracker/tenants", of_tenants.as_slice()), (&fixture.ada, projects.as_str(), of_projects.as_slice())]
    {
        assert_eq!(user.get(path).await.is(200).each("name"), expected);
        let mut back = expected.to_vec();
        back.reverse();
        assert_eq!(user.get(&format!("{path}?order=desc")).await.is(200).each("name"), back);
        let found = async |prefix: &str| -> Vec<String> {
            let page = user.get(&format!("{path}?prefix={prefix}")).await.is(200);
            page.each("name").iter().map(|name| name.as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(found("zeb").await, ["Zebra", &long]);
        for invisible in ["%20", "%00", "%E2%80%8B"] {
            assert_eq!(found(invisible).await, Vec::<String>::new(), "{invisible}");
        }
        assert_eq!(found("%C3%89CL").await, ["eclair", "Éclair"]);
        // Longer than what an entry has room for, in either case.
        let (upper, lower) = ("%F0%90%90%80".repeat(100), "%F0%90%90%A8".repeat(100));
        for letters in [&upper, &lower] {
            assert_eq!(found(&format!("zebra%20{letters}")).await, [long.as_str()]);
            assert!(found(&format!("zebra%20{letters}x")).await.is_empty());
        }
    }
    let eclair = fixture.ada.get(&format!("{projects}?prefix=%C3%89clair&limit=1")).await.is(200);
    let path = format!("{projects}/{}", eclair["items"][0]["id"].as_str().unwrap());
    assert_eq!(fixture.ada.patch(&path, json!({ "name": "Ölfarbe" })).await.is(200)["name"], "Ölfarbe");
    assert_eq!(fixture.ada.get(&path).await.is(200)["name"], "Ölfarbe");
    assert_eq!(fixture.ada.get(&format!("{projects}?prefix=OL")).await.is(200).each("name"), ["Ölfarbe"]);
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

/// The issuer was removed from the configuration after the member was added.
async fn member_of_unknown_issuer_becomes_no_administrator() {
    let fixture = Fixture::new().await;
    let data = "2023-01-01T00:00:00.000000Z".to_owned();
    let member = Member { data, role: Role::Viewer, name: String::new(), audit: Audit::default() };
    let key = MemberKey { tenant: "tenant-0807".to_owned().try_into().unwrap(), user: "gone:eve".parse().unwrap() };
    fixture.cairn.table_of(&TRACKER).put(stored(&TRACKER, &key.key(), &member)).await;
    let path = format!("{TENANT}/members/gone:eve");
    let update = |patch: Value| fixture.ada.patch(&path, patch);
    update(json!({ "role": "admin" })).await.refused(422, "unprocessable").at(&["/role"]);
    let updated = update(json!({ "role": "editor", "name": "Eve" })).await.is(200);
    assert_eq!((updated.text("role"), updated.text("name")), ("editor", "Eve"));
}

/// Adds administrators to the first tenant as if their issuer had been removed from the configuration since.
async fn with_admins_of_unknown_issuer(fixture: &Fixture, idpids: &[&str]) -> Table {
    let tracker = fixture.cairn.table_of(&TRACKER);
    for idpid in idpids {
        let data = "2023-01-01T00:00:00.000000Z".to_owned();
        let member = Member { data, role: Role::Admin, name: String::new(), audit: Audit::default() };
        let key = MemberKey { tenant: "tenant-0807".to_owned().try_into().unwrap(), user: idpid.parse().unwrap() };
        tracker.put(stored(&TRACKER, &key.key(), &member)).await;
    }
    let mut tenant = tracker.get("tenant-0807", "*").await.unwrap();
    tenant.insert("Admins".to_owned(), table::item::number(1 + idpids.len() as i64));
    tracker.put(tenant).await;
    tracker
}

async fn administrator_of_unknown_issuer_does_not_count_as_another() {
    let fixture = Fixture::new().await;
    let pat = platform_admin(&fixture.cairn).await;
    let tracker = with_admins_of_unknown_issuer(&fixture, &["gone:eve"]).await;
    let (ada, eve) = (format!("{TENANT}/members/local:ada"), format!("{TENANT}/members/gone:eve"));
    fixture.ada.delete(&ada).await.refused(409, "last-admin");
    fixture.ada.patch(&ada, json!({ "role": "viewer" })).await.refused(409, "last-admin");
    let removed = pat.delete("/tracker/people/local:ada/tenants").await.is(200);
    assert_eq!((&removed["removed"], &removed["lastAdminOf"]), (&json!([]), &json!(["tenant-0807"])));
    let bea = json!({ "idpid": "local:bea", "role": "admin" });
    fixture.ada.post(&format!("{TENANT}/members"), bea).await.is(201);
    fixture.ada.delete(&ada).await.is(204);
    let bea = person(&fixture.cairn, "bea").await;
    bea.delete(&format!("{TENANT}/members/local:bea")).await.refused(409, "last-admin");
    bea.delete(&eve).await.is(204);
    assert_eq!(tracker.get("tenant-0807", "*").await.unwrap()["Admins"], table::item::number(1));
}

/// Nobody can sign in who administers the tenant, so nobody is lost.
async fn administrator_who_cannot_sign_in_can_be_removed_while_another_is_left() {
    let fixture = Fixture::new().await;
    let pat = platform_admin(&fixture.cairn).await;
    let tracker = with_admins_of_unknown_issuer(&fixture, &["gone:eve", "gone:fay", "gone:gil"]).await;
    tracker.delete("tenant-0807", "user-local:ada").await;
    let mut tenant = tracker.get("tenant-0807", "*").await.unwrap();
    tenant.insert("Admins".to_owned(), table::item::number(3));
    tracker.put(tenant).await;
    let member = |idpid: &str| format!("{TENANT}/members/{idpid}");
    pat.delete(&member("gone:eve")).await.is(204);
    pat.patch(&member("gone:fay"), json!({ "role": "viewer" })).await.is(200);
    // The count is never 0.
    pat.delete(&member("gone:gil")).await.refused(409, "last-admin");
    pat.patch(&member("gone:gil"), json!({ "role": "viewer" })).await.refused(409, "last-admin");
    let bea = json!({ "idpid": "local:bea", "role": "admin" });
    pat.post(&format!("{TENANT}/members"), bea).await.is(201);
    let removed = pat.delete("/tracker/people/gone:gil/tenants").await.is(200);
    assert_eq!((&removed["removed"], &removed["lastAdminOf"]), (&json!(["tenant-0807"]), &json!([])));
    assert_eq!(tracker.get("tenant-0807", "*").await.unwrap()["Admins"], table::item::number(1));
}

/// The other administrator's membership was removed first, so it cannot be found.
async fn administrator_of_a_tenant_that_is_being_deleted_finds_none() {
    let fixture = Fixture::new().await;
    let pat = platform_admin(&fixture.cairn).await;
    let tracker = fixture.cairn.table_of(&TRACKER);
    let mut tenant = tracker.get("tenant-0807", "*").await.unwrap();
    tenant.insert("Admins".to_owned(), table::item::number(2));
    tenant.insert("Deleting".to_owned(), text("01890a5d-ac96-774b-bcce-b302099a8057"));
    tracker.put(tenant).await;
    let ada = format!("{TENANT}/members/local:ada");
    fixture.ada.delete(&ada).await.refused(404, "not-found");
    fixture.ada.patch(&ada, json!({ "role": "viewer" })).await.refused(404, "not-found");
    let removed = pat.delete("/tracker/people/local:ada/tenants").await.is(200);
    assert_eq!((&removed["removed"], &removed["lastAdminOf"]), (&json!([]), &json!([])));
}

/// The removed one is the administrator who would stay as the request has read.
async fn administrator_leaves_while_another_is_removed() {
    let fixture = Fixture::new().await;
    let pat = platform_admin(&fixture.cairn).await;
    let members = format!("{TENANT}/members");
    for idpid in ["local:bea", "local:cyd"] {
        fixture.ada.post(&members, json!({ "idpid": idpid, "role": "admin" })).await.is(201);
    }
    let config = fixture.cairn.engines().config.clone();
    let bea = format!("{members}/local:bea");
    let server = before_first_transaction(config.dynamodb.clone().unwrap(), "user-local:ada".to_owned(), async move {
        pat.delete(&bea).await.is(204);
    })
    .await;
    let config = Config { dynamodb: Some(server.url.clone()), ..config };
    let app = ::tracker::app(Engines::new(config, fixture.cairn.clock.clone())).metrics_to(|_| {});
    let authorization = format!("Bearer {}", fixture.cairn.token("ada", &[]).await);
    let leave = Request::delete(format!("{members}/local:ada")).header("authorization", authorization);
    let left = app.handle(leave.body(Bytes::new()).unwrap()).await;
    assert_eq!(left.status(), 204, "{left:?}");
    let cyd = person(&fixture.cairn, "cyd").await;
    assert_eq!(cyd.get(&members).await.is(200).each("idpid"), ["local:ann", "local:cyd", "local:vic"]);
    cyd.delete(&format!("{members}/local:cyd")).await.refused(409, "last-admin");
}
