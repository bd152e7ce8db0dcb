//! A proxy before dynoxide that adds a `Limit` to scans and queries with none or a larger one. DynamoDB may end a page
//! anywhere, so callers continue at `LastEvaluatedKey` in any case. It refuses web pages, which the engine would let read
//! and write every table, as DynamoDB has no CORS and the engine checks no signature.

use std::net::Ipv4Addr;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use serde_json::Value;
use tokio::net::TcpListener;

use crate::listen::Server;

/// The maximum number of items on a page. Other requests wait about 2 ms while one is read.
const MAX_ITEMS: u64 = 250;

/// The maximum size of a request to DynamoDB in bytes.
const MAX_BODY: usize = 16 * 1024 * 1024;

/// A running proxy.
#[derive(Debug)]
pub(super) struct Front(Server);

impl Front {
    /// Starts a proxy on a port of 127.0.0.1, before the engine at this URL.
    pub(super) async fn start(engine: String) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        // The engine has no TLS, so the machine's root certificates need not be read.
        let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().map_err(std::io::Error::other)?;
        let answer = move |request: Request<Incoming>| {
            let (client, engine) = (client.clone(), engine.clone());
            async move {
                if request.headers().contains_key(header::ORIGIN) {
                    return refusal(StatusCode::FORBIDDEN, "Web pages cannot use this endpoint.\n");
                }
                forward(&client, &engine, request).await.unwrap_or_else(|why| refusal(StatusCode::BAD_GATEWAY, why))
            }
        };
        Ok(Self(Server::start(listener, answer)?))
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.0.address)
    }

    pub(super) async fn stop(self) {
        self.0.stop().await;
    }
}

fn refusal(status: StatusCode, why: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(why.into()));
    *response.status_mut() = status;
    response
}

async fn forward(
    client: &reqwest::Client,
    engine: &str,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, String> {
    let (parts, body) = request.into_parts();
    let body = Limited::new(body, MAX_BODY).collect().await.map_err(|error| error.to_string())?.to_bytes();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let body = if is_list(&parts.headers) { limited(&body).unwrap_or(body) } else { body };
    let sent = client.request(parts.method, format!("{engine}{path}")).headers(end_to_end(parts.headers)).body(body);
    let answer = sent.send().await.map_err(|error| error.to_string())?;
    let (status, headers) = (answer.status(), end_to_end(answer.headers().clone()));
    let mut response = Response::new(Full::new(answer.bytes().await.map_err(|error| error.to_string())?));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    Ok(response)
}

/// Whether the operation is a scan or a query.
fn is_list(headers: &HeaderMap) -> bool {
    let operation = headers.get("x-amz-target").and_then(|target| target.to_str().ok()?.rsplit_once('.'));
    matches!(operation, Some((_, "Scan" | "Query")))
}

/// Returns the request with a `Limit`, or none if it has a smaller one or the engine will refuse it.
fn limited(body: &[u8]) -> Option<Bytes> {
    let mut request: Value = serde_json::from_slice(body).ok()?;
    let members = request.as_object_mut()?;
    match members.get("Limit") {
        None | Some(Value::Null) => {}
        Some(limit) if limit.as_u64().is_some_and(|limit| limit > MAX_ITEMS) => {}
        Some(_) => return None,
    }
    members.insert("Limit".to_owned(), MAX_ITEMS.into());
    serde_json::to_vec(&request).ok().map(Bytes::from)
}

/// Removes the headers of a connection and of a body's length.
fn end_to_end(mut headers: HeaderMap) -> HeaderMap {
    for name in [header::CONNECTION, header::CONTENT_LENGTH, header::HOST, header::TRANSFER_ENCODING, header::EXPECT] {
        headers.remove(name);
    }
    headers
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn limit_is_added_if_it_is_missing_or_larger() {
        let limit = |request: Value| {
            let limited = limited(request.to_string().as_bytes())?;
            serde_json::from_slice::<Value>(&limited).unwrap()["Limit"].as_u64()
        };
        assert_eq!(limit(json!({"TableName": "toys"})), Some(MAX_ITEMS));
        assert_eq!(limit(json!({"TableName": "toys", "Limit": 1000})), Some(MAX_ITEMS));
        for kept in [json!(7), json!(0), json!(-1), json!("many")] {
            assert_eq!(limit(json!({"TableName": "toys", "Limit": kept})), None);
        }
        assert_eq!(limited(b"not json"), None);
    }
}
