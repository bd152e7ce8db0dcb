//! Lambda's Runtime API on loopback, for the program of one function. The program receives its invocations and returns
//! its responses here.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};

use crate::listen::Server;

/// The timeout of an invocation.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// A running Runtime API.
#[derive(Debug)]
pub struct RuntimeApi {
    /// The address for the program, such as `127.0.0.1:1234`.
    pub address: SocketAddr,
    give: mpsc::UnboundedSender<Invocation>,
    asked: mpsc::UnboundedReceiver<()>,
    said: mpsc::UnboundedReceiver<Value>,
    _server: Server,
}

#[derive(Debug)]
struct Invocation {
    payload: Bytes,
    trace: HeaderValue,
}

/// The other ends of the channels.
#[derive(Clone)]
struct Program {
    given: Arc<Mutex<mpsc::UnboundedReceiver<Invocation>>>,
    ask: mpsc::UnboundedSender<()>,
    say: mpsc::UnboundedSender<Value>,
}

impl RuntimeApi {
    pub async fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let (give, given) = mpsc::unbounded_channel();
        let (ask, asked) = mpsc::unbounded_channel();
        let (say, said) = mpsc::unbounded_channel();
        let program = Program { given: Arc::new(Mutex::new(given)), ask, say };
        let server = Server::start(listener, move |request| program.clone().answer(request))?;
        Ok(Self { address: server.address, give, asked, said, _server: server })
    }

    /// Returns the environment variables that Lambda sets for a function of this handler.
    pub fn variables(&self, handler: &str) -> [(&'static str, String); 5] {
        [
            ("AWS_LAMBDA_RUNTIME_API", self.address.to_string()),
            ("_HANDLER", handler.to_owned()),
            ("AWS_LAMBDA_FUNCTION_NAME", handler.to_owned()),
            ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256".to_owned()),
            ("AWS_LAMBDA_FUNCTION_VERSION", "1".to_owned()),
        ]
    }

    /// Waits until the program polls for an invocation.
    pub async fn asked(&mut self) {
        self.asked.recv().await;
    }

    /// Invokes the program with this payload and, if it is well formed, this trace. Returns its response.
    pub async fn invoke(&mut self, payload: impl Into<Bytes>, trace: &str) -> Option<Value> {
        let trace = HeaderValue::from_str(trace).unwrap_or(HeaderValue::from_static(""));
        self.give.send(Invocation { payload: payload.into(), trace }).ok()?;
        self.said.recv().await
    }
}

impl Program {
    async fn answer(self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        if request.uri().path().ends_with("/invocation/next") { self.next().await } else { self.said(request).await }
    }

    async fn next(self) -> Response<Full<Bytes>> {
        let _ = self.ask.send(());
        let Some(invocation) = self.given.lock().await.recv().await else { return std::future::pending().await };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut response = Response::new(Full::new(invocation.payload));
        let headers = response.headers_mut();
        let arn = HeaderValue::from_static("arn:aws:lambda:ca-central-1:1:function:f");
        let id = HeaderValue::from_static("8476a536-e9f4-11e8-9739-2dfe598c3fcd");
        headers.insert("lambda-runtime-aws-request-id", id);
        headers.insert("lambda-runtime-invoked-function-arn", arn);
        headers.insert("lambda-runtime-trace-id", invocation.trace);
        let deadline = u64::try_from((now + TIMEOUT).as_millis()).unwrap_or(u64::MAX);
        headers.insert("lambda-runtime-deadline-ms", deadline.into());
        response
    }

    async fn said(self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::default());
        let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
        match serde_json::from_slice(&body) {
            Ok(answer) => {
                let _ = self.say.send(answer);
                *response.status_mut() = StatusCode::ACCEPTED;
            }
            Err(_) => *response.status_mut() = StatusCode::BAD_REQUEST,
        }
        response
    }
}
