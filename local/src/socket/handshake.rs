//! The opening handshake of a WebSocket over HTTP/1.1 (RFC 6455, section 4.2).

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use http_body_util::Full;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

/// Whether a request asks for a WebSocket.
pub fn is_asked(method: &Method, headers: &HeaderMap) -> bool {
    *method == Method::GET && has_token(headers, &header::UPGRADE, "websocket")
}

/// Returns the response that accepts a handshake, or none if the request is not a valid one.
pub fn accept(parts: &Parts) -> Option<Response<Full<Bytes>>> {
    let headers = &parts.headers;
    let is_version_13 = headers.get(header::SEC_WEBSOCKET_VERSION).is_some_and(|version| version == "13");
    let is_upgrade = has_token(headers, &header::CONNECTION, "upgrade");
    let key = headers.get(header::SEC_WEBSOCKET_KEY).filter(|_| is_version_13 && is_upgrade)?;
    let accepted = HeaderValue::from_str(&derive_accept_key(key.as_bytes())).ok()?;
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, accepted);
    Some(response)
}

/// Returns the response that refuses a handshake.
pub fn refuse(status: StatusCode) -> Response<Full<Bytes>> {
    let text = status.canonical_reason().unwrap_or_default();
    let mut response = Response::new(Full::from(format!(r#"{{"message":"{text}"}}"#)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Whether a header field with a list contains this token, in any case.
fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|part| part.trim().eq_ignore_ascii_case(token))
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn parts(fields: &[(&'static str, &'static str)]) -> Parts {
        let mut request = Request::new(());
        for (name, value) in fields {
            request.headers_mut().append(*name, HeaderValue::from_static(value));
        }
        request.into_parts().0
    }

    const ASKED: [(&str, &str); 4] = [
        ("upgrade", "WebSocket"),
        ("connection", "keep-alive, Upgrade"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];

    /// The key and its answer are the example of RFC 6455, section 1.3.
    #[test]
    fn handshake_is_accepted_with_the_key_of_its_request() {
        let asked = parts(&ASKED);
        assert!(is_asked(&asked.method, &asked.headers));
        let response = accept(&asked).unwrap();
        assert_eq!(response.status(), StatusCode::SWITCHING_PROTOCOLS);
        assert_eq!(response.headers()["sec-websocket-accept"], "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn request_without_a_required_field_is_no_handshake() {
        for left_out in 1..ASKED.len() {
            let fields: Vec<_> =
                ASKED.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, field)| *field).collect();
            assert!(accept(&parts(&fields)).is_none(), "{fields:?}");
        }
        let plain = parts(&[]);
        assert!(!is_asked(&plain.method, &plain.headers));
    }
}
