//! The lists of agencies and of a person's, from the fixture and with many.

use std::time::Duration;

use ::agencies::item::Gate;
use ::agencies::keys::{agency_key, gate_key};
use ::agencies::names::{AgencyId, Status};
use ::agencies::schema::{BY_PERSON, BY_TYPE};
use serde_json::{Value, json};

use super::stage::{Stage, agency, hash, invitation, stored};
use crate::harness::Answer;
use crate::tests;

tests! { agency_lists:
    seed_fixture_lists_as_specified,
    agencies_with_equal_creation_times_are_listed_once_each,
    indexes_hold_the_specified_items,
    time_filters_accept_any_rfc_3339_offset,
    members_and_invitations_are_filtered_before_paging,
}

fn ids(answer: &Answer) -> Vec<String> {
    answer.each("agencyId").into_iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

fn people(answer: &Answer) -> Vec<String> {
    answer.each("idpid").into_iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

async fn seed_fixture_lists_as_specified() {
    let stage = Stage::new().await;
    let newest = ids(&stage.root.get("/agencies").await.is(200));
    assert_eq!((newest.len(), newest[0].as_str()), (3, "c"));
    let mut oldest = ids(&stage.root.get("/agencies?order=asc").await.is(200));
    oldest.reverse();
    assert_eq!(oldest, newest);
    assert_eq!(people(&stage.ann.get("/agencies/n/members").await.is(200)), ["idp:ann", "idp:bob"]);
    let of_ann = stage.root.get("/agencies/people/idp:ann/agencies").await.is(200);
    assert_eq!(ids(&of_ann), ["n", "s"]);
    assert_eq!(of_ann.each("name"), [&json!("North Rescue"), &json!("South Patrol")]);
    assert!(of_ann.next().is_none());
    assert_eq!(stage.ann.get("/agencies/me/agencies").await.is(200).body, of_ann.body);
    let as_bob = stage.bob.get("/agencies/n").await.is(200);
    assert_eq!((as_bob["role"].as_str(), as_bob.body.get("members")), (Some("member"), None));
    stage.cay.get("/agencies/n").await.refused(404, "not-found");
    stage.adds_up().await;
}

async fn agencies_with_equal_creation_times_are_listed_once_each() {
    let stage = Stage::new().await;
    let at = "2026-03-01T12:00:00.000000Z";
    let mut items = Vec::new();
    for _ in 0..50 {
        let id = AgencyId::new();
        let gate = Gate { status: Status::Active, members: 0, admins: 0, closed: None };
        items.push(stored(&agency_key(&id), &agency(id.as_str(), "Alike", Status::Active, at)));
        items.push(stored(&gate_key(&id), &gate));
    }
    stage.table().put_all(items).await;
    for order in ["asc", "desc"] {
        let root = stage.root.clone();
        let others = tokio::spawn(async move {
            for _ in 0..10 {
                root.post("/agencies", json!({ "name": "Later" })).await.is(201);
            }
        });
        let path = format!("/agencies?from={at}&to={at}&order={order}");
        let pages = stage.root.pages(&path, 7).await;
        others.await.unwrap();
        let mut all: Vec<String> = pages.iter().flat_map(ids).collect();
        assert_eq!((pages.len(), all.len()), (8, 50));
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 50);
    }
}

/// What the access patterns find in the indexes, past the platform.
async fn indexes_hold_the_specified_items() {
    let stage = Stage::new().await;
    let agencies = stage.listed(BY_TYPE, "Agency").await;
    let by_api = ids(&stage.root.get("/agencies?order=asc").await.is(200));
    let by_api: Vec<String> = by_api.iter().map(|id| format!("AGENCY#{id}#AGENCY#{id}")).collect();
    // Two have one time, so their order is the index's own.
    assert_eq!(agencies, by_api);
    assert_eq!((agencies.len(), agencies[2].as_str()), (3, "AGENCY#c#AGENCY#c"));
    let members = ["n#MEMBER#idp:ann", "s#MEMBER#idp:ann", "n#MEMBER#idp:bob", "c#MEMBER#idp:cay"];
    let members = members.map(|member| format!("AGENCY#{member}"));
    assert_eq!(stage.listed(BY_TYPE, "Member").await, members);
    assert!(stage.listed(BY_TYPE, "Invitation").await.is_empty());
    assert_eq!(stage.listed(BY_PERSON, "idp:ann").await, members[..2]);
    assert_eq!(stage.listed(BY_PERSON, "idp:bob").await, members[2..3]);
    assert_eq!(stage.listed(BY_PERSON, "idp:cay").await, members[3..]);
    let dee = hash("dee@example.org");
    assert_eq!(stage.listed(BY_PERSON, &format!("address:{dee}")).await, [format!("AGENCY#n#INVITATION#{dee}")]);
    stage.root.get(&format!("/agencies/people/address:{dee}/agencies")).await.refused(404, "not-found");
}

async fn time_filters_accept_any_rfc_3339_offset() {
    let stage = Stage::new().await;
    for from in ["2026-01-02T00:00:00Z", "2026-01-02T01:00:00%2B01:00", "2026-01-01T00:00:00.000001Z"] {
        assert_eq!(ids(&stage.root.get(&format!("/agencies?from={from}")).await.is(200)), ["c"], "{from}");
    }
    let nothing: Vec<String> = Vec::new();
    assert_eq!(ids(&stage.root.get("/agencies?to=2025-12-31T23:59:59Z").await.is(200)), nothing);
    let turned = "/agencies?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z";
    assert_eq!(stage.root.get(turned).await.is(200)["items"], Value::Array(Vec::new()));
    stage.root.get("/agencies?from=yesterday&to=2026-02-30T00:00:00Z").await.faulty(&["from", "to"]);
}

async fn members_and_invitations_are_filtered_before_paging() {
    let stage = Stage::new().await;
    let (ann, members, invitations) = (&stage.ann, "/agencies/n/members", "/agencies/n/invitations");
    for (number, role) in ["admin", "member", "admin", "member"].into_iter().enumerate() {
        ann.post(members, json!({ "idpid": format!("idp:p{number}"), "role": role })).await.is(201);
    }
    for person in ["idp:p2", "idp:p3"] {
        ann.patch(&format!("{members}/{person}"), json!({ "status": "suspended" })).await.is(200);
    }
    for (query, expected) in [
        ("role=admin", vec!["idp:ann", "idp:p0", "idp:p2"]),
        ("status=suspended", vec!["idp:p2", "idp:p3"]),
        ("role=admin&status=active", vec!["idp:ann", "idp:p0"]),
    ] {
        let pages = ann.pages(&format!("{members}?{query}"), 1).await;
        assert_eq!(pages.iter().flat_map(people).collect::<Vec<_>>(), expected, "{query}");
        assert_eq!(pages.len(), expected.len(), "{query}");
    }
    ann.get(&format!("{members}?role=owner&status=gone")).await.faulty(&["role", "status"]);

    ann.post(invitations, json!({ "address": "eve@example.org", "days": 1 })).await.is(201);
    ann.post(invitations, invitation("fay@example.org")).await.is(201);
    ann.delete(&format!("{invitations}/{}", hash("fay@example.org"))).await.is(204);
    stage.cairn.clock.advance(Duration::from_secs(25 * 3600));
    for (status, address) in
        [("pending", "dee@example.org"), ("expired", "eve@example.org"), ("revoked", "fay@example.org")]
    {
        let listed = ann.get(&format!("{invitations}?status={status}")).await.is(200);
        assert_eq!(listed.each("address"), [address], "{status}");
    }
    assert_eq!(ann.get(&format!("{invitations}?status=accepted")).await.is(200)["items"], json!([]));
}
