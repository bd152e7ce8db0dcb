//! The requests of a load. They are idempotent, so that loads can be repeated after a crash and run concurrently.

use std::time::Duration;

use reqwest::{Client, Method, StatusCode, header};
use serde_json::Value;

use super::feature::{Feature, Name};
use super::offers::{Product, SEASON};
use super::{Found, Refused, SampleError};

/// The maximum number of attempts of a request that conflicts with others or is throttled.
const MAX_ATTEMPTS: u32 = 10;

/// The gateway and the token of a load.
#[derive(Clone, Debug)]
pub struct Target {
    client: Client,
    gateway: String,
    token: String,
}

/// The outcome of one request.
pub struct Answered {
    /// The item's name, if other requests refer to it.
    pub name: Option<Name>,
    pub outcome: Outcome,
    /// The item's path, if it exists.
    pub path: Option<String>,
}

pub enum Outcome {
    Done { made: u64, present: u64 },
    Refused(Refused),
}

/// A response of the gateway.
pub(super) struct Answer {
    request: String,
    pub(super) status: StatusCode,
    pub(super) location: Option<String>,
    /// The wait that the platform asks for.
    retry_after: Option<Duration>,
    body: String,
}

impl Target {
    pub fn new(gateway: &str, token: &str) -> Result<Self, SampleError> {
        // The gateway is on this machine, which a proxy does not reach. It would only learn the token.
        let client = Client::builder().no_proxy().build().map_err(|error| SampleError::Client(error.to_string()))?;
        Ok(Self { client, gateway: gateway.to_owned(), token: token.to_owned() })
    }

    /// Returns the target of somebody else.
    pub(super) fn with_token(&self, token: String) -> Self {
        Self { token, ..self.clone() }
    }

    /// Creates an item, or finds the one with its id.
    pub async fn create(&self, feature: Feature) -> Result<Answered, SampleError> {
        let Feature { name, display_name, body } = feature;
        let answer = self.call(Method::POST, &name.list, body, None).await?;
        let outcome = match answer.status {
            StatusCode::CREATED => made(),
            StatusCode::CONFLICT => present(),
            StatusCode::BAD_REQUEST => Outcome::Refused(Refused {
                feature: name.to_string(),
                name: display_name,
                fault: answer.text("detail").unwrap_or_else(|| "the response has no detail".to_owned()),
            }),
            // Its parent has been deleted.
            StatusCode::NOT_FOUND => present(),
            _ => return Err(answer.unexpected()),
        };
        Ok(Answered { name: Some(name), outcome, path: answer.location })
    }

    /// Creates the product of an activity, unless the activity has or had one. Products have no external id. The list
    /// may lag behind a request without an answer, so the `Idempotency-Key` is the same in every load.
    pub async fn offer(&self, activity: Found, product: Product) -> Result<Answered, SampleError> {
        let list = activity.path.replacen("/activities/", "/products/", 1);
        if !activity.made {
            for deleted in [false, true] {
                let page = format!("{list}?limit=1&deleted={deleted}");
                let answer = self.call(Method::GET, &page, String::new(), None).await?;
                if answer.status != StatusCode::OK {
                    return Err(answer.unexpected());
                }
                let (items, _) = answer.page()?;
                let Some(first) = items.first() else { continue };
                // Only our own product needs dates.
                let ours = !deleted && first.get("displayName").and_then(Value::as_str) == Some(&product.name);
                let number = first.get("number").and_then(Value::as_u64).filter(|_| ours);
                let path = number.map(|number| format!("{list}/{number}"));
                return Ok(Answered { name: None, outcome: present(), path });
            }
            // A deleted activity may have cascaded to its product, which no list shows then.
            let answer = self.call(Method::GET, &activity.path, String::new(), None).await?;
            if answer.member("isDeleted") == Some(Value::Bool(true)) {
                return Ok(Answered { name: None, outcome: present(), path: None });
            }
        }
        let answer = self.call(Method::POST, &list, product.body, Some(format!("sample {list}"))).await?;
        match answer.status {
            StatusCode::CREATED => Ok(Answered { name: None, outcome: made(), path: answer.location }),
            // Its activity has been deleted.
            StatusCode::NOT_FOUND => Ok(Answered { name: None, outcome: present(), path: None }),
            _ => Err(answer.unexpected()),
        }
    }

    /// Creates the missing dates of a product, which has this number of dates.
    pub async fn seed(&self, product: String, dates: u64) -> Result<Answered, SampleError> {
        let answer = self.call(Method::POST, &format!("{product}/dates"), SEASON.to_owned(), None).await?;
        let made = match answer.status {
            StatusCode::OK => answer.number("created").ok_or_else(|| answer.unexpected())?,
            // The product has been deleted, or its range no longer holds the season.
            StatusCode::NOT_FOUND | StatusCode::UNPROCESSABLE_ENTITY => 0,
            _ => return Err(answer.unexpected()),
        };
        let outcome = Outcome::Done { made, present: dates.saturating_sub(made) };
        Ok(Answered { name: None, outcome, path: None })
    }

    /// Relates two items by their paths.
    pub async fn relate(&self, one: &str, other: &str) -> Result<Answered, SampleError> {
        let reference = |path| item_reference(path).ok_or_else(|| SampleError::unreadable(format!("path `{path}`")));
        let (one, other) = (reference(one)?, reference(other)?);
        let answer =
            self.call(Method::PUT, &format!("/parks/relationships/{one}/{other}"), String::new(), None).await?;
        let outcome = match answer.status {
            StatusCode::CREATED => made(),
            // 404 means that one of the items has been deleted.
            StatusCode::OK | StatusCode::NOT_FOUND => present(),
            _ => return Err(answer.unexpected()),
        };
        Ok(Answered { name: None, outcome, path: None })
    }

    /// Returns the names and ids of a list, or none if it does not exist or is hidden from the caller.
    pub(super) async fn names(&self, list: &str) -> Result<Option<Vec<(String, String)>>, SampleError> {
        let mut all = Vec::new();
        let mut page = format!("{list}?limit=100");
        loop {
            let answer = self.call(Method::GET, &page, String::new(), None).await?;
            let answer = answer.expecting(&[StatusCode::OK, StatusCode::NOT_FOUND])?;
            if answer.status == StatusCode::NOT_FOUND {
                return Ok(None);
            }
            let (items, next) = answer.page()?;
            for entry in items {
                let text = |name: &str| entry.get(name).and_then(Value::as_str).ok_or_else(|| answer.unexpected());
                all.push((text("name")?.to_owned(), text("id")?.to_owned()));
            }
            match next {
                Some(cursor) => page = format!("{list}?limit=100&cursor={cursor}"),
                None => return Ok(Some(all)),
            }
        }
    }

    /// Uploads a file by the link that the platform has answered with.
    pub(super) async fn upload(&self, answer: &Answer, file: Vec<u8>) -> Result<(), SampleError> {
        let body = answer.json()?;
        let link = body.get("link").and_then(Value::as_str).ok_or_else(|| answer.unexpected())?;
        let headers = body.get("headers").and_then(Value::as_object).into_iter().flatten();
        let headers = headers.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)));
        self.put(link, headers, file).await
    }

    /// Uploads a file by a signed link.
    async fn put<'a>(
        &self,
        link: &str,
        headers: impl Iterator<Item = (&'a str, &'a str)>,
        file: Vec<u8>,
    ) -> Result<(), SampleError> {
        let silent = |error: reqwest::Error| SampleError::Gateway {
            request: "PUT of a file".to_owned(),
            reason: error.to_string(),
        };
        let mut request = self.client.put(link).body(file);
        // The client sets the length itself.
        for (name, value) in headers.filter(|(name, _)| !name.eq_ignore_ascii_case("content-length")) {
            request = request.header(name, value);
        }
        let response = request.send().await.map_err(silent)?;
        let (request, status) = ("PUT of a file".to_owned(), response.status());
        if status.is_success() {
            return Ok(());
        }
        let body = response.text().await.map_err(silent)?;
        Err(SampleError::Unexpected { request, status, body })
    }

    /// Sends a request, and repeats it after conflicts and throttling.
    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        body: String,
        once: Option<String>,
    ) -> Result<Answer, SampleError> {
        let named = format!("{method} {path}");
        let silent = |error: reqwest::Error| SampleError::Gateway { request: named.clone(), reason: error.to_string() };
        let mut request = self.client.request(method.clone(), format!("{}{path}", self.gateway));
        request = request.bearer_auth(&self.token);
        if !body.is_empty() {
            request = request.header(header::CONTENT_TYPE, "application/json").body(body);
        }
        if let Some(once) = once {
            request = request.header("idempotency-key", once);
        }
        let request = request.build().map_err(silent)?;
        let mut attempts = 0;
        loop {
            let Some(again) = request.try_clone() else {
                return Err(SampleError::Unreadable(format!("{named} has a body that cannot be sent again")));
            };
            let response = self.client.execute(again).await.map_err(silent)?;
            let status = response.status();
            let told = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
            let location = told(header::LOCATION).map(str::to_owned);
            let retry_after = told(header::RETRY_AFTER).and_then(|text| text.parse().ok()).map(Duration::from_secs);
            let body = response.text().await.map_err(silent)?;
            let answer = Answer { request: named.clone(), status, location, retry_after, body };
            attempts += 1;
            match answer.retry_after {
                _ if attempts >= MAX_ATTEMPTS => return Ok(answer),
                Some(pause) if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
                    tokio::time::sleep(pause).await;
                }
                _ if answer.is_transient_conflict() => {}
                _ => return Ok(answer),
            }
        }
    }
}

impl Answer {
    /// Whether the request conflicted with a concurrent one, so that a retry has a definite outcome.
    fn is_transient_conflict(&self) -> bool {
        const SETTLED: [&str; 3] = ["urn:cairn:problem:exists", "urn:cairn:problem:invited", "urn:cairn:problem:taken"];
        let exists = || self.text("type").is_some_and(|kind| SETTLED.contains(&kind.as_str()));
        self.status == StatusCode::CONFLICT && self.location.is_none() && !exists()
    }

    /// Returns the response if it has one of these statuses, or else an error.
    pub(super) fn expecting(self, statuses: &[StatusCode]) -> Result<Self, SampleError> {
        if statuses.contains(&self.status) { Ok(self) } else { Err(self.unexpected()) }
    }

    /// Parses the body.
    pub(super) fn json(&self) -> Result<Value, SampleError> {
        serde_json::from_str(&self.body).map_err(|_| self.unexpected())
    }

    /// Parses the body as a page of a list: its items and the cursor of the next page.
    pub(super) fn page(&self) -> Result<(Vec<Value>, Option<String>), SampleError> {
        let mut body = self.json()?;
        let cursor = body.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        match body.get_mut("items").map(Value::take) {
            Some(Value::Array(items)) => Ok((items, cursor)),
            _ => Err(self.unexpected()),
        }
    }

    /// Returns the path of the created item.
    pub(super) fn created_path(&self) -> Result<String, SampleError> {
        self.location.clone().ok_or_else(|| self.unexpected())
    }

    pub(super) fn member(&self, name: &str) -> Option<Value> {
        serde_json::from_str::<Value>(&self.body).ok()?.get_mut(name).map(Value::take)
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.member(name)?.as_str().map(str::to_owned)
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.member(name)?.as_u64()
    }

    pub(super) fn unexpected(&self) -> SampleError {
        let (request, body) = (self.request.clone(), self.body.clone());
        SampleError::Unexpected { request, status: self.status, body }
    }
}

fn made() -> Outcome {
    Outcome::Done { made: 1, present: 0 }
}

fn present() -> Outcome {
    Outcome::Done { made: 0, present: 1 }
}

/// Returns the reference of an item in a path: of `/parks/facilities/c/trail/1` it is `facility::c/trail::1`.
fn item_reference(path: &str) -> Option<String> {
    let mut parts = path.strip_prefix("/parks/")?.splitn(3, '/');
    let kind = match parts.next()? {
        "geozones" => "geozone",
        "facilities" => "facility",
        "activities" => "activity",
        other => other,
    };
    Some(format!("{kind}::{}/{}", parts.next()?, parts.next()?.replace('/', "::")))
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn throttled_request_is_retried() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = Target::new(&format!("http://{}", listener.local_addr().unwrap()), "token").unwrap();
        let gateway = tokio::spawn(async move {
            for head in ["503 Service Unavailable\r\nretry-after: 0", "201 Created"] {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = [0; 4096];
                assert!(stream.read(&mut request).await.unwrap() > 0);
                let answer = format!("HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        let related = target.relate("/parks/geozones/c/1", "/parks/geozones/c/2").await.unwrap();
        assert!(matches!(related.outcome, Outcome::Done { made: 1, present: 0 }));
        gateway.await.unwrap();
    }

    #[test]
    fn item_reference_is_read_from_the_path() {
        assert_eq!(item_reference("/parks/facilities/c/trail/1").as_deref(), Some("facility::c/trail::1"));
        assert_eq!(item_reference("/parks/geozones/c/12").as_deref(), Some("geozone::c/12"));
        assert_eq!(item_reference("/parks/geozones"), None);
    }
}
