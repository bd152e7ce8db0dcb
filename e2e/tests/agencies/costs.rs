//! What each access pattern consumes of DynamoDB's capacity, with items of ordinary sizes.

use std::time::Duration;

use serde_json::json;

use super::stage::{Stage, hash, invitation};
use crate::harness::measured::Measured;
use crate::tests;

tests! { agency_costs: each_access_pattern_costs_what_is_recorded }

async fn each_access_pattern_costs_what_is_recorded() {
    let stage = Stage::new().await;
    let Stage { root, ann, dee, .. } = &stage;
    let mut measured = Measured::default();
    let new = json!({ "name": "Lake Guard", "admin": { "idpid": "idp:fay", "displayName": "Fay" } });
    measured.of("create an agency with its first administrator", root.post("/agencies", new), 201).await;
    measured.of("an agency, to a member", stage.bob.get("/agencies/n"), 200).await;
    measured.of("an agency, to an administrator", ann.get("/agencies/n"), 200).await;
    measured.of("rename", ann.patch("/agencies/n", json!({ "name": "Northern Rescue" })), 200).await;
    measured.of("set the status", root.post("/agencies/s/activate", json!({})), 200).await;
    let member = json!({ "idpid": "idp:gil", "displayName": "Gil" });
    measured.of("add a member", ann.post("/agencies/n/members", member), 201).await;
    let gil = "/agencies/n/members/idp:gil";
    measured.of("one member", ann.get(gil), 200).await;
    measured.of("change a member's name", ann.patch(gil, json!({ "displayName": "Gilda" })), 200).await;
    measured.of("change a member's role", ann.patch(gil, json!({ "role": "admin" })), 200).await;
    measured.of("remove a member", ann.delete(gil), 204).await;
    let only = ann.delete("/agencies/n/members/idp:ann");
    measured.of("refuse to remove the only administrator", only, 409).await;
    let invitations = "/agencies/n/invitations";
    measured.of("invite", ann.post(invitations, invitation("gil@example.org")), 201).await;
    let one = format!("{invitations}/{}", hash("gil@example.org"));
    measured.of("one invitation", ann.get(&one), 200).await;
    measured.of("revoke an invitation", ann.delete(&one), 204).await;
    measured.of("invite again", ann.post(invitations, invitation("gil@example.org")), 201).await;
    measured
        .of(
            "decline an invitation",
            {
                let gil = stage.person("gil", Some("gil@example.org")).await;
                gil.post("/agencies/me/invitations/n/decline", json!({}))
            },
            200,
        )
        .await;
    measured.of("invitations to an address", dee.get("/agencies/me/invitations"), 200).await;
    measured.of("accept an invitation", dee.post("/agencies/me/invitations/n/accept", json!({})), 201).await;
    many(&stage).await;
    let full = stage.agency_of(24).await;
    measured.of("25 agencies by creation", root.get("/agencies"), 200).await;
    measured.of("25 members", root.get(&format!("/agencies/{full}/members")), 200).await;
    measured.of("25 invitations", ann.get(invitations), 200).await;
    measured.of("25 agencies of a person", stage.bob.get("/agencies/me/agencies"), 200).await;
    stage.cairn.caught_up().await;
    measured.of("search, among 26 agencies", stage.bob.get("/agencies/search?q=many"), 200).await;
    let member = format!("/agencies/search?entity=member&agencyId={full}");
    measured.of("search among the members of an agency", root.get(&member), 200).await;
    // Nobody else works.
    stage.cairn.engines().wind_down();
    let delete = root.delete(&format!("/agencies/{full}?cascade=true"));
    let job = measured.of("begin to delete an agency with 25 members", delete, 202).await;
    measured.of("a list of one job", root.get("/agencies/jobs"), 200).await;
    measured.of("a job", root.get(job.header("location")), 200).await;
    let app = ::agencies::app;
    measured.of_event("go on with its deletion", &stage.cairn, app, ("runJobs", &json!({})), Duration::ZERO).await;
    measured
        .of_event("look for due jobs, none there", &stage.cairn, app, ("runJobs", &json!({})), Duration::ZERO)
        .await;
    measured.of("the health of the system", root.get("/agencies/health"), 200).await;
    measured.match_record("agencies");
}

/// 25 agencies of which bob is a member, and 25 invitations to the first.
async fn many(stage: &Stage) {
    for number in 0..25 {
        let new = json!({ "name": format!("Many {number}"), "admin": { "idpid": "idp:bob", "displayName": "Bob" } });
        stage.root.post("/agencies", new).await.is(201);
        stage.ann.post("/agencies/n/invitations", invitation(&format!("many{number}@example.org"))).await.is(201);
    }
}
