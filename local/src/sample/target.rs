//! The requests of a load. Each may be sent again, after any crash and beside itself, and changes nothing then.

use std::time::Duration;

use reqwest::{Client, Method, StatusCode, header};
use serde_json::Value;

use super::data::{Feature, Name};
use super::offers::{Product, SEASON};
use super::{Found, Refused, SampleError};

/// How often a request is sent that others get in the way of, or that the platform has no time for.
const TRIES: u32 = 10;

/// Where the samples go, and as whom.
#[derive(Clone, Debug)]
pub struct Target {
    client: Client,
    gateway: String,
    token: String,
}

/// What became of one request.
pub struct Answered {
    /// Of the item, where others look for it by name.
    pub name: Option<Name>,
    pub outcome: Outcome,
    /// Where the item is, if it is there.
    pub path: Option<String>,
}

pub enum Outcome {
    Done { made: u64, present: u64 },
    Refused(Refused),
}

/// What the gateway has answered.
pub(super) struct Answer {
    request: String,
    pub(super) status: StatusCode,
    pub(super) location: Option<String>,
    /// How long the platform asks to be left alone.
    retry_after: Option<Duration>,
    body: String,
}

impl Target {
    pub fn new(gateway: &str, token: &str) -> Self {
        Self { client: Client::new(), gateway: gateway.to_owned(), token: token.to_owned() }
    }

    /// Makes an item that its list knows by an id, or finds it by that.
    pub async fn make(&self, feature: Feature) -> Result<Answered, SampleError> {
        let Feature { name, display_name, body } = feature;
        let answer = self.call(Method::POST, &name.list, body, None).await?;
        let outcome = match answer.status {
            StatusCode::CREATED => made(),
            StatusCode::CONFLICT => present(),
            StatusCode::BAD_REQUEST => Outcome::Refused(Refused {
                feature: name.to_string(),
                name: display_name,
                fault: answer.text("detail").unwrap_or_else(|| "no reason was given".to_owned()),
            }),
            // What it lies in has been deleted.
            StatusCode::NOT_FOUND => present(),
            _ => return Err(answer.unexpected()),
        };
        Ok(Answered { name: Some(name), outcome, path: answer.location })
    }

    /// Makes the product of an activity that has none yet, not even a deleted one: products have no id by which they
    /// might be told. Without an answer the request may have been carried out or still be, and the index of the list
    /// may lag: its `Idempotency-Key` is the same in every load.
    pub async fn offer(&self, activity: Found, product: Product) -> Result<Answered, SampleError> {
        let list = activity.path.replacen("/activities/", "/products/", 1);
        if !activity.made {
            for deleted in [false, true] {
                let page = format!("{list}?limit=1&deleted={deleted}");
                let answer = self.call(Method::GET, &page, String::new(), None).await?;
                if answer.status != StatusCode::OK {
                    return Err(answer.unexpected());
                }
                let page: Value = serde_json::from_str(&answer.body).unwrap_or_default();
                let Some(first) = page.pointer("/items/0") else { continue };
                // Dates are missing only where they were to be made.
                let ours = !deleted && first.get("displayName").and_then(Value::as_str) == Some(&product.name);
                let number = first.get("number").and_then(Value::as_u64).filter(|_| ours);
                let path = number.map(|number| format!("{list}/{number}"));
                return Ok(Answered { name: None, outcome: present(), path });
            }
            // A deleted one may have taken its product along, where no list of its own shows it.
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

    /// Makes what is missing of a product's dates, which are as many as this.
    pub async fn seed(&self, product: String, dates: u64) -> Result<Answered, SampleError> {
        let answer = self.call(Method::POST, &format!("{product}/dates"), SEASON.to_owned(), None).await?;
        let made = match answer.status {
            StatusCode::OK => answer.number("created").unwrap_or_default(),
            // The product has been deleted, or its range no longer holds the season.
            StatusCode::NOT_FOUND | StatusCode::UNPROCESSABLE_ENTITY => 0,
            _ => return Err(answer.unexpected()),
        };
        let outcome = Outcome::Done { made, present: dates.saturating_sub(made) };
        Ok(Answered { name: None, outcome, path: None })
    }

    /// Relates two items by their paths.
    pub async fn relate(&self, one: &str, other: &str) -> Result<Answered, SampleError> {
        let (one, other) = (end(one), end(other));
        let answer =
            self.call(Method::PUT, &format!("/parks/relationships/{one}/{other}"), String::new(), None).await?;
        let outcome = match answer.status {
            StatusCode::CREATED => made(),
            // Not found is an end that has been deleted.
            StatusCode::OK | StatusCode::NOT_FOUND => present(),
            _ => return Err(answer.unexpected()),
        };
        Ok(Answered { name: None, outcome, path: None })
    }

    /// Sends a file by a signed link.
    pub(super) async fn put<'a>(
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
        // The client counts the bytes itself.
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

    /// Sends a request until nobody gets in its way, and the platform has time for it.
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
        let mut tries = 0;
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
            tries += 1;
            match answer.retry_after {
                _ if tries >= TRIES => return Ok(answer),
                Some(pause) if status.is_server_error() => tokio::time::sleep(pause).await,
                _ if answer.others_came_first() => {}
                _ => return Ok(answer),
            }
        }
    }
}

impl Answer {
    /// Whether it was kept from what it wanted at the same moment: afterwards it is known what there is.
    fn others_came_first(&self) -> bool {
        const SETTLED: [&str; 3] = ["urn:cairn:problem:exists", "urn:cairn:problem:invited", "urn:cairn:problem:taken"];
        let exists = || self.text("type").is_some_and(|kind| SETTLED.contains(&kind.as_str()));
        self.status == StatusCode::CONFLICT && self.location.is_none() && !exists()
    }

    /// The same, or the error that it is another status.
    pub(super) fn expecting(self, statuses: &[StatusCode]) -> Result<Self, SampleError> {
        if statuses.contains(&self.status) { Ok(self) } else { Err(self.unexpected()) }
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    fn member(&self, name: &str) -> Option<Value> {
        serde_json::from_str::<Value>(&self.body).ok()?.get_mut(name).map(Value::take)
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.member(name)?.as_str().map(str::to_owned)
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.member(name)?.as_u64()
    }

    pub(super) fn unexpected(self) -> SampleError {
        SampleError::Unexpected { request: self.request, status: self.status, body: self.body }
    }
}

fn made() -> Outcome {
    Outcome::Done { made: 1, present: 0 }
}

fn present() -> Outcome {
    Outcome::Done { made: 0, present: 1 }
}

/// `/parks/facilities/c/trail/1` as an end of a relationship, `facility::c/trail::1`.
fn end(path: &str) -> String {
    let mut parts = path.trim_start_matches("/parks/").splitn(3, '/');
    let mut part = || parts.next().unwrap_or_default();
    let kind = match part() {
        "geozones" => "geozone",
        "facilities" => "facility",
        "activities" => "activity",
        other => other,
    };
    format!("{kind}::{}/{}", part(), part().replace('/', "::"))
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn what_the_platform_has_no_time_for_is_sent_again() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = Target::new(&format!("http://{}", listener.local_addr().unwrap()), "token");
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
    fn a_path_is_an_end() {
        assert_eq!(end("/parks/facilities/c/trail/1"), "facility::c/trail::1");
        assert_eq!(end("/parks/geozones/c/12"), "geozone::c/12");
    }
}
