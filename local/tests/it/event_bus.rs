//! The local EventBridge: the SDK's requests, and the log.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_eventbridge::types::PutEventsRequestEntry;
use local::engine::event_bus::EventBus;
use serde_json::{Value, json};
use table::access::OnEventBus;
use table::{Access, AccessPattern, BusEvent, Clock, Config, Engines};

static PUT: AccessPattern = AccessPattern::new("put", &[OnEventBus("toys").put()]);
static GRANTED: &[&AccessPattern] = &[&PUT];

/// Starts EventBridge with a log, for deployments with the prefix `dev-`.
async fn open(log: &Path) -> (EventBus, Arc<Engines>) {
    let bus = EventBus::start(log).await.unwrap();
    let config = Config {
        prefix: "dev-".to_owned(),
        eventbridge: Some(bus.endpoint.clone()),
        credentials: Some(("local".to_owned(), "local".to_owned())),
        ..Config::new("local", "http://127.0.0.1:1")
    };
    (bus, Engines::new(config, Clock::system()))
}

fn lines(log: &Path) -> Vec<Value> {
    let log = std::fs::read_to_string(log).unwrap();
    log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn sold(toy: &str) -> BusEvent {
    BusEvent { kind: "toy.sold", time: Duration::from_millis(1_767_225_600_250), detail: json!({ "toy": toy }) }
}

#[tokio::test]
async fn event_is_a_line_of_the_log_which_a_restart_keeps() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("events.jsonl");
    for toy in ["bear", "owl\n"] {
        let (bus, engines) = open(&log).await;
        Access::new(engines, GRANTED).put_events(&PUT, "toys", &[sold(toy)]).await.unwrap();
        bus.stop().await;
    }
    let mut events = lines(&log);
    let ids: Vec<Value> = events.iter_mut().map(|event| event.as_object_mut().unwrap().remove("id").unwrap()).collect();
    assert!(ids[0].is_string() && ids[0] != ids[1], "{ids:?}");
    let event = |toy: &str| {
        json!({
            "version": "0", "detail-type": "toy.sold", "source": "dev-toys", "account": "000000000000",
            "time": "2026-01-01T00:00:00Z", "region": "local", "resources": [], "detail": { "toy": toy },
        })
    };
    assert_eq!(events, [event("bear"), event("owl\n")]);
}

#[tokio::test]
async fn invalid_event_is_refused_and_the_others_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("events.jsonl");
    let (_bus, engines) = open(&log).await;
    let valid = PutEventsRequestEntry::builder().source("toys").detail_type("toy.sold").detail("{}");
    let invalid = [
        valid.clone().set_source(None),
        valid.clone().set_detail_type(None),
        valid.clone().set_detail(None),
        valid.clone().detail("[]"),
        valid.clone().detail("{"),
    ];
    let entries = invalid.into_iter().chain([valid]).map(|entry| entry.build());
    let put = engines.eventbridge().put_events().set_entries(Some(entries.collect())).send().await.unwrap();
    assert_eq!(put.failed_entry_count(), 5);
    let refused: Vec<bool> = put.entries().iter().map(|entry| entry.error_code().is_some()).collect();
    assert_eq!(refused, [true, true, true, true, true, false]);
    assert_eq!(lines(&log).len(), 1);
}

#[tokio::test]
async fn eleven_events_are_refused_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("events.jsonl");
    let (_bus, engines) = open(&log).await;
    let entry = PutEventsRequestEntry::builder().source("toys").detail_type("toy.sold").detail("{}").build();
    let put = engines.eventbridge().put_events().set_entries(Some(vec![entry; 11])).send().await;
    assert_eq!(put.unwrap_err().into_service_error().meta().code(), Some("ValidationException"));
    assert_eq!(lines(&log), Vec::<Value>::new());
}
