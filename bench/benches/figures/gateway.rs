//! A platform as its callers meet it: over HTTP.

use std::time::{Duration, Instant};

use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};

use crate::Failure;

/// The gateway of a platform, and an administrator of it.
#[derive(Debug)]
pub struct Gateway {
    client: Client,
    url: String,
    token: String,
}

/// The collection that everything lies in; the sample events name it.
pub const COLLECTION: &str = "bcparks_1";

/// How often a job is looked at.
const EVERY: Duration = Duration::from_millis(20);

impl Gateway {
    /// Makes the collection, too.
    pub async fn open(url: &str, token: String) -> Result<Self, Failure> {
        let opened = Self { client: Client::builder().no_proxy().build()?, url: url.to_owned(), token };
        let collection = json!({"collectionId": COLLECTION, "displayName": "Strathcona Park", "isVisible": true});
        opened.create("/parks/collections", &collection).await?;
        Ok(opened)
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    /// A visitor's request.
    pub fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.url))
    }

    /// An administrator's `POST`, answered with what was made.
    pub async fn create(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        let request = self.client.post(format!("{}{path}", self.url)).bearer_auth(&self.token).json(body);
        json_of(request.send().await?).await
    }

    /// Makes facilities of so many features of a GeoJSON file; returns how long it took, from the first request to the
    /// job's end.
    pub async fn import(&self, file: String, features: usize) -> Result<Duration, Failure> {
        let new = json!({
            "collectionId": COLLECTION, "entity": "facility", "format": "geojson", "bytes": file.len()
        });
        let start = Instant::now();
        let announced = self.create("/parks/imports", &new).await?;
        let text = |name: &str| announced.get(name).and_then(Value::as_str).unwrap_or_default();
        let mut sending = self.client.put(text("link")).body(file);
        for (name, value) in announced.get("headers").and_then(Value::as_object).into_iter().flatten() {
            // The client counts the bytes itself.
            if !name.eq_ignore_ascii_case("content-length") {
                sending = sending.header(name, value.as_str().unwrap_or_default());
            }
        }
        sending.send().await?.error_for_status()?;
        let path = format!("/parks/jobs/{}", text("id"));
        loop {
            let job = json_of(self.get(&path).bearer_auth(&self.token).send().await?).await?;
            match job.get("status").and_then(Value::as_str) {
                Some("queued" | "running") => tokio::time::sleep(EVERY).await,
                Some("succeeded") if job.pointer("/counts/done").is_some_and(|done| *done == features) => {
                    return Ok(start.elapsed());
                }
                _ => return Err(format!("not all was imported: {job}").into()),
            }
        }
    }
}

/// The answer's JSON, if it is a success.
pub async fn json_of(response: Response) -> Result<Value, Failure> {
    let status = response.status();
    let text = response.text().await?;
    if status.is_success() { Ok(serde_json::from_str(&text)?) } else { Err(format!("{status}: {text}").into()) }
}
