//! `sweepGeometries` and what is left of a shape when its object or its uses are gone.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::join;
use http::Method;
use http_body_util::BodyExt;
use hyper::Request;
use hyper::body::Incoming;
use serde_json::{Value, json};
use table::{Clock, Config, Engines};
use tokio::time::Instant;

use super::held::Held;
use super::shapes::ellipse;
use super::uploads::{upload, zone};
use crate::harness::relay::pass_on;
use crate::harness::server::Server;
use crate::harness::stopper::{TRANSACTIONS, WRITES};
use crate::harness::table::text;
use crate::harness::{Answer, Cairn, User};
use crate::tests;

tests! { sweep:
    #[long] unused_shape_is_swept_and_lost_object_is_reported,
    shape_used_again_is_not_swept,
    shape_that_is_attached_as_its_sweep_begins_stays,
    shape_that_is_swept_as_it_is_attached_is_gone,
    #[long] interrupted_sweep_is_finished_by_the_next,
    sweep_without_its_lease_deletes_nothing,
    corrupted_object_is_restored_by_the_next_put,
    idle_sweep_writes_no_metrics,
}

const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);

/// A shape too large to stay on an item.
fn large(x: f64) -> String {
    format!(r#"{{"type":"Polygon","coordinates":[{}]}}"#, ellipse([x, 49.6], [0.4, 0.25], 1000, 7))
}

async fn attach(admin: &User, zone: &str, upload: &Answer) -> Answer {
    admin.put(&format!("{zone}/geometry/boundary"), json!({ "uploadId": upload["uploadId"] })).await
}

fn objects(cairn: &Cairn) -> usize {
    let folder = cairn.bucket("parks").join("geometries");
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(".geojson")).count()
}

async fn sweep(cairn: &Cairn) {
    cairn.event("parks", "sweepGeometries", &json!({})).await.unwrap();
}

/// As who removes it does, who has the lease for two minutes more.
async fn mark(cairn: &Cairn, sha256: &str) {
    let mut item = cairn.table().get(&format!("geometry::{sha256}"), "object").await.unwrap();
    item.insert("status".to_owned(), text("deleting"));
    item.insert("listPk".to_owned(), text("geometry::deleting"));
    let until = (cairn.clock.seconds() + 120).to_string();
    item.insert("leaseUntil".to_owned(), aws_sdk_dynamodb::types::AttributeValue::N(until));
    cairn.table().put(item).await;
}

async fn refs(cairn: &Cairn, sha256: &str) -> Option<String> {
    let item = cairn.table().get(&format!("geometry::{sha256}"), "object").await?;
    Some(item["refs"].as_n().unwrap().clone())
}

async fn unused_shape_is_swept_and_lost_object_is_reported() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let zones = [zone(&admin, "One", [10.0, 10.0]).await, zone(&admin, "Other", [10.0, 10.0]).await];
    let file = large(-125.5);
    let ready = upload(&admin, &file).await;
    let sha256 = ready.text("sha256").to_owned();
    for zone in &zones {
        attach(&admin, zone, &ready).await.is(200);
    }
    assert_eq!((objects(&cairn), refs(&cairn, &sha256).await.as_deref()), (1, Some("2")));

    // Lost by hand: the shape cannot be had, its items can.
    cairn.caught_up().await;
    std::fs::remove_file(cairn.bucket("parks").join(format!("geometries/{sha256}.geojson"))).unwrap();
    for zone in &zones {
        visitor.get(&format!("{zone}/geometry/boundary")).may_fail().await.refused(503, "geometry-unavailable");
        visitor.get(&format!("{zone}?geometry=none")).await.is(200);
    }
    visitor.search("bbox=-125.6,49.5,-125.4,49.7").await.are(&["One", "Other"]);
    // On a map they keep the outlines that search has.
    let map = "/parks/search?bbox=-125.6,49.5,-125.4,49.7&f=geojson&shapeAs=zoom:8";
    let map = visitor.get(map).may_fail().await.is(200);
    let outlines: Vec<&Value> =
        map["features"].as_array().unwrap().iter().map(|each| &each["geometry"]["type"]).collect();
    assert_eq!(outlines, ["Polygon", "Polygon"]);
    for number in ["1", "2"] {
        cairn.repair("geozone::bcparks_1", number).await;
    }
    let missing = visitor.search("bbox=-125.89,49.36,-125.88,49.37").await;
    missing.are(&["One", "Other"]);
    assert_eq!(missing[0]["boundaryStatus"], "missing");

    // The same content heals the object, and a repair the documents.
    assert_eq!(upload(&admin, &file).await["status"], "ready");
    for (zone, number) in zones.iter().zip(["1", "2"]) {
        visitor.get(&format!("{zone}/geometry/boundary")).await.is(200);
        cairn.repair("geozone::bcparks_1", number).await;
    }
    visitor.search("bbox=-125.89,49.36,-125.88,49.37").await.is_nothing();
    let whole = visitor.search("bbox=-125.6,49.5,-125.4,49.7").await;
    assert_eq!((whole.total(), &whole[1]["boundaryStatus"]), (2, &json!("full")));

    // Unused it is kept for seven days.
    for zone in &zones {
        admin.delete(&format!("{zone}/geometry/boundary")).await.is(204);
    }
    cairn.clock.advance(WEEK - Duration::from_secs(3600));
    sweep(&cairn).await;
    assert_eq!((objects(&cairn), refs(&cairn, &sha256).await.as_deref()), (1, Some("0")));
    cairn.clock.advance(Duration::from_secs(2 * 3600));
    sweep(&cairn).await;
    removed(&cairn, &sha256).await;
    assert_eq!(objects(&cairn), 0);
    assert!(!cairn.bucket("parks").join(format!("geometries/{sha256}")).join("10000.geojson").exists());

    // At once with an attach, one of them wins.
    let admin = cairn.administrator().await;
    for round in 0..30_u32 {
        let ready = upload(&admin, &large(f64::from(round))).await;
        let sha256 = ready.text("sha256").to_owned();
        forgotten(&cairn, &sha256).await;
        let late = async {
            tokio::time::sleep(Duration::from_micros(u64::from(round % 10) * 500)).await;
            attach(&admin, &zones[0], &ready).await
        };
        let (attached, ()) = join(late, sweep(&cairn)).await;
        let object = cairn.bucket("parks").join(format!("geometries/{sha256}.geojson"));
        if attached.status == 200 {
            assert_eq!((refs(&cairn, &sha256).await.as_deref(), object.exists()), (Some("1"), true));
        } else {
            attached.is(409);
            removed(&cairn, &sha256).await;
            assert!(!object.exists());
        }
    }
}

/// Waits until a shape is gone. The platform's own schedule follows the same clock, and whoever comes second leaves it
/// to the other.
async fn removed(cairn: &Cairn, sha256: &str) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while refs(cairn, sha256).await.is_some() {
        assert!(Instant::now() < deadline, "it is not removed");
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}

/// Makes a shape one that was unused for longer than it is kept.
async fn forgotten(cairn: &Cairn, sha256: &str) {
    let mut item = cairn.table().get(&format!("geometry::{sha256}"), "object").await.unwrap();
    item.insert("listSk".to_owned(), text("2020-01-01T00:00:00.000000Z"));
    cairn.table().put(item).await;
}

async fn shape_used_again_is_not_swept() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let file = large(-125.5);
    let first = upload(&admin, &file).await;
    cairn.clock.advance(WEEK - Duration::from_secs(3600));
    // Sent again after almost a week: the time counts anew.
    assert_eq!(upload(&admin, &file).await["sha256"], first["sha256"]);
    cairn.clock.advance(Duration::from_secs(2 * 3600));
    sweep(&cairn).await;
    assert_eq!(refs(&cairn, first.text("sha256")).await.as_deref(), Some("0"));
    assert_eq!(objects(&cairn), 1);
    // A deleted item keeps its uses.
    let zone = zone(&admin, "Zone", [10.0, 10.0]).await;
    let body: Value = serde_json::from_str(&file).unwrap();
    admin.put(&format!("{zone}/geometry/boundary"), body).await.is(200);
    admin.delete(&zone).await.is(204);
    cairn.clock.advance(WEEK * 2);
    sweep(&cairn).await;
    assert_eq!((objects(&cairn), refs(&cairn, first.text("sha256")).await.as_deref()), (1, Some("1")));
}

async fn shape_that_is_attached_as_its_sweep_begins_stays() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let zone = zone(&admin, "Zone", [10.0, 10.0]).await;
    let ready = upload(&admin, &large(-125.5)).await;
    forgotten(&cairn, ready.text("sha256")).await;
    let held = Held::first_of(&cairn, WRITES).await;
    held.event("sweepGeometries", attach(&admin, &zone, &ready)).await.is(200);
    assert_eq!((objects(&cairn), refs(&cairn, ready.text("sha256")).await.as_deref()), (1, Some("1")));
    admin.get(&format!("{zone}/geometry/boundary")).await.is(200);
}

async fn shape_that_is_swept_as_it_is_attached_is_gone() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let zone = zone(&admin, "Zone", [10.0, 10.0]).await;
    let ready = upload(&admin, &large(-125.5)).await;
    forgotten(&cairn, ready.text("sha256")).await;
    let held = Held::first_of(&cairn, TRANSACTIONS).await;
    let body = json!({ "uploadId": ready["uploadId"] });
    let boundary = format!("{zone}/geometry/boundary");
    let (attached, ()) = held.request(Method::PUT, &boundary, &body, sweep(&cairn)).await;
    assert_eq!(attached, 409);
    assert_eq!((objects(&cairn), refs(&cairn, ready.text("sha256")).await), (0, None));
}

async fn interrupted_sweep_is_finished_by_the_next() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let file = large(-125.5);
    let ready = upload(&admin, &file).await;
    let sha256 = ready.text("sha256").to_owned();
    let zone = zone(&admin, "Zone", [10.0, 10.0]).await;
    mark(&cairn, &sha256).await;
    attach(&admin, &zone, &ready).await.refused(409, "conflict");
    sweep(&cairn).await;
    cairn.event("parks", "runJobs", &json!({})).await.unwrap();
    assert_eq!(refs(&cairn, &sha256).await.as_deref(), Some("0"));
    // Sent again meanwhile, it waits for the end of the sweep.
    let body: Value = serde_json::from_str(&file).unwrap();
    admin.put(&format!("{zone}/geometry/boundary"), body.clone()).await.refused(409, "conflict");
    cairn.clock.advance(Duration::from_secs(121));
    cairn.event("parks", "runJobs", &json!({})).await.unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    while refs(&cairn, &sha256).await.is_some() {
        assert!(Instant::now() < deadline, "it is never finished");
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert_eq!(objects(&cairn), 0);
    attach(&admin, &zone, &ready).await.refused(409, "upload-not-ready");
    admin.put(&format!("{zone}/geometry/boundary"), body).await.is(200);
    assert_eq!((objects(&cairn), refs(&cairn, &sha256).await.as_deref()), (1, Some("1")));
}

async fn sweep_without_its_lease_deletes_nothing() {
    let cairn = Cairn::with_strathcona().await;
    let ready = upload(&cairn.administrator().await, &large(-125.5)).await;
    let sha256 = ready.text("sha256").to_owned();
    forgotten(&cairn, &sha256).await;
    let config = cairn.engines().config.clone();
    let clock = Clock::system();
    let s3 = slow(config.s3.clone().unwrap(), clock.clone()).await;
    let config = Config { s3: Some(s3.url.clone()), ..config };
    let sweeper = ::parks::app(Engines::new(config, clock)).metrics_to(|_| {});
    sweeper.event("sweepGeometries", "{}".into(), Instant::now() + Duration::from_secs(60)).await.unwrap();
    assert_eq!((objects(&cairn), refs(&cairn, &sha256).await.as_deref()), (1, Some("0")));
    // The next run removes the rest.
    cairn.clock.advance(Duration::from_secs(121));
    cairn.event("parks", "runJobs", &json!({})).await.unwrap();
    removed(&cairn, &sha256).await;
    assert_eq!(objects(&cairn), 0);
}

/// An S3 that takes longer than a lease to delete an object, by this clock.
async fn slow(s3: String, clock: Clock) -> Server {
    Server::start(move |request: Request<Incoming>| {
        let url = format!("{s3}{}", request.uri().path_and_query().map_or("/", |path| path.as_str()));
        let clock = clock.clone();
        async move {
            let (parts, body) = request.into_parts();
            if parts.method == Method::DELETE {
                clock.advance(Duration::from_secs(121));
            }
            let body = body.collect().await.unwrap().to_bytes();
            pass_on(url, parts, body).await
        }
    })
    .await
}

async fn corrupted_object_is_restored_by_the_next_put() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let zone = zone(&admin, "Zone", [10.0, 10.0]).await;
    let file = large(-125.5);
    let ready = upload(&admin, &file).await;
    attach(&admin, &zone, &ready).await.is(200);
    let object = cairn.bucket("parks").join(format!("geometries/{}.geojson", ready.text("sha256")));
    let right = std::fs::read(&object).unwrap();
    std::fs::write(&object, vec![b'x'; right.len()]).unwrap();
    visitor.get(&format!("{zone}/geometry/boundary")).may_fail().await.refused(503, "geometry-unavailable");
    assert_eq!(upload(&admin, &file).await["status"], "ready");
    assert_eq!(std::fs::read(&object).unwrap(), right);
    visitor.get(&format!("{zone}/geometry/boundary")).await.is(200);
}

async fn idle_sweep_writes_no_metrics() {
    let cairn = Cairn::with_strathcona().await;
    let lines = Arc::new(Mutex::new(0));
    let written = Arc::clone(&lines);
    let app = ::parks::app(Arc::clone(cairn.engines())).metrics_to(move |_| *written.lock().unwrap() += 1);
    let work = async || {
        app.event("runJobs", "{}".into(), Instant::now() + Duration::from_secs(60)).await.unwrap();
        *lines.lock().unwrap()
    };
    assert_eq!(work().await, 0, "nothing has been begun");
    let ready = upload(&cairn.administrator().await, &large(-125.5)).await;
    mark(&cairn, ready.text("sha256")).await;
    assert_eq!(work().await, 1, "a shape waits to be removed");
}
