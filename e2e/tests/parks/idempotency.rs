//! `Idempotency-Key`: a request that is sent again is carried out once.

use std::future::IntoFuture;
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};

use super::shapes::rectangle;
use crate::harness::Cairn;
use crate::tests;

tests! { idempotency:
    repeated_request_returns_the_first_response,
    concurrent_requests_with_one_key_create_once,
    same_key_with_another_body_returns_422,
    idempotency_keys_are_scoped_by_caller_and_operation,
    idempotency_key_expires_after_a_day,
    refused_create_is_not_replayed,
    create_with_an_external_id_sent_twice_at_once_has_one_response,
    every_create_honours_the_idempotency_key,
}

const ZONES: &str = "/parks/geozones/bcparks_1";

fn lakes() -> Value {
    json!({ "displayName": "Lakes", "location": [1, 2] })
}

async fn repeated_request_returns_the_first_response() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let first = admin.post(ZONES, lakes()).once("k-1").await.is(201);
    let again = admin.post(ZONES, lakes()).once("k-1").await.is(201);
    assert_eq!(
        (&again.body, again.tag(), again.header("location")),
        (&first.body, first.tag(), first.header("location"))
    );
    // It stays the first answer when the item has moved on.
    admin.patch(first.header("location"), json!({ "displayName": "Ponds" })).await.is(200);
    admin.delete(first.header("location")).await.is(204);
    let again = admin.post(ZONES, lakes()).once("k-1").await.is(201);
    assert_eq!((&again.body, again.tag()), (&first.body, first.tag()));
    assert_eq!(admin.get(ZONES).await.is(200).sks().len(), 0);
    assert_eq!(admin.post(ZONES, lakes()).once("k-2").await.is(201)["number"], 2);
    for (key, status) in [("~".repeat(64), 201), ("~".repeat(65), 400), ("é".to_owned(), 400), (String::new(), 400)] {
        assert_eq!(admin.post(ZONES, lakes()).once(&key).await.status, status, "{key}");
    }
}

async fn concurrent_requests_with_one_key_create_once() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    for round in 0..5 {
        let key = format!("round {round}");
        let calls = (0..10).map(|_| admin.post(ZONES, lakes()).once(&key).into_future());
        let answers = join_all(calls).await;
        let first = answers[0].clone().is(201);
        for answer in answers {
            let answer = answer.is(201);
            assert_eq!((&answer.body, answer.tag()), (&first.body, first.tag()));
        }
    }
    assert_eq!(admin.get(ZONES).await.is(200).sks().len(), 5);
}

async fn same_key_with_another_body_returns_422() {
    let cairn = Cairn::with_strathcona().await;
    cairn.collection("other", "Other").await;
    let admin = cairn.administrator().await;
    admin.post(ZONES, lakes()).once("k").await.is(201);
    let mut other = lakes();
    other["displayName"] = json!("Ponds");
    admin.post(ZONES, other).once("k").await.refused(422, "key-reused");
    admin.post("/parks/geozones/other", lakes()).once("k").await.refused(422, "key-reused");
    assert_eq!(admin.get(ZONES).await.is(200).sks().len(), 1);
    assert_eq!(admin.get("/parks/geozones/other").await.is(200).sks().len(), 0);
}

async fn idempotency_keys_are_scoped_by_caller_and_operation() {
    let cairn = Cairn::with_strathcona().await;
    let ada = cairn.administrator().await;
    let bob = cairn.user("bob", &format!("Bearer {}", cairn.token("bob", &["parks-admin"]).await));
    let first = ada.post(ZONES, lakes()).once("k").await.is(201);
    let second = bob.post(ZONES, lakes()).once("k").await.is(201);
    assert_eq!((&first["number"], &second["number"]), (&json!(1), &json!(2)));
    let camp = json!({ "displayName": "Camp", "location": [1, 2], "facilityType": "campground" });
    ada.post("/parks/facilities/bcparks_1", camp).once("k").await.is(201);
    // Who may not do it learns nothing of an answer that is kept.
    let demoted = cairn.user("demoted", &format!("Bearer {}", cairn.token("ada", &[]).await));
    demoted.post(ZONES, lakes()).once("k").await.refused(403, "forbidden");
}

async fn idempotency_key_expires_after_a_day() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    admin.post(ZONES, lakes()).once("k").await.is(201);
    cairn.clock.advance(Duration::from_secs(23 * 3600));
    assert_eq!(admin.post(ZONES, lakes()).once("k").await.is(201)["number"], 1);
    cairn.clock.advance(Duration::from_secs(2 * 3600));
    assert_eq!(admin.post(ZONES, lakes()).once("k").await.is(201)["number"], 2);
}

async fn refused_create_is_not_replayed() {
    let cairn = Cairn::start().await;
    let admin = cairn.administrator().await;
    admin.post(ZONES, lakes()).once("k").await.refused(404, "not-found");
    cairn.collection("bcparks_1", "Strathcona Park").await;
    admin.post(ZONES, lakes()).once("k").await.is(201);
    admin.post(ZONES, json!({ "displayName": "x" })).once("l").await.faulty(&["/location"]);
    admin.post(ZONES, lakes()).once("l").await.is(201);
}

async fn create_with_an_external_id_sent_twice_at_once_has_one_response() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    for round in 0..20 {
        let new = json!({ "displayName": "Lakes", "location": [1, 2], "externalId": format!("A-{round}") });
        let create = || admin.post(ZONES, new.clone()).once(&format!("k{round}")).into_future();
        let (one, other) = tokio::join!(create(), create());
        let (one, other) = (one.is(201), other.is(201));
        assert_eq!(one.header("location"), other.header("location"), "round {round}");
    }
}

async fn every_create_honours_the_idempotency_key() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let camp = json!({
        "displayName": "Camp", "location": [1, 2], "facilityType": "campground", "externalId": "A-1",
        "boundary": rectangle(1.0, 1.0, 2.0, 2.0)
    });
    for (path, new) in [
        ("/parks/collections", json!({ "collectionId": "twice", "displayName": "Twice" })),
        ("/parks/facilities/bcparks_1", camp),
        ("/parks/geometries/uploads", json!({ "bytes": 100 })),
    ] {
        let first = admin.post(path, new.clone()).once("k").await.is(201);
        let again = admin.post(path, new).once("k").await.is(201);
        assert_eq!((&again.body, again.header("location")), (&first.body, first.header("location")), "{path}");
    }
}
