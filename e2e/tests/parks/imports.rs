//! `/parks/imports` and `/parks/jobs`: layers of many items in one file.

use std::time::Duration;

use serde_json::{Value, json};
use table::{Config, Engines};
use tokio::time::Instant;

use super::shapes::{ellipse, rectangle};
use crate::harness::lag::{Lag, Lagging};
use crate::harness::{Answer, Cairn, User, send_file};
use crate::tests;

tests! { imports:
    geojson_layer_is_imported,
    csv_layer_is_imported,
    imported_activities_accept_products,
    repeated_import_updates_only_what_differs,
    import_into_an_absent_collection_is_refused,
    import_over_the_limits_is_refused,
    import_without_a_file_fails,
    jobs_are_listed_newest_first_until_they_expire,
    jobs_are_listed_by_status,
    repeated_import_event_changes_nothing,
    row_overwrites_an_update_that_a_replica_lacks,
}

const IMPORTS: &str = "/parks/imports";
pub const TRAILS: &str = "/parks/facilities/bcparks_1";

/// Announces a file of facilities, sends it and waits for the end of its job.
pub async fn import(admin: &User, format: &str, file: &str) -> Answer {
    import_of(admin, "facility", format, file).await
}

pub async fn import_of(admin: &User, entity: &str, format: &str, file: &str) -> Answer {
    import_with(admin, format, json!({ "entity": entity }), file).await
}

/// Announces a file with more members of the request, sends it and waits for the end of its job.
pub async fn import_with(admin: &User, format: &str, more: Value, file: &str) -> Answer {
    let mut new = json!({ "collectionId": "bcparks_1", "entity": "facility", "format": format, "bytes": file.len() });
    new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let announced = admin.post(IMPORTS, new).await.is(201);
    assert_eq!(announced["status"], "queued");
    assert_eq!(send_file(&announced, file).await, 200);
    ended(admin, announced.header("location")).await
}

/// Longer than a lease: a worker that was killed holds its job for two minutes.
const STALLED: Duration = Duration::from_secs(180);

pub async fn ended(admin: &User, job: &str) -> Answer {
    let (mut counts, mut since) = (Value::Null, Instant::now());
    loop {
        let read = admin.get(job).await.is(200);
        if !["queued", "running"].contains(&read.text("status")) {
            return read;
        }
        assert_eq!(read.header("retry-after"), "1");
        if read["counts"] != counts {
            (counts, since) = (read["counts"].clone(), Instant::now());
        }
        assert!(since.elapsed() < STALLED, "it does not go on: {}", read.told());
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}

pub fn collection(features: &[Value]) -> String {
    json!({ "type": "FeatureCollection", "features": features }).to_string()
}

pub fn feature(external_id: &str, name: &str, geometry: &Value) -> Value {
    json!({ "type": "Feature", "geometry": geometry, "properties": {
        "externalId": external_id, "displayName": name, "facilityType": "trail", "isVisible": true
    } })
}

pub fn point(x: f64, y: f64) -> Value {
    json!({ "type": "Point", "coordinates": [x, y] })
}

async fn geojson_layer_is_imported() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let ring: Value = serde_json::from_str(&ellipse([-125.5, 49.6], [0.4, 0.25], 1000, 7)).unwrap();
    let mut features = vec![
        feature("area", "Area", &rectangle(-125.6, 49.4, -125.4, 49.6)),
        feature("large", "Large", &json!({ "type": "Polygon", "coordinates": [ring] })),
        feature("line", "Line", &json!({ "type": "LineString", "coordinates": [[-125.0, 49.0], [-124.9, 49.1]] })),
    ];
    features.extend((0..100).map(|n| feature(&format!("p{n}"), &format!("Point {n}"), &point(-125.0, 49.0))));
    let job = import(&admin, "geojson", &collection(&features)).await;
    assert_eq!(job["counts"], json!({ "total": 103, "done": 103, "failed": 0 }), "{}", job.told());
    assert_eq!(
        (job.text("status"), job.text("kind"), job.text("root")),
        ("succeeded", "import", "collection#bcparks_1")
    );
    assert!(job.body.get("faultsLink").is_none() && job["endedAt"].is_string());

    let area = visitor.get(&format!("{TRAILS}/trail/1")).await.is(200);
    assert_eq!(area["envelope"], json!([-125.6, 49.4, -125.4, 49.6]));
    let line = admin.get(&format!("{TRAILS}/trail/3")).await.is(200);
    assert_eq!((&line["path"]["type"], line.text("externalId")), (&json!("LineString"), "line"));
    assert_eq!(line["createdBy"], job["createdBy"]);
    let pages = visitor.pages(TRAILS, 25).await;
    let numbers: Vec<u64> = pages.iter().flat_map(|page| page.each("number")).filter_map(Value::as_u64).collect();
    assert_eq!(numbers, (1..=103).collect::<Vec<_>>());
    visitor.search("q=large&bbox=-125.51,49.59,-125.49,49.61").await.are(&["Large"]);
    assert_eq!(visitor.search("entity=facility&limit=1").await.total(), 103);
    // They count as children, and their shapes as used.
    let refused = admin.delete("/parks/collections/bcparks_1").await.refused(409, "has-dependents");
    assert_eq!(refused["counts"], json!({ "facilities": 103 }));
    let large = admin.get(&format!("{TRAILS}/trail/2")).await.is(200);
    let shape = format!("geometry::{}", large["boundary"]["sha256"].as_str().unwrap());
    assert_eq!(cairn.table().get(&shape, "object").await.unwrap()["refs"].as_n().unwrap(), "1");
}

async fn csv_layer_is_imported() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let file = "\u{feff}latitude,longitude,externalId,displayName,type,searchTerms,description\r\n\
        49.6,-125.5,a,\"Bear, Camp\",campground,bears | tents,\"Two\nlines, \"\"quoted\"\"\"\r\n\
        \r\n\
        49.7,-125.6,b,Forbidden Plateau,viewpoint,,\r\n";
    let job = import(&admin, "csv", file).await;
    assert_eq!(job["counts"], json!({ "total": 2, "done": 2, "failed": 0 }), "{}", job.told());
    let camp = admin.get(&format!("{TRAILS}/campground/1")).await.is(200);
    assert_eq!(camp["displayName"], "Bear, Camp");
    assert_eq!((&camp["searchTerms"], &camp["location"]), (&json!(["bears", "tents"]), &json!([-125.5, 49.6])));
    assert_eq!((camp.text("description"), &camp["isVisible"]), ("Two\nlines, \"quoted\"", &json!(false)));
    admin.get(&format!("{TRAILS}/viewpoint/2")).await.is(200);

    let zones = import_of(&admin, "geozone", "csv", "externalId,displayName,longitude,latitude\nz,Zone,1,2\n").await;
    assert_eq!(zones["counts"]["done"], 1, "{}", zones.told());
    assert_eq!(admin.get("/parks/geozones/bcparks_1/1").await.is(200)["location"], json!([1, 2]));
}

async fn imported_activities_accept_products() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let file = "externalId,displayName,type,longitude,latitude\na,Day use,dayuse,1,2\nb,Canoes,canoeing,1,2\n";
    let job = import_of(&admin, "activity", "csv", file).await;
    assert_eq!(job["counts"], json!({ "total": 2, "done": 2, "failed": 0 }), "{}", job.told());
    let season = json!({ "displayName": "Summer", "rangeStart": "2026-05-15", "rangeEnd": "2026-09-30" });
    for activity in ["dayuse/1", "canoeing/2"] {
        let made = admin.post(&format!("/parks/products/bcparks_1/{activity}"), season.clone()).await.is(201);
        assert_eq!(made.header("location"), format!("/parks/products/bcparks_1/{activity}/1"));
    }
}

async fn repeated_import_updates_only_what_differs() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let ring: Value = serde_json::from_str(&ellipse([-125.5, 49.6], [0.4, 0.25], 1000, 7)).unwrap();
    let mut features: Vec<Value> = (0..40).map(|n| feature(&format!("p{n}"), "Point", &point(-125.0, 49.0))).collect();
    features.push(feature("large", "Large", &json!({ "type": "Polygon", "coordinates": [ring] })));
    features.push(feature("small", "Small", &rectangle(1.0, 1.0, 2.0, 2.0)));
    import(&admin, "geojson", &collection(&features)).await;
    let items = async || {
        let pages = admin.pages(TRAILS, 100).await;
        let mut items = Vec::new();
        for sk in pages.iter().flat_map(Answer::sks) {
            let item = cairn.table().get("facility::bcparks_1", sk).await.unwrap();
            items.push(item);
        }
        items
    };
    let before = items().await;
    // What administrators have added stays.
    admin.patch(&format!("{TRAILS}/trail/1"), json!({ "adminNotes": "mine" })).await.is(200);
    let noted = items().await;
    let again = import(&admin, "geojson", &collection(&features)).await;
    assert_eq!(again["counts"], json!({ "total": 42, "done": 42, "failed": 0 }));
    assert_eq!(items().await, noted);
    assert_eq!(before.len(), 42);

    features[3]["properties"]["displayName"] = json!("Moved");
    features[3]["geometry"] = point(-124.0, 48.0);
    features[40]["geometry"] = rectangle(3.0, 3.0, 4.0, 4.0);
    let changed = import(&admin, "geojson", &collection(&features)).await;
    assert_eq!(changed["counts"], json!({ "total": 42, "done": 42, "failed": 0 }));
    let after = items().await;
    let different: Vec<usize> = (0..42).filter(|at| after[*at]["rev"] != noted[*at]["rev"]).collect();
    assert_eq!(different, [3, 40]);
    let moved = admin.get(&format!("{TRAILS}/trail/4")).await.is(200);
    assert_eq!((moved.text("displayName"), &moved["location"]), ("Moved", &json!([-124, 48])));
    let large = admin.get(&format!("{TRAILS}/trail/41")).await.is(200);
    assert_eq!(large["envelope"], json!([3, 3, 4, 4]));
    // The shape that it had is unused now.
    let partitions = cairn.table().partitions().await;
    let shape = partitions.iter().find(|pk| pk.starts_with("geometry::")).unwrap();
    assert_eq!(cairn.table().get(shape, "object").await.unwrap()["refs"].as_n().unwrap(), "0");
}

async fn import_into_an_absent_collection_is_refused() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let new = |id: &str| json!({ "collectionId": id, "entity": "facility", "format": "csv", "bytes": 60 });
    admin.post(IMPORTS, new("nowhere")).await.refused(422, "unprocessable").at(&["/collectionId"]);
    let file = "externalId,displayName,type,longitude,latitude\na,A,trail,1,1\n";
    let mut announced = new("bcparks_1");
    announced["bytes"] = json!(file.len());
    let announced = admin.post(IMPORTS, announced).await.is(201);
    admin.delete("/parks/collections/bcparks_1").await.is(204);
    admin.post(IMPORTS, new("bcparks_1")).await.refused(422, "unprocessable").at(&["/collectionId"]);
    assert_eq!(send_file(&announced, file).await, 200);
    let job = ended(&admin, announced.header("location")).await;
    assert_eq!(job["status"], "failed");
    assert!(job.text("reason").contains("deleted"), "{}", job.told());
    admin.post("/parks/collections/bcparks_1/restore", json!({})).await.is(200);
    assert!(admin.get(TRAILS).await.is(200).sks().is_empty());
}

async fn import_over_the_limits_is_refused() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let new = |changes: Value| {
        let mut new = json!({ "collectionId": "bcparks_1", "entity": "geozone", "format": "geojson", "bytes": 100 });
        new.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        new
    };
    let largest = 100 * 1024 * 1024;
    admin.post(IMPORTS, new(json!({ "bytes": largest }))).await.is(201);
    admin.post(IMPORTS, new(json!({ "bytes": largest + 1 }))).await.refused(413, "too-large");
    for (changes, place) in [
        (json!({ "bytes": 0 }), "/bytes"),
        (json!({ "entity": "product" }), "/entity"),
        (json!({ "format": "shapefile" }), "/format"),
        (json!({ "collectionId": "a::b" }), "/collectionId"),
        (json!({ "name": "x" }), "/name"),
    ] {
        admin.post(IMPORTS, new(changes)).await.faulty(&[place]);
    }
    visitor.post(IMPORTS, new(json!({}))).await.refused(401, "not-signed-in");
    visitor.get("/parks/jobs").await.refused(401, "not-signed-in");
    admin.get("/parks/jobs/nonsense").await.refused(404, "not-found");
    let once = admin.post(IMPORTS, new(json!({}))).once("same").await.is(201);
    let again = admin.post(IMPORTS, new(json!({}))).once("same").await.is(201);
    assert_eq!(once.body, again.body);
}

async fn import_without_a_file_fails() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let new = json!({ "collectionId": "bcparks_1", "entity": "geozone", "format": "geojson", "bytes": 100 });
    let announced = admin.post(IMPORTS, new).await.is(201);
    let job = announced.header("location");
    assert_eq!(admin.get(job).await.is(200)["status"], "queued");
    cairn.clock.advance(Duration::from_secs(16 * 60));
    assert_eq!(admin.get(job).await.is(200)["status"], "queued");
    // A worker looks for the file twelve times, every 20 minutes.
    let mut looks = 0;
    let failed = loop {
        let read = cairn.administrator().await.get(job).await.is(200);
        if read["status"] != "queued" {
            break read;
        }
        assert!(looks < 50, "the import still waits after {looks} looks: {}", read.told());
        cairn.clock.advance(Duration::from_secs(21 * 60));
        cairn.event("parks", "runJobs", &json!({})).await.unwrap();
        looks += 1;
    };
    assert!(looks >= 12, "it waited for {looks} looks only");
    assert_eq!((failed.text("status"), failed.text("reason")), ("failed", "no file arrived"));
    assert!(failed.body.get("faultsLink").is_none());
}

async fn jobs_are_listed_newest_first_until_they_expire() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let file = collection(&[feature("a", "A", &point(1.0, 1.0))]);
    let mut jobs = Vec::new();
    for _ in 0..3 {
        jobs.push(import(&admin, "geojson", &file).await.text("id").to_owned());
    }
    jobs.reverse();
    let pages = admin.pages("/parks/jobs", 2).await;
    let listed: Vec<_> = pages.iter().flat_map(|page| page.each("id")).map(|id| id.as_str().unwrap()).collect();
    assert_eq!(listed, jobs);
    let page = admin.get("/parks/jobs").await.is(200);
    assert!(page.each("status").iter().all(|status| **status == "succeeded"), "{}", page.told());
    // No page is empty because of jobs that have expired since.
    cairn.clock.advance(Duration::from_secs(31 * 24 * 3600));
    let admin = cairn.administrator().await;
    let last = admin.get("/parks/jobs?limit=1").await.is(200);
    assert!(last.each("id").is_empty() && last.body.get("nextCursor").is_none(), "{}", last.told());
    let late = import(&admin, "geojson", &file).await;
    let pages = admin.pages("/parks/jobs", 1).await;
    assert_eq!(pages.iter().map(|page| page.each("id")).collect::<Vec<_>>(), [[&late["id"]]]);
    cairn.clock.advance(Duration::from_secs(31 * 24 * 3600));
    assert!(cairn.administrator().await.get("/parks/jobs").await.is(200).each("id").is_empty());
}

async fn jobs_are_listed_by_status() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let file = collection(&[feature("a", "A", &point(1.0, 1.0))]);
    let done = [import(&admin, "geojson", &file).await, import(&admin, "geojson", &file).await];
    let [first, second] = done.each_ref().map(|job| job.text("id"));
    let new = json!({ "collectionId": "bcparks_1", "entity": "geozone", "format": "geojson", "bytes": 100 });
    let earlier = admin.post(IMPORTS, new.clone()).await.is(201);
    let waiting = admin.post(IMPORTS, new).await.is(201);
    let listed = async |status: &str| {
        let pages = admin.pages(&format!("/parks/jobs?status={status}"), 1).await;
        let ids = pages.iter().flat_map(|page| page.each("id"));
        ids.map(|id| id.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed("open").await, [waiting.text("id"), earlier.text("id")]);
    assert_eq!(listed("ended").await, [second, first]);
    admin.delete(waiting.header("location")).await.is(204);
    assert_eq!(listed("open").await, [earlier.text("id")]);
    assert_eq!(listed("ended").await, [waiting.text("id"), second, first]);
    admin.get("/parks/jobs?status=queued").await.faulty(&["status"]);
    let cursor = admin.get("/parks/jobs?status=ended&limit=1").await.is(200).next().unwrap().to_owned();
    admin.get(&format!("/parks/jobs?limit=1&cursor={cursor}")).await.refused(400, "bad-request");
}

async fn repeated_import_event_changes_nothing() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let job = import(&admin, "geojson", &collection(&[feature("a", "A", &point(1.0, 1.0))])).await;
    let key = format!("imports/{}", job.text("id"));
    let event = |key: &str| {
        json!({ "Records": [{
            "eventSource": "aws:s3", "eventName": "ObjectCreated:Put",
            "s3": { "bucket": { "name": "parks" }, "object": { "key": key, "size": 1, "eTag": "x" } }
        }] })
    };
    for key in [&key, &key, "imports/01890a5d-ac96-774b-bcce-b302099a8057", "imports/nonsense", "elsewhere/x"] {
        cairn.event("parks", "startImport", &event(key)).await.unwrap();
    }
    let again = admin.get(&format!("/parks/jobs/{}", job.text("id"))).await.is(200);
    assert_eq!(again.body, job.body);
    // It is kept for 30 days after its end.
    cairn.clock.advance(Duration::from_secs(29 * 24 * 3600));
    let admin = cairn.administrator().await;
    admin.get(&format!("/parks/jobs/{}", job.text("id"))).await.is(200);
    cairn.clock.advance(Duration::from_secs(2 * 24 * 3600));
    let admin = cairn.administrator().await;
    admin.get(&format!("/parks/jobs/{}", job.text("id"))).await.refused(404, "not-found");
}

/// A row that equals its item writes nothing, so no condition of a write would notice an old item.
async fn row_overwrites_an_update_that_a_replica_lacks() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let file = collection(&[feature("a", "As in the file", &point(-125.0, 49.0))]);
    import(&admin, "geojson", &file).await;
    // The platform's own workers let go of what they take.
    cairn.engines().wind_down();
    let config = cairn.engines().config.clone();
    let lag = Lag::before(config.dynamodb.clone().unwrap(), Lagging::Batches).await;
    let config = Config { dynamodb: Some(lag.url.clone()), ..config };
    let worker = ::parks::app(Engines::new(config, cairn.clock.clone())).metrics_to(|_| {});
    let again = async || {
        let new = json!({
            "collectionId": "bcparks_1", "entity": "facility", "format": "geojson", "bytes": file.len()
        });
        let announced = admin.post(IMPORTS, new).await.is(201);
        assert_eq!(send_file(&announced, &file).await, 200);
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            worker.event("runJobs", "{}".into(), deadline).await.unwrap();
            let job = admin.get(announced.header("location")).await.is(200);
            if job["status"] == "succeeded" {
                return job;
            }
            assert!(Instant::now() < deadline, "it does not end: {}", job.told());
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
    };
    let trail = format!("{TRAILS}/trail/1");
    let tag = admin.get(&trail).await.is(200).tag();
    again().await;
    assert_eq!(admin.get(&trail).await.is(200).tag(), tag);
    admin.patch(&trail, json!({ "displayName": "Changed since" })).await.is(200);
    let job = again().await;
    assert_eq!(job["counts"], json!({ "total": 1, "done": 1, "failed": 0 }), "{}", job.told());
    assert_eq!(admin.get(&trail).await.is(200)["displayName"], "As in the file");
}
