//! `/parks/geometries/uploads`: files that administrators send to S3 themselves.

use std::time::Duration;

use serde_json::{Value, json};

use super::shapes::{ellipse, rectangle, ring, serrated};
use crate::harness::{Answer, Cairn, User, fetch, send_file, send_to};
use crate::tests;

tests! { uploads:
    boundary_with_100_000_vertices_is_stored_and_found,
    refused_upload_reports_every_fault,
    #[long] large_uploaded_boundary_round_trips,
    upload_that_differs_from_its_announcement_is_refused,
    upload_link_expires_after_15_minutes,
    upload_whose_check_never_ends_has_failed,
    repeated_upload_event_changes_nothing,
    only_a_ready_upload_can_be_attached,
    equal_shapes_share_one_object,
    missing_shape_is_reported_and_restored_by_put,
    upload_over_32_mib_is_refused,
}

const UPLOADS: &str = "/parks/geometries/uploads";
const ZONES: &str = "/parks/geozones/bcparks_1";

pub async fn zone(admin: &User, name: &str, location: [f64; 2]) -> String {
    let new = json!({ "displayName": name, "location": location, "isVisible": true });
    admin.post(ZONES, new).await.is(201).header("location").to_owned()
}

/// Announces a file, sends it and waits until it is settled.
pub async fn upload(admin: &User, file: &str) -> Answer {
    let announced = admin.post(UPLOADS, json!({ "bytes": file.len() })).await.is(201);
    assert_eq!(send_file(&announced, file).await, 200);
    settled(admin, announced.header("location")).await
}

async fn settled(admin: &User, url: &str) -> Answer {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    loop {
        let upload = admin.get(url).await.is(200);
        if !["awaiting", "checking"].contains(&upload.text("status")) {
            return upload;
        }
        assert_eq!(upload.header("retry-after"), "1");
        assert!(tokio::time::Instant::now() < deadline, "it is never settled: {}", upload.told());
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}

async fn boundary_with_100_000_vertices_is_stored_and_found() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let zone = zone(&admin, "Ellipse", [10.0, 10.0]).await;
    let ring = ellipse([-125.5, 49.6], [0.4, 0.25], 100_000, 7);
    let file = format!(r#"{{"type":"Polygon","coordinates":[{ring}]}}"#);
    let started = std::time::Instant::now();
    let upload = upload(&admin, &file).await;
    assert_eq!(upload["status"], "ready", "{}", upload.told());
    assert!(started.elapsed() < Duration::from_secs(10), "it took {:?}", started.elapsed());

    let boundary = format!("{zone}/geometry/boundary");
    let put = admin.put(&boundary, json!({ "uploadId": upload["uploadId"] })).await.is(200);
    assert_eq!((&put["reference"]["positions"], &put["repairs"]), (&json!(100_001), &json!([])));
    let read = visitor.get(&zone).await.is(200);
    assert_eq!(read["envelope"], json!([-125.9, 49.35, -125.1, 49.85]));
    let hit = visitor.search("bbox=-125.12,49.59,-125.11,49.61").await;
    hit.are(&["Ellipse"]);
    assert_eq!(hit[0]["boundaryStatus"], "fine");
    let tolerance = hit[0]["boundaryTolerance"].as_f64().unwrap();
    assert!(tolerance > 0.0 && tolerance < 1.0, "{tolerance}");
    let forms = cairn.bucket("parks").join("geometries").join(put["reference"]["sha256"].as_str().unwrap());
    assert!(["50000.geojson", "10000.geojson"].iter().all(|form| forms.join(form).exists()), "{forms:?}");
    visitor.search("bbox=-125.09,49.59,-125.08,49.61").await.is_nothing();

    let coarse = visitor.get(&format!("{boundary}?zoom=8")).await.is(200);
    let positions = coarse["geometry"]["coordinates"][0].as_array().unwrap().len();
    assert!((4..200).contains(&positions), "{positions}");
    let stored = fetch(read["boundary"]["link"].as_str().unwrap()).await;
    assert_eq!((stored.status, sha256(&stored.bytes)), (200, put["reference"]["sha256"].as_str().unwrap().to_owned()));
    assert_eq!(stored.bytes, file);
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn refused_upload_reports_every_fault() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let zone = zone(&admin, "Zone", [10.0, 10.0]).await;
    let before = admin.get(&zone).await.is(200);
    let document = cairn.document("parks", "geozone::bcparks_1#1").await;
    let bow = json!({ "type": "Polygon", "coordinates": [
        [[0, 50], [1, 51], [1, 50], [0, 51], [0, 50]], ring(5.0, 50.0, 6.0, 51.0)
    ] });
    let upload = upload(&admin, &bow.to_string()).await;
    assert_eq!((upload.text("status"), &upload["faultCount"]), ("rejected", &json!(2)));
    let faults = upload["faults"].as_array().unwrap();
    let pointers: Vec<&Value> = faults.iter().map(|fault| &fault["pointer"]).collect();
    assert_eq!(pointers, ["/coordinates/0/3", "/coordinates/1"]);
    assert!(faults[0]["detail"].as_str().unwrap().contains("(0.5, 50.5)"), "{faults:?}");
    let attach = json!({ "uploadId": upload["uploadId"] });
    admin.put(&format!("{zone}/geometry/boundary"), attach).await.refused(409, "upload-not-ready");
    let after = admin.get(&zone).await.is(200);
    assert_eq!((after.body.clone(), after.tag()), (before.body.clone(), before.tag()));
    assert_eq!(cairn.document("parks", "geozone::bcparks_1#1").await, document);
    visitor.search("bbox=0,50,1,51").await.is_nothing();
}

/// Over 5 MB, over 100 000 positions, a hole, three parts.
async fn large_uploaded_boundary_round_trips() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let zone = zone(&admin, "Archipelago", [10.0, 10.0]).await;
    let reversed = |ring: String| {
        let mut positions: Vec<&str> = ring.trim_matches(['[', ']']).split("],[").collect();
        positions.reverse();
        format!("[[{}]]", positions.join("],["))
    };
    let shell = serrated([-125.5, 49.6], [0.4, 0.25], 220_000);
    let hole = reversed(ellipse([-125.5, 49.6], [0.2, 0.1], 3000, 13));
    let second = ellipse([-124.5, 49.6], [0.2, 0.1], 3000, 13);
    let last = ellipse([-123.5, 49.6], [0.1, 0.1], 3000, 13);
    let file = format!(r#"{{"type":"MultiPolygon","coordinates":[[{shell},{hole}],[{second}],[{last}]]}}"#);
    assert!(file.len() > 5_000_000, "{}", file.len());
    let upload = upload(&admin, &file).await;
    assert_eq!(upload["status"], "ready", "{}", upload.told());
    let boundary = format!("{zone}/geometry/boundary");
    let put = admin.put(&boundary, json!({ "uploadId": upload["uploadId"] })).await.is(200);
    assert_eq!((&put["reference"]["parts"], &put["reference"]["positions"]), (&json!(3), &json!(229_004)));

    visitor.search("near=-123.5,49.6&radius=1").await.are(&["Archipelago"]);
    visitor.search("near=-124.5,49.6&radius=1").await.are(&["Archipelago"]);
    visitor.search("near=-125.8,49.6&radius=1").await.are(&["Archipelago"]);
    visitor.search("near=-125.5,49.6&radius=1").await.is_nothing();
    visitor.search("near=-124,49.6&radius=1").await.is_nothing();

    let whole = visitor.get(&boundary).await.is(303);
    let stored = fetch(whole.header("location")).await;
    assert_eq!(stored.status, 200);
    assert!(stored.bytes == file, "it came back as something else");
    // The link opens one object, for GET, for five minutes.
    let link = reqwest::Url::parse(whole.header("location")).unwrap();
    assert!(link.query_pairs().any(|(name, value)| name == "X-Amz-Expires" && value == "300"), "{link}");
    let elsewhere = whole.header("location").replace(".geojson", "/10000.geojson");
    assert_eq!(fetch(&elsewhere).await.status, 403);
    assert_eq!(send_to(whole.header("location"), "{}").await, 403);
    // A form that would be as large is not given.
    visitor.get(&format!("{boundary}?tolerance=0.1")).await.faulty(&["tolerance"]);
    let simplified = visitor.get(&format!("{boundary}?zoom=10")).await.is(200);
    assert_eq!(simplified["geometry"]["coordinates"].as_array().unwrap().len(), 3);
    let embedded = visitor.get(&format!("{zone}?geometry=full")).await.is(200);
    assert!(embedded["boundary"]["link"].is_string() && embedded["boundary"].get("geometry").is_none());
}

async fn upload_that_differs_from_its_announcement_is_refused() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let file = rectangle(1.0, 1.0, 2.0, 2.0).to_string();
    let wrong = json!({ "bytes": file.len(), "sha256": "0".repeat(64) });
    let announced = admin.post(UPLOADS, wrong).await.is(201);
    assert_eq!(send_file(&announced, &file).await, 200);
    let upload = settled(&admin, announced.header("location")).await;
    assert_eq!((upload.text("status"), &upload["faults"][0]["pointer"]), ("rejected", &json!("/sha256")));
    let right = json!({ "bytes": file.len(), "sha256": sha256(file.as_bytes()) });
    let announced = admin.post(UPLOADS, right).await.is(201);
    assert_eq!(send_file(&announced, &file).await, 200);
    assert_eq!(settled(&admin, announced.header("location")).await["status"], "ready");

    // The size is part of the link's signature.
    let announced = admin.post(UPLOADS, json!({ "bytes": file.len() + 1 })).await.is(201);
    let status = send_file(&announced, &file).await;
    if status == 200 {
        let upload = settled(&admin, announced.header("location")).await;
        assert_eq!((upload.text("status"), &upload["faults"][0]["pointer"]), ("rejected", &json!("/bytes")));
    } else {
        assert_eq!(status, 403);
        assert_eq!(admin.get(announced.header("location")).await.is(200)["status"], "awaiting");
    }
    let objects = std::fs::read_dir(cairn.bucket("parks").join("geometries")).map_or(0, Iterator::count);
    // The one that was ready, and its coarse form.
    assert!(objects <= 2, "{objects}");
}

async fn upload_link_expires_after_15_minutes() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let file = rectangle(1.0, 1.0, 2.0, 2.0).to_string();
    let announced = admin.post(UPLOADS, json!({ "bytes": file.len() })).await.is(201);
    assert_eq!(announced["status"], "awaiting");
    assert!(announced.text("link").contains("X-Amz-Expires=900"), "{}", announced.told());
    assert_eq!(send_file(&announced, &file).await, 200);
    assert_eq!(send_file(&announced, &file).await, 412);
    assert_eq!(settled(&admin, announced.header("location")).await["status"], "ready");

    let late = admin.post(UPLOADS, json!({ "bytes": 100 })).await.is(201);
    cairn.clock.advance(Duration::from_secs(16 * 60));
    assert_eq!(admin.get(late.header("location")).await.is(200)["status"], "expired");
    cairn.visitor().post(UPLOADS, json!({ "bytes": 100 })).await.refused(401, "not-signed-in");
    cairn.visitor().get(late.header("location")).await.refused(401, "not-signed-in");
}

async fn upload_whose_check_never_ends_has_failed() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let zone = zone(&admin, "Zone", [10.0, 10.0]).await;
    let announced = admin.post(UPLOADS, json!({ "bytes": 100 })).await.is(201);
    // The state in which three failed checks leave it.
    let mut item = cairn.table().get(&format!("upload::{}", announced.text("uploadId")), "upload").await.unwrap();
    item.insert("status".to_owned(), table::item::text("checking"));
    cairn.table().put(item).await;
    let read = async || admin.get(announced.header("location")).await.is(200);
    cairn.clock.advance(Duration::from_secs(24 * 60));
    assert_eq!(read().await["status"], "checking");
    cairn.clock.advance(Duration::from_secs(2 * 60));
    let failed = read().await;
    assert_eq!((failed.text("status"), &failed["faultCount"]), ("failed", &json!(1)), "{}", failed.told());
    assert!(failed["faults"][0]["detail"].as_str().unwrap().contains("another upload"), "{}", failed.told());
    assert!(!failed.headers.contains_key("retry-after"), "{}", failed.told());
    let attach = json!({ "uploadId": announced["uploadId"] });
    admin.put(&format!("{zone}/geometry/boundary"), attach).await.refused(409, "upload-not-ready");
}

async fn repeated_upload_event_changes_nothing() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let upload = upload(&admin, &rectangle(1.0, 1.0, 2.0, 2.0).to_string()).await;
    let key = format!("uploads/{}", upload.text("uploadId"));
    let event = |key: &str| {
        json!({ "Records": [{
            "eventSource": "aws:s3", "eventName": "ObjectCreated:Put",
            "s3": { "bucket": { "name": "parks" }, "object": { "key": key, "size": 1, "eTag": "x" } }
        }] })
    };
    for key in [&key, &key, "uploads/01890a5d-ac96-774b-bcce-b302099a8057", "uploads/nonsense", "elsewhere/x"] {
        cairn.event("parks", "checkUpload", &event(key)).await.unwrap();
    }
    let again = admin.get(&format!("{UPLOADS}/{}", upload.text("uploadId"))).await.is(200);
    assert_eq!(again.body, upload.body);
}

async fn only_a_ready_upload_can_be_attached() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let zone = zone(&admin, "Zone", [10.0, 10.0]).await;
    let (boundary, path) = (format!("{zone}/geometry/boundary"), format!("{zone}/geometry/path"));
    let awaiting = admin.post(UPLOADS, json!({ "bytes": 100 })).await.is(201);
    let attach = |upload: &Answer| json!({ "uploadId": upload["uploadId"] });
    admin.put(&boundary, attach(&awaiting)).await.refused(409, "upload-not-ready");
    let unknown = json!({ "uploadId": "01890a5d-ac96-774b-bcce-b302099a8057" });
    admin.put(&boundary, unknown).await.refused(422, "unprocessable").at(&["/uploadId"]);
    let ready = upload(&admin, &rectangle(1.0, 1.0, 2.0, 2.0).to_string()).await;
    admin.put(&path, attach(&ready)).await.refused(422, "unprocessable").at(&["/uploadId"]);
    // It can be attached as often as one likes.
    admin.put(&boundary, attach(&ready)).await.is(200);
    let other = self::zone(&admin, "Other", [10.0, 10.0]).await;
    admin.put(&format!("{other}/geometry/boundary"), attach(&ready)).await.is(200);
    admin.get(&format!("{UPLOADS}/nonsense")).await.refused(404, "not-found");
}

async fn equal_shapes_share_one_object() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let (first, second) = (zone(&admin, "A", [10.0, 10.0]).await, zone(&admin, "B", [10.0, 10.0]).await);
    // Too large to stay on the items.
    let file = format!(r#"{{"type":"Polygon","coordinates":[{}]}}"#, ellipse([-125.5, 49.6], [0.4, 0.2], 1000, 7));
    let upload = upload(&admin, &file).await;
    let put = async |zone: &str| {
        let attached = admin.put(&format!("{zone}/geometry/boundary"), json!({ "uploadId": upload["uploadId"] })).await;
        attached.is(200)["reference"]["sha256"].as_str().unwrap().to_owned()
    };
    let (one, two) = (put(&first).await, put(&second).await);
    assert_eq!(one, two);
    let refs = async || {
        let item = cairn.table().get(&format!("geometry::{one}"), "object").await;
        item.unwrap()["refs"].as_n().unwrap().parse::<u32>().unwrap()
    };
    assert_eq!(refs().await, 2);
    // The same again is no further use.
    put(&first).await;
    assert_eq!(refs().await, 2);
    admin.delete(&format!("{first}/geometry/boundary")).await.is(204);
    // A deleted item keeps its use.
    admin.delete(&second).await.is(204);
    assert_eq!(refs().await, 1);
    admin.post(&format!("{second}/restore"), json!({})).await.is(200);
    admin.delete(&format!("{second}/geometry/boundary")).await.is(204);
    assert_eq!(refs().await, 0);
    let stored = cairn.bucket("parks").join("geometries").join(format!("{one}.geojson"));
    assert!(stored.is_file());
}

async fn missing_shape_is_reported_and_restored_by_put() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let zone = zone(&admin, "Zone", [10.0, 10.0]).await;
    let boundary = format!("{zone}/geometry/boundary");
    let file = format!(r#"{{"type":"Polygon","coordinates":[{}]}}"#, ellipse([-125.5, 49.6], [0.4, 0.25], 1000, 7));
    let attached = upload(&admin, &file).await;
    let put = admin.put(&boundary, json!({ "uploadId": attached["uploadId"] })).await.is(200);
    visitor.search("bbox=-125.6,49.5,-125.4,49.7").await.are(&["Zone"]);

    let object =
        cairn.bucket("parks").join(format!("geometries/{}.geojson", put["reference"]["sha256"].as_str().unwrap()));
    std::fs::remove_file(&object).unwrap();
    let lost = visitor.get(&boundary).may_fail().await.refused(503, "geometry-unavailable");
    assert_eq!(lost.header("retry-after"), "1");
    // The item itself can be read and changed, and is found by its envelope.
    admin.patch(&zone, json!({ "displayName": "Renamed" })).await.is(200);
    let hit = visitor.search("bbox=-125.89,49.36,-125.88,49.37").await;
    hit.are(&["Renamed"]);
    assert_eq!(hit[0]["boundaryStatus"], "missing");

    // The same content uploaded again heals it.
    assert_eq!(upload(&admin, &file).await["status"], "ready");
    visitor.get(&boundary).await.is(200);
    admin.patch(&zone, json!({ "displayName": "Healed" })).await.is(200);
    visitor.search("bbox=-125.89,49.36,-125.88,49.37").await.is_nothing();
    assert_eq!(visitor.search("q=healed").await[0]["boundaryStatus"], "full");
    // An object of another hash than its name counts as gone.
    std::fs::write(&object, "{}").unwrap();
    visitor.get(&boundary).may_fail().await.refused(503, "geometry-unavailable");
}

async fn upload_over_32_mib_is_refused() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let largest = 32 * 1024 * 1024;
    admin.post(UPLOADS, json!({ "bytes": largest })).await.is(201);
    admin.post(UPLOADS, json!({ "bytes": largest + 1 })).await.refused(413, "too-large");
    for (bad, place) in [
        (json!({ "bytes": 0 }), "/bytes"),
        (json!({ "bytes": -1 }), "/bytes"),
        (json!({ "bytes": 1.5 }), "/bytes"),
        (json!({}), "/bytes"),
        (json!({ "bytes": 1, "sha256": "ABC" }), "/sha256"),
        (json!({ "bytes": 1, "name": "x" }), "/name"),
    ] {
        admin.post(UPLOADS, bad).await.faulty(&[place]);
    }
    for (file, pointer) in [
        ("{", ""),
        ("", ""),
        ("[1,2]", ""),
        (r#"{"type":"Polygon"}"#, "/coordinates"),
        (r#"{"type":"Polygon","coordinates":[[[[[[[[[[1]]]]]]]]]]}"#, "/coordinates/0/0"),
    ] {
        if file.is_empty() {
            continue;
        }
        let upload = upload(&admin, file).await;
        assert_eq!(upload["status"], "rejected", "{}", upload.told());
        let place = upload["faults"][0]["pointer"].as_str().unwrap();
        assert!(place.starts_with(pointer), "{file}: {}", upload.told());
    }
}
