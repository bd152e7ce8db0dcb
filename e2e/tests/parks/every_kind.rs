//! What the kinds of item have in common, with each of them, and work that finds its file gone: each function shows that
//! it needs what it may do.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde_json::{Value, json};
use table::{Config, Engines};
use tokio::time::Instant;
use web::App;

use super::cascades::{is_open, with_hub};
use super::imports::{collection, ended, feature, import, point};
use super::relationships::{relate, seen, with_camps};
use super::shapes::ellipse;
use crate::harness::lag::{Lag, Lagging};
use crate::harness::{Cairn, Front, User, recorder, send_file};
use crate::tests;

tests! { every_kind:
    large_shape_round_trips_for_every_kind,
    external_id_is_set_and_removed_for_every_kind,
    faulty_required_field_is_reported_with_all_other_faults,
    relationships_follow_every_kind_through_delete_and_restore,
    event_for_a_missing_file_is_ignored,
    upload_waits_for_the_event_of_a_file_that_came_as_its_link_ended,
    worker_resumes_an_import,
    #[long] hiding_a_product_hides_its_many_relationships,
    restored_collection_relates_to_a_retyped_item,
    restore_succeeds_while_the_index_lags,
    job_restores_relationships_to_a_retyped_item,
}

const ZONES: &str = "/parks/geozones/bcparks_1";
const FACILITIES: &str = "/parks/facilities/bcparks_1";
const ACTIVITIES: &str = "/parks/activities/bcparks_1";

/// One that no other item has, too large to stay on an item.
fn large(x: f64) -> Value {
    let polygon = format!(r#"{{"type":"Polygon","coordinates":[{}]}}"#, ellipse([x, 49.6], [0.4, 0.25], 1000, 7));
    serde_json::from_str(&polygon).unwrap()
}

fn item(name: &str, more: Value) -> Value {
    let mut item = json!({ "displayName": name, "location": [-125.5, 49.6], "isVisible": true });
    item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    item
}

fn arrived(object: &str) -> Value {
    json!({ "Records": [{ "s3": { "object": { "key": object } } }] })
}

async fn large_shape_round_trips_for_every_kind() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let kinds = [
        (ZONES, json!({})),
        (FACILITIES, json!({ "facilityType": "campground" })),
        (ACTIVITIES, json!({ "activityType": "dayuse" })),
    ];
    for ((list, more), x) in kinds.into_iter().zip([-125.0, -115.0, -105.0]) {
        let mut new = item("Large", more);
        new["boundary"] = large(x);
        let made = admin.post(list, new).await.is(201);
        let path = made.header("location").to_owned();
        let boundary = format!("{path}/geometry/boundary");
        let positions = |shape: &Value| shape["geometry"]["coordinates"][0].as_array().unwrap().len();
        assert_eq!(positions(&visitor.get(&boundary).await.is(200).body), 1001);
        let global = format!("/parks/items/{}", made.text("globalId"));
        for path in [&path, &global] {
            let whole = visitor.get(&format!("{path}?geometry=full")).await.is(200);
            assert_eq!(whole["boundary"]["type"], "Polygon", "{}", whole.told());
        }
        for relation in ["intersects", "within", "contains"] {
            let by_shape = json!({ "shapeOf": made["globalId"], "relation": relation });
            visitor.search_by(by_shape).await.are(&["Large"]);
        }
        admin.put(&boundary, large(x + 2.0)).await.is(200);
        assert_eq!(positions(&visitor.get(&boundary).await.is(200).body), 1001);
        admin.delete(&boundary).await.is(204);
    }
}

async fn external_id_is_set_and_removed_for_every_kind() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let kinds = [
        (ZONES, json!({})),
        (FACILITIES, json!({ "facilityType": "campground" })),
        (ACTIVITIES, json!({ "activityType": "dayuse" })),
    ];
    for (list, more) in kinds {
        let [one, other] = ["One", "Other"].map(|name| admin.post(list, item(name, more.clone())));
        let (one, other) = (one.await.is(201), other.await.is(201));
        let (one, other) = (one.header("location"), other.header("location"));
        admin.patch(one, json!({ "externalId": "A-1" })).await.is(200);
        admin.patch(other, json!({ "externalId": "A-1" })).await.refused(409, "taken");
        admin.patch(one, json!({ "externalId": null })).await.is(200);
        admin.patch(other, json!({ "externalId": "A-1" })).await.is(200);
    }
}

async fn faulty_required_field_is_reported_with_all_other_faults() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let place = json!({ "displayName": " ", "location": [181, 1], "timezone": "Mars/Olympus" });
    for (list, field) in [(FACILITIES, "facilityType"), (ACTIVITIES, "activityType")] {
        let pointer = format!("/{field}");
        let places = [pointer.as_str(), "/displayName", "/location/0", "/timezone"];
        admin.post(list, place.clone()).await.faulty(&places);
        let mut typed = place.clone();
        typed[field] = json!("camp");
        admin.post(list, typed).await.faulty(&places);
    }
    let product = json!({ "displayName": " ", "rangeStart": "2026-02-29", "timezone": "Mars/Olympus" });
    let places = ["/displayName", "/rangeStart", "/rangeEnd", "/timezone"];
    admin.post("/parks/products/bcparks_1/dayuse/1", product).await.faulty(&places);
}

async fn relationships_follow_every_kind_through_delete_and_restore() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    for name in ["One", "Other"] {
        admin.post(ZONES, item(name, json!({}))).await.is(201);
        admin.post(FACILITIES, item(name, json!({ "facilityType": "campground" }))).await.is(201);
    }
    admin.post(ACTIVITIES, item("Day use", json!({ "activityType": "dayuse" }))).await.is(201);
    let pass =
        json!({ "displayName": "Pass", "rangeStart": "2025-12-01", "rangeEnd": "2026-11-30", "isVisible": true });
    admin.post("/parks/products/bcparks_1/dayuse/1", pass).await.is(201);
    let (zone, mut camp, mut next) = ("geozone::bcparks_1/1", "campground", "trail");
    for (end, path) in [
        ("geozone::bcparks_1/2", format!("{ZONES}/2")),
        ("facility::bcparks_1/campground::2", format!("{FACILITIES}/campground/2")),
        ("activity::bcparks_1/dayuse::1", format!("{ACTIVITIES}/dayuse/1")),
        ("product::bcparks_1::dayuse::1/1", "/parks/products/bcparks_1/dayuse/1/1".to_owned()),
    ] {
        relate(&admin, zone, end).await.is(201);
        relate(&admin, end, &format!("facility::bcparks_1/{camp}::1")).await.is(201);
        for visible in [false, true] {
            admin.patch(&path, json!({ "isVisible": visible })).await.is(200);
        }
        admin.delete(&format!("{path}?cascade=true")).await.is(204);
        admin.post(&format!("{FACILITIES}/{camp}/1/retype"), json!({ "facilityType": next })).await.is(200);
        (camp, next) = (next, camp);
        admin.post(&format!("{path}/restore"), json!({})).await.is(200);
        for other in [zone, &format!("facility::bcparks_1/{camp}::1")] {
            admin.get(&format!("/parks/relationships/{end}/{other}")).await.is(200);
        }
    }
}

async fn announced(admin: &User, file: &str) -> (String, String, crate::harness::Answer) {
    let new = json!({ "collectionId": "bcparks_1", "entity": "facility", "format": "geojson", "bytes": file.len() });
    let announced = admin.post("/parks/imports", new).await.is(201);
    (announced.header("location").to_owned(), format!("imports/{}", announced.text("id")), announced)
}

async fn event_for_a_missing_file_is_ignored() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let upload = admin.post("/parks/geometries/uploads", json!({ "bytes": 10 })).await.is(201);
    let object = format!("uploads/{}", upload.text("uploadId"));
    cairn.event("parks", "checkUpload", &arrived(&object)).await.unwrap();
    assert_eq!(admin.get(upload.header("location")).await.is(200)["status"], "checking");

    let (job, object, _) = announced(&admin, "{}").await;
    cairn.event("parks", "startImport", &arrived(&object)).await.unwrap();
    assert_eq!(ended(&admin, &job).await["status"], "failed");
}

async fn upload_waits_for_the_event_of_a_file_that_came_as_its_link_ended() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let upload = admin.post("/parks/geometries/uploads", json!({ "bytes": 10 })).await.is(201);
    let status = async || admin.get(upload.header("location")).await.is(200)["status"].clone();
    cairn.clock.advance(Duration::from_secs(15 * 60 + 5));
    assert_eq!(status().await, "awaiting");
    cairn.clock.advance(Duration::from_secs(30));
    assert_eq!(status().await, "expired");
}

/// Who does what the platform's own workers leave.
fn worker(cairn: &Cairn) -> App {
    worker_with(cairn, cairn.engines().config.clone())
}

fn worker_with(cairn: &Cairn, config: Config) -> App {
    let engines = Engines::new(config, cairn.clock.clone());
    ::parks::app(recorder::OF_THE_RUN.before(&engines)).metrics_to(|_| {})
}

async fn worker_resumes_an_import() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let known = collection(&[feature("known", "Known", &point(-125.0, 49.0))]);
    assert_eq!(import(&admin, "geojson", &known).await["status"], "succeeded");
    // The platform's own workers let go of what they take.
    cairn.engines().wind_down();
    let file = collection(&[
        feature("large", "Large", &large(-125.0)),
        feature("known", "Known by now", &point(-125.0, 49.0)),
        feature("wrong", "", &point(0.0, 0.0)),
    ]);
    let (whole, lost) = (announced(&admin, &file).await, announced(&admin, &file).await);
    for (job, _, announced) in [&whole, &lost] {
        assert_eq!(send_file(announced, &file).await, 200);
        let deadline = Instant::now() + Duration::from_secs(60);
        while admin.get(job).await.is(200)["status"] != "running" {
            assert!(Instant::now() < deadline, "it does not begin");
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
    }
    cairn.caught_up().await;
    std::fs::remove_file(cairn.bucket("parks").join(&lost.1)).unwrap();
    let worker = worker(&cairn);
    let deadline = Instant::now() + Duration::from_secs(60);
    while worker.event("runJobs", "{}".into(), deadline).await.is_ok() {
        let open = [&whole.0, &lost.0].map(|job| admin.get(job));
        let [one, other] = open;
        if !is_open(one.await.text("status")) && !is_open(other.await.text("status")) {
            break;
        }
    }
    let whole = admin.get(&whole.0).await.is(200);
    assert_eq!(whole["counts"], json!({ "total": 3, "done": 2, "failed": 1 }), "{}", whole.told());
    assert_eq!(admin.get(&lost.0).await.is(200)["status"], "failed");
}

async fn hiding_a_product_hides_its_many_relationships() {
    let (_cairn, admin, visitor) = with_camps(100).await;
    admin.post(ACTIVITIES, item("Day use", json!({ "activityType": "dayuse" }))).await.is(201);
    let pass =
        json!({ "displayName": "Pass", "rangeStart": "2025-12-01", "rangeEnd": "2026-11-30", "isVisible": true });
    admin.post("/parks/products/bcparks_1/dayuse/1", pass).await.is(201);
    for number in 1..=100 {
        relate(&admin, "product::bcparks_1::dayuse::1/1", &format!("facility::bcparks_1/campground::{number}"))
            .await
            .is(201);
    }
    let product = "/parks/products/bcparks_1/dayuse/1/1";
    let begun = admin.patch(product, json!({ "isVisible": false })).await.is(202);
    assert_eq!(ended(&admin, begun.header("location")).await["status"], "succeeded");
    visitor.get(product).await.refused(404, "not-found");
}

async fn restored_collection_relates_to_a_retyped_item() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    cairn.collection("other", "Garibaldi").await;
    admin.post(ZONES, item("Zone", json!({}))).await.is(201);
    let camp = item("Camp", json!({ "facilityType": "campground" }));
    admin.post("/parks/facilities/other", camp).await.is(201);
    relate(&admin, "geozone::bcparks_1/1", "facility::other/campground::1").await.is(201);
    let collection = "/parks/collections/bcparks_1";
    admin.delete(&format!("{collection}?cascade=true")).await.is(204);
    admin.post("/parks/facilities/other/campground/1/retype", json!({ "facilityType": "trail" })).await.is(200);
    admin.post(&format!("{collection}/restore"), json!({})).await.is(200);
    admin.get("/parks/relationships/geozone::bcparks_1/1/facility::other/trail::1").await.is(200);
}

/// Retypes some campgrounds, which the index of the other instance continues to show under their old keys.
async fn retype_behind_index(admin: &User, late: &User, camps: RangeInclusive<usize>) {
    for number in camps {
        let camp = format!("{FACILITIES}/campground/{number}");
        let by_id = format!("/parks/items/{}", admin.get(&camp).await.is(200).text("globalId"));
        late.get(&by_id).await.is(200);
        admin.post(&format!("{camp}/retype"), json!({ "facilityType": "trail" })).await.is(200);
        late.get(&by_id).await.refused(404, "not-found");
    }
}

/// A second instance of parks, for which the index of global ids lags, and its configuration.
async fn behind_index(cairn: Cairn) -> (Front, User, Lag, Config) {
    let config = cairn.engines().config.clone();
    let lag = Lag::before(config.dynamodb.clone().unwrap(), Lagging::Index("globalId")).await;
    let token = cairn.token("ada", &["parks-admin"]).await;
    let config = Config { dynamodb: Some(lag.url.clone()), ..config };
    let front = Front::of(cairn, config.clone()).await;
    let late = front.user("administrator", &token);
    (front, late, lag, config)
}

async fn restore_succeeds_while_the_index_lags() {
    let (cairn, admin, _) = with_camps(4).await;
    let (zone, path) = ("geozone::bcparks_1/1", format!("{ZONES}/1"));
    for number in 1..=4 {
        relate(&admin, zone, &format!("facility::bcparks_1/campground::{number}")).await.is(201);
    }
    admin.delete(&format!("{path}?cascade=true")).await.is(204);
    let (_front, late, lag, _) = behind_index(cairn).await;
    retype_behind_index(&admin, &late, 1..=3).await;
    assert!(lag.repeated() > 0, "the index does not lag");
    late.post(&format!("{path}/restore"), json!({})).await.is(200);
    assert_eq!(seen(&admin, zone).await, ["campground::4", "trail::1", "trail::2", "trail::3"]);
}

async fn job_restores_relationships_to_a_retyped_item() {
    let (cairn, admin, _) = with_hub(60).await;
    let (zone, path) = ("geozone::bcparks_1/1", format!("{ZONES}/1"));
    admin.delete(&format!("{path}?cascade=true")).await.is(204);
    let (front, late, _lag, config) = behind_index(cairn).await;
    retype_behind_index(&admin, &late, 2..=4).await;
    front.cairn.engines().wind_down();
    let begun = admin.post(&format!("{path}/restore"), json!({})).await.is(202);
    let (worker, deadline) = (worker_with(&front.cairn, config), Instant::now() + Duration::from_secs(60));
    while is_open(admin.get(begun.header("location")).await.is(200).text("status")) {
        worker.event("runJobs", "{}".into(), deadline).await.unwrap();
        assert!(Instant::now() < deadline, "it never ends");
    }
    for number in 2..=4 {
        admin.get(&format!("/parks/relationships/{zone}/facility::bcparks_1/trail::{number}")).await.is(200);
    }
    assert_eq!(seen(&admin, zone).await.len(), 60);
}
