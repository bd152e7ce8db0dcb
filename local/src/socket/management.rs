//! The management API of the sockets, by which handlers post to connections and close them ("Use @connections commands in
//! your backend service", Amazon API Gateway Developer Guide).

use std::net::Ipv4Addr;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Method, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::Request;
use hyper::body::Incoming;
use percent_encoding::percent_decode_str;
use serde_json::json;
use table::schema::SOCKET_STAGE;
use tokio::net::TcpListener;

use super::connections::{Closing, Connections, Frame, Posted};
use crate::error::StartError;
use crate::listen::Server;

/// A running management API on a port of 127.0.0.1.
#[derive(Debug)]
pub struct Management {
    endpoint: String,
    server: Server,
}

/// The maximum size of a posted message in bytes.
const MAX_MESSAGE: usize = 128 * 1024;

impl Management {
    pub async fn start(connections: Arc<Connections>) -> Result<Self, StartError> {
        let failed = |error: std::io::Error| {
            StartError::new(
                format!("Starting the management API of the sockets failed: {error}"),
                "Check the machine's network settings",
            )
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
        let endpoint = format!("http://{}", listener.local_addr().map_err(failed)?);
        let handle = move |request| answer(Arc::clone(&connections), request);
        Ok(Self { endpoint, server: Server::start(listener, handle).map_err(failed)? })
    }

    /// Returns the endpoint for a system's clients.
    pub fn endpoint(&self, system: &str) -> String {
        format!("{}/{system}/{SOCKET_STAGE}", self.endpoint)
    }

    pub async fn stop(self) {
        self.server.stop().await;
    }
}

async fn answer(connections: Arc<Connections>, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let Some(key) = key(request.uri().path()) else {
        return refuse(StatusCode::FORBIDDEN, "ForbiddenException", "there is no such operation");
    };
    let frame = match *request.method() {
        Method::POST => match text(request.into_body()).await {
            Ok(text) => Frame::Text(text),
            Err(refusal) => return refusal,
        },
        Method::DELETE => Frame::Close(Closing::new(1000, "")),
        _ => return refuse(StatusCode::FORBIDDEN, "ForbiddenException", "there is no such operation"),
    };
    let done = if matches!(frame, Frame::Close(_)) { StatusCode::NO_CONTENT } else { StatusCode::OK };
    match connections.send(&key, frame) {
        Posted::Accepted => {
            let mut response = Response::new(Full::default());
            *response.status_mut() = done;
            response
        }
        Posted::Gone => refuse(StatusCode::GONE, "GoneException", "there is no such connection"),
        Posted::Full => refuse(
            StatusCode::TOO_MANY_REQUESTS,
            "LimitExceededException",
            "too many frames wait for the client, and its connection is closed",
        ),
    }
}

/// Returns the key of the connection in a path: `/{system}/live/@connections/{id}`.
fn key(path: &str) -> Option<String> {
    let decoded = percent_decode_str(path).decode_utf8().ok()?;
    let (system, rest) = decoded.strip_prefix('/')?.split_once('/')?;
    let connection = rest.strip_prefix(SOCKET_STAGE)?.strip_prefix("/@connections/")?;
    (!connection.is_empty()).then(|| Connections::key(system, connection))
}

async fn text(body: Incoming) -> Result<String, Response<Full<Bytes>>> {
    let Ok(body) = Limited::new(body, MAX_MESSAGE).collect().await else {
        return Err(refuse(StatusCode::PAYLOAD_TOO_LARGE, "PayloadTooLargeException", "the message is too large"));
    };
    String::from_utf8(body.to_bytes().into())
        .map_err(|_| refuse(StatusCode::BAD_REQUEST, "BadRequestException", "the message is not UTF-8"))
}

fn refuse(status: StatusCode, kind: &'static str, message: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(json!({ "message": message }).to_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert("x-amzn-errortype", HeaderValue::from_static(kind));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_of_a_connection_has_its_id_encoded_or_not() {
        let key = |path| key(path);
        let expected = Some(Connections::key("zoo", "L0SM9cOFvHcCIhw="));
        assert_eq!(key("/zoo/live/@connections/L0SM9cOFvHcCIhw="), expected);
        assert_eq!(key("/zoo/live/%40connections/L0SM9cOFvHcCIhw%3D"), expected);
        for other in ["/zoo/live/@connections/", "/zoo/live/connections/1", "/zoo/other/@connections/1", "/live"] {
            assert_eq!(key(other), None, "{other}");
        }
    }
}
