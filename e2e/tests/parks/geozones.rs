//! `/parks/geozones/{collection}`.

use futures::future::join_all;
use serde_json::{Value, json};

use crate::harness::{Answer, Cairn};
use crate::tests;

tests! { geozones:
    hundred_concurrent_creates_get_distinct_numbers,
    geozone_1_is_distinct_from_geozone_10,
    number_of_a_deleted_geozone_is_not_reused,
    failed_create_leaves_no_item,
    location_outside_the_earth_is_refused,
    fields_outside_their_bounds_are_refused,
    all_faults_of_a_create_are_returned_at_once,
    patch_of_keys_and_shapes_is_refused,
    patch_without_changes_keeps_the_etag,
}

const LAKES: &str = "/parks/geozones/bcparks_1";

fn lakes() -> Value {
    json!({ "displayName": "Bedwell Lakes", "location": [-125.589, 49.498], "isVisible": true })
}

async fn hundred_concurrent_creates_get_distinct_numbers() {
    let cairn = Cairn::start().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    cairn.collection("bcparks_7", "Seven").await;
    cairn.collection("bcparks_8", "Eight").await;
    for number in 1..=12 {
        let new = json!({ "displayName": format!("Zone {number}"), "location": [1, number], "isVisible": true });
        let made = admin.post("/parks/geozones/bcparks_7", new).await.is(201);
        assert_eq!(made["number"], number);
        assert_eq!(made.header("location"), format!("/parks/geozones/bcparks_7/{number}"));
    }
    let new = |_| admin.post("/parks/geozones/bcparks_8", json!({ "displayName": "At once", "location": [1, 1] }));
    let conflicts = cairn.conflicts(0.2);
    for made in join_all((0..100).map(new).map(IntoFuture::into_future)).await {
        made.is(201);
    }
    assert!(conflicts.count() > 10, "{}", conflicts.count());
    let listed = async |path: &str| -> Vec<String> {
        let pages = admin.pages(path, 7).await;
        pages.iter().flat_map(Answer::sks).map(str::to_owned).collect()
    };
    let numbers = |upto: usize| (1..=upto).map(|number| number.to_string()).collect::<Vec<_>>();
    assert_eq!(listed("/parks/geozones/bcparks_7").await, numbers(12));
    assert_eq!(listed("/parks/geozones/bcparks_8").await, numbers(100));
    let backward: Vec<String> = numbers(12).into_iter().rev().collect();
    assert_eq!(listed("/parks/geozones/bcparks_7?order=desc").await, backward);
    assert_eq!(visitor.get("/parks/geozones/bcparks_7/1").await.is(200)["displayName"], "Zone 1");

    admin.post("/parks/geozones/nowhere", lakes()).await.refused(404, "not-found");
    cairn.collection("nowhere", "Somewhere").await;
    assert_eq!(admin.post("/parks/geozones/nowhere", lakes()).await.is(201)["number"], 1);
}

async fn geozone_1_is_distinct_from_geozone_10() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    for number in 1..=10 {
        let new = json!({ "displayName": format!("Zone {number}"), "location": [1, number], "isVisible": true });
        admin.post(LAKES, new).await.is(201);
    }
    admin.delete("/parks/geozones/bcparks_1/1").await.is(204);
    visitor.get("/parks/geozones/bcparks_1/1").await.refused(404, "not-found");
    assert_eq!(visitor.get("/parks/geozones/bcparks_1/10").await.is(200)["displayName"], "Zone 10");
    for other in ["01", "1.0", "+1", "1%20", "0", "-1", "1e0", "18446744073709551616", "one"] {
        visitor.get(&format!("{LAKES}/{other}")).await.refused(404, "not-found");
    }
}

async fn number_of_a_deleted_geozone_is_not_reused() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    admin.post(LAKES, lakes()).await.is(201);
    admin.delete("/parks/geozones/bcparks_1/1").await.is(204);
    assert_eq!(admin.post(LAKES, lakes()).await.is(201)["number"], 2);
}

async fn failed_create_leaves_no_item() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    admin.post("/parks/geozones/nowhere", lakes()).await.refused(404, "not-found");
    admin.post("/parks/geozones/no::where", lakes()).await.refused(404, "not-found");
    admin.delete("/parks/collections/bcparks_1").await.is(204);
    admin.post(LAKES, lakes()).await.refused(404, "not-found");
    let mut litter = cairn.table().partitions().await;
    litter.retain(|pk| pk.contains("where") || pk.starts_with("geozone"));
    assert_eq!(litter, Vec::<String>::new());
}

async fn location_outside_the_earth_is_refused() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let at = |location: Value| json!({ "displayName": "Place", "location": location });
    for good in [json!([180, -90]), json!([-180, 90]), json!([1, 2, 8848.86]), json!([-0.0, 1e-9])] {
        let made = admin.post(LAKES, at(good.clone())).await.is(201);
        let read = admin.get(made.header("location")).await.is(200);
        let numbers = |value: &Value| -> Vec<f64> {
            value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
        };
        assert_eq!(numbers(&read["location"]), numbers(&good));
    }
    for bad in [
        json!([0, 0]),
        json!([0.0, -0.0, 12]),
        json!([1]),
        json!([1, 2, 3, 4]),
        json!([]),
        json!({ "lon": 1, "lat": 2 }),
        json!("1,2"),
    ] {
        admin.post(LAKES, at(bad)).await.faulty(&["/location"]);
    }
    let swapped = admin.post(LAKES, at(json!([49.28, -123.12]))).await.faulty(&["/location/1"]);
    assert!(swapped.fault("/location/1").contains("longitude comes first"), "{}", swapped.told());
    let beyond = ["/location/0", "/location/1", "/location/2"];
    admin.post(LAKES, at(json!([181, -91, 100_001]))).await.faulty(&beyond);
    admin.post(LAKES, at(json!(["1", 2]))).await.faulty(&["/location/0"]);
    admin.post(LAKES, json!({ "displayName": "Nowhere" })).await.faulty(&["/location"]);
}

async fn fields_outside_their_bounds_are_refused() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let with = |field: &str, value: Value| {
        let mut new = lakes();
        new[field] = value;
        new
    };
    let texts = |count: usize, length: usize| json!(vec!["x".repeat(length); count]);
    for (field, good) in [
        ("displayName", json!("😀".repeat(200))),
        ("description", json!("d".repeat(10_000))),
        ("adminNotes", json!("n".repeat(10_000))),
        ("searchTerms", texts(50, 100)),
        ("imageUrls", json!(vec![format!("https://{}", "u".repeat(2040)); 20])),
        ("timezone", json!("America/Vancouver")),
        ("minMapZoom", json!(0)),
        ("maxMapZoom", json!(22)),
        ("externalId", json!("A::#/% é")),
    ] {
        let made = admin.post(LAKES, with(field, good.clone())).await.is(201);
        assert_eq!(admin.get(made.header("location")).await.is(200)[field], good, "{field}");
    }
    for (field, bad, place) in [
        ("displayName", json!(""), "/displayName"),
        ("displayName", json!("x".repeat(201)), "/displayName"),
        ("displayName", json!(null), "/displayName"),
        ("displayName", json!(7), "/displayName"),
        ("description", json!("d".repeat(10_001)), "/description"),
        ("adminNotes", json!("n".repeat(10_001)), "/adminNotes"),
        ("searchTerms", texts(51, 1), "/searchTerms"),
        ("searchTerms", texts(1, 101), "/searchTerms/0"),
        ("searchTerms", json!(["", "b"]), "/searchTerms/0"),
        ("searchTerms", json!(["b", " "]), "/searchTerms/1"),
        ("searchTerms", json!(["b", "\u{200b}"]), "/searchTerms/1"),
        ("searchTerms", json!("cream lake,bedwell"), "/searchTerms"),
        ("imageUrls", json!(["http://example.org/a.jpg"]), "/imageUrls/0"),
        ("imageUrls", json!(["javascript:alert(1)"]), "/imageUrls/0"),
        ("imageUrls", json!(vec!["https://a"; 21]), "/imageUrls"),
        ("timezone", json!("Mars/Olympus"), "/timezone"),
        ("minMapZoom", json!(-1), "/minMapZoom"),
        ("maxMapZoom", json!(23), "/maxMapZoom"),
        ("maxMapZoom", json!(1.5), "/maxMapZoom"),
        ("isVisible", json!("yes"), "/isVisible"),
        ("externalId", json!(""), "/externalId"),
        ("externalId", json!("x".repeat(129)), "/externalId"),
        ("externalId", json!("😀".repeat(101)), "/externalId"),
        ("number", json!(7), "/number"),
        ("rev", json!(7), "/rev"),
        ("isDeleted", json!(true), "/isDeleted"),
        ("globalId", json!("x"), "/globalId"),
    ] {
        admin.post(LAKES, with(field, bad)).await.faulty(&[place]);
    }
    let mut crossed = lakes();
    (crossed["minMapZoom"], crossed["maxMapZoom"]) = (json!(9), json!(3));
    admin.post(LAKES, crossed).await.faulty(&["/minMapZoom"]);
}

async fn all_faults_of_a_create_are_returned_at_once() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let wrong =
        json!({ "location": [1, 2], "isVisible": "yes", "searchTerms": ["", 3], "colour": "red", "maxMapZoom": 23 });
    let places = ["/displayName", "/isVisible", "/searchTerms/0", "/searchTerms/1", "/colour", "/maxMapZoom"];
    admin.post(LAKES, wrong).await.faulty(&places);
    // Rules that the schema cannot state are checked whatever it finds.
    let beyond = json!({
        "displayName": " ", "location": [0, 0], "timezone": "Mars/Olympus", "externalId": "😀".repeat(101)
    });
    let places = ["/displayName", "/location", "/timezone", "/externalId"];
    admin.post(LAKES, beyond.clone()).await.faulty(&places);
    let made = admin.post(LAKES, lakes()).await.is(201);
    admin.patch(made.header("location"), beyond).await.faulty(&places);
    let collection = json!({ "collectionId": "a::b", "displayName": "A", "timezone": "Mars/Olympus" });
    admin.post("/parks/collections", collection).await.faulty(&["/collectionId", "/timezone"]);
}

async fn patch_of_keys_and_shapes_is_refused() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    admin.post(LAKES, lakes()).await.is(201);
    for field in
        ["pk", "sk", "number", "collectionId", "globalId", "entity", "rev", "boundary", "path", "envelope", "createdAt"]
    {
        admin.patch("/parks/geozones/bcparks_1/1", json!({ (field): "x" })).await.faulty(&[&format!("/{field}")]);
    }
    admin.patch("/parks/geozones/bcparks_1/1", json!({ "displayName": null })).await.faulty(&["/displayName"]);
    admin.patch("/parks/geozones/bcparks_1/1", json!({ "location": null })).await.faulty(&["/location"]);
    admin.patch("/parks/geozones/bcparks_1/1", json!([])).await.faulty(&[""]);
}

async fn patch_without_changes_keeps_the_etag() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let made = admin.post(LAKES, lakes()).await.is(201);
    let url = made.header("location").to_owned();
    assert_eq!(admin.patch(&url, json!({})).await.is(200).tag(), made.tag());
    assert_eq!(admin.patch(&url, lakes()).await.is(200).tag(), made.tag());
    let as_patch =
        |body: &'static str| admin.call(reqwest::Method::PATCH, &url).bytes("application/merge-patch+json", body);
    let changed = as_patch(r#"{"description":"Two lakes."}"#).await.is(200);
    assert!(changed.rev() > made.rev());
    assert_eq!(as_patch(r#"{"description":null,"timezone":null}"#).await.is(200).body.get("description"), None);
}
