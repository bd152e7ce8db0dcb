//! The platform's responses to all sample events, compared with the files beside them.

#![allow(clippy::unwrap_used, reason = "tests say what they expect by unwrapping it")]

use std::collections::BTreeSet;

use local::search::Choice;
use local::{Options, Platform, Progress};
use reqwest::StatusCode;
use serde_json::Value;
use web::operation::sample_event;
use xtask::rehearsal::here;

#[tokio::test]
async fn every_sample_event_gets_the_recorded_response() {
    let mut wrong = Vec::new();
    for (system, answers) in here::answers().await.unwrap() {
        wrong.extend(answers.iter().filter_map(|answered| answered.fault(xtask::root(), system)));
    }
    assert!(wrong.is_empty(), "`cargo xtask rehearse` would write:\n{}", wrong.join("\n"));
}

#[tokio::test]
async fn only_listed_operations_are_open_without_a_token() {
    let state = tempfile::tempdir().unwrap();
    let mut options = Options::new(local::systems::ALL.to_vec(), state.path().join("state"));
    options.search = Choice::Osmem;
    let platform = Platform::start(options, &Progress::silent()).await.unwrap();
    let client = reqwest::Client::new();
    for declared in xtask::systems::all() {
        let mut open = BTreeSet::new();
        for route in declared.app.routes() {
            let event = sample_event(route);
            let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
            let url = format!("{}{}?{}", platform.url, text("/rawPath"), text("/rawQueryString"));
            let mut request = client.request(route.method().clone(), url).body(text("/body"));
            for name in ["accept", "content-type", "if-match"] {
                request = request.header(name, text(&format!("/headers/{name}")));
            }
            let response = request.send().await.unwrap();
            let status = response.status();
            // An unknown refresh token has this status, too, and another type.
            let problem = response.json::<Value>().await.unwrap_or_default();
            let needs_token = problem["type"].as_str().is_some_and(|kind| kind.ends_with("not-signed-in"));
            if status != StatusCode::UNAUTHORIZED || !needs_token {
                open.insert(route.name().to_owned());
            }
        }
        let name = declared.app.system().name;
        assert_eq!(open, xtask::public(name).unwrap(), "{name}: these operations answer without a token");
    }
    platform.stop().await;
}
