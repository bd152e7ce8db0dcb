//! Custom resources: CloudFormation invokes a function and waits at its own URL for the response.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::time::Instant;

use crate::zoo::Zoo;

/// A CloudFormation that responds with these statuses, the last one repeatedly, and records the bodies that it receives.
struct CloudFormation {
    url: String,
    received: Arc<Mutex<Vec<Bytes>>>,
}

impl CloudFormation {
    async fn responding(statuses: &'static [u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/stack?signature=s3cret", listener.local_addr().unwrap());
        let received = Arc::<Mutex<Vec<Bytes>>>::default();
        let keep = Arc::clone(&received);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let keep = Arc::clone(&keep);
                let service = service_fn(move |request: Request<Incoming>| {
                    let keep = Arc::clone(&keep);
                    async move {
                        let body = request.into_body().collect().await.unwrap().to_bytes();
                        let mut received = keep.lock().unwrap();
                        received.push(body);
                        let status = statuses[(received.len() - 1).min(statuses.len() - 1)];
                        Ok::<_, Infallible>(Response::builder().status(status).body(Full::<Bytes>::default()).unwrap())
                    }
                });
                tokio::spawn(
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
                );
            }
        });
        Self { url, received }
    }

    async fn invoke(&self, properties: Value) -> Result<Value, String> {
        let request = json!({
            "RequestType": "Update", "RequestId": "r", "StackId": "s", "LogicalResourceId": "Gates",
            "PhysicalResourceId": "gates-1", "ResponseURL": self.url, "ResourceProperties": properties,
        });
        let deadline = Instant::now() + Duration::from_secs(60);
        let answer = Zoo::open().app.event("openGates", request.to_string().into(), deadline).await;
        answer.map(|answer| serde_json::from_slice(&answer).unwrap()).map_err(|failure| failure.to_string())
    }

    fn received(&self) -> Vec<Bytes> {
        self.received.lock().unwrap().clone()
    }
}

#[tokio::test]
async fn response_is_sent_again_until_cloudformation_accepts_it() {
    let cloud_formation = CloudFormation::responding(&[500, 503, 200]).await;
    let answer = cloud_formation.invoke(json!({ "Gates": "7" })).await.unwrap();
    let expected = json!({
        "Status": "SUCCESS", "Reason": "", "PhysicalResourceId": "gates-1", "StackId": "s", "RequestId": "r",
        "LogicalResourceId": "Gates", "Data": { "Open": "7" },
    });
    assert_eq!(answer, expected);
    let received = cloud_formation.received();
    assert_eq!(received.len(), 3);
    assert_eq!(serde_json::from_slice::<Value>(&received[2]).unwrap(), expected);
}

#[tokio::test]
async fn failure_is_sent_with_a_truncated_reason() {
    let cloud_formation = CloudFormation::responding(&[200]).await;
    let answer = cloud_formation.invoke(json!({})).await.unwrap();
    assert_eq!(answer["Status"], "FAILED");
    assert!(answer["Reason"].as_str().unwrap().starts_with("there are no gates."), "{answer}");
    // CloudFormation refuses a longer response.
    let received = cloud_formation.received();
    assert!(received.len() == 1 && received[0].len() <= 4_096, "{received:?}");
}

#[tokio::test]
async fn response_that_is_never_accepted_fails_the_invocation_without_its_url() {
    let cloud_formation = CloudFormation::responding(&[307, 503, 403]).await;
    let failure = cloud_formation.invoke(json!({ "Gates": "7" })).await.unwrap_err();
    assert!(failure.starts_with("response to CloudFormation not sent:"), "{failure}");
    assert!(failure.contains("403") && !failure.contains("s3cret"), "{failure}");
    assert_eq!(cloud_formation.received().len(), 3);
}
