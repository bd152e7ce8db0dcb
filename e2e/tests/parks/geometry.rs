//! `…/geometry/{boundary|path}`: shapes as they come, as they go, and as search finds them.

use serde_json::{Value, json};

use super::shapes::{backward, hole_and_island, polygon, rectangle};
use crate::harness::{Cairn, User};
use crate::tests;

tests! { geometry:
    boundary_with_hole_and_island_round_trips,
    boundary_of_fiji_is_found_on_both_sides_of_the_antimeridian,
    boundary_of_antarctica_is_found_around_the_pole,
    shape_is_returned_whole_or_simplified,
    create_with_embedded_shapes_stores_them,
    shape_is_replaced_and_detached,
    repeated_put_of_a_large_shape_succeeds,
    shape_over_the_body_limit_returns_413,
    shape_of_a_deleted_item_is_refused,
    tag_of_a_shape_guards_its_update,
}

pub const ZONE: &str = "/parks/geozones/bcparks_1/1";
pub const BOUNDARY: &str = "/parks/geozones/bcparks_1/1/geometry/boundary";
pub const PATH: &str = "/parks/geozones/bcparks_1/1/geometry/path";

/// A platform with a visible geozone 1, "Zone", far from every shape of these tests.
pub async fn with_zone() -> (Cairn, User, User) {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    zone(&admin, "Zone", [-40.0, -30.0]).await;
    (cairn, admin, visitor)
}

/// Makes a visible geozone and returns its path.
pub async fn zone(admin: &User, name: &str, location: [f64; 2]) -> String {
    let new = json!({ "displayName": name, "location": location, "isVisible": true });
    admin.post("/parks/geozones/bcparks_1", new).await.is(201).header("location").to_owned()
}

fn sorted(list: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = list.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    names.sort_unstable();
    names
}

async fn boundary_with_hole_and_island_round_trips() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    zone(&admin, "Zone", [-125.8, 49.4]).await;
    let put = admin.put(BOUNDARY, hole_and_island()).await.is(200);
    assert_eq!(put["repairs"], json!([]));
    let read = visitor.get(ZONE).await.is(200);
    assert_eq!(read["envelope"], json!([-126, 49.3, -124.8, 49.9]));
    assert_eq!((&read["boundary"]["parts"], &read["boundary"]["positions"]), (&json!(2), &json!(15)));
    visitor.search("bbox=-125.55,49.55,-125.45,49.65").await.is_nothing();
    visitor.search("near=-125.5,49.6&radius=1").await.is_nothing();
    visitor.search("bbox=-124.88,49.42,-124.86,49.44").await.are(&["Zone"]);
    visitor.search("near=-124.85,49.45&radius=1").await.are(&["Zone"]);

    let mut turned = hole_and_island();
    turned["coordinates"][0][0] = backward(&turned["coordinates"][0][0]);
    let put = admin.put(BOUNDARY, turned).await.is(200);
    assert_eq!(put["repairs"], json!(["winding"]));
    assert_eq!(put["reference"]["sha256"], read["boundary"]["sha256"]);
    assert_eq!(visitor.get(ZONE).await.is(200)["envelope"], read["envelope"]);
    visitor.search("bbox=-125.55,49.55,-125.45,49.65").await.is_nothing();
    visitor.search("bbox=-124.88,49.42,-124.86,49.44").await.are(&["Zone"]);
}

async fn boundary_of_fiji_is_found_on_both_sides_of_the_antimeridian() {
    let (_cairn, admin, visitor) = with_zone().await;
    let fiji = |east: f64| polygon(json!([[[179.5, -16.5], [east, -16.5], [east, -17], [179.5, -17], [179.5, -16.5]]]));
    let put = admin.put(BOUNDARY, fiji(-179.8)).await.is(200);
    assert_eq!(sorted(&put["repairs"]), ["cut", "winding"]);
    let read = visitor.get(ZONE).await.is(200);
    assert_eq!(read["envelope"], json!([179.5, -17, -179.8, -16.5]));
    let shape = visitor.get(BOUNDARY).await.is(200);
    assert_eq!(shape["bbox"], read["envelope"]);
    let parts = shape["geometry"]["coordinates"].as_array().unwrap();
    let meets = |part: &Value, meridian: f64| {
        part[0].as_array().unwrap().iter().filter(|position| position[0] == meridian).count() >= 2
    };
    assert!(parts.len() == 2 && meets(&parts[0], 180.0) && meets(&parts[1], -180.0), "{}", shape.told());

    visitor.search("bbox=179.9,-16.9,-179.9,-16.6").await.are(&["Zone"]);
    let drawn = polygon(json!([[[179, -17.5], [-179, -17.5], [-179, -16], [179, -16], [179, -17.5]]]));
    visitor.search_by(json!({ "shape": drawn, "relation": "within" })).await.are(&["Zone"]);
    visitor.search("bbox=-10,-17,10,-16").await.is_nothing();

    let again = admin.put(BOUNDARY, fiji(180.2)).await.is(200);
    assert_eq!(again["reference"]["sha256"], put["reference"]["sha256"]);
}

async fn boundary_of_antarctica_is_found_around_the_pole() {
    let (_cairn, admin, visitor) = with_zone().await;
    let ring = json!([[-150, -75], [-90, -73], [-30, -78], [30, -69], [90, -66], [150, -70], [-150, -75]]);
    let put = admin.put(BOUNDARY, polygon(json!([ring]))).await.is(200);
    assert_eq!(put["reference"]["positions"], 11);
    let shape = visitor.get(BOUNDARY).await.is(200)["geometry"].clone();
    assert_eq!(shape["type"], "Polygon");
    let positions = shape["coordinates"][0].as_array().unwrap();
    for corner in [[-180.0, -72.5], [180.0, -72.5], [-180.0, -90.0], [180.0, -90.0]] {
        assert!(positions.iter().any(|position| position[0] == corner[0] && position[1] == corner[1]), "{corner:?}");
    }
    assert_eq!(visitor.get(ZONE).await.is(200)["envelope"], json!([-180, -90, 180, -66]));
    visitor.search("bbox=0,-89,10,-85").await.are(&["Zone"]);
    visitor.search("bbox=170,-80,-170,-75").await.are(&["Zone"]);
    visitor.search("bbox=0,-60,10,-50").await.is_nothing();

    let again = admin.put(BOUNDARY, shape).await.is(200);
    assert_eq!((&again["repairs"], &again["reference"]), (&json!([]), &put["reference"]));
}

async fn shape_is_returned_whole_or_simplified() {
    let (_cairn, admin, visitor) = with_zone().await;
    let shape: Value = serde_json::from_str(&super::shapes::ellipse([-125.5, 49.6], [0.4, 0.25], 2000, 7)).unwrap();
    admin.put(BOUNDARY, polygon(json!([shape]))).await.is(200);
    let whole = visitor.get(BOUNDARY).await.is(200);
    assert_eq!(whole["geometry"]["coordinates"], json!([shape]));
    assert_eq!((whole.header("content-type"), &whole["type"]), ("application/geo+json", &json!("Feature")));
    assert_eq!(whole["bbox"], json!([-125.9, 49.35, -125.1, 49.85]));
    visitor.get(BOUNDARY).if_none_match(&whole.tag()).await.is(304);

    let positions = |answer: &crate::harness::Answer| answer["geometry"]["coordinates"][0].as_array().unwrap().len();
    let mut last = usize::MAX;
    for (metres, decimals) in [("0.1", 7), ("10", 5), ("1000", 3), ("100000", 1)] {
        let path = format!("{BOUNDARY}?tolerance={metres}");
        let coarse = visitor.get(&path).await.is(200);
        assert!(positions(&coarse) <= last && positions(&coarse) >= 4, "{metres}");
        let steps = 10_f64.powi(decimals);
        let is_rounded = |degrees: &Value| (degrees.as_f64().unwrap() * steps).round() / steps == *degrees;
        let ring = coarse["geometry"]["coordinates"][0].as_array().unwrap();
        assert!(ring.iter().flat_map(|position| position.as_array().unwrap()).all(is_rounded), "{metres}");
        assert_eq!(coarse.bytes, visitor.get(&path).await.is(200).bytes);
        assert_ne!(coarse.tag(), whole.tag());
        visitor.get(&path).if_none_match(&coarse.tag()).await.is(304);
        last = positions(&coarse);
    }
    let at_zoom = visitor.get(&format!("{BOUNDARY}?zoom=8")).await.is(200);
    assert!(positions(&at_zoom) < 200);
    visitor.search("q=zone").await.are(&["Zone"]);
    let found = visitor.get("/parks/search?q=zone&f=geojson&shapeAs=zoom:8").await.is(200);
    assert_eq!(found["features"][0]["geometry"], at_zoom["geometry"]);
    for (query, place) in [
        ("tolerance=0.05", "tolerance"),
        ("tolerance=100001", "tolerance"),
        ("tolerance=NaN", "tolerance"),
        ("zoom=23", "zoom"),
        ("zoom=-1", "zoom"),
        ("zoom=8&tolerance=5", "zoom"),
        ("shape=path", "shape"),
    ] {
        visitor.get(&format!("{BOUNDARY}?{query}")).await.faulty(&[place]);
    }
    visitor.get(PATH).await.refused(404, "not-found");
    visitor.get("/parks/geozones/bcparks_1/1/geometry/outline").await.faulty(&["shape"]);
}

async fn create_with_embedded_shapes_stores_them() {
    let (_cairn, admin, visitor) = with_zone().await;
    let path = json!({ "type": "LineString", "coordinates": [[20, 20], [25, 22]] });
    let boundary = rectangle(20.0, 20.0, 21.0, 21.0);
    let new = json!({ "displayName": "Both", "boundary": boundary, "path": path, "isVisible": true });
    let made = admin.post("/parks/geozones/bcparks_1", new).await.is(201);
    // Without a location it takes a point in its shape.
    let location: Vec<f64> = serde_json::from_value(made["location"].clone()).unwrap();
    assert!((20.0..=21.0).contains(&location[0]) && (20.0..=21.0).contains(&location[1]), "{location:?}");
    assert_eq!(made["envelope"], json!([20, 20, 25, 22]));
    let url = made.header("location").to_owned();
    for (asked, expected) in [("link", None), ("full", Some(&boundary)), ("none", None)] {
        let read = visitor.get(&format!("{url}?geometry={asked}")).await.is(200);
        assert_eq!(read["boundary"].get("geometry"), expected, "{asked}");
        assert_eq!(read.body.get("boundary").is_some(), asked != "none");
    }
    let feature = visitor.get(&format!("{url}?geometry=full")).geojson().await.is(200);
    assert_eq!((&feature["geometry"], &feature["id"]), (&boundary, &made["globalId"]));
    let link = visitor.get(&url).await.is(200)["boundary"]["link"].clone();
    assert_eq!(visitor.get(link.as_str().unwrap()).await.is(200)["geometry"], boundary);
    visitor.search("bbox=24,21,25,22").await.are(&["Both"]);
}

async fn shape_is_replaced_and_detached() {
    let (cairn, admin, visitor) = with_zone().await;
    let first = admin.put(BOUNDARY, rectangle(20.0, 20.0, 21.0, 21.0)).await.is(200);
    visitor.search("bbox=20,20,21,21").await.are(&["Zone"]);
    // The tag that a shape is put under is the item's.
    let tag = admin.get(ZONE).await.is(200).tag();
    assert_eq!(first.tag(), tag);
    admin.put(BOUNDARY, rectangle(30.0, 30.0, 31.0, 31.0)).if_match("\"2\"").await.refused(412, "stale");
    admin.put(BOUNDARY, rectangle(30.0, 30.0, 31.0, 31.0)).if_match(&tag).await.is(200);
    visitor.search("bbox=20,20,21,21").await.is_nothing();
    visitor.search("bbox=30,30,31,31").await.are(&["Zone"]);

    admin.delete(BOUNDARY).if_match(&tag).await.refused(412, "stale");
    admin.delete(BOUNDARY).await.is(204);
    admin.delete(BOUNDARY).await.refused(404, "not-found");
    visitor.get(BOUNDARY).await.refused(404, "not-found");
    visitor.search("bbox=30,30,31,31").await.is_nothing();
    // Without a shape its extent is its location again.
    visitor.search("bbox=-41,-31,-39,-29").await.are(&["Zone"]);
    let read = visitor.get(ZONE).await.is(200);
    assert_eq!((read.body.get("envelope"), read.body.get("boundary")), (None, None));
    let document = cairn.document("parks", "geozone::bcparks_1#1").await.unwrap();
    assert!(!document.as_object().unwrap().keys().any(|field| field.starts_with("boundary")), "{document}");
}

/// S3 refuses what it has before it has read it.
async fn repeated_put_of_a_large_shape_succeeds() {
    let (_cairn, admin, _visitor) = with_zone().await;
    let ring: Value = serde_json::from_str(&super::shapes::ellipse([-125.5, 49.6], [0.4, 0.25], 30_000, 12)).unwrap();
    let first = admin.put(BOUNDARY, polygon(json!([ring]))).await.is(200);
    assert!(first["reference"]["bytes"].as_u64().unwrap() > 1_000_000, "{}", first.told());
    for _ in 0..2 {
        let again = admin.put(BOUNDARY, polygon(json!([ring]))).await.is(200);
        assert_eq!(again["reference"], first["reference"]);
    }
}

async fn shape_over_the_body_limit_returns_413() {
    let (_cairn, admin, _visitor) = with_zone().await;
    let padded = |bytes: usize| {
        let text = rectangle(1.0, 1.0, 2.0, 2.0).to_string();
        format!("{text}{}", " ".repeat(bytes - text.len()))
    };
    let put = |body: String| admin.call(reqwest::Method::PUT, BOUNDARY).bytes("application/geo+json", body);
    put(padded(4 * 1024 * 1024)).await.is(200);
    put(padded(4 * 1024 * 1024 + 1)).await.refused(413, "too-large");
    // Beyond what Lambda takes the answer is API Gateway's.
    let beyond = put(padded(7 * 1024 * 1024)).await;
    assert_eq!((beyond.status, beyond["message"].as_str()), (413, Some("Request Entity Too Large")));
    put("{".to_owned()).await.faulty(&[""]);
    put(format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000))).await.refused(413, "too-large");
    admin.call(reqwest::Method::PUT, BOUNDARY).bytes("text/csv", "a").await.refused(415, "wrong-content-type");
    // A new item may have its shape in the same body.
    let mut deep = rectangle(1.0, 1.0, 2.0, 2.0);
    deep["properties"] = json!([[[[[[[[[1]]]]]]]]]);
    admin.put(BOUNDARY, deep.clone()).await.refused(413, "too-large");
    let new = json!({ "displayName": "Deep", "location": [1, 2], "boundary": deep });
    admin.post("/parks/geozones/bcparks_1", new).await.refused(413, "too-large");
}

async fn shape_of_a_deleted_item_is_refused() {
    let (_cairn, admin, visitor) = with_zone().await;
    let shape = rectangle(1.0, 1.0, 2.0, 2.0);
    admin.put("/parks/geozones/bcparks_1/9/geometry/boundary", shape.clone()).await.refused(404, "not-found");
    visitor.put(BOUNDARY, shape.clone()).await.refused(401, "not-signed-in");
    admin.put(BOUNDARY, shape.clone()).await.is(200);
    admin.patch(ZONE, json!({ "isVisible": false })).await.is(200);
    visitor.get(BOUNDARY).await.refused(404, "not-found");
    admin.get(BOUNDARY).await.is(200);
    admin.delete(ZONE).await.is(204);
    admin.put(BOUNDARY, shape).await.refused(404, "not-found");
    admin.delete(BOUNDARY).await.refused(404, "not-found");
    admin.get(BOUNDARY).await.is(200);
    admin.get(&format!("{BOUNDARY}?view=public")).await.refused(404, "not-found");
}

async fn tag_of_a_shape_guards_its_update() {
    let (_cairn, admin, _) = with_zone().await;
    admin.put(BOUNDARY, rectangle(-126.0, 49.0, -125.0, 50.0)).await.is(200);
    let whole = admin.get(BOUNDARY).await.is(200).tag();
    let coarse = admin.get(&format!("{BOUNDARY}?zoom=5")).await.is(200).tag();
    // A change of the item leaves its shape as it was.
    admin.patch(ZONE, json!({ "displayName": "Renamed" })).await.is(200);
    let put = |tag: &str, east| admin.put(BOUNDARY, rectangle(-126.0, 49.0, east, 50.0)).if_match(tag);
    put(&whole, -124.0).await.is(200);
    put(&whole, -123.0).await.refused(412, "stale");
    put(&coarse, -123.0).await.refused(412, "stale");
    let coarse = admin.get(&format!("{BOUNDARY}?zoom=5")).await.is(200).tag();
    put(&coarse, -123.0).await.is(200);
    let last = admin.get(BOUNDARY).await.is(200).tag();
    admin.delete(BOUNDARY).if_match(&whole).await.refused(412, "stale");
    admin.delete(BOUNDARY).if_match(&last).await.is(204);
}
