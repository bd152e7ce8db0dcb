//! For parks: signing in, writing, reading, finding, and being refused.

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::failure::{Doing, Failure};
use crate::rehearsal::Stage;

/// How long search may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A collection and a geozone in it: made, read, listed, found, given a boundary by an upload; then each refusal.
/// `stranger` is the token of somebody who may change nothing.
pub async fn run(stage: &Stage<'_>, stranger: &str) -> Result<(), Failure> {
    let smoke = Smoke(stage);
    let collection = json!({ "collectionId": "smoke_1", "displayName": "Smoke", "isVisible": true });
    let zone = json!({ "displayName": "Mistaken Point", "location": [-53.16, 46.63], "isVisible": true });
    smoke.sends(Method::POST, "/parks/collections", Some(&collection), 201).await?;
    smoke.sends(Method::POST, "/parks/geozones/smoke_1", Some(&zone), 201).await?;
    let read = smoke.sends(Method::GET, "/parks/geozones/smoke_1/1", None, 200).await?;
    smoke.has(&read, "/displayName", "Mistaken Point")?;
    let listed = smoke.sends(Method::GET, "/parks/geozones/smoke_1", None, 200).await?;
    smoke.has(&listed, "/items/0/displayName", "Mistaken Point")?;
    smoke.finds("/parks/search?q=mistaken", "/items/0/displayName", "Mistaken Point").await?;
    smoke.uploads("/parks/geozones/smoke_1/1/geometry/boundary").await?;
    smoke.refuses(stranger).await
}

struct Smoke<'a>(&'a Stage<'a>);

impl Smoke<'_> {
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

    async fn sends(&self, method: Method, path: &str, body: Option<&Value>, expected: u16) -> Result<Value, Failure> {
        let (status, answer) = self.send(method.clone(), path, Some(self.0.token), &[], body).await?;
        self.is(status, expected, &format!("{method} {path}: {answer}"))?;
        Ok(answer)
    }

    fn is(&self, status: StatusCode, expected: u16, what: &str) -> Result<(), Failure> {
        if status.as_u16() == expected {
            return Ok(());
        }
        Err(Failure::new(format!("answered {status}, not {expected}: {what}")))
    }

    fn has(&self, answer: &Value, pointer: &str, expected: &str) -> Result<(), Failure> {
        if answer.pointer(pointer).and_then(Value::as_str) == Some(expected) {
            return Ok(());
        }
        Err(Failure::new(format!("{pointer} is not `{expected}` in {answer}")))
    }

    /// Asks until search has it.
    async fn finds(&self, path: &str, pointer: &str, expected: &str) -> Result<(), Failure> {
        let until = Instant::now() + PATIENCE;
        loop {
            let (_, answer) = self.send(Method::GET, path, None, &[], None).await?;
            let found = self.has(&answer, pointer, expected);
            if found.is_ok() || Instant::now() > until {
                return found;
            }
            sleep(Duration::from_millis(200)).await;
        }
    }

    /// A boundary by a signed link, which the object's event has checked, attached to an item.
    async fn uploads(&self, shape: &str) -> Result<(), Failure> {
        let ring: Vec<Value> = ring(2_000);
        let geometry = json!({ "type": "Polygon", "coordinates": [ring] }).to_string();
        let announced = json!({ "bytes": geometry.len() });
        let upload = self.sends(Method::POST, "/parks/geometries/uploads", Some(&announced), 201).await?;
        let text = |pointer: &str| upload.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut put = reqwest::Client::new().put(text("/link"));
        for (name, value) in upload.pointer("/headers").and_then(Value::as_object).into_iter().flatten() {
            put = put.header(name, value.as_str().unwrap_or_default());
        }
        let answer = put.body(geometry).send().await.doing("the upload's link")?;
        let status = answer.status();
        self.is(status, 200, &format!("the upload's link: {}", answer.text().await.unwrap_or_default()))?;
        let path = format!("/parks/geometries/uploads/{}", text("/uploadId"));
        let until = Instant::now() + PATIENCE;
        loop {
            let settled = self.sends(Method::GET, &path, None, 200).await?;
            match settled.pointer("/status").and_then(Value::as_str) {
                Some("ready") => break,
                Some("rejected") => return Err(Failure::new(format!("the upload was rejected: {settled}"))),
                _ if Instant::now() > until => return Err(Failure::new(format!("the upload waits: {settled}"))),
                _ => sleep(Duration::from_millis(200)).await,
            }
        }
        let body = json!({ "uploadId": text("/uploadId") });
        self.sends(Method::PUT, shape, Some(&body), 200).await.map(drop)
    }

    /// 401, 403, 404 and 412, each as a problem.
    async fn refuses(&self, stranger: &str) -> Result<(), Failure> {
        let (zone, change) = ("/parks/geozones/smoke_1/1", json!({ "description": "x" }));
        let refused = [
            (Method::PATCH, zone, None, vec![], 401),
            (Method::PATCH, zone, Some("not.a.token"), vec![], 401),
            (Method::PATCH, zone, Some(stranger), vec![], 403),
            (Method::PATCH, "/parks/geozones/smoke_1/99", Some(self.0.token), vec![], 404),
            (Method::PATCH, zone, Some(self.0.token), vec![("if-match", "\"2\"")], 412),
        ];
        for (method, path, token, headers, expected) in refused {
            let (status, answer) = self.send(method, path, token, &headers, Some(&change)).await?;
            self.is(status, expected, &answer.to_string())?;
            if answer.get("status").and_then(Value::as_u64) != Some(u64::from(expected)) {
                return Err(Failure::new(format!("{expected} is no problem: {answer}")));
            }
        }
        Ok(())
    }
}

/// A circle of so many positions, closed.
fn ring(positions: u32) -> Vec<Value> {
    let at = |number: u32| {
        let angle = f64::from(number % positions) / f64::from(positions) * std::f64::consts::TAU;
        json!([-53.2 + angle.cos() / 10.0, 46.6 + angle.sin() / 10.0])
    };
    (0..=positions).map(at).collect()
}
