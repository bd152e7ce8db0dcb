//! The smoke test of parks.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{TIMEOUT, User, text};
use crate::failure::Failure;
use crate::rehearsal::{Stage, put_file};

/// Creates, reads, lists and searches a geozone, uploads its boundary, imports a file, and sends requests that must be
/// refused. `stranger` is the token of a person who may change nothing.
pub async fn run(stage: &Stage<'_>, stranger: &str) -> Result<(), Failure> {
    let smoke = User(stage);
    let collection = json!({ "collectionId": "smoke_1", "displayName": "Smoke", "isVisible": true });
    let zone = json!({ "displayName": "Mistaken Point", "location": [-53.16, 46.63], "isVisible": true });
    smoke.sends(Method::POST, "/parks/collections", Some(&collection), 201).await?;
    smoke.sends(Method::POST, "/parks/geozones/smoke_1", Some(&zone), 201).await?;
    let read = smoke.sends(Method::GET, "/parks/geozones/smoke_1/1", None, 200).await?;
    smoke.has(&read, "/displayName", "Mistaken Point")?;
    let listed = smoke.sends(Method::GET, "/parks/geozones/smoke_1", None, 200).await?;
    smoke.has(&listed, "/items/0/displayName", "Mistaken Point")?;
    smoke.finds("/parks/search?q=mistaken", "/items/0/displayName", "Mistaken Point").await?;
    smoke.upload_boundary("/parks/geozones/smoke_1/1/geometry/boundary").await?;
    smoke.import("smoke_1").await?;
    let (zone, change) = ("/parks/geozones/smoke_1/1", json!({ "description": "x" }));
    let refused = [
        (Method::PATCH, zone, None, &[] as &[_], 401),
        (Method::PATCH, zone, Some("not.a.token"), &[], 401),
        (Method::PATCH, zone, Some(stranger), &[], 403),
        (Method::PATCH, "/parks/geozones/smoke_1/99", Some(stage.token), &[], 404),
        (Method::PATCH, zone, Some(stage.token), &[("if-match", "\"2\"")], 412),
    ];
    smoke.refuses(&refused, &change).await
}

impl User<'_> {
    /// Uploads a boundary by a signed link, waits until the object's event has checked it, and adds it to an item.
    async fn upload_boundary(&self, shape: &str) -> Result<(), Failure> {
        let ring: Vec<Value> = ring(2_000);
        let geometry = json!({ "type": "Polygon", "coordinates": [ring] }).to_string();
        let announced = json!({ "bytes": geometry.len() });
        let upload = self.sends(Method::POST, "/parks/geometries/uploads", Some(&announced), 201).await?;
        put_file(&upload, geometry).await?;
        let id = text(&upload, "/uploadId")?;
        self.becomes(&format!("/parks/geometries/uploads/{id}"), "ready").await?;
        let body = json!({ "uploadId": id });
        self.sends(Method::PUT, shape, Some(&body), 200).await.map(drop)
    }

    /// Imports a file with one facility.
    async fn import(&self, collection: &str) -> Result<(), Failure> {
        let file = json!({ "type": "FeatureCollection", "features": [{
            "type": "Feature",
            "geometry": { "type": "Point", "coordinates": [-53.16, 46.63] },
            "properties": {
                "externalId": "smoke", "displayName": "Edge of Avalon", "facilityType": "trail", "isVisible": true
            },
        }] })
        .to_string();
        let layer =
            json!({ "collectionId": collection, "entity": "facility", "format": "geojson", "bytes": file.len() });
        let import = self.sends(Method::POST, "/parks/imports", Some(&layer), 201).await?;
        put_file(&import, file).await?;
        let id = text(&import, "/id")?;
        self.becomes(&format!("/parks/jobs/{id}"), "succeeded").await?;
        let made = self.sends(Method::GET, &format!("/parks/facilities/{collection}/trail/1"), None, 200).await?;
        self.has(&made, "/displayName", "Edge of Avalon")
    }

    /// Waits for a status. Fails if the job is rejected or failed.
    async fn becomes(&self, path: &str, expected: &str) -> Result<(), Failure> {
        let until = Instant::now() + TIMEOUT;
        loop {
            let answer = self.sends(Method::GET, path, None, 200).await?;
            match answer.pointer("/status").and_then(Value::as_str) {
                Some(status) if status == expected => return Ok(()),
                Some("rejected" | "failed" | "expired") => return Err(Failure::new(format!("{path}: {answer}"))),
                _ if Instant::now() > until => {
                    return Err(Failure::new(format!("{path} did not become {expected} in time: {answer}")));
                }
                _ => sleep(Duration::from_millis(200)).await,
            }
        }
    }
}

/// Returns a closed circle with this number of positions.
fn ring(positions: u32) -> Vec<Value> {
    let at = |number: u32| {
        let angle = f64::from(number % positions) / f64::from(positions) * std::f64::consts::TAU;
        json!([-53.2 + angle.cos() / 10.0, 46.6 + angle.sin() / 10.0])
    };
    (0..=positions).map(at).collect()
}
