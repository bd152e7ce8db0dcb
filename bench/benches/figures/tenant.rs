//! A tenant of tracker as its administrator meets it: over HTTP.

use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};

use crate::gateway::json_of;
use crate::{Failure, columns};

/// Who asks for everything, with the role that makes tenants.
pub const ADMINISTRATOR: (&str, &[&str]) = ("bench", &[tracker::PLATFORM_ADMIN]);

#[derive(Debug)]
pub struct Tenant {
    client: Client,
    url: String,
    token: String,
    path: String,
}

/// A project with its attributes in column order.
#[derive(Debug)]
pub struct Project {
    pub path: String,
    pub attributes: Vec<String>,
}

impl Tenant {
    /// Makes a tenant at a gateway.
    pub async fn open(url: &str, token: String) -> Result<Self, Failure> {
        let client = Client::builder().no_proxy().build()?;
        let mut opened = Self { client, url: url.to_owned(), token, path: String::new() };
        opened.path = opened.make("/tracker/tenants", &json!({"name": "Bench"})).await?;
        Ok(opened)
    }

    /// A new project with so many columns.
    pub async fn project(&self, name: &str, columns: usize) -> Result<Project, Failure> {
        let path = self.make(&format!("{}/projects", self.path), &json!({"name": name})).await?;
        let mut attributes = Vec::new();
        for column in 0..columns {
            let made = self.make(&format!("{path}/attributes"), &columns::attribute(column)).await?;
            attributes.push(last(&made).to_owned());
        }
        Ok(Project { path, attributes })
    }

    /// Where it is.
    pub fn path(&self) -> &str {
        &self.path
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.url)).bearer_auth(&self.token)
    }

    pub fn put(&self, path: &str, body: &Value) -> RequestBuilder {
        self.client.put(format!("{}{path}", self.url)).bearer_auth(&self.token).json(body)
    }

    pub async fn read(&self, path: &str) -> Result<Value, Failure> {
        json_of(self.get(path).send().await?).await
    }

    /// What was made, or is to be.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        json_of(self.send(path, body).await?).await
    }

    /// Where what was made is.
    pub async fn make(&self, path: &str, body: &Value) -> Result<String, Failure> {
        let made = self.send(path, body).await?;
        let location = made.headers().get("location").and_then(|place| place.to_str().ok()).map(str::to_owned);
        json_of(made).await?;
        Ok(location.ok_or("nothing was made")?)
    }

    async fn send(&self, path: &str, body: &Value) -> Result<Response, Failure> {
        let request = self.client.post(format!("{}{path}", self.url)).bearer_auth(&self.token).json(body);
        Ok(request.send().await?)
    }
}

impl Project {
    /// A page of its grid.
    pub fn grid(&self, query: &str) -> String {
        format!("{}/grid?{query}", self.path)
    }
}

/// The last part of a path, which is an id.
pub fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}
