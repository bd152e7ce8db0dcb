//! CloudFormation, which calls a function for a custom resource and waits at a URL of its own for how it went.

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

/// Answers with these statuses, the last of them from then on, and keeps what it is told.
struct CloudFormation {
    url: String,
    told: Arc<Mutex<Vec<Bytes>>>,
}

impl CloudFormation {
    async fn answering(statuses: &'static [u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/stack?signature=s3cret", listener.local_addr().unwrap());
        let told = Arc::<Mutex<Vec<Bytes>>>::default();
        let keep = Arc::clone(&told);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let keep = Arc::clone(&keep);
                let service = service_fn(move |request: Request<Incoming>| {
                    let keep = Arc::clone(&keep);
                    async move {
                        let body = request.into_body().collect().await.unwrap().to_bytes();
                        let mut told = keep.lock().unwrap();
                        told.push(body);
                        let status = statuses[(told.len() - 1).min(statuses.len() - 1)];
                        Ok::<_, Infallible>(Response::builder().status(status).body(Full::<Bytes>::default()).unwrap())
                    }
                });
                tokio::spawn(
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
                );
            }
        });
        Self { url, told }
    }

    async fn asks(&self, properties: Value) -> Result<Value, String> {
        let request = json!({
            "RequestType": "Update", "RequestId": "r", "StackId": "s", "LogicalResourceId": "Gates",
            "PhysicalResourceId": "gates-1", "ResponseURL": self.url, "ResourceProperties": properties,
        });
        let deadline = Instant::now() + Duration::from_secs(60);
        let answer = Zoo::open().app.event("openGates", request.to_string().into(), deadline).await;
        answer.map(|answer| serde_json::from_slice(&answer).unwrap()).map_err(|failure| failure.to_string())
    }

    fn told(&self) -> Vec<Bytes> {
        self.told.lock().unwrap().clone()
    }
}

#[tokio::test]
async fn what_was_made_is_told_once_it_can_be() {
    let cloud_formation = CloudFormation::answering(&[500, 503, 200]).await;
    let answer = cloud_formation.asks(json!({ "Gates": "7" })).await.unwrap();
    let expected = json!({
        "Status": "SUCCESS", "Reason": "", "PhysicalResourceId": "gates-1", "StackId": "s", "RequestId": "r",
        "LogicalResourceId": "Gates", "Data": { "Open": "7" },
    });
    assert_eq!(answer, expected);
    let told = cloud_formation.told();
    assert_eq!(told.len(), 3);
    assert_eq!(serde_json::from_slice::<Value>(&told[2]).unwrap(), expected);
}

#[tokio::test]
async fn what_could_not_be_made_fails_the_deployment() {
    let cloud_formation = CloudFormation::answering(&[200]).await;
    let answer = cloud_formation.asks(json!({})).await.unwrap();
    assert_eq!(answer["Status"], "FAILED");
    assert!(answer["Reason"].as_str().unwrap().starts_with("there are no gates."), "{answer}");
    // CloudFormation takes no longer answer.
    let told = cloud_formation.told();
    assert!(told.len() == 1 && told[0].len() <= 4_096, "{told:?}");
}

#[tokio::test]
async fn an_answer_that_nobody_takes_fails_the_invocation_and_names_no_url() {
    let cloud_formation = CloudFormation::answering(&[307, 503, 403]).await;
    let failure = cloud_formation.asks(json!({ "Gates": "7" })).await.unwrap_err();
    assert!(failure.starts_with("CloudFormation could not be told:"), "{failure}");
    assert!(failure.contains("403") && !failure.contains("s3cret"), "{failure}");
    assert_eq!(cloud_formation.told().len(), 3);
}
