//! Proxies in front of an engine, which forward every request unchanged.

use std::error::Error;
use std::mem::take;
use std::sync::{Arc, LazyLock, Mutex};

use bytes::Bytes;
use http::HeaderMap;
use http::request::Parts;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use reqwest::Client;

use super::server::Server;

/// The relay, which is stopped when dropped.
pub struct Relay {
    pub url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    _server: Server,
}

/// A recorded request.
#[derive(Clone, Debug)]
pub struct Seen {
    /// `POST /alias/_search?...`
    pub request: String,
    pub headers: HeaderMap,
}

impl Relay {
    pub async fn before(target: String) -> Self {
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let kept = Arc::clone(&seen);
        let server = Server::start(move |request: Request<Incoming>| {
            let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
            let told = format!("{} {path}", request.method());
            kept.lock().unwrap().push(Seen { request: told, headers: request.headers().clone() });
            let url = format!("{target}{path}");
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect().await.unwrap().to_bytes();
                pass_on(url, parts, body).await
            }
        })
        .await;
        Self { url: server.url.clone(), seen, _server: server }
    }

    /// Returns the requests since the last call.
    pub fn seen(&self) -> Vec<Seen> {
        take(&mut self.seen.lock().unwrap())
    }
}

/// Starts a proxy for a DynamoDB, which runs `act` before it forwards the first transaction that contains this text.
pub async fn before_first_transaction<A>(target: String, text: String, act: A) -> Server
where
    A: Future<Output = ()> + Send + 'static,
{
    let act = Arc::new(Mutex::new(Some(act)));
    Server::start(move |request: Request<Incoming>| {
        let (target, text, act) = (target.clone(), text.clone(), Arc::clone(&act));
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let is_transaction = parts.headers["x-amz-target"].as_bytes().ends_with(b".TransactWriteItems");
            if is_transaction && String::from_utf8_lossy(&body).contains(&text) {
                let act = act.lock().unwrap().take();
                if let Some(act) = act {
                    act.await;
                }
            }
            Ok::<_, Box<dyn Error + Send + Sync>>(pass_on(target, parts, body).await?)
        }
    })
    .await
}

/// The client that all proxies share. Creating one is slow, since it reads the machine's certificates.
pub static HTTP: LazyLock<Client> = LazyLock::new(|| Client::builder().no_proxy().build().unwrap());

/// Forwards a request to this URL. Returns its response. The `Host` header does not change, since signatures cover it.
pub async fn pass_on(url: String, parts: Parts, body: Bytes) -> Result<Response<Full<Bytes>>, reqwest::Error> {
    let answer = HTTP.request(parts.method, url).headers(parts.headers).body(body).send().await?;
    let mut response = Response::builder().status(answer.status());
    for (name, value) in answer.headers().iter().filter(|(name, _)| *name != "transfer-encoding") {
        response = response.header(name, value);
    }
    Ok(response.body(Full::new(answer.bytes().await?)).unwrap())
}
