//! The users of a platform, over HTTP.

use std::future::IntoFuture;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use reqwest::{Client, Method, redirect};
use serde_json::Value;

use super::answer::{Answer, Found};
use super::cairn::Shared;
use super::description::Description;
use super::{leaks, recorder};

/// A user with or without a token.
#[derive(Clone)]
pub struct User {
    url: String,
    /// The platform, if it runs in this process.
    shared: Option<Arc<Shared>>,
    name: &'static str,
    authorization: Option<String>,
}

/// A request, which is sent when it is awaited.
pub struct Call {
    user: User,
    method: Method,
    path: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Bytes,
    expects_failure: bool,
}

static HTTP: LazyLock<Client> =
    LazyLock::new(|| Client::builder().no_proxy().redirect(redirect::Policy::none()).build().unwrap());

impl User {
    pub fn new(shared: Arc<Shared>, name: &'static str, authorization: Option<String>) -> Self {
        Self { url: shared.url().to_owned(), shared: Some(shared), name, authorization }
    }

    /// Creates a user of a platform in a separate process.
    pub fn outside(url: &str, name: &'static str, authorization: Option<String>) -> Self {
        Self { url: url.to_owned(), shared: None, name, authorization }
    }

    /// Whether the request has no token.
    pub fn is_anonymous(&self) -> bool {
        self.authorization.is_none()
    }

    pub fn get(&self, path: &str) -> Call {
        self.call(Method::GET, path)
    }

    pub fn post(&self, path: &str, body: Value) -> Call {
        self.call(Method::POST, path).json(&body)
    }

    pub fn put(&self, path: &str, body: Value) -> Call {
        self.call(Method::PUT, path).json(&body)
    }

    pub fn patch(&self, path: &str, body: Value) -> Call {
        self.call(Method::PATCH, path).json(&body)
    }

    pub fn delete(&self, path: &str) -> Call {
        self.call(Method::DELETE, path)
    }

    /// Creates a request without a body.
    pub fn call(&self, method: Method, path: &str) -> Call {
        let mut headers = Vec::new();
        headers.extend(self.authorization.iter().map(|token| ("authorization".to_owned(), token.clone().into_bytes())));
        Call { user: self.clone(), method, path: path.to_owned(), headers, body: Bytes::new(), expects_failure: false }
    }

    /// Searches after search shows all earlier writes.
    pub async fn search(&self, query: &str) -> Found {
        self.caught_up().await;
        Found(self.get(&format!("/parks/search?{query}")).await.is(200))
    }

    /// Searches by POST after search shows all earlier writes.
    pub async fn search_by(&self, body: Value) -> Found {
        self.caught_up().await;
        Found(self.post("/parks/search", body).await.is(200))
    }

    async fn caught_up(&self) {
        if let Some(shared) = &self.shared {
            shared.caught_up().await;
        }
    }

    /// Reads all pages of a list. Each page except the last must be full.
    pub async fn pages(&self, path: &str, limit: usize) -> Vec<Answer> {
        let separator = if path.contains('?') { '&' } else { '?' };
        let mut pages = vec![self.get(&format!("{path}{separator}limit={limit}")).await.is(200)];
        while let Some(cursor) = pages.last().and_then(Answer::next) {
            let page = self.get(&format!("{path}{separator}limit={limit}&cursor={cursor}")).await.is(200);
            assert_eq!(pages.last().unwrap().each("pk").len(), limit, "a page before the last is short");
            pages.push(page);
        }
        assert!(pages.last().is_some_and(|last| pages.len() == 1 || !last.each("pk").is_empty()), "an empty last page");
        pages
    }
}

impl Call {
    pub fn json(self, body: &Value) -> Self {
        self.bytes("application/json", body.to_string())
    }

    pub fn bytes(mut self, content_type: &str, body: impl Into<Bytes>) -> Self {
        self.headers.retain(|(name, _)| name != "content-type");
        self.body = body.into();
        self.header("content-type", content_type)
    }

    pub fn header(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub fn if_match(self, tag: &str) -> Self {
        self.header("if-match", tag)
    }

    pub fn if_none_match(self, tag: &str) -> Self {
        self.header("if-none-match", tag)
    }

    pub fn once(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    pub fn geojson(self) -> Self {
        self.header("accept", "application/geo+json")
    }

    /// Allows a 5xx response, for tests that cause a failure. Otherwise a 5xx fails the test.
    pub fn may_fail(mut self) -> Self {
        self.expects_failure = true;
        self
    }

    /// Returns the response, or `None` if the platform ended before it responded.
    pub async fn or_gone(self) -> Option<Answer> {
        self.send().await.ok()
    }

    async fn send(self) -> Result<Answer, String> {
        let Self { user, method, path, headers, body, expects_failure } = self;
        let request = format!("{method} {path} as {}", user.name);
        let mut call = HTTP.request(method.clone(), format!("{}{path}", user.url)).body(body);
        for (name, value) in headers {
            call = call.header(name, value);
        }
        let answer = outside(call, request).await?;
        assert!(answer.status < 500 || expects_failure, "{}", answer.told());
        Description::check(&method, &path, &answer);
        leaks::check(&method, &path, &answer);
        recorder::OF_THE_RUN.saw(&answer);
        Ok(answer)
    }
}

/// Follows a link out of the platform, as a browser does.
pub async fn fetch(url: &str) -> Answer {
    outside(HTTP.get(url), format!("GET {url}")).await.unwrap_or_else(|error| panic!("{error}"))
}

/// Sends a file to any link. Returns the status.
pub async fn send_to(link: &str, file: &'static str) -> u16 {
    let sent = outside(HTTP.put(link).body(file), format!("PUT {link}")).await;
    sent.unwrap_or_else(|error| panic!("{error}")).status
}

/// Sends a file to the link of an upload. Returns the status.
pub async fn send_file(announced: &Answer, file: &(impl AsRef<[u8]> + ?Sized)) -> u16 {
    send_file_or_gone(announced, file).await.unwrap_or_else(|error| panic!("{error}"))
}

/// Sends a file to a link. Returns `None` if S3 ended before it responded.
pub async fn send_file_or_gone(announced: &Answer, file: &(impl AsRef<[u8]> + ?Sized)) -> Result<u16, String> {
    let link = announced.text("link");
    let mut call = HTTP.put(link).body(Bytes::copy_from_slice(file.as_ref()));
    for (name, value) in announced["headers"].as_object().into_iter().flatten() {
        // The client sets the content length itself, as browsers do.
        if !name.eq_ignore_ascii_case("content-length") {
            call = call.header(name, value.as_str().unwrap());
        }
    }
    Ok(outside(call, format!("PUT {link}")).await?.status)
}

async fn outside(call: reqwest::RequestBuilder, request: String) -> Result<Answer, String> {
    let response = call.send().await.map_err(|error| format!("{request} was not answered: {error:?}"))?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let bytes = response.bytes().await.map_err(|error| format!("{request} was cut short: {error:?}"))?;
    let body = plain(serde_json::from_slice(&bytes).unwrap_or_default());
    Ok(Answer { request, status, headers, bytes, body })
}

/// Returns the value with whole numbers as integers, so that 1.0 equals 1.
pub fn plain(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15 => Value::from(float as i64),
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(plain).collect(),
        Value::Object(members) => members.into_iter().map(|(name, value)| (name, plain(value))).collect(),
        other => other,
    }
}

impl IntoFuture for Call {
    type Output = Answer;
    type IntoFuture = Pin<Box<dyn Future<Output = Answer> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async { self.send().await.unwrap_or_else(|error| panic!("{error}")) })
    }
}
