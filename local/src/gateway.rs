//! The local API gateway. It passes requests to the systems as API Gateway's HTTP APIs pass them to Lambda, with its
//! limits, its CORS headers and its own responses.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use table::{Trace, trace};
use tokio::net::TcpListener;
use tokio::time::Instant;
use web::{Deadline, RequestId, cors, string_bytes};

use crate::listen::{CLIENT, Server};
use crate::socket::sockets::Sockets;

/// The maximum payload of Lambda in bytes, for request and response. A text is a JSON string there, and all else is in
/// base64.
pub const PAYLOAD: usize = 6 * 1024 * 1024;

/// The maximum size of the request line and the header values together in bytes ("Quotas for configuring and running an
/// HTTP API", Amazon API Gateway Developer Guide).
pub const MAX_HEAD: usize = 10_240;

/// The time after which API Gateway stops waiting for a function.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// How much of an oversized body is read in bytes, so that its sender receives the response.
const MAX_DRAINED: usize = 64 * 1024 * 1024;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// How the gateway passes a client's address on in `X-Forwarded-For`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForwardedFor {
    /// The gateway appends the client's address to what the client sent, as API Gateway does.
    #[default]
    Appended,
    /// The header is passed on as the client sent it, so that a test can send requests from several networks.
    AsSent,
}

/// The settings of a gateway.
#[derive(Clone, Copy, Debug)]
struct Settings {
    timeout: Duration,
    forwarded_for: ForwardedFor,
}

/// A running gateway.
#[derive(Debug)]
pub struct Gateway {
    server: Server,
}

impl Gateway {
    /// Starts a gateway that answers every request by `handle`, which receives it as a function does.
    pub fn start<H, F>(listener: TcpListener, handle: H) -> std::io::Result<Self>
    where
        H: Fn(Request<Bytes>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Response<Bytes>> + Send + 'static,
    {
        Self::with_timeout(TIMEOUT, listener, handle)
    }

    /// Starts a gateway that opens sockets as well, and accepts these names as the `Host`.
    pub fn with_sockets<H, F>(
        listener: TcpListener,
        hosts: Vec<String>,
        handle: H,
        sockets: Arc<Sockets>,
        forwarded_for: ForwardedFor,
    ) -> std::io::Result<Self>
    where
        H: Fn(Request<Bytes>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Response<Bytes>> + Send + 'static,
    {
        let settings = Settings { timeout: TIMEOUT, forwarded_for };
        let answer = move |request| {
            let (sockets, handle) = (Arc::clone(&sockets), handle.clone());
            async move {
                if sockets.is_for(&request) {
                    return sockets.open(request).await;
                }
                answer(handle, request, settings).await
            }
        };
        Ok(Self { server: Server::with_hosts(listener, hosts, answer)? })
    }

    /// Starts a gateway with another timeout.
    pub fn with_timeout<H, F>(timeout: Duration, listener: TcpListener, handle: H) -> std::io::Result<Self>
    where
        H: Fn(Request<Bytes>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Response<Bytes>> + Send + 'static,
    {
        let settings = Settings { timeout, forwarded_for: ForwardedFor::Appended };
        let answer = move |request| answer(handle.clone(), request, settings);
        Ok(Self { server: Server::start(listener, answer)? })
    }

    pub fn address(&self) -> SocketAddr {
        self.server.address
    }

    /// Stops the gateway after the requests in progress.
    pub async fn stop(self) {
        self.server.stop().await;
    }
}

/// Answers a request. Every origin may call, since the browser's own credentials are not involved.
async fn answer<H, F>(handle: H, request: Request<Incoming>, settings: Settings) -> Response<Full<Bytes>>
where
    H: Fn(Request<Bytes>) -> F,
    F: Future<Output = Response<Bytes>> + Send + 'static,
{
    let id = uuid::Uuid::now_v7().to_string();
    let cross_origin = request.headers().contains_key(header::ORIGIN);
    let mut response = if *request.method() == Method::OPTIONS && head_bytes(&request) <= MAX_HEAD {
        preflight(cross_origin)
    } else {
        invoke(handle, request, &id, settings).await
    };
    let headers = response.headers_mut();
    if cross_origin {
        put(headers, header::ACCESS_CONTROL_ALLOW_ORIGIN, "*".to_owned());
        put(headers, header::ACCESS_CONTROL_EXPOSE_HEADERS, cors::EXPOSED.join(","));
    }
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert("apigw-requestid", id);
    }
    response.map(Full::new)
}

async fn invoke<H, F>(handle: H, request: Request<Incoming>, id: &str, settings: Settings) -> Response<Bytes>
where
    H: Fn(Request<Bytes>) -> F,
    F: Future<Output = Response<Bytes>> + Send + 'static,
{
    let Settings { timeout, forwarded_for } = settings;
    let head = head_bytes(&request);
    let (mut parts, body) = request.into_parts();
    let text = is_text(&parts.headers);
    let limit = if text { PAYLOAD } else { PAYLOAD / 4 * 3 };
    let body = match collect(body, limit).await {
        Ok(body) if !text || string_bytes(&body) <= PAYLOAD => body,
        Ok(_) | Err(Unread::TooLarge) => return message(StatusCode::PAYLOAD_TOO_LARGE, "Request Entity Too Large"),
        Err(Unread::Broken) => return message(StatusCode::BAD_REQUEST, "Bad Request"),
    };
    // The body is read before, so that its sender receives the response.
    if head > MAX_HEAD {
        return message(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "Request Header Fields Too Large");
    }
    join_repeated_headers(&mut parts.headers);
    if forwarded_for == ForwardedFor::Appended {
        append_address(&mut parts.headers);
    }
    parts.extensions.insert(RequestId(id.to_owned()));
    parts.extensions.insert(Deadline(Instant::now() + timeout));
    let sent = parts.headers.get(trace::HEADER).and_then(|header| header.to_str().ok()).and_then(Trace::read);
    let call = handle(Request::from_parts(parts, body));
    // The call is a task of its own, so that the gateway answers even if it panics.
    let mut task = match sent {
        Some(trace) => tokio::spawn(trace.scope(call)),
        None => tokio::spawn(call),
    };
    match tokio::time::timeout(timeout, &mut task).await {
        Ok(Ok(response)) if payload_bytes(response.body()) <= PAYLOAD => response,
        Ok(Ok(_)) => {
            tracing::error!(id, "response exceeds the 6 MB limit of Lambda");
            message(StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error")
        }
        Ok(Err(_)) => message(StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error"),
        Err(_) => {
            task.abort();
            message(StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable")
        }
    }
}

/// Joins the values of each repeated header: cookies as in one field, all others by commas ("Working with AWS Lambda proxy
/// integrations for HTTP APIs").
fn join_repeated_headers(headers: &mut HeaderMap) {
    let is_repeated = |name: &&HeaderName| headers.get_all(*name).iter().nth(1).is_some();
    let repeated: Vec<HeaderName> = headers.keys().filter(is_repeated).cloned().collect();
    for name in repeated {
        let separator: &[u8] = if name == header::COOKIE { b"; " } else { b"," };
        let values: Vec<&[u8]> = headers.get_all(&name).iter().map(HeaderValue::as_bytes).collect();
        if let Ok(joined) = HeaderValue::from_bytes(&values.join(separator)) {
            headers.insert(name, joined);
        }
    }
}

/// Appends the client's address to `X-Forwarded-For`.
fn append_address(headers: &mut HeaderMap) {
    let address = match headers.get(FORWARDED_FOR) {
        Some(sent) => HeaderValue::from_bytes(&[sent.as_bytes(), b", ", CLIENT.as_bytes()].concat()),
        None => Ok(HeaderValue::from_static(CLIENT)),
    };
    if let Ok(address) = address {
        headers.insert(FORWARDED_FOR, address);
    }
}

/// Returns the size of a request line and the header values.
fn head_bytes<B>(request: &Request<B>) -> usize {
    let target = request.uri().path_and_query().map_or("", PathAndQuery::as_str);
    let values: usize = request.headers().values().map(HeaderValue::len).sum();
    request.method().as_str().len() + target.len() + "  HTTP/1.1".len() + values
}

/// Returns API Gateway's response to a CORS preflight.
fn preflight(cross_origin: bool) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::NO_CONTENT;
    if cross_origin {
        let headers = response.headers_mut();
        put(headers, header::ACCESS_CONTROL_ALLOW_METHODS, cors::METHODS.join(","));
        put(headers, header::ACCESS_CONTROL_ALLOW_HEADERS, cors::ALLOWED.join(","));
        put(headers, header::ACCESS_CONTROL_MAX_AGE, cors::MAX_AGE.to_string());
    }
    response
}

fn put(headers: &mut HeaderMap, name: HeaderName, value: String) {
    if let Ok(value) = HeaderValue::try_from(value) {
        headers.insert(name, value);
    }
}

/// Returns a response of API Gateway itself.
fn message(status: StatusCode, text: &str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(format!(r#"{{"message":"{text}"}}"#)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Whether API Gateway passes the body as text ("Working with AWS Lambda proxy integrations for HTTP APIs").
fn is_text(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("text/plain");
    let content_type = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let text = ["application/json", "application/javascript", "application/xml"];
    content_type.starts_with("text/") || text.contains(&content_type.as_str())
}

/// Returns the size of a response's body in the payload of Lambda.
fn payload_bytes(body: &[u8]) -> usize {
    if std::str::from_utf8(body).is_ok() { string_bytes(body) } else { body.len().div_ceil(3) * 4 }
}

enum Unread {
    TooLarge,
    Broken,
}

async fn collect(mut body: Incoming, limit: usize) -> Result<Bytes, Unread> {
    let mut collected = BytesMut::new();
    let mut read = 0;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else { continue };
        read += data.len();
        if read > MAX_DRAINED {
            return Err(Unread::TooLarge);
        }
        if read <= limit {
            collected.extend_from_slice(&data);
        }
    }
    if read > limit { Err(Unread::TooLarge) } else { Ok(collected.freeze()) }
}
