//! A proxy before the engine that injects faults.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use table::Access;
use tokio::net::TcpListener;

use crate::shop;

/// A fault of one request.
pub enum Fault {
    /// The engine carries it out, and the connection is cut before its answer.
    LostAnswer,
    /// The engine carries it out, and its answer is truncated.
    CutAnswer,
    /// The engine does not receive it, and the proxy answers this.
    Answer(u16, &'static str),
    /// This future runs before the request is forwarded.
    Meanwhile(Pin<Box<dyn Future<Output = ()> + Send>>),
}

/// The faults of the next requests, in order. Requests after them are forwarded.
#[derive(Clone)]
pub struct Faults(Arc<Mutex<VecDeque<Fault>>>);

impl Faults {
    pub fn then(&self, fault: Fault) -> &Self {
        self.0.lock().unwrap().push_back(fault);
        self
    }

    /// Whether all of them have happened.
    pub fn all_happened(&self) -> bool {
        self.0.lock().unwrap().is_empty()
    }
}

/// Starts an engine with tables behind a proxy.
pub async fn open() -> (Access, Faults) {
    let engine = shop::engine().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let faults = Faults(Arc::default());
    let (front, client) = (faults.clone(), reqwest::Client::new());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (front, client, engine) = (front.clone(), client.clone(), engine.clone());
            let answer = service_fn(move |request| pass_on(request, front.clone(), client.clone(), engine.clone()));
            tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
        }
    });
    (shop::access_at(&endpoint).await, faults)
}

/// Forwards a request. An error cuts the connection.
async fn pass_on(
    request: Request<Incoming>,
    faults: Faults,
    client: reqwest::Client,
    engine: String,
) -> io::Result<Response<Sent>> {
    let fault = faults.0.lock().unwrap().pop_front();
    let (mut lost, mut cut) = (false, false);
    match fault {
        Some(Fault::LostAnswer) => lost = true,
        Some(Fault::CutAnswer) => cut = true,
        Some(Fault::Answer(status, body)) => {
            return Ok(Response::builder().status(status).body(whole(Bytes::from(body))).unwrap());
        }
        Some(Fault::Meanwhile(first)) => first.await,
        None => {}
    }
    let (head, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let answer = client.post(engine).headers(head.headers).body(body).send().await.unwrap();
    if lost {
        return Err(io::Error::other("lost"));
    }
    let passed = Response::builder().status(answer.status());
    let body = answer.bytes().await.unwrap();
    let passed = passed.header("content-length", body.len());
    Ok(passed.body(if cut { half(&body) } else { whole(body) }).unwrap())
}

type Sent = UnsyncBoxBody<Bytes, io::Error>;

fn whole(body: Bytes) -> Sent {
    Full::from(body).map_err(|never| match never {}).boxed_unsync()
}

fn half(body: &Bytes) -> Sent {
    let first = Frame::data(body.slice(..body.len() / 2));
    StreamBody::new(stream::iter([Ok(first), Err(io::Error::other("cut off"))])).boxed_unsync()
}
