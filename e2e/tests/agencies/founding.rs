//! Agencies made, renamed, activated and deactivated.

use serde_json::json;

use super::stage::Stage;
use crate::tests;

tests! { founding:
    agency_is_created_once_with_its_first_administrator,
    creator_has_a_role_only_as_the_first_administrator,
    rename_updates_the_table_and_search,
    agency_with_a_blank_name_is_refused,
    inactive_agency_refuses_changes_by_its_administrators,
    setting_the_same_status_changes_nothing,
}

async fn agency_is_created_once_with_its_first_administrator() {
    let stage = Stage::new().await;
    let new = json!({ "name": "Lake Guard", "admin": { "idpid": "idp:fay", "displayName": "Fay" } });
    let made = stage.root.post("/agencies", new.clone()).once("one").await.is(201);
    let again = stage.root.post("/agencies", new).once("one").await.is(201);
    assert_eq!((&made.body, made.tag()), (&again.body, again.tag()));
    assert_eq!((made["status"].as_str(), made["members"].as_u64()), (Some("pending"), Some(1)));
    let agency = made.header("location").to_owned();
    stage.root.post("/agencies", json!({ "name": "Another" })).once("one").await.refused(422, "key-reused");
    let fay = stage.person("fay", None).await;
    assert_eq!(fay.get(&agency).await.is(200)["role"], "admin");
    // A first administrator changes nothing before the agency is active.
    fay.patch(&agency, json!({ "name": "Mine" })).await.refused(409, "agency-inactive");
    stage.root.post(&format!("{agency}/activate"), json!({})).await.is(200);
    fay.patch(&agency, json!({ "name": "Mine" })).await.is(200);
    stage.adds_up().await;
}

async fn creator_has_a_role_only_as_the_first_administrator() {
    let stage = Stage::new().await;
    let others = [json!({ "name": "Lake Guard" }), json!({ "name": "Lake Guard", "admin": { "idpid": "idp:fay" } })];
    for new in others {
        assert_eq!(stage.root.post("/agencies", new).await.is(201).body.get("role"), None);
    }
    let own = json!({ "name": "Lake Guard", "admin": { "idpid": "idp:root" } });
    let made = stage.root.post("/agencies", own).await.is(201);
    assert_eq!(made["role"], "admin");
    assert_eq!(stage.root.get(made.header("location")).await.is(200).body, made.body);
}

async fn rename_updates_the_table_and_search() {
    let stage = Stage::new().await;
    let before = stage.ann.get("/agencies/n").await.is(200);
    let order = stage.root.get("/agencies").await.is(200);
    let renamed = stage.ann.patch("/agencies/n", json!({ "name": "Far North Rescue" })).await.is(200);
    assert_eq!((&renamed["created"], &renamed["createdBy"]), (&before["created"], &before["createdBy"]));
    assert!(renamed.text("modified") > before.text("modified") && renamed.rev() > before.rev());
    assert_eq!(renamed["modifiedBy"], "idp:ann");
    assert_eq!(stage.root.get("/agencies").await.is(200).each("agencyId"), order.each("agencyId"));
    assert_eq!(stage.ann.get("/agencies/me/agencies").await.is(200).each("name")[0], "Far North Rescue");
    let stale = stage.ann.patch("/agencies/n", json!({ "name": "Late" })).if_match(&before.tag());
    stale.await.refused(412, "stale");
    stage.ann.patch("/agencies/n", json!({ "name": "In time" })).if_match(&renamed.tag()).await.is(200);
    // What changes nothing leaves the tag.
    let same = stage.ann.patch("/agencies/n", json!({ "name": "In time" })).await.is(200);
    assert_eq!(stage.ann.patch("/agencies/n", json!({})).await.is(200).tag(), same.tag());
}

async fn agency_with_a_blank_name_is_refused() {
    let stage = Stage::new().await;
    for name in [json!(""), json!(" \t "), json!("a\u{0}b"), json!("x".repeat(201)), json!(7), json!(null)] {
        stage.root.post("/agencies", json!({ "name": name })).await.faulty(&["/name"]);
        stage.ann.patch("/agencies/n", json!({ "name": name })).await.faulty(&["/name"]);
    }
    let both = json!({ "name": " ", "admin": { "idpid": "nobody" }, "more": 1 });
    stage.root.post("/agencies", both).await.faulty(&["/name", "/more", "/admin/idpid"]);
    stage.root.post("/agencies", json!({ "name": "x".repeat(200) })).await.is(201);
}

async fn inactive_agency_refuses_changes_by_its_administrators() {
    let stage = Stage::new().await;
    stage.root.post("/agencies/n/deactivate", json!({})).await.is(200);
    stage.ann.patch("/agencies/n", json!({ "name": "x" })).await.refused(409, "agency-inactive");
    let invite = json!({ "address": "eve@example.org" });
    stage.ann.post("/agencies/n/invitations", invite.clone()).await.refused(409, "agency-inactive");
    stage.dee.post("/agencies/me/invitations/n/accept", json!({})).await.refused(409, "agency-inactive");
    stage.ann.get("/agencies/n").await.is(200);
    stage.bob.get("/agencies/n/members").await.is(200);
    stage.bob.delete("/agencies/n/members/idp:bob").await.is(204);
    // The platform's administrators may still change it.
    stage.root.patch("/agencies/n", json!({ "name": "Still North" })).await.is(200);
    stage.root.post("/agencies/n/activate", json!({})).await.is(200);
    stage.ann.patch("/agencies/n", json!({ "name": "North again" })).await.is(200);
    stage.ann.post("/agencies/n/invitations", invite).await.is(201);
    stage.dee.post("/agencies/me/invitations/n/accept", json!({})).await.is(201);
    stage.adds_up().await;
}

async fn setting_the_same_status_changes_nothing() {
    let stage = Stage::new().await;
    let active = stage.root.get("/agencies/n").await.is(200);
    let again = stage.root.post("/agencies/n/activate", json!({})).await.is(200);
    assert_eq!((again.tag(), &again["modified"]), (active.tag(), &active["modified"]));
    let inactive = stage.root.post("/agencies/s/deactivate", json!({})).await.is(200);
    assert_eq!(inactive["status"], "inactive");
    assert_eq!(stage.root.post("/agencies/s/activate", json!({})).await.is(200)["status"], "active");
}
