//! The rules of shapes: what is mended, what is refused and where, and what the Earth's roundness makes of it.

use serde_json::{Value, json};

use super::geometry::{BOUNDARY, PATH, ZONE, with_zone, zone};
use super::shapes::{backward, multi, polygon, rectangle, ring};
use crate::tests;

tests! { geometry:
    repairable_shape_is_repaired_and_the_repair_is_named,
    invalid_shape_is_refused_with_a_pointer,
    shape_faults_are_in_document_order,
    line_string_is_stored_as_path,
    location_is_derived_from_a_shape_around_the_origin,
    real_boundaries_are_accepted_unchanged,
    envelopes_are_right_across_the_antimeridian,
}

async fn repairable_shape_is_repaired_and_the_repair_is_named() {
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

async fn invalid_shape_is_refused_with_a_pointer() {
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

async fn shape_faults_are_in_document_order() {
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
    let new = json!({ "displayName": "x", "location": [0, 0], "boundary": polygon(json!(many)) });
    let refused = admin.post("/parks/geozones/bcparks_1", new).await.refused(400, "bad-request");
    assert_eq!((refused.places().len(), &refused["errorCount"]), (100, &json!(301)));
    // Two shapes of one body: each fault points into the whole body.
    let new = json!({
        "displayName": "x", "location": [1, 2], "path": { "type": "LineString", "coordinates": [[1, 2]] },
        "boundary": { "type": "Polygon", "coordinates": [[[0, 50], [1, 51], [1, 50], [0, 51], [0, 50]]] }
    });
    let places = ["/boundary/coordinates/0/3", "/path/coordinates"];
    let mut unplaced = new.clone();
    unplaced.as_object_mut().unwrap().remove("location");
    admin.post("/parks/geozones/bcparks_1", new).await.faulty(&places);
    // The shape would give it a location.
    admin.post("/parks/geozones/bcparks_1", unplaced).await.faulty(&places);
}

/// The middle of such a shape is [0, 0], which no location may be.
async fn location_is_derived_from_a_shape_around_the_origin() {
    let (_cairn, admin, _visitor) = with_zone().await;
    for (west, south, east, north) in [(-2.0, -2.0, 2.0, 2.0), (-180.0, -90.0, 180.0, 90.0)] {
        let boundary = polygon(json!([ring(west, south, east, north)]));
        let new = json!({ "displayName": "Gulf", "boundary": boundary });
        let made = admin.post("/parks/geozones/bcparks_1", new).await.is(201);
        let location: Vec<f64> = serde_json::from_value(made["location"].clone()).unwrap();
        assert!((west..=east).contains(&location[0]) && (south..=north).contains(&location[1]), "{location:?}");
        admin.patch(made.header("location"), json!({ "description": "Warm." })).await.is(200);
    }
}

async fn line_string_is_stored_as_path() {
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
async fn real_boundaries_are_accepted_unchanged() {
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

async fn envelopes_are_right_across_the_antimeridian() {
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
