//! A platform as its callers meet it: over HTTP.

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
}

/// The answer's JSON, if it is a success.
pub async fn json_of(response: Response) -> Result<Value, Failure> {
    let status = response.status();
    let text = response.text().await?;
    if status.is_success() { Ok(serde_json::from_str(&text)?) } else { Err(format!("{status}: {text}").into()) }
}
