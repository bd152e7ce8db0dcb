//! Messages to a queue.

use serde_json::json;
use table::access::OnQueue;
use table::{Access, AccessPattern, Call, Clock, Config, Engines, Error, Trace};

use crate::canned::answering;
use crate::shop::{calls, engines};

static ORDERED: AccessPattern = AccessPattern::new("ordered", &[OnQueue("shop-orders").send()]);

/// Returns access by the pattern to queues at an endpoint.
fn reaching(endpoint: &str) -> Access {
    static GRANTED: &[&AccessPattern] = &[&ORDERED];
    let queues = Some(format!("{endpoint}/1/"));
    let config = Config { sqs: Some(endpoint.to_owned()), queues, ..engines("http://127.0.0.1:1").config.clone() };
    Access::new(Engines::new(config, Clock::system()), GRANTED)
}

#[tokio::test]
async fn sent_message_has_its_body_as_json_and_its_trace_and_is_recorded() {
    let (endpoint, mut requests) = answering(200, r#"{"MessageId": "1"}"#).await;
    let access = reaching(&endpoint);
    let trace = Trace::new(&Clock::system());
    let sent = async { access.queue(&ORDERED, "shop-orders").send(&json!({ "order": 7 })).await };
    trace.clone().scope(sent).await.unwrap();
    let request = requests.recv().await.unwrap();
    assert!(request.contains("x-amz-target: AmazonSQS.SendMessage"), "{request}");
    assert!(request.contains(trace.as_str()), "{request}");
    let (_, body) = request.split_once("\r\n\r\n").unwrap();
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["QueueUrl"], format!("{endpoint}/1/test-shop-orders"));
    assert_eq!(body["MessageBody"], r#"{"order":7}"#);
    let performed = access.performed();
    assert_eq!((performed[0].call, calls(&access)), (Call::Queue { queue: "shop-orders" }, 1));
}

#[tokio::test]
async fn message_to_an_undeclared_queue_is_not_sent() {
    let access = reaching("http://127.0.0.1:1");
    let sent = access.queue(&ORDERED, "shop-returns").send(&json!({})).await;
    assert!(matches!(sent, Err(Error::Undeclared(_))), "{sent:?}");
    assert_eq!(calls(&access), 0);
}

#[tokio::test]
async fn message_that_the_queue_refuses_is_an_engine_error() {
    let refusal = r#"{"__type": "com.amazonaws.sqs#QueueDoesNotExist", "message": "none"}"#;
    let (endpoint, _requests) = answering(400, refusal).await;
    let sent = reaching(&endpoint).queue(&ORDERED, "shop-orders").send(&json!({})).await;
    assert!(matches!(sent, Err(Error::Engine { engine: "SQS", .. })), "{sent:?}");
}
