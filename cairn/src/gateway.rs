//! Requests of a command to the gateway of a platform or of a deployment, and to its links.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use local::Progress;
use reqwest::{Client, RequestBuilder, StatusCode, Url, header};
use serde::de::DeserializeOwned;
use serde_json::Value;
use table::no_answer;

use crate::failure::Failure;
use crate::retrying::Retrying;

/// The gateway and the token of the requests.
#[derive(Debug)]
pub struct Gateway {
    client: Client,
    url: String,
    token: String,
}

/// How long a client waits for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a client waits for a response. The gateway itself answers within 30 s.
const TIMEOUT: Duration = Duration::from_secs(40);

/// The timeout of an upload.
const UPLOAD_TIMEOUT: Duration = Duration::from_mins(30);

/// How long a read is retried while it is throttled or the server is unavailable.
const MAX_RETRY_TIME: Duration = Duration::from_mins(5);

/// The wait before a read is retried, unless the server says how long.
const RETRY: Duration = Duration::from_secs(2);

/// The shortest wait, also if the server says `Retry-After: 0`.
const MIN_WAIT: Duration = Duration::from_millis(100);

/// A request that failed.
struct RequestFailure {
    failure: Failure,
    /// The wait before the next attempt, which may succeed.
    retry: Option<Duration>,
}

impl Gateway {
    pub fn new(url: String, token: String) -> Result<Self, Failure> {
        let client = Client::builder().connect_timeout(CONNECT_TIMEOUT);
        // A proxy does not reach this machine. It would only learn the token.
        let client = if is_loopback(&url) { client.no_proxy() } else { client };
        Ok(Self { client: client.build().map_err(Failure::new)?, url, token })
    }

    /// Sends JSON once, and returns the response.
    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, Failure> {
        let request = self.client.post(format!("{}{path}", self.url)).bearer_auth(&self.token).json(body);
        let sent = send("the gateway", request.timeout(TIMEOUT)).await;
        parse(&sent.map_err(|failed| failed.failure)?)
    }

    /// Sends a file to a signed link.
    pub async fn upload(&self, link: &str, headers: &BTreeMap<String, String>, file: Vec<u8>) -> Result<(), Failure> {
        let mut request = self.client.put(link).timeout(UPLOAD_TIMEOUT).body(file);
        // The client sets the length itself.
        for (name, value) in headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("content-length")) {
            request = request.header(name, value);
        }
        send("S3", request).await.map(drop).map_err(|failed| failed.failure)
    }

    /// Reads a path, and retries while the gateway is unavailable.
    pub async fn get<T: DeserializeOwned>(&self, path: &str, progress: &Progress) -> Result<T, Failure> {
        let request = || self.client.get(format!("{}{path}", self.url)).bearer_auth(&self.token);
        parse(&read_with_retries("the gateway", request, progress).await?)
    }

    /// Reads the object of a signed link, and retries while S3 is unavailable.
    pub async fn follow<T: DeserializeOwned>(&self, link: &str, progress: &Progress) -> Result<T, Failure> {
        parse(&read_with_retries("S3", || self.client.get(link), progress).await?)
    }
}

/// Whether a URL leads to this machine.
fn is_loopback(url: &str) -> bool {
    let url = Url::parse(url).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || host.ends_with(".localhost") || address.is_ok_and(|address| address.is_loopback())
}

async fn read_with_retries(
    server: &str,
    request: impl Fn() -> RequestBuilder,
    progress: &Progress,
) -> Result<String, Failure> {
    let end = Instant::now() + MAX_RETRY_TIME;
    let retrying = Retrying::new(progress.clone());
    loop {
        let RequestFailure { failure, retry } = match send(server, request().timeout(TIMEOUT)).await {
            Ok(body) => return Ok(body),
            Err(failed) => failed,
        };
        let left = end.saturating_duration_since(Instant::now());
        let Some(wait) = retry.filter(|wait| *wait < left) else { return Err(failure) };
        retrying.show(&failure.to_string(), left);
        tokio::time::sleep(wait).await;
    }
}

/// Sends a request, and returns the body of a successful response.
async fn send(server: &str, request: RequestBuilder) -> Result<String, RequestFailure> {
    let unanswered = |error: reqwest::Error| {
        // No attempt succeeds with a URL that is not valid.
        let retry = (!error.is_builder()).then_some(RETRY);
        // A signed link is a secret.
        let reason = no_answer::describe(&error.without_url());
        RequestFailure { failure: Failure::new(format!("The request to {server} failed: {reason}")), retry }
    };
    let response = request.send().await.map_err(unanswered)?;
    let status = response.status();
    let retry_after = response.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    let body = response.text().await.map_err(unanswered)?;
    if status.is_success() {
        return Ok(body);
    }
    let may_succeed = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
    let wait = retry_after.map_or(RETRY, Duration::from_secs).max(MIN_WAIT);
    let failure = Failure::new(format!("The response of {server} was {status}: {}", reason(&body)));
    Err(RequestFailure { failure, retry: may_succeed.then_some(wait) })
}

/// Returns the reason of a refusal: the detail of a problem, the message of API Gateway, or that of an error of S3.
fn reason(body: &str) -> String {
    let problem = serde_json::from_str::<Value>(body).unwrap_or_default();
    let detail = problem.get("detail").or_else(|| problem.get("message")).and_then(Value::as_str);
    let message = || body.split_once("<Message>")?.1.split_once("</Message>").map(|(message, _)| message);
    detail.or_else(message).unwrap_or(body).to_owned()
}

fn parse<T: DeserializeOwned>(body: &str) -> Result<T, Failure> {
    serde_json::from_str(body).map_err(|error| Failure::new(format!("Reading a response failed: {error}.")))
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// Returns a gateway that answers each request with the next of these, without a body.
    async fn answering(heads: &'static [&'static str]) -> Gateway {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            for head in heads {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = [0; 4096];
                assert!(stream.read(&mut request).await.unwrap() > 0);
                let answer = format!("HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{{}}");
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        Gateway::new(url, "token".to_owned()).unwrap()
    }

    #[tokio::test]
    async fn throttled_and_failed_reads_are_retried() {
        let heads = &["503 Service Unavailable\r\nretry-after: 0", "429 Too Many Requests\r\nretry-after: 0", "200 OK"];
        let (gateway, began) = (answering(heads).await, Instant::now());
        let read: Value = gateway.get("/parks/jobs/1", &Progress::silent()).await.unwrap();
        assert_eq!(read, serde_json::json!({}));
        assert!(began.elapsed() >= 2 * MIN_WAIT);
    }

    #[tokio::test]
    async fn refused_read_is_not_retried() {
        let gateway = answering(&["403 Forbidden", "200 OK"]).await;
        let failure = gateway.get::<Value>("/parks/jobs/1", &Progress::silent()).await.unwrap_err();
        assert_eq!(failure.to_string(), "The response of the gateway was 403 Forbidden: {}");
    }

    #[tokio::test]
    async fn failed_connection_has_its_reason_without_the_link() {
        let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let request = Client::new().get(format!("http://{closed}/?signature=secret"));
        let RequestFailure { failure, retry } = send("S3", request).await.unwrap_err();
        assert_eq!(failure.to_string(), "The request to S3 failed: it does not respond (connection refused)");
        assert_eq!(retry, Some(RETRY));
    }

    #[test]
    fn loopback_is_told_from_other_machines() {
        for url in [
            "http://127.0.0.1:8080",
            "http://127.8.0.1",
            "http://[::1]:80",
            "http://LOCALHOST/x",
            "https://a.localhost",
        ] {
            assert!(is_loopback(url), "{url}");
        }
        for url in ["https://localhost.example.org", "https://mylocalhost", "http://10.0.0.1:8080", "127.0.0.1", ""] {
            assert!(!is_loopback(url), "{url}");
        }
    }

    #[test]
    fn reason_is_that_of_the_problem_the_gateway_or_s3() {
        assert_eq!(reason(r#"{"title":"Forbidden","detail":"Not yours."}"#), "Not yours.");
        assert_eq!(reason(r#"{"message":"Too Many Requests"}"#), "Too Many Requests");
        let expired = "<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>";
        assert_eq!(reason(expired), "Request has expired");
        assert_eq!(reason("<html>"), "<html>");
    }
}
