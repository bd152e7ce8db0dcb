//! What each access pattern consumes of DynamoDB's capacity, with items of ordinary
//! sizes: an item has 4 KB, its summary 1 KB, a date and a relationship half of that.

use std::time::Duration;

use super::shapes::ellipse;
use crate::harness::{Answer, Cairn, User, measured};
use crate::tests;
use reqwest::Method;
use serde_json::{Value, json};

tests! { costs: #[long] each_access_pattern_costs_what_is_recorded }

const ZONES: &str = "/parks/geozones/bcparks_1";
const ZONE: &str = "/parks/geozones/bcparks_1/1";
const CAMPS: &str = "/parks/facilities/bcparks_1";
const DATES: &str = "/parks/products/bcparks_1/dayuse/1/1/dates";
const RELATIONSHIPS: &str = "/parks/relationships";
const HUB: &str = "geozone::bcparks_1/1";

/// What was measured, and for whom.
struct Measured {
    admin: User,
    visitor: User,
    costs: measured::Measured,
}

impl Measured {
    async fn of(&mut self, what: &'static str, call: impl IntoFuture<Output = Answer>, status: u16) -> Answer {
        self.costs.of(what, call, status).await
    }
}

/// An item that has nearly 4 KB as it is stored, and a summary of nearly 1 KB.
fn large(name: &str) -> Value {
    let padded = format!("{name} {}", "😀".repeat(185));
    json!({ "displayName": padded, "description": "d".repeat(2600), "location": [-125.5, 49.5], "isVisible": true })
}

fn with(mut new: Value, fields: Value) -> Value {
    new.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    new
}

fn camp(number: usize) -> String {
    format!("facility::bcparks_1/campground::{number}")
}

async fn each_access_pattern_costs_what_is_recorded() {
    let cairn = Cairn::start().await;
    let mut measured =
        Measured { admin: cairn.administrator().await, visitor: cairn.visitor(), costs: measured::Measured::default() };
    made(&mut measured).await;
    read(&mut measured).await;
    changed(&mut measured).await;
    related(&mut measured).await;
    dated(&mut measured).await;
    shaped(&mut measured, &cairn).await;
    worked(&mut measured, &cairn).await;

    measured.costs.of("the health of the system", cairn.visitor().get("/parks/health"), 200).await;
    measured.costs.match_record("parks");
}

async fn made(measured: &mut Measured) {
    let admin = measured.admin.clone();
    let collection = |id: &str, visible: bool| {
        let mut new = with(large("Park"), json!({ "collectionId": id, "isVisible": visible }));
        new.as_object_mut().unwrap().remove("location");
        admin.post("/parks/collections", new)
    };
    measured.of("create a collection, hidden", collection("hidden", false), 201).await;
    measured.of("create a collection, visible", collection("bcparks_1", true), 201).await;
    let hidden = with(large("One"), json!({ "isVisible": false }));
    measured.of("create a geozone, hidden", admin.post(ZONES, hidden), 201).await;
    let guarded = with(large("Two"), json!({ "externalId": "two" }));
    measured.of("create a geozone with an external id, visible", admin.post(ZONES, guarded), 201).await;
    for number in 1..=30 {
        let new = with(large(&format!("Camp {number}")), json!({ "facilityType": "campground" }));
        let made = admin.post(CAMPS, new);
        if number == 1 {
            measured.of("create a facility, visible", made, 201).await;
        } else {
            made.await.is(201);
        }
    }
    let activity = with(large("Day use"), json!({ "activityType": "dayuse" }));
    measured.of("create an activity, visible", admin.post("/parks/activities/bcparks_1", activity), 201).await;
    let mut product = with(large("Pass"), json!({ "rangeStart": "2025-12-01", "rangeEnd": "2026-11-30" }));
    product.as_object_mut().unwrap().remove("location");
    let product = admin.post("/parks/products/bcparks_1/dayuse/1", product);
    measured.of("create a product, visible", product, 201).await;
}

async fn read(measured: &mut Measured) {
    let (admin, visitor) = (measured.admin.clone(), measured.visitor.clone());
    let one = format!("{CAMPS}/campground/1");
    let item = measured.of("an item, to a visitor", visitor.get(&one), 200).await;
    measured.of("an item, to an administrator", admin.get(&one), 200).await;
    let path = format!("/parks/items/{}", item.text("globalId"));
    measured.of("an item by its global id, to a visitor", visitor.get(&path), 200).await;
    let path = format!("/parks/items?ids={}", item.text("globalId"));
    measured.of("one of several items by its global id, to a visitor", visitor.get(&path), 200).await;
    measured.of("a page of 25, to an administrator", admin.get(&format!("{CAMPS}?limit=25")), 200).await;
    measured.of("a page of 25, to a visitor", visitor.get(&format!("{CAMPS}?limit=25")), 200).await;
    measured.of("deleted items, none there", admin.get(&format!("{CAMPS}?deleted=true")), 200).await;
}

async fn changed(measured: &mut Measured) {
    let admin = measured.admin.clone();
    let two = format!("{ZONES}/2");
    let patch = |fields: Value| admin.patch(&two, fields);
    measured.of("change a description", patch(json!({ "description": "x".repeat(2600) })), 200).await;
    for (what, path) in [
        ("change the description of a collection", "/parks/collections/bcparks_1"),
        ("change the description of a product", "/parks/products/bcparks_1/dayuse/1/1"),
    ] {
        measured.of(what, admin.patch(path, json!({ "description": "x".repeat(2600) })), 200).await;
    }
    let name = large("Other")["displayName"].clone();
    measured.of("change a name", patch(json!({ "displayName": name })), 200).await;
    measured.of("change an external id", patch(json!({ "externalId": "other" })), 200).await;
    measured.of("hide an item", patch(json!({ "isVisible": false })), 200).await;
    measured.of("show an item", patch(json!({ "isVisible": true })), 200).await;
    measured.of("delete an item", admin.delete(&two), 204).await;
    measured.of("restore an item", admin.post(&format!("{two}/restore"), json!({})), 200).await;
    let retype = admin.post(&format!("{CAMPS}/campground/30/retype"), json!({ "facilityType": "trail" }));
    measured.of("give an item another type", retype, 200).await;
}

async fn related(measured: &mut Measured) {
    let (admin, visitor) = (measured.admin.clone(), measured.visitor.clone());
    admin.patch(ZONE, json!({ "isVisible": true })).await.is(200);
    let relate = |number: usize| admin.call(Method::PUT, &format!("{RELATIONSHIPS}/{HUB}/{}", camp(number)));
    measured.of("relate", relate(1), 201).await;
    for number in 2..=26 {
        relate(number).await.is(201);
    }
    // In the order of the keys this one is the second end of all.
    let last = camp(9);
    let others: Vec<String> = (1..=27).filter(|number| *number != 9).map(camp).collect();
    for other in &others {
        admin.call(Method::PUT, &format!("{RELATIONSHIPS}/{last}/{other}")).await.is(201);
    }
    let forward = format!("{RELATIONSHIPS}/{HUB}?limit=25&direction=forward");
    let reverse = format!("{RELATIONSHIPS}/{last}?limit=25&direction=reverse");
    measured.of("25 relationships forward, to an administrator", admin.get(&forward), 200).await;
    measured.of("25 relationships forward, to a visitor", visitor.get(&forward), 200).await;
    measured.of("25 relationships in reverse, to an administrator", admin.get(&reverse), 200).await;
    measured.of("25 relationships in reverse, to a visitor", visitor.get(&reverse), 200).await;
    for other in &others {
        admin.delete(&format!("{RELATIONSHIPS}/{last}/{other}")).await.is(204);
    }
    let expanded = format!("{forward}&expand=true");
    measured.of("25 relationships with the items at their other ends", visitor.get(&expanded), 200).await;
    let unrelate = |number: usize| admin.delete(&format!("{RELATIONSHIPS}/{HUB}/{}", camp(number)));
    measured.of("unrelate", unrelate(26), 204).await;
    for number in 11..=25 {
        unrelate(number).await.is(204);
    }
    let seen = |visible: bool| admin.patch(ZONE, json!({ "isVisible": visible }));
    measured.of("hide an item with 10 relationships", seen(false), 200).await;
    measured.of("show an item with 10 relationships", seen(true), 200).await;
    let delete = admin.delete(&format!("{ZONE}?cascade=true"));
    measured.of("delete an item with 10 relationships", delete, 204).await;
    let restore = admin.post(&format!("{ZONE}/restore"), json!({}));
    measured.of("restore an item with 10 relationships", restore, 200).await;
}

async fn dated(measured: &mut Measured) {
    let (admin, visitor) = (measured.admin.clone(), measured.visitor.clone());
    let reason = "r".repeat(380);
    let season = json!({ "from": "2025-12-01", "to": "2026-03-09", "status": "closed", "reason": reason });
    measured.of("seed 99 dates", admin.post(DATES, season), 200).await;
    let one = format!("{DATES}/2026-01-01");
    measured.of("a date, to a visitor", visitor.get(&one), 200).await;
    let month = format!("{DATES}?from=2026-01-01&to=2026-01-31&limit=31");
    measured.of("31 dates, to a visitor", visitor.get(&month), 200).await;
    measured.of("31 dates, to an administrator", admin.get(&month), 200).await;
    measured.of("change the reason of a date", admin.patch(&one, json!({ "reason": "wildfire" })), 200).await;
    measured.of("open a date", admin.patch(&one, json!({ "status": "open" })), 200).await;
    measured.of("delete a date that is open", admin.delete(&one), 204).await;
    admin.post(DATES, json!({ "from": "2026-01-01", "to": "2026-01-01", "status": "closed" })).await.is(200);
    let all = format!("{DATES}?from=2025-12-01&to=2026-03-09");
    measured.of("open 99 dates", admin.patch(&all, json!({ "status": "open" })), 200).await;
    measured.of("delete 99 dates", admin.delete(&all), 200).await;
}

async fn shaped(measured: &mut Measured, cairn: &Cairn) {
    let admin = measured.admin.clone();
    let shape = |y: f64| -> Value {
        let rings = ellipse([-125.5, y], [0.4, 0.25], 1000, 7);
        serde_json::from_str(&format!(r#"{{"type":"Polygon","coordinates":[{rings}]}}"#)).unwrap()
    };
    let path = format!("{ZONE}/geometry/boundary");
    measured.of("attach a shape that is kept in S3", admin.put(&path, shape(49.5)), 200).await;
    measured.of("attach another in its place", admin.put(&path, shape(50.5)), 200).await;
    cairn.caught_up().await;
    let drawn = admin.get("/parks/search?entity=geozone&f=geojson&shapeAs=zoom:8");
    measured.of("search two geozones, one with a shape for a zoom", drawn, 200).await;
    measured.of("detach a shape", admin.delete(&path), 204).await;
    let week = Duration::from_secs(8 * 24 * 3600);
    let sweep = ("sweepGeometries", &json!({}));
    measured.costs.of_event("remove 2 shapes that nobody uses", cairn, ::parks::app, sweep, week).await;
}

async fn worked(measured: &mut Measured, cairn: &Cairn) {
    let admin = measured.admin.clone();
    let run = ("runJobs", &json!({}));
    measured.costs.of_event("look for due jobs, none there", cairn, ::parks::app, run, Duration::ZERO).await;
    let announced = admin.post("/parks/geometries/uploads", json!({ "bytes": 5_000_000 }));
    measured.of("announce an upload", announced, 201).await;
    let layer = json!({ "collectionId": "bcparks_1", "entity": "facility", "format": "csv", "bytes": 5_000_000 });
    let announced = measured.of("announce an import", admin.post("/parks/imports", layer), 201).await;
    measured.of("cancel an import that waits for its file", admin.delete(announced.header("location")), 204).await;
    let delete = admin.delete("/parks/collections/bcparks_1?cascade=true");
    measured.of("delete a collection with 34 items and 10 relationships", delete, 204).await;
    let restore = admin.post("/parks/collections/bcparks_1/restore", json!({}));
    measured.of("restore a collection with 34 items and 10 relationships", restore, 200).await;
    for _ in 0..100 {
        admin.post("/parks/geozones/hidden", json!({ "displayName": "Z", "location": [1, 1] })).await.is(201);
    }
    // No worker of the platform takes the job.
    cairn.engines().wind_down();
    let begun = admin.delete("/parks/collections/hidden?cascade=true");
    let begun = measured.of("begin to delete a collection with 100 items", begun, 202).await;
    measured.of("two jobs", admin.get("/parks/jobs"), 200).await;
    measured.of("a job", admin.get(begun.header("location")), 200).await;
}
