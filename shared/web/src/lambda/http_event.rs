//! HTTP requests and responses in API Gateway's payload format 2.0. Only the needed members are parsed, and only a
//! payload of another format fails.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, Uri, header};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::{Deadline, RequestId};

/// The payload of the invocation is not an HTTP request of payload format 2.0.
#[derive(Debug, thiserror::Error)]
#[error("the payload is not an HTTP request in API Gateway's payload format 2.0: {0}")]
pub struct NotPayload2(String);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload<'a> {
    version: Option<Cow<'a, str>>,
    raw_path: String,
    // API Gateway omits the absent parts of a request; `cargo lambda watch` sends null.
    raw_query_string: Option<String>,
    cookies: Option<Vec<String>>,
    headers: Option<BTreeMap<String, String>>,
    request_context: Context,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    is_base64_encoded: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Context {
    http: Http,
    request_id: Option<String>,
    stage: Option<String>,
}

#[derive(Deserialize)]
struct Http {
    method: String,
}

/// The characters that a URI must escape. `%` is not among them: HTTP APIs send decoded paths, function URLs encoded ones,
/// and no decoded path of the platform has a `%`.
const PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'\\')
    .add(b'^')
    .add(b'|')
    .add(b'[')
    .add(b']');
const QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>');

pub(crate) fn request(payload: &str, deadline: Instant) -> Result<Request<Bytes>, NotPayload2> {
    let payload: Payload<'_> = serde_json::from_str(payload).map_err(|error| NotPayload2(error.to_string()))?;
    if payload.version.as_deref() != Some("2.0") {
        return Err(NotPayload2("its `version` is not \"2.0\"".into()));
    }
    let method = Method::from_bytes(payload.request_context.http.method.as_bytes());
    let body = match payload.body {
        Some(text) if payload.is_base64_encoded => {
            Bytes::from(BASE64.decode(text).map_err(|error| NotPayload2(format!("its body is not base64: {error}")))?)
        }
        text => Bytes::from(text.unwrap_or_default()),
    };
    let path = without_stage(&payload.raw_path, payload.request_context.stage.as_deref());
    let mut request = Request::new(body);
    *request.method_mut() = method.map_err(|_| NotPayload2("its method is not valid".into()))?;
    *request.uri_mut() = uri(path, &payload.raw_query_string.unwrap_or_default())?;
    *request.headers_mut() = headers(&payload.headers.unwrap_or_default(), &payload.cookies.unwrap_or_default());
    if let Some(id) = payload.request_context.request_id {
        request.extensions_mut().insert(RequestId(id));
    }
    request.extensions_mut().insert(Deadline(deadline));
    Ok(request)
}

/// Removes a stage other than `$default`, which precedes the path.
fn without_stage<'a>(path: &'a str, stage: Option<&str>) -> &'a str {
    match stage {
        None | Some("$default") => path,
        Some(stage) => path
            .strip_prefix('/')
            .and_then(|rest| rest.strip_prefix(stage))
            .filter(|rest| rest.starts_with('/'))
            .unwrap_or(path),
    }
}

fn uri(path: &str, query: &str) -> Result<Uri, NotPayload2> {
    let mut text = utf8_percent_encode(path, PATH).to_string();
    if !text.starts_with('/') {
        text.insert(0, '/');
    }
    if !query.is_empty() {
        text.push('?');
        text.extend(utf8_percent_encode(query, QUERY));
    }
    let parts = http::uri::PathAndQuery::try_from(text).map_err(|error| NotPayload2(format!("its path: {error}")))?;
    Ok(Uri::from(parts))
}

/// Converts header fields. Those that are not valid in HTTP are ignored, since no client can have sent them.
fn headers(fields: &BTreeMap<String, String>, cookies: &[String]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_bytes(value.as_bytes())) {
            headers.append(name, value);
        }
    }
    if let Ok(cookies) = HeaderValue::try_from(cookies.join("; "))
        && !cookies.is_empty()
    {
        headers.insert(header::COOKIE, cookies);
    }
    headers
}

/// Converts a response. A body that is not UTF-8 is encoded in base64.
pub(crate) fn response(response: &Response<Bytes>) -> String {
    let mut headers: Map<String, Value> = Map::new();
    for name in response.headers().keys() {
        let values = response.headers().get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
        headers.insert(name.as_str().to_owned(), values.collect::<Vec<_>>().join(", ").into());
    }
    let (body, encoded) = match std::str::from_utf8(response.body()) {
        Ok(text) => (text.to_owned(), false),
        Err(_) => (BASE64.encode(response.body()), true),
    };
    let status = response.status().as_u16();
    // `cargo lambda watch` requires `cookies`.
    let members = json!({
        "statusCode": status,
        "headers": headers,
        "cookies": [],
        "body": body,
        "isBase64Encoded": encoded,
    });
    members.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, query: &str) -> String {
        uri(path, query).unwrap().to_string()
    }

    #[test]
    fn decoded_and_encoded_paths_give_the_same_uri() {
        assert_eq!(of("/zoo/St John/é", "q=a b"), "/zoo/St%20John/%C3%A9?q=a%20b");
        assert_eq!(of("/zoo/St%20John/%C3%A9", "q=a%20b"), "/zoo/St%20John/%C3%A9?q=a%20b");
        assert_eq!(of("/a?b#c", ""), "/a%3Fb%23c");
    }

    #[test]
    fn absent_members_may_be_null_or_omitted() {
        for absent in ["", r#""rawQueryString": null, "cookies": null, "headers": null, "body": null, "#] {
            let payload = format!(
                r#"{{"version": "2.0", "rawPath": "/zoo", {absent}"requestContext": {{"http": {{"method": "GET"}}}}}}"#
            );
            let request = request(&payload, Instant::now()).unwrap();
            assert_eq!((request.method(), request.uri().to_string().as_str()), (&Method::GET, "/zoo"));
            assert!(request.headers().is_empty() && request.body().is_empty());
        }
    }

    #[test]
    fn stage_is_removed_from_the_path() {
        assert_eq!(without_stage("/prod/zoo", Some("prod")), "/zoo");
        assert_eq!(without_stage("/production", Some("prod")), "/production");
        assert_eq!(without_stage("/zoo", Some("$default")), "/zoo");
    }
}
