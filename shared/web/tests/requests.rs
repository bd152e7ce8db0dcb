//! What a client of a system meets: answers, problems with all faults at once, and never a 5xx by its own doing.

mod zoo;

use bytes::Bytes;
use http::{Request, StatusCode};
use serde_json::json;
use zoo::{Zoo, faults, json, metrics_of};

#[tokio::test]
async fn the_declarations_can_be_served() {
    assert_eq!(Zoo::open().app.misdeclared(), Vec::<String>::new());
}

#[tokio::test]
async fn parameters_come_typed() {
    let zoo = Zoo::open();
    let response = zoo.get("/zoo/animals/avi%61ry?diet=plants,meat&diet=meat&near=1.5,-2&isTame=true&limit=1").await;
    assert_eq!(response.status(), StatusCode::OK, "{response:?}");
    let expected = json!({ "items": [{ "number": 3, "name": "Polly" }], "nextCursor": "[1.5, -2.0] Some(true)" });
    assert_eq!(json(&response), expected);
    assert_eq!(response.headers()["cache-control"], "public, max-age=30");
    assert_eq!(response.headers()["vary"], "Authorization, Accept");
}

#[tokio::test]
async fn every_fault_of_path_and_query_is_told_at_once() {
    let zoo = Zoo::open();
    let response = zoo.get("/zoo/animals/a%23b?lat=40.7&diet=fish&near=1,x&limit=0&cursor=a&cursor=b&isTame=yes").await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let mut told = faults(&response);
    told.sort();
    insta::assert_debug_snapshot!(told, @"");
}

#[tokio::test]
async fn every_fault_of_a_body_is_told_at_once() {
    let zoo = Zoo::open();
    let body = json!({ "name": "", "species": "Ara", "keepers": [{ "name": 1, "since": 70000, "age": 3 }], "legs": 2 });
    let response = zoo.post("/zoo/animals/aviary", body.to_string()).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let mut told = faults(&response);
    told.sort();
    insta::assert_debug_snapshot!(told, @"");
}
