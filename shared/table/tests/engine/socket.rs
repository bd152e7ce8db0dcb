//! Posts to connections of a socket.

use std::time::Instant;

use table::access::{OnSocket, SocketAction};
use table::{Access, AccessPattern, Call, Clock, Config, Delivery, Engines, Error, Trace};

use crate::canned::answering;
use crate::shop::{calls, engines};

static TOLD: AccessPattern = AccessPattern::new("told", &[OnSocket.post(), OnSocket.close()]);
static ONLY_POSTED: AccessPattern = AccessPattern::new("onlyPosted", &[OnSocket.post()]);

const CONNECTION: &str = "L0SM9cOFvHcCIhw=";

fn reaching(socket: Option<String>) -> Access {
    static GRANTED: &[&AccessPattern] = &[&TOLD, &ONLY_POSTED];
    let config = Config { socket, ..engines("http://127.0.0.1:1").config.clone() };
    Access::new(Engines::new(config, Clock::system()), GRANTED)
}

#[tokio::test]
async fn posted_frame_has_its_bytes_and_its_trace_and_is_recorded() {
    let (endpoint, mut requests) = answering(200, "").await;
    let access = reaching(Some(format!("{endpoint}/live")));
    let trace = Trace::new(&Clock::system());
    let sent = trace.clone().scope(access.post(&TOLD, CONNECTION, r#"{"a":1}"#)).await.unwrap();
    assert_eq!(sent, Delivery::Sent);
    let request = requests.recv().await.unwrap();
    assert!(request.starts_with("POST /live/@connections/L0SM9cOFvHcCIhw%3D "), "{request}");
    assert!(request.contains("/execute-api/aws4_request") && request.contains(trace.as_str()), "{request}");
    assert!(request.ends_with("\r\n\r\n{\"a\":1}"), "{request}");
    let post = Call::Socket { action: SocketAction::PostToConnection };
    assert_eq!((access.performed()[0].call, calls(&access)), (post, 1));
}

#[tokio::test]
async fn closed_connection_is_named_in_the_path() {
    let (endpoint, mut requests) = answering(204, "").await;
    let access = reaching(Some(endpoint));
    assert_eq!(access.close(&TOLD, CONNECTION).await.unwrap(), Delivery::Sent);
    let request = requests.recv().await.unwrap();
    assert!(request.starts_with("DELETE /@connections/L0SM9cOFvHcCIhw%3D "), "{request}");
}

#[tokio::test]
async fn status_determines_the_delivery_after_one_attempt() {
    for (status, expected) in
        [(410, Delivery::Gone), (429, Delivery::Busy), (500, Delivery::Busy), (504, Delivery::Busy)]
    {
        let (endpoint, mut requests) = answering(status, r#"{"message":"x"}"#).await;
        let access = reaching(Some(endpoint));
        assert_eq!(access.post(&TOLD, CONNECTION, "a").await.unwrap(), expected, "{status}");
        assert_eq!(access.close(&TOLD, CONNECTION).await.unwrap(), expected, "{status}");
        requests.recv().await.unwrap();
        requests.recv().await.unwrap();
        assert!(requests.try_recv().is_err(), "{status} was retried");
    }
    for status in [400, 403, 413] {
        let (endpoint, _requests) = answering(status, r#"{"message":"x"}"#).await;
        let sent = reaching(Some(endpoint)).post(&TOLD, CONNECTION, "a").await;
        assert!(matches!(sent, Err(Error::Engine { engine: "API Gateway", .. })), "{status}: {sent:?}");
    }
}

#[tokio::test]
async fn endpoint_that_does_not_answer_is_busy_after_a_second() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = reaching(Some(format!("http://{}", listener.local_addr().unwrap())));
    let started = Instant::now();
    assert_eq!(silent.post(&TOLD, CONNECTION, "a").await.unwrap(), Delivery::Busy);
    assert!((1..10).contains(&started.elapsed().as_secs()));
    drop(listener);
    let closed = reaching(Some("http://127.0.0.1:1".to_owned()));
    assert_eq!(closed.post(&TOLD, CONNECTION, "a").await.unwrap(), Delivery::Busy);
}

#[tokio::test]
async fn undeclared_call_is_not_made() {
    let access = reaching(Some("http://127.0.0.1:1".to_owned()));
    let closed = access.close(&ONLY_POSTED, CONNECTION).await;
    assert!(matches!(closed, Err(Error::Undeclared(_))), "{closed:?}");
    assert_eq!(calls(&access), 0);
}

#[tokio::test]
async fn socket_that_is_not_configured_is_an_error_that_names_its_variable() {
    let sent = reaching(None).post(&TOLD, CONNECTION, "a").await;
    assert!(sent.unwrap_err().to_string().contains("CAIRN_SOCKET_ENDPOINT"));
}
