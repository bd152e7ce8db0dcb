//! `…/geometry/{boundary|path}`: what is taken, what is mended, what is refused, and what search makes of it.

use serde_json::{Value, json};

use super::shapes::{backward, hole_and_island, multi, polygon, rectangle, ring};
use crate::harness::{Cairn, User};
use crate::tests;

tests! { geometry:
    scenario_12_hole_and_island,
    scenario_13_fiji,
    scenario_14_antarctica,
    what_can_be_mended_is_mended_and_named,
    what_breaks_a_rule_is_refused_at_its_place,
    all_faults_come_in_the_order_of_the_document,
    a_shape_comes_back_whole_or_simplified,
    a_create_may_carry_its_shapes,
    a_shape_is_replaced_and_detached,
    lines_are_paths,
    real_data_is_taken_as_it_is,
    envelopes_are_right_all_round_the_earth,
    bodies_have_a_limit,
    a_shape_needs_an_item_that_is_live,
}

const ZONE: &str = "/parks/geozones/bcparks_1/1";
const BOUNDARY: &str = "/parks/geozones/bcparks_1/1/geometry/boundary";
const PATH: &str = "/parks/geozones/bcparks_1/1/geometry/path";

/// A platform with a visible geozone 1, "Zone", far from every shape of these tests.
async fn with_zone() -> (Cairn, User, User) {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    zone(&admin, "Zone", [-40.0, -30.0]).await;
    (cairn, admin, visitor)
}

/// Makes a visible geozone and returns its path.
async fn zone(admin: &User, name: &str, location: [f64; 2]) -> String {
    let new = json!({ "displayName": name, "location": location, "isVisible": true });
    admin.post("/parks/geozones/bcparks_1", new).await.is(201).header("location").to_owned()
}

fn sorted(list: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = list.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    names.sort_unstable();
    names
}

async fn scenario_12_hole_and_island() {
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

async fn scenario_13_fiji() {
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

async fn scenario_14_antarctica() {
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

async fn what_can_be_mended_is_mended_and_named() {
    let (_cairn, admin, visitor) = with_zone().await;
    let square = ring(1.0, 1.0, 3.0, 3.0);
    let crs = |name: &str| {
        let mut shape = polygon(json!([square]));
        shape["crs"] = json!({ "type": "name", "properties": { "name": name } });
        shape
    };
    let feature = |geometry: Value| json!({ "type": "Feature", "geometry": geometry, "properties": { "a": 1 } });
    let collection = json!({ "type": "FeatureCollection", "features": [feature(polygon(json!([square])))] });
    for (sent, repairs, parts) in [
        (polygon(json!([square])), vec![], 1),
        (feature(polygon(json!([square]))), vec![], 1),
        (collection, vec![], 1),
        (multi(json!([[square]])), vec![], 1),
        (crs("urn:ogc:def:crs:OGC:1.3:CRS84"), vec!["crs"], 1),
        (crs("EPSG:4326"), vec!["crs"], 1),
        (polygon(json!([backward(&square)])), vec!["winding"], 1),
        (polygon(json!([square, ring(1.5, 1.5, 2.0, 2.0)])), vec!["winding"], 1),
        (polygon(json!([[[1, 1], [3, 1], [3, 1], [3, 3], [1, 3], [1, 1]]])), vec!["repeats"], 1),
        (polygon(json!([[[1, 1], [3, 1], [3, 3], [1, 3], [1, 1.000_000_05]]])), vec!["closed"], 1),
        (rectangle(178.0, 1.0, 180.000_000_000_5, 3.0), vec!["snapped"], 1),
        (rectangle(178.0, 1.0, 182.0, 3.0), vec!["cut"], 2),
        (polygon(json!([[[178, 1], [-178, 1], [-178, 3], [178, 3], [178, 1]]])), vec!["cut"], 2),
        (polygon(json!([[[1, 1, 5], [3, 1, 5], [3, 3, 6], [1, 3, 6], [1, 1, 5]]])), vec![], 1),
    ] {
        let put = admin.put(BOUNDARY, sent.clone()).await.is(200);
        assert_eq!(put["repairs"], json!(repairs), "{sent}");
        assert_eq!(put["reference"]["parts"], parts, "{sent}");
        // What is stored breaks no rule any more.
        let stored = visitor.get(BOUNDARY).await.is(200)["geometry"].clone();
        let again = admin.put(BOUNDARY, stored).await.is(200);
        assert_eq!((&again["repairs"], &again["reference"]), (&json!([]), &put["reference"]), "{sent}");
    }
    visitor.search("bbox=2,2,2.5,2.5").await.are(&["Zone"]);
}

async fn what_breaks_a_rule_is_refused_at_its_place() {
    let (cairn, admin, visitor) = with_zone().await;
    admin.put(BOUNDARY, rectangle(10.0, 10.0, 11.0, 11.0)).await.is(200);
    let before = visitor.get(ZONE).await.is(200);
    let document = cairn.document("parks", "geozone::bcparks_1#1").await;
    let square = ring(1.0, 1.0, 3.0, 3.0);
    let mut crs = polygon(json!([square]));
    crs["crs"] = json!({ "type": "name", "properties": { "name": "EPSG:3857" } });
    let two = json!({ "type": "FeatureCollection", "features": [
        { "type": "Feature", "geometry": polygon(json!([square])), "properties": null },
        { "type": "Feature", "geometry": polygon(json!([square])), "properties": null },
    ] });
    for (sent, pointer) in [
        (json!({ "type": "Point", "coordinates": [1, 2] }), "/type"),
        (json!({ "type": "LineString", "coordinates": [[1, 1], [2, 2]] }), "/type"),
        (json!({ "type": "GeometryCollection", "geometries": [] }), "/type"),
        (json!({ "type": "Feature", "geometry": { "type": "Point", "coordinates": [1, 2] } }), "/geometry/type"),
        (json!({ "type": "Feature", "geometry": null, "properties": {} }), "/geometry"),
        (two, "/features"),
        (crs, "/crs"),
        (polygon(json!([[[1, 1], [3], [3, 3], [1, 3], [1, 1]]])), "/coordinates/0/1"),
        (polygon(json!([[[1, 1], [3, 1, 2, 5], [3, 3], [1, 3], [1, 1]]])), "/coordinates/0/1"),
        (polygon(json!([[[1, 1], [3, 1, 7], [3, 3], [1, 3], [1, 1]]])), "/coordinates/0/1"),
        (polygon(json!([[[1, 1], ["3", 1], [3, 3], [1, 3], [1, 1]]])), "/coordinates/0/1"),
        (polygon(json!([[[1, 1], [3, 91], [3, 3], [1, 3], [1, 1]]])), "/coordinates/0/1"),
        (polygon(json!([[[1, 1], [361, 1], [3, 3], [1, 3], [1, 1]]])), "/coordinates/0/1"),
        (polygon(json!([[[1, 1], [3, 1], [3, 3], [1, 3]]])), "/coordinates/0"),
        (polygon(json!([[[1, 1], [3, 1], [1, 1]]])), "/coordinates/0"),
        (polygon(json!([[[1, 1], [2, 1], [3, 1], [1, 1]]])), "/coordinates/0"),
        (polygon(json!([])), "/coordinates"),
        (polygon(json!([square, ring(5.0, 5.0, 6.0, 6.0)])), "/coordinates/1"),
        (
            polygon(json!([square, backward(&ring(1.5, 1.5, 2.5, 2.5)), backward(&ring(2.0, 2.0, 2.8, 2.8))])),
            "/coordinates/2",
        ),
        (multi(json!([[square], [ring(2.0, 2.0, 4.0, 4.0)]])), "/coordinates/1"),
        (multi(json!([[square], [ring(3.0, 1.0, 4.0, 3.0)]])), "/coordinates/1"),
        (polygon(json!([[[0, 50], [1, 51], [1, 50], [0, 51], [0, 50]]])), "/coordinates/0/3"),
        // A spike runs back along itself.
        (polygon(json!([[[0, 0], [4, 0], [4, 4], [4, 9], [4, 4], [0, 4], [0, 0]]])), "/coordinates/0/4"),
    ] {
        let refused = admin.put(BOUNDARY, sent.clone()).await.refused(400, "bad-request");
        assert_eq!(refused.places(), [pointer], "{sent}: {}", refused.told());
    }
    let swapped = polygon(json!([[[49, -125], [50, -125], [50, -124], [49, -125]]]));
    let refused = admin.put(BOUNDARY, swapped).await.refused(400, "bad-request");
    assert!(refused.told().contains("swapped"), "{}", refused.told());
    let after = visitor.get(ZONE).await.is(200);
    assert_eq!((after.body.clone(), after.tag()), (before.body.clone(), before.tag()));
    assert_eq!(cairn.document("parks", "geozone::bcparks_1#1").await, document);
}

async fn all_faults_come_in_the_order_of_the_document() {
    let (_cairn, admin, _visitor) = with_zone().await;
    let wrong = polygon(json!([
        [[0, 50], [1, 51], [1, 50], [0, 51], [0, 50]],
        ring(5.0, 50.0, 6.0, 51.0),
        [[0, 0], [1, 1], [0, 0]],
    ]));
    let refused = admin.put(BOUNDARY, wrong).await.refused(400, "bad-request");
    assert_eq!(refused.places(), ["/coordinates/0/3", "/coordinates/1", "/coordinates/2"]);
    // More than a hundred are counted.
    let many: Vec<Value> = (0..300).map(|_| json!([[0, 0], [1, 1], [0, 0]])).collect();
    let refused = admin.put(BOUNDARY, polygon(json!(many))).await.refused(400, "bad-request");
    assert_eq!((refused.places().len(), &refused["errorCount"]), (100, &json!(300)));
    // Two shapes of one body: each fault points into the whole body.
    let new = json!({
        "displayName": "x", "location": [1, 2], "path": { "type": "LineString", "coordinates": [[1, 2]] },
        "boundary": { "type": "Polygon", "coordinates": [[[0, 50], [1, 51], [1, 50], [0, 51], [0, 50]]] }
    });
    let places = ["/boundary/coordinates/0/3", "/path/coordinates"];
    admin.post("/parks/geozones/bcparks_1", new).await.faulty(&places);
}

async fn a_shape_comes_back_whole_or_simplified() {
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
    for metres in ["0.1", "10", "1000", "100000"] {
        let path = format!("{BOUNDARY}?tolerance={metres}");
        let coarse = visitor.get(&path).await.is(200);
        assert!(positions(&coarse) <= last && positions(&coarse) >= 4, "{metres}");
        assert_eq!(coarse.bytes, visitor.get(&path).await.is(200).bytes);
        assert_ne!(coarse.tag(), whole.tag());
        visitor.get(&path).if_none_match(&coarse.tag()).await.is(304);
        last = positions(&coarse);
    }
    assert!(positions(&visitor.get(&format!("{BOUNDARY}?zoom=8")).await.is(200)) < 200);
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

async fn a_create_may_carry_its_shapes() {
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
    let feature = visitor.get(&format!("{url}?geometry=full")).as_geojson().await.is(200);
    assert_eq!((&feature["geometry"], &feature["id"]), (&boundary, &made["globalId"]));
    let link = visitor.get(&url).await.is(200)["boundary"]["link"].clone();
    assert_eq!(visitor.get(link.as_str().unwrap()).await.is(200)["geometry"], boundary);
    visitor.search("bbox=24,21,25,22").await.are(&["Both"]);
}

async fn a_shape_is_replaced_and_detached() {
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

async fn lines_are_paths() {
    let (_cairn, admin, visitor) = with_zone().await;
    let line = |positions: Value| json!({ "type": "LineString", "coordinates": positions });
    // A line may cross and touch itself.
    let knot = line(json!([[20, 20], [22, 22], [22, 20], [20, 22], [20, 20]]));
    admin.put(PATH, knot.clone()).await.is(200);
    assert_eq!(visitor.get(PATH).await.is(200)["geometry"], knot);
    visitor.search("bbox=20.9,20.9,21.1,21.1").await.are(&["Zone"]);
    visitor.search("bbox=20.9,21.5,21.1,21.7").await.is_nothing();
    let put = admin.put(PATH, line(json!([[179, 1], [-179, 1]]))).await.is(200);
    assert_eq!((&put["repairs"], &put["reference"]["parts"]), (&json!(["cut"]), &json!(2)));
    let several = json!({ "type": "MultiLineString", "coordinates": [[[1, 1], [2, 2]], [[5, 5], [6, 5]]] });
    admin.put(PATH, several).await.is(200);
    for (bad, place) in [
        (line(json!([[1, 1]])), "/coordinates"),
        (line(json!([[1, 1], [1, 1]])), "/coordinates"),
        (line(json!([])), "/coordinates"),
        (rectangle(1.0, 1.0, 2.0, 2.0), "/type"),
    ] {
        admin.put(PATH, bad).await.faulty(&[place]);
    }
}

/// What public files of the world hold.
async fn real_data_is_taken_as_it_is() {
    let (_cairn, admin, visitor) = with_zone().await;
    let beyond = polygon(json!([[
        [179.5, -16.5],
        [179.5, -17],
        [180.000_000_000_000_2, -17],
        [180.000_000_000_000_2, -16.5],
        [179.5, -16.5]
    ]]));
    let put = admin.put(BOUNDARY, beyond).await.is(200);
    assert_eq!((&put["repairs"], &put["reference"]["parts"]), (&json!(["snapped"]), &json!(1)));

    // One meridian under both its names is one island.
    let mixed = polygon(json!([[[-180, 71], [-180, 70], [-179, 70], [-179, 71], [180, 71.5], [-180, 71]]]));
    let put = admin.put(BOUNDARY, mixed).await.is(200);
    assert_eq!(put["reference"]["parts"], 1, "{}", put.told());
    visitor.search("bbox=-179.6,70.4,-179.4,70.6").await.are(&["Zone"]);
    visitor.search("bbox=0,70.4,10,70.6").await.is_nothing();

    // A world file without cuts, clockwise, round the pole.
    let stitched = polygon(json!([[
        [-180, -90],
        [-180, -72.5],
        [-150, -75],
        [-90, -73],
        [-30, -78],
        [30, -69],
        [90, -66],
        [150, -70],
        [180, -72.5],
        [180, -90],
        [-180, -90]
    ]]));
    let put = admin.put(BOUNDARY, stitched).await.is(200);
    assert_eq!((&put["repairs"], &put["reference"]["parts"]), (&json!(["winding"]), &json!(1)));
    visitor.search("bbox=0,-89,10,-85").await.are(&["Zone"]);
}

async fn envelopes_are_right_all_round_the_earth() {
    let (_cairn, admin, visitor) = with_zone().await;
    for (shape, envelope) in [
        (rectangle(15.0, 40.0, 16.0, 41.0), [15.0, 40.0, 16.0, 41.0]),
        (rectangle(-70.0, -41.0, -69.0, -40.0), [-70.0, -41.0, -69.0, -40.0]),
        (multi(json!([[ring(170.0, 1.0, 171.0, 2.0)], [ring(-171.0, 1.0, -170.0, 2.0)]])), [170.0, 1.0, -170.0, 2.0]),
        (multi(json!([[ring(-10.0, 1.0, -9.0, 2.0)], [ring(9.0, 1.0, 10.0, 2.0)]])), [-10.0, 1.0, 10.0, 2.0]),
        (multi(json!([[ring(-90.0, 1.0, -89.0, 2.0)], [ring(90.0, 1.0, 91.0, 2.0)]])), [-90.0, 1.0, 91.0, 2.0]),
        (rectangle(-180.0, -10.0, 180.0, 10.0), [-180.0, -10.0, 180.0, 10.0]),
    ] {
        admin.put(BOUNDARY, shape.clone()).await.is(200);
        let read: [f64; 4] = serde_json::from_value(visitor.get(ZONE).await.is(200)["envelope"].clone()).unwrap();
        assert_eq!(read, envelope, "{shape}");
    }
    admin.delete(BOUNDARY).await.is(204);
    let taveuni = zone(&admin, "Taveuni", [-179.97, -16.85]).await;
    zone(&admin, "Greenwich", [0.0, 51.5]).await;
    visitor.search("bbox=170,-30,-170,60").await.are(&["Taveuni"]);
    admin.delete(&taveuni).await.is(204);
    visitor.search("bbox=170,-30,-170,60").await.is_nothing();
}

async fn bodies_have_a_limit() {
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
}

async fn a_shape_needs_an_item_that_is_live() {
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
