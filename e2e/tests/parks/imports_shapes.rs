//! Imports of features whose shapes break the rules.

use serde_json::{Value, json};

use super::imports::{TRAILS, collection, feature, import, import_with, point};
use super::imports_refused::faults;
use super::shapes::rectangle;
use crate::harness::Cairn;
use crate::tests;

tests! { imports_shapes:
    refused_shapes_refuse_their_rows_by_default,
    refused_shape_is_left_out_on_request,
    refused_shape_is_repaired_on_request,
    shape_that_cannot_be_repaired_refuses_its_row,
    shape_of_another_reference_system_gives_no_position,
}

/// A ring that crosses itself in [0.5, 50.5]: two triangles.
fn bow() -> Value {
    json!({ "type": "Polygon", "coordinates": [[[0, 50], [1, 51], [1, 50], [0, 51], [0, 50]]] })
}

async fn refused_shapes_refuse_their_rows_by_default() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let layer = collection(&[feature("bow", "Bow", &bow()), feature("good", "Good", &point(1.0, 1.0))]);
    for more in [json!({}), json!({ "invalidShapes": "refuse" })] {
        let job = import_with(&admin, "geojson", more, &layer).await;
        assert_eq!(job["counts"], json!({ "total": 2, "done": 1, "failed": 1 }), "{}", job.told());
        assert_eq!(faults(&job).await["faults"][0]["pointer"], "/geometry/coordinates/0/3");
    }
    let new = json!({ "collectionId": "bcparks_1", "entity": "facility", "format": "csv", "bytes": 5 });
    let mut bad = new.clone();
    bad["invalidShapes"] = json!("mend");
    admin.post("/parks/imports", bad).await.faulty(&["/invalidShapes"]);
}

async fn refused_shape_is_left_out_on_request() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let leave_out = json!({ "invalidShapes": "leaveOut" });
    import(&admin, "geojson", &collection(&[feature("old", "Old", &rectangle(3.0, 50.0, 4.0, 51.0))])).await;
    let old = admin.get(&format!("{TRAILS}/trail/1")).await.is(200);
    let layer = collection(&[
        feature("old", "New name", &bow()),
        feature("bow", "Bow", &bow()),
        feature("good", "Good", &rectangle(5.0, 50.0, 6.0, 51.0)),
        // Neither a shape nor a location: no position of it can be one.
        feature(
            "metres",
            "Metres",
            &json!({ "type": "LineString", "coordinates": [[500000, 5400000], [500100, 5400000]] }),
        ),
        // Its shape is left out, and something else is wrong with it.
        feature("nameless", "", &bow()),
    ]);
    let job = import_with(&admin, "geojson", leave_out.clone(), &layer).await;
    assert_eq!(job["counts"], json!({ "total": 5, "done": 3, "failed": 2 }), "{}", job.told());
    let told = faults(&job).await;
    let fault = |at: usize| (told["faults"][at]["feature"].clone(), told["faults"][at]["pointer"].clone());
    assert_eq!(told["faultCount"], 2, "{told}");
    assert_eq!(fault(0), (json!(4), json!("/geometry")));
    assert_eq!(fault(1), (json!(5), json!("/properties/displayName")));
    // The report names each row whose shape is left out.
    let shapes = told["shapes"].as_array().unwrap();
    assert_eq!((shapes.len(), &told["shapeCount"]), (2, &json!(2)), "{told}");
    for (shape, (number, id)) in shapes.iter().zip([(1, "old"), (2, "bow")]) {
        assert_eq!(shape["feature"], number);
        assert_eq!((&shape["externalId"], &shape["outcome"]), (&json!(id), &json!("leftOut")));
        assert_eq!(shape["pointer"], "/geometry/coordinates/0/3");
        assert!(shape["detail"].as_str().unwrap().contains("cross"), "{shape}");
    }
    // An item keeps the shape that it has; a new one is placed at a position of its shape.
    let item = admin.get(&format!("{TRAILS}/trail/1")).await.is(200);
    assert_eq!((item.text("displayName"), &item["boundary"]), ("New name", &old["boundary"]));
    assert_eq!(item["location"], old["location"]);
    let item = admin.get(&format!("{TRAILS}/trail/2")).await.is(200);
    assert_eq!((item.body.get("boundary"), &item["location"]), (None, &json!([0, 50])));

    // What is left out again changes nothing.
    let tags = async || {
        let pages = admin.pages(TRAILS, 100).await;
        let mut tags = Vec::new();
        for sk in pages.iter().flat_map(|page| page.sks()) {
            tags.push(admin.get(&format!("{TRAILS}/{}", sk.replace("::", "/"))).await.is(200).tag());
        }
        tags
    };
    let before = tags().await;
    import_with(&admin, "geojson", leave_out, &layer).await;
    assert_eq!(tags().await, before);
}

async fn refused_shape_is_repaired_on_request() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let repair = json!({ "invalidShapes": "repair" });
    // Two parts that overlap, one that has no area, and a hole that lies half outside.
    let overlap = json!({ "type": "MultiPolygon", "coordinates": [
        [[[2, 50], [4, 50], [4, 52], [2, 52], [2, 50]], [[3.5, 50.5], [4.5, 50.5], [4.5, 51], [3.5, 51], [3.5, 50.5]]],
        [[[3, 51.5], [5, 51.5], [5, 53], [3, 53], [3, 51.5]]],
        [[[8, 50], [9, 50], [8, 50], [8, 50]]]
    ] });
    let across = json!({ "type": "Polygon", "coordinates": [
        [[179, 50], [-179, 51], [-179, 50], [179, 51], [179, 50]]
    ] });
    let layer = collection(&[
        feature("bow", "Bow", &bow()),
        feature("good", "Good", &rectangle(5.0, 50.0, 6.0, 51.0)),
        feature("overlap", "Overlap", &overlap),
        feature("across", "Across", &across),
    ]);
    let job = import_with(&admin, "geojson", repair.clone(), &layer).await;
    assert_eq!(job["counts"], json!({ "total": 4, "done": 4, "failed": 0 }), "{}", job.told());
    let told = faults(&job).await;
    assert_eq!((&told["faultCount"], &told["shapeCount"]), (&json!(0), &json!(3)), "{told}");
    let named: Vec<_> = told["shapes"].as_array().unwrap().iter().map(|shape| &shape["externalId"]).collect();
    assert_eq!(named, ["bow", "overlap", "across"]);
    assert!(told["shapes"].as_array().unwrap().iter().all(|shape| shape["outcome"] == "repaired"));

    let shape = async |number: u64| {
        let whole = admin.get(&format!("{TRAILS}/trail/{number}/geometry/boundary")).await.is(200);
        (whole["geometry"].clone(), whole["bbox"].clone())
    };
    let (bow, extent) = shape(1).await;
    assert_eq!((bow["type"].as_str(), extent), (Some("MultiPolygon"), json!([0, 50, 1, 51])), "{bow}");
    assert_eq!(bow["coordinates"].as_array().unwrap().len(), 2, "both triangles stay: {bow}");
    assert!(bow.to_string().contains("[0.5,50.5]"), "they meet where the ring crosses itself: {bow}");
    let (overlap, extent) = shape(3).await;
    assert_eq!((overlap["type"].as_str(), extent), (Some("Polygon"), json!([2, 50, 5, 53])), "{overlap}");
    assert_eq!(overlap["coordinates"].as_array().unwrap().len(), 1, "the hole opens to the outside: {overlap}");
    let (across, extent) = shape(4).await;
    assert_eq!((across["type"].as_str(), extent), (Some("MultiPolygon"), json!([179, 50, -179, 51])), "{across}");

    // Found where it has area, also in a dry run's second reading.
    let visitor = cairn.visitor();
    visitor.search("bbox=0.05,50.45,0.15,50.55").await.are(&["Bow"]);
    visitor.search("bbox=0.45,50.05,0.55,50.15").await.are(&[]);
    let before = shape(1).await;
    let again = import_with(&admin, "geojson", repair, &layer).await;
    assert_eq!(again["counts"]["done"], 4);
    assert_eq!(shape(1).await, before);
}

async fn shape_that_cannot_be_repaired_refuses_its_row() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let polygon = |ring: Value| json!({ "type": "Polygon", "coordinates": [ring] });
    let layer = collection(&[
        feature("line", "Line", &json!({ "type": "LineString", "coordinates": [[1, 1], [1, 1]] })),
        feature("flat", "Flat", &polygon(json!([[0, 50], [1, 51], [2, 52], [0, 50]]))),
        feature("open", "Open", &polygon(json!([[0, 50], [1, 51], [1, 50], [0, 51]]))),
        feature("metres", "Metres", &polygon(json!([[0, 50], [1, 5000000], [1, 50], [0, 50]]))),
        feature("many", "Many", &json!({ "type": "GeometryCollection", "geometries": [] })),
        feature("text", "Text", &polygon(json!([[0, 50], ["x", 51], [1, 50], [0, 50]]))),
    ]);
    let job = import_with(&admin, "geojson", json!({ "invalidShapes": "repair" }), &layer).await;
    assert_eq!(job["counts"], json!({ "total": 6, "done": 0, "failed": 6 }), "{}", job.told());
    let told = faults(&job).await;
    let plain = faults(&import(&admin, "geojson", &layer).await).await;
    assert_eq!(told["faults"], plain["faults"]);
    assert_eq!(told["shapeCount"], 0);
}

async fn shape_of_another_reference_system_gives_no_position() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let foreign = json!({ "type": "name", "properties": { "name": "EPSG:3857" } });
    // In metres these are places in the Gulf of Guinea.
    let mut shape = rectangle(10.0, 20.0, 11.0, 21.0);
    shape["crs"] = foreign.clone();
    let mut whole = feature("whole", "Whole", &rectangle(10.0, 20.0, 11.0, 21.0));
    whole["crs"] = foreign;
    let layer = collection(&[feature("shape", "Shape", &shape), whole, feature("bow", "Bow", &bow())]);
    for how in ["leaveOut", "repair", "refuse"] {
        let job = import_with(&admin, "geojson", json!({ "invalidShapes": how }), &layer).await;
        let told = faults(&job).await;
        assert_eq!((&told["faults"][0]["feature"], &told["faults"][1]["feature"]), (&json!(1), &json!(2)), "{told}");
        let pages = admin.pages(TRAILS, 100).await;
        assert_eq!(pages[0].sks(), ["trail::1"], "{how}");
    }
    assert_eq!(admin.get(&format!("{TRAILS}/trail/1")).await.is(200)["displayName"], "Bow");
}
