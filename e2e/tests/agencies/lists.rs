//! The lists of agencies and of a person's, from the fixture and with many.

use ::agencies::item::Gate;
use ::agencies::keys::{agency_key, gate_key};
use ::agencies::names::{AgencyId, Status};
use serde_json::{Value, json};

use super::stage::{Stage, agency, stored};
use crate::harness::Answer;
use crate::tests;

tests! { agency_lists:
    scenario_01_fixture,
    scenario_03_equal_times,
    what_the_indexes_hold,
    times_are_read_as_they_are_meant,
}

fn ids(answer: &Answer) -> Vec<String> {
    answer.each("agencyId").into_iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

fn people(answer: &Answer) -> Vec<String> {
    answer.each("idpid").into_iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

async fn scenario_01_fixture() {
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

async fn scenario_03_equal_times() {
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

/// What the seed's access patterns find in the table and its indexes, past the platform.
async fn what_the_indexes_hold() {
    let stage = Stage::new().await;
    let mut members: Vec<(String, String, String)> = Vec::new();
    for item in stage.table().items().await {
        let text = |name: &str| item.get(name).and_then(|value| value.as_s().ok()).cloned().unwrap_or_default();
        assert_eq!(item.contains_key("created"), matches!(text("type").as_str(), "Agency" | "Member"), "{item:?}");
        members.push((text("idpid"), text("agencyId"), text("SK")));
    }
    let dee = super::stage::hash("dee@example.org");
    let of = |idpid: &str| {
        let mut of: Vec<&str> =
            members.iter().filter(|(known, ..)| known == idpid).map(|(_, agency, _)| agency.as_str()).collect();
        of.sort_unstable();
        of
    };
    assert_eq!((of("idp:ann"), of("idp:bob"), of("idp:cay")), (vec!["n", "s"], vec!["n"], vec!["c"]));
    assert_eq!(of(&format!("address:{dee}")), ["n"]);
    stage.root.get(&format!("/agencies/people/address:{dee}/agencies")).await.refused(404, "not-found");
}

async fn times_are_read_as_they_are_meant() {
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
