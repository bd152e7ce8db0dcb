//! The gateway over real connections: API Gateway's responses, its limits, and its graceful shutdown.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use local::gateway::{Gateway, MAX_HEAD, PAYLOAD};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// Notified when `/slow` is in progress.
static SLOW_HAS_BEGUN: Notify = Notify::const_new();

/// A made-up function: `/echo` returns the body, `/headers` the headers that begin with `x-` and the cookies, `/slow`
/// takes a while, `/stuck` never ends, `/panic` panics, `/large` returns too much, `/quotes` what is too much as a JSON
/// string.
async fn function(request: Request<Bytes>) -> Response<Bytes> {
    match request.uri().path() {
        "/echo" => Response::new(request.into_body()),
        "/headers" => {
            let sent = |name: &str| name.starts_with("x-") || name == "cookie";
            let lines = request.headers().iter().filter(|(name, _)| sent(name.as_str()));
            let lines: Vec<String> =
                lines.map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
            Response::new(Bytes::from(lines.join("\n")))
        }
        "/slow" => {
            SLOW_HAS_BEGUN.notify_one();
            tokio::time::sleep(Duration::from_millis(300)).await;
            Response::new(Bytes::from_static(b"done"))
        }
        "/stuck" => std::future::pending().await,
        "/large" => Response::new(Bytes::from(vec![b'x'; PAYLOAD + 1])),
        "/quotes" => Response::new(Bytes::from(vec![b'"'; PAYLOAD / 2 + 1])),
        "/panic" => panic!("as the test asks"),
        _ => web::app::not_found(),
    }
}

async fn start() -> (Gateway, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let gateway = Gateway::start(listener, function).unwrap();
    let url = format!("http://{}", gateway.address());
    (gateway, url)
}

async fn parts(response: reqwest::Response) -> (StatusCode, String) {
    (response.status(), response.text().await.unwrap())
}

#[tokio::test]
async fn unknown_route_gets_the_response_of_api_gateway() {
    let (_gateway, url) = start().await;
    let response = reqwest::get(format!("{url}/nowhere")).await.unwrap();
    assert_eq!(response.headers()["content-type"], "application/json");
    assert!(response.headers().contains_key("apigw-requestid"));
    assert_eq!(parts(response).await, (StatusCode::NOT_FOUND, r#"{"message":"Not Found"}"#.to_owned()));
}

#[tokio::test]
async fn bodies_have_lambdas_limit_and_binary_ones_what_base64_leaves() {
    let (_gateway, url) = start().await;
    let client = reqwest::Client::new();
    let send = |content_type: &'static str, length: usize| {
        client.post(format!("{url}/echo")).header("content-type", content_type).body(vec![b'x'; length]).send()
    };
    assert_eq!(send("application/json", PAYLOAD).await.unwrap().bytes().await.unwrap().len(), PAYLOAD);
    assert_eq!(send("application/geo+json", PAYLOAD / 4 * 3).await.unwrap().status(), StatusCode::OK);
    let too_large = (StatusCode::PAYLOAD_TOO_LARGE, r#"{"message":"Request Entity Too Large"}"#.to_owned());
    assert_eq!(parts(send("application/json", PAYLOAD + 1).await.unwrap()).await, too_large);
    assert_eq!(parts(send("application/geo+json", PAYLOAD / 4 * 3 + 1).await.unwrap()).await, too_large);
    assert_eq!(parts(send("application/json", 40_000_000).await.unwrap()).await, too_large);
}

#[tokio::test]
async fn text_whose_escapes_exceed_the_payload_returns_413() {
    let (_gateway, url) = start().await;
    let client = reqwest::Client::new();
    let send = |quotes: usize| client.post(format!("{url}/echo")).body(vec![b'"'; quotes]).send();
    assert_eq!(send(PAYLOAD / 2).await.unwrap().status(), StatusCode::OK);
    assert_eq!(send(PAYLOAD / 2 + 1).await.unwrap().status(), StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn request_line_and_header_values_have_api_gateways_limit() {
    let (_gateway, url) = start().await;
    let authority = url.strip_prefix("http://").unwrap();
    let query = "x".repeat(web::MAX_QUERY);
    let line = format!("GET /echo?{query} HTTP/1.1");
    let rest = MAX_HEAD - line.len() - authority.len() - "close".len();
    for (token, status) in [(rest, "HTTP/1.1 200"), (rest + 1, "HTTP/1.1 431")] {
        let mut stream = TcpStream::connect(authority).await.unwrap();
        let token = "t".repeat(token);
        let head = format!("{line}\r\nhost: {authority}\r\nconnection: close\r\nauthorization: {token}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with(status), "{status}: {answer}");
    }
}

#[tokio::test]
async fn repeated_headers_are_joined() {
    let (_gateway, url) = start().await;
    let mut request = reqwest::Client::new().get(format!("{url}/headers"));
    for (name, value) in [("x-key", "a"), ("cookie", "b=1"), ("x-key", "c"), ("cookie", "d=2"), ("x-one", "e")] {
        request = request.header(name, value);
    }
    let (_, headers) = parts(request.send().await.unwrap()).await;
    for line in ["x-key: a,c", "cookie: b=1; d=2", "x-one: e"] {
        assert!(headers.lines().any(|header| header == line), "{headers}");
    }
}

#[tokio::test]
async fn address_of_the_client_is_appended_to_what_it_sent() {
    let (_gateway, url) = start().await;
    let client = reqwest::Client::new();
    let (_, headers) = parts(client.get(format!("{url}/headers")).send().await.unwrap()).await;
    assert_eq!(headers, "x-forwarded-for: 127.0.0.1");
    let mut request = client.get(format!("{url}/headers"));
    for own in ["203.0.113.1", "203.0.113.2"] {
        request = request.header("x-forwarded-for", own);
    }
    let (_, headers) = parts(request.send().await.unwrap()).await;
    assert_eq!(headers, "x-forwarded-for: 203.0.113.1,203.0.113.2, 127.0.0.1");
}

#[tokio::test]
async fn panic_or_oversized_response_is_an_internal_server_error() {
    let (_gateway, url) = start().await;
    let error = (StatusCode::INTERNAL_SERVER_ERROR, r#"{"message":"Internal Server Error"}"#.to_owned());
    for path in ["panic", "large", "quotes"] {
        assert_eq!(parts(reqwest::get(format!("{url}/{path}")).await.unwrap()).await, error, "{path}");
    }
}

/// Causes every row of the docs' table of API Gateway's own responses, except for throttling.
#[tokio::test]
async fn documented_responses_of_api_gateway_are_returned() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let gateway = Gateway::with_timeout(Duration::from_millis(50), listener, function).unwrap();
    let url = format!("http://{}", gateway.address());
    let client = reqwest::Client::new();
    let large = vec![b'x'; PAYLOAD + 1];
    let answers = [
        client.get(format!("{url}/nowhere")).send().await,
        client.post(format!("{url}/echo")).body(large).send().await,
        client.get(format!("{url}/echo?{}", "x".repeat(MAX_HEAD))).send().await,
        client.get(format!("{url}/panic")).send().await,
        client.get(format!("{url}/stuck")).send().await,
    ];
    let docs = include_str!("../../../docs/deploying.md");
    let (_, docs) = docs.split_once("## What API Gateway answers itself").unwrap();
    let rows = docs.lines().filter(|line| line.starts_with("| 4") || line.starts_with("| 5"));
    let rows: Vec<String> = rows.filter(|row| !row.contains("only on AWS")).map(str::to_owned).collect();
    assert_eq!(rows.len(), answers.len(), "{rows:#?}");
    for (answer, row) in answers.into_iter().zip(rows) {
        let (status, body) = parts(answer.unwrap()).await;
        assert!(row.starts_with(&format!("| {} | `{body}` |", status.as_u16())), "{status} {body}: {row}");
    }
}

#[tokio::test]
async fn browser_may_call_from_every_origin() {
    let (_gateway, url) = start().await;
    let client = reqwest::Client::new();
    let preflight = client
        .request(Method::OPTIONS, format!("{url}/echo"))
        .header("origin", "https://map.example")
        .header("access-control-request-method", "PATCH");
    let response = preflight.send().await.unwrap();
    assert_eq!(response.status(), StatusCode::NO_CONTENT);
    assert_eq!(response.headers()["access-control-allow-origin"], "*");
    assert!(response.headers()["access-control-allow-methods"].to_str().unwrap().contains("PATCH"));
    assert!(response.headers()["access-control-allow-headers"].to_str().unwrap().contains("if-match"));

    let crossing = client.get(format!("{url}/echo")).header("origin", "https://map.example").send().await.unwrap();
    assert!(crossing.headers()["access-control-expose-headers"].to_str().unwrap().contains("ETag"));
    let own = reqwest::get(format!("{url}/echo")).await.unwrap();
    assert!(!own.headers().contains_key("access-control-allow-origin"));
}

#[tokio::test]
async fn stop_finishes_requests_in_progress() {
    let (gateway, url) = start().await;
    let slow = tokio::spawn(async move { reqwest::get(format!("{url}/slow")).await.unwrap().text().await.unwrap() });
    SLOW_HAS_BEGUN.notified().await;
    let address = gateway.address();
    gateway.stop().await;
    assert_eq!(slow.await.unwrap(), "done");
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn malformed_http_does_not_affect_other_requests() {
    let (gateway, url) = start().await;
    let malformed: [&[u8]; 6] = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"OPTIONS * HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
    ];
    for bytes in malformed {
        let mut stream = TcpStream::connect(gateway.address()).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        let _ = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut answer)).await.unwrap();
        assert!(!answer.starts_with(b"HTTP/1.1 5"), "{}", String::from_utf8_lossy(&answer));
    }
    assert_eq!(reqwest::get(format!("{url}/echo")).await.unwrap().status(), StatusCode::OK);
}

/// A page can let its own name point to this machine, and its script would read the responses.
#[tokio::test]
async fn request_for_another_host_is_refused() {
    let (_gateway, url) = start().await;
    let client = reqwest::Client::new();
    for (host, status) in [("evil.example", 403), ("localhost:1", 200), ("toys.localhost", 200)] {
        let answer = client.get(format!("{url}/echo")).header("host", host).send().await.unwrap();
        assert_eq!(answer.status(), status, "{host}");
        assert_eq!(answer.text().await.unwrap().contains("--host NAME"), status == 403, "{host}");
    }
}
