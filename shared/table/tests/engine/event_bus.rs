//! Events on the account's event bus.

use std::time::Duration;

use serde_json::{Value, json};
use table::access::OnEventBus;
use table::{Access, AccessPattern, BusEvent, Call, Clock, Config, Engines, Error};

use crate::canned::answering;
use crate::shop::{calls, engines};

static PUT: AccessPattern = AccessPattern::new("put", &[OnEventBus("shop").put()]);

/// Returns access by the pattern to the bus at an endpoint.
fn reaching(endpoint: &str) -> Access {
    static GRANTED: &[&AccessPattern] = &[&PUT];
    let config = Config { eventbridge: Some(endpoint.to_owned()), ..engines("http://127.0.0.1:1").config.clone() };
    Access::new(Engines::new(config, Clock::system()), GRANTED)
}

fn paid(order: u32) -> BusEvent {
    let time = Duration::from_millis(1_767_225_600_250);
    BusEvent { kind: "order.paid", time, detail: json!({ "order": order }) }
}

#[tokio::test]
async fn event_has_its_source_kind_time_and_detail_and_the_call_is_recorded() {
    let (endpoint, mut requests) = answering(200, r#"{"FailedEntryCount": 0, "Entries": [{"EventId": "1"}]}"#).await;
    let access = reaching(&endpoint);
    access.put_events(&PUT, "shop", &[paid(7)]).await.unwrap();
    let request = requests.recv().await.unwrap();
    assert!(request.contains("x-amz-target: AWSEvents.PutEvents"), "{request}");
    let (_, body) = request.split_once("\r\n\r\n").unwrap();
    let body: Value = serde_json::from_str(body).unwrap();
    let expected = json!({
        "EventBusName": "default", "Source": "test-shop", "DetailType": "order.paid", "Time": 1_767_225_600.25,
        "Detail": r#"{"order":7}"#,
    });
    assert_eq!(body["Entries"], json!([expected]));
    let performed = access.performed();
    assert_eq!((performed[0].call, calls(&access)), (Call::EventBus { source: "shop" }, 1));
}

#[tokio::test]
async fn event_that_the_bus_refuses_is_an_engine_error() {
    let refusal = r#"{"FailedEntryCount": 1, "Entries": [{"EventId": "1"}, {"ErrorCode": "ThrottlingException"}]}"#;
    let (endpoint, _requests) = answering(200, refusal).await;
    let put = reaching(&endpoint).put_events(&PUT, "shop", &[paid(7), paid(8)]).await;
    let Err(error @ Error::Engine { engine: "EventBridge", .. }) = put else { panic!("{put:?}") };
    assert_eq!(error.to_string(), "EventBridge failed: 1 of 2 events were refused: ThrottlingException");
}

#[tokio::test]
async fn event_of_an_undeclared_source_is_not_put() {
    let access = reaching("http://127.0.0.1:1");
    let put = access.put_events(&PUT, "other", &[paid(7)]).await;
    assert!(matches!(put, Err(Error::Undeclared(_))), "{put:?}");
    assert_eq!(calls(&access), 0);
}
