//! Smoke tests of deployments, in addition to the sample events.

pub mod agencies;
pub mod archive;
pub mod chat;
pub mod parks;
pub mod socket;
pub mod tracker;

use std::pin::Pin;
use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::failure::{Doing, Failure};
use crate::rehearsal::Stage;

/// Tests a deployment of a system. The token is that of a stranger, who may change nothing.
pub type Smoke = for<'a> fn(&'a Stage<'a>, &'a str) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + 'a>>;

/// The timeout of search and events.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A caller with all permissions on a deployment.
pub(crate) struct User<'a>(pub &'a Stage<'a>);

/// A request that must be refused: method, path, token, header fields and the expected status.
pub(crate) type Refused<'a> = (Method, &'a str, Option<&'a str>, &'a [(&'a str, &'a str)], u16);

impl User<'_> {
    async fn send(
        &self,
        method: Method,
        path: &str,
        token: Option<&str>,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<(StatusCode, Value), Failure> {
        let mut request = self.0.client.request(method, format!("{}{path}", self.0.url));
        request = token.into_iter().fold(request, |request, token| request.bearer_auth(token));
        request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        request = body.into_iter().fold(request, |request, body| request.json(body));
        let answer = request.send().await.doing(path)?;
        let status = answer.status();
        let text = answer.text().await.doing(path)?;
        Ok((status, serde_json::from_str(&text).unwrap_or(Value::String(text))))
    }

    pub async fn sends(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        expected: u16,
    ) -> Result<Value, Failure> {
        let (status, answer) = self.send(method.clone(), path, Some(self.0.token), &[], body).await?;
        self.is(status, expected, &format!("{method} {path}: {answer}"))?;
        Ok(answer)
    }

    fn is(&self, status: StatusCode, expected: u16, what: &str) -> Result<(), Failure> {
        if status.as_u16() == expected {
            return Ok(());
        }
        Err(Failure::new(format!("expected status {expected}, not {status}: {what}")))
    }

    pub fn has(&self, answer: &Value, pointer: &str, expected: &str) -> Result<(), Failure> {
        if answer.pointer(pointer).and_then(Value::as_str) == Some(expected) {
            return Ok(());
        }
        Err(Failure::new(format!("expected `{expected}` at {pointer} of {answer}")))
    }

    /// Repeats a search until it has the expected result.
    pub async fn finds(&self, path: &str, pointer: &str, expected: &str) -> Result<(), Failure> {
        let until = Instant::now() + TIMEOUT;
        loop {
            let (_, answer) = self.send(Method::GET, path, Some(self.0.token), &[], None).await?;
            let found = self.has(&answer, pointer, expected);
            if found.is_ok() || Instant::now() > until {
                return found;
            }
            sleep(Duration::from_millis(200)).await;
        }
    }

    /// Checks that each of these requests fails with its status and a problem.
    pub async fn refuses(&self, requests: &[Refused<'_>], change: &Value) -> Result<(), Failure> {
        for (method, path, token, headers, expected) in requests {
            let (status, answer) = self.send(method.clone(), path, *token, headers, Some(change)).await?;
            self.is(status, *expected, &answer.to_string())?;
            if answer.get("status").and_then(Value::as_u64) != Some(u64::from(*expected)) {
                return Err(Failure::new(format!("expected a problem with status {expected}, not {answer}")));
            }
        }
        Ok(())
    }
}

/// Returns the text at a pointer of a response.
pub(crate) fn text<'a>(response: &'a Value, pointer: &str) -> Result<&'a str, Failure> {
    let text = response.pointer(pointer).and_then(Value::as_str);
    text.ok_or_else(|| Failure::new(format!("expected a text at {pointer} of {response}")))
}
