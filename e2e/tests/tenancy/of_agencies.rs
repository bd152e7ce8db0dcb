//! The stage of agencies: the fixture, in which North Rescue is the principals' own agency and Coast Watch is foreign.

use jobs::JobKey;
use local::Served;
use serde_json::json;
use table::EntityKey;

use super::stage::{Parts, Stage, Thing};
use crate::agencies::stage::{Stage as Fixture, hash, invitation, stored};

pub async fn stage(served: &'static Served) -> Stage {
    let fixture = Fixture::new().await;
    let root = &fixture.root;
    root.post("/agencies/n/members", json!({ "idpid": "idp:zed", "role": "admin" })).await.is(201);
    root.post("/agencies/s/members", json!({ "idpid": "idp:zed" })).await.is(201);
    for (agency, address) in [("n", "gus@example.org"), ("s", "dee@example.org"), ("c", "eve@example.org")] {
        root.post(&format!("/agencies/{agency}/invitations"), invitation(address)).await.is(201);
    }
    // Their deletions stay queued: the stage restores the present state of the table, and no worker may write to it then.
    fixture.cairn.engines().wind_down();
    for name in ["Dale Rescue", "Fell Rescue"] {
        let agency = root.post("/agencies", json!({ "name": name })).await.is(201).text("agencyId").to_owned();
        root.delete(&format!("/agencies/{agency}?cascade=true")).await.is(202);
    }
    let jobs = ["019e0000-0000-7000-8000-000000000001", "019e0000-0000-7000-8000-000000000002"];
    let ended = |agency: &str, job: &str| {
        let item = json!({
            "kind": "deleteAgency", "agencyId": agency, "status": "succeeded", "counts": { "total": 0, "done": 0 },
            "createdAt": "2026-01-01T00:00:00.000000Z", "createdBy": "idp:root",
        });
        stored(&JobKey { job: job.parse().unwrap() }.key(), &item)
    };
    fixture.table().put_all(vec![ended("n", jobs[0]), ended("c", jobs[1])]).await;
    let parts = Parts {
        principals: vec![
            ("foreign", fixture.cay.clone()),
            ("invitee", fixture.dee.clone()),
            ("member", fixture.bob.clone()),
            ("administrator", fixture.ann.clone()),
            ("platform", fixture.root.clone()),
        ],
        expired: ("ann", &["platform-admin"]),
        things: vec![
            Thing::new("agencyId", "n", "c", "01890a5d-ac96-774b-bcce-b302099a8057"),
            Thing::new("idpid", "idp:zed", "idp:cay", "idp:nobody"),
            Thing::new("hash", &hash("dee@example.org"), &hash("eve@example.org"), &hash("nobody@example.org")),
            Thing::new("jobId", jobs[0], jobs[1], "01890a5d-ac96-774b-bcce-b302099a8057"),
        ],
        texts: vec![("idp:bob", "idp:fay".to_owned()), ("dee@example.org", "fay@example.org".to_owned())],
        outsiders: &["none", "expired", "foreign"],
        insiders: &["administrator", "member", "invitee"],
        others: "foreign",
        bodies: Vec::new(),
        word: "coast",
        removal: Some("/agencies/n/members/idp:ann"),
        ..Parts::default()
    };
    Stage::new(fixture.cairn, served, parts).await
}
