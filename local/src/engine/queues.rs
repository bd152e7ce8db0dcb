//! SQS over an SQLite file, in this process.

pub mod messages;
pub mod protocol;

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Method, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::Request;
use hyper::body::Incoming;
use serde_json::json;
use table::Clock;
use tokio::net::TcpListener;

use crate::error::StartError;
use crate::listen::Server;
use messages::Messages;
use protocol::{ACCOUNT, Refusal};

/// A running SQS on a port of 127.0.0.1.
#[derive(Debug)]
pub struct Queues {
    pub endpoint: String,
    pub messages: Arc<Messages>,
    server: Server,
}

/// The maximum size of a request in bytes: a message with all its characters escaped.
const MAX_REQUEST: usize = 8 * 1024 * 1024;

impl Queues {
    /// Starts SQS with the messages in `file`. Times are those of the clock.
    pub async fn start(file: &Path, clock: Clock) -> Result<Self, StartError> {
        let messages = Messages::open(file, clock).map_err(|error| {
            StartError::new(
                format!("Opening the messages in `{}` failed: {error}", file.display()),
                "If the file is damaged, `cairn local reset` starts over with an empty one",
            )
        })?;
        let messages = Arc::new(messages);
        let failed = |error: std::io::Error| {
            StartError::new(format!("Starting the local SQS failed: {error}"), "Check the machine's network settings")
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
        let endpoint = format!("http://{}", listener.local_addr().map_err(failed)?);
        let (served, queues) = (Arc::clone(&messages), urls(&endpoint));
        let handle = move |request| answer(Arc::clone(&served), queues.clone(), request);
        let server = Server::start(listener, handle).map_err(failed)?;
        Ok(Self { endpoint, messages, server })
    }

    /// Returns the URL of a queue before its name.
    pub fn urls(&self) -> String {
        urls(&self.endpoint)
    }

    pub async fn stop(self) {
        self.server.stop().await;
    }
}

fn urls(endpoint: &str) -> String {
    format!("{endpoint}/{ACCOUNT}/")
}

async fn answer(messages: Arc<Messages>, queues: String, request: Request<Incoming>) -> Response<Full<Bytes>> {
    // SQS's health check.
    if request.method() == Method::GET {
        return Response::new(Full::from("healthy"));
    }
    let (parts, body) = request.into_parts();
    let target = parts.headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let answered = match Limited::new(body, MAX_REQUEST).collect().await {
        Ok(body) => protocol::answer(&messages, &queues, target, &body.to_bytes()).await,
        Err(error) => Err(Refusal {
            status: StatusCode::PAYLOAD_TOO_LARGE,
            kind: "com.amazonaws.sqs#RequestTooLarge",
            code: "RequestTooLarge",
            message: error.to_string(),
        }),
    };
    let (status, code, body) = match answered {
        Ok(body) => (StatusCode::OK, None, body),
        Err(Refusal { status, kind, code, message }) => {
            (status, Some(code), json!({ "__type": kind, "message": message }))
        }
    };
    let mut response = Response::new(Full::from(body.to_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-amz-json-1.0"));
    if let Some(Ok(error)) = code.map(|code| HeaderValue::from_str(&format!("{code};Sender"))) {
        headers.insert("x-amzn-query-error", error);
    }
    response
}
