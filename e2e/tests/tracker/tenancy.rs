//! Memberships, and the lists of the caller's own tenants.

use serde_json::{Value, json};
use table::EntityKey;
use tracker::audit::Audit;
use tracker::items::{Member, Role};
use tracker::keys::MemberKey;
use tracker::schema::TRACKER;

use super::fixture::{Fixture, PROJECT, TENANT, person, platform_admin};
use crate::harness::table::stored;
use crate::tests;

tests! { tracker_tenancy:
    members_are_added_updated_and_removed,
    caller_lists_own_tenants_only,
    names_list_by_folded_case_and_accents,
    person_of_unknown_issuer_is_refused,
    member_of_unknown_issuer_becomes_no_administrator,
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
