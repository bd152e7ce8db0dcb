//! Search by place: boxes, distances, drawn shapes, the shapes of items.

use serde_json::{Value, json};

use super::shapes::{backward, ellipse, hole_and_island, multi, polygon, rectangle, ring};
use crate::harness::{Cairn, User};
use crate::tests;

tests! { places:
    a_box_meets_extents,
    near_is_a_distance_or_a_shape_that_holds_the_point,
    a_drawn_shape_meets_holds_or_is_held,
    a_drawn_shape_keeps_the_rules_and_its_size,
    the_shape_of_an_item_is_compared_with,
    what_has_no_place_is_left_out,
}

const ZONES: &str = "/parks/geozones/bcparks_1";

async fn zone(admin: &User, name: &str, location: [f64; 2], boundary: Option<Value>) -> String {
    let mut new = json!({ "displayName": name, "location": location, "isVisible": true });
    if let Some(boundary) = boundary {
        new["boundary"] = boundary;
    }
    admin.post(ZONES, new).await.is(201).text("globalId").to_owned()
}

async fn a_box_meets_extents() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    zone(&admin, "Point", [5.0, 5.0], None).await;
    // Its location is not in its extent: the shape counts.
    zone(&admin, "Square", [50.0, 50.0], Some(rectangle(10.0, 10.0, 12.0, 12.0))).await;
    for (bbox, names) in [
        ("4,4,6,6", vec!["Point"]),
        ("5,5,6,6", vec!["Point"]),
        ("5.1,5,6,6", vec![]),
        ("0,0,11,11", vec!["Point", "Square"]),
        ("10.5,10.5,11,11", vec!["Square"]),
        ("12,12,13,13", vec!["Square"]),
        ("12.01,10,13,12", vec![]),
        ("49,49,51,51", vec![]),
        ("-180,-90,180,90", vec!["Point", "Square"]),
        ("11,-90,5,90", vec!["Point", "Square"]),
        ("13,-90,4,90", vec![]),
    ] {
        visitor.search(&format!("bbox={bbox}")).await.are(&names);
    }
}

async fn near_is_a_distance_or_a_shape_that_holds_the_point() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    zone(&admin, "East", [179.9, 0.0], None).await;
    zone(&admin, "West", [-179.9, 0.0], None).await;
    zone(&admin, "Square", [50.0, 50.0], Some(rectangle(10.0, 10.0, 12.0, 12.0))).await;
    // Across 180 it is 22 km.
    visitor.search("near=179.9,0&radius=23000").await.are(&["East", "West"]);
    visitor.search("near=179.9,0&radius=22000").await.are(&["East"]);
    let found = visitor.search("near=11,11&radius=1").await;
    found.are(&["Square"]);
    // The distance is that to the location.
    assert!(found[0]["distanceMetres"].as_f64().unwrap() > 5_000_000.0, "{}", found.0.told());
    visitor.search("near=9,9&radius=1").await.is_nothing();
    assert_eq!(visitor.search("near=179.9,0").await.names(), ["East", "West", "Square"]);
}

async fn a_drawn_shape_meets_holds_or_is_held() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    zone(&admin, "Lakes", [-125.8, 49.4], Some(hole_and_island())).await;
    zone(&admin, "Point", [-125.5, 49.6], None).await;
    let found = async |shape: &Value, relation: &str| -> Vec<String> {
        let found = visitor.search_by(json!({ "shape": shape, "relation": relation })).await;
        let mut names: Vec<String> = found.names().into_iter().map(str::to_owned).collect();
        names.sort();
        names
    };
    let in_hole = rectangle(-125.55, 49.55, -125.45, 49.65);
    assert_eq!(found(&in_hole, "intersects").await, ["Point"]);
    assert_eq!(found(&in_hole, "within").await, ["Point"]);
    assert_eq!(found(&in_hole, "contains").await, Vec::<String>::new());
    let in_island = rectangle(-124.88, 49.42, -124.86, 49.44);
    assert_eq!(found(&in_island, "intersects").await, ["Lakes"]);
    assert_eq!(found(&in_island, "within").await, Vec::<String>::new());
    assert_eq!(found(&in_island, "contains").await, ["Lakes"]);
    // It holds only the shell, not the island.
    let most = rectangle(-127.0, 49.0, -124.95, 50.0);
    assert_eq!(found(&most, "intersects").await, ["Lakes", "Point"]);
    assert_eq!(found(&most, "within").await, ["Point"]);
    let all = rectangle(-127.0, 49.0, -124.0, 50.0);
    assert_eq!(found(&all, "within").await, ["Lakes", "Point"]);
    // Just touched counts as held.
    let shell = rectangle(-126.0, 49.3, -124.8, 49.9);
    assert_eq!(found(&shell, "within").await, ["Lakes", "Point"]);
    // A shape with a hole of its own, drawn clockwise.
    let around = polygon(json!([backward(&ring(-127.0, 49.0, -124.0, 50.0)), ring(-125.55, 49.55, -125.45, 49.65)]));
    assert_eq!(found(&around, "intersects").await, ["Lakes"]);
    assert_eq!(
        found(&multi(json!([[ring(0.0, 0.0, 1.0, 1.0)], [ring(-125.52, 49.58, -125.48, 49.62)]])), "intersects").await,
        ["Point"]
    );
    // Without a relation: whatever meets it.
    visitor.search_by(json!({ "shape": in_island })).await.are(&["Lakes"]);
    visitor.search_by(json!({ "shape": all, "q": "point" })).await.are(&["Point"]);
}

async fn a_drawn_shape_keeps_the_rules_and_its_size() {
    let cairn = Cairn::with_strathcona().await;
    let visitor = cairn.visitor();
    let asked = |shape: Value| visitor.post("/parks/search", json!({ "shape": shape }));
    let round = |positions: u32| {
        let ring: Value = serde_json::from_str(&ellipse([1.0, 1.0], [0.5, 0.5], positions, 7)).unwrap();
        polygon(json!([ring]))
    };
    asked(round(999)).await.is(200);
    let refused = asked(round(1000)).await.refused(400, "bad-request");
    assert!(refused.places()[0].starts_with("/shape"), "{}", refused.told());
    let many = |rings: u32| {
        multi(json!((0..rings).map(|at| vec![ring(f64::from(at), 0.0, f64::from(at) + 0.5, 1.0)]).collect::<Vec<_>>()))
    };
    asked(many(100)).await.is(200);
    asked(many(101)).await.is(400);
    for (shape, place) in [
        (json!({ "type": "Point", "coordinates": [1, 2] }), "/shape/type"),
        (json!({ "type": "LineString", "coordinates": [[1, 2], [3, 4]] }), "/shape/type"),
        (polygon(json!([[[0, 50], [1, 51], [1, 50], [0, 51], [0, 50]]])), "/shape/coordinates/0/3"),
        (polygon(json!([[[0, 0], [1, 0], [1, 1]]])), "/shape/coordinates/0"),
        (json!("circle"), "/shape"),
    ] {
        asked(shape).await.faulty(&[place]);
    }
    visitor.post("/parks/search", json!({ "relation": "within" })).await.faulty(&["/relation"]);
    let both = json!({ "shape": rectangle(1.0, 1.0, 2.0, 2.0), "shapeOf": "x" });
    visitor.post("/parks/search", both).await.faulty(&["/shapeOf"]);
    visitor.post("/parks/search", json!({ "q": "x".repeat(100_000) })).await.refused(413, "too-large");
}

async fn the_shape_of_an_item_is_compared_with() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let park = zone(&admin, "Park", [-125.8, 49.4], Some(hole_and_island())).await;
    let inside = zone(&admin, "Inside", [-125.9, 49.6], None).await;
    zone(&admin, "In the hole", [-125.5, 49.6], None).await;
    zone(&admin, "Pond", [0.0, 5.0], Some(rectangle(-124.88, 49.42, -124.86, 49.44))).await;
    let found = visitor.search(&format!("shapeOf={park}&relation=within")).await;
    found.are(&["Park", "Inside", "Pond"]);
    assert_eq!(found.0["shapeTolerance"], 0.0);
    visitor.search(&format!("shapeOf={park}")).await.are(&["Park", "Inside", "Pond"]);
    visitor.search_by(json!({ "shapeOf": park, "q": "pond" })).await.are(&["Pond"]);

    // A boundary of many positions is asked about in a thousand, and the answer says how far off that may be.
    let ring: Value = serde_json::from_str(&ellipse([20.0, 20.0], [1.0, 1.0], 3000, 7)).unwrap();
    let round = zone(&admin, "Round", [50.0, 50.0], Some(polygon(json!([ring])))).await;
    zone(&admin, "Centre", [20.0, 20.0], None).await;
    let found = visitor.search(&format!("shapeOf={round}&relation=within&q=centre")).await;
    found.are(&["Centre"]);
    let tolerance = found.0["shapeTolerance"].as_f64().unwrap();
    assert!(tolerance > 0.0 && tolerance < 100.0, "{tolerance}");

    // What has no boundary, is hidden or does not exist is told alike.
    let fault = |id: &str| visitor.get(&format!("/parks/search?shapeOf={id}"));
    let none = fault(&inside).await.faulty(&["shapeOf"]);
    admin.patch(&format!("{ZONES}/1"), json!({ "isVisible": false })).await.is(200);
    let hidden = fault(&park).await.faulty(&["shapeOf"]);
    let absent = fault("01890a5d-ac96-774b-bcce-b302099a8057").await.faulty(&["shapeOf"]);
    assert_eq!((none.fault("shapeOf"), hidden.fault("shapeOf")), (absent.fault("shapeOf"), absent.fault("shapeOf")));
    admin.search(&format!("shapeOf={park}&relation=within")).await.are(&["Park", "Inside", "Pond"]);
    let body = json!({ "shapeOf": park });
    visitor.post("/parks/search", body).await.refused(422, "unprocessable").at(&["/shapeOf"]);
    // No key of a table is empty.
    fault("").await.faulty(&["shapeOf"]);
    let body = json!({ "shapeOf": "", "q": "pond", "legs": 2 });
    visitor.post("/parks/search", body).await.refused(400, "bad-request").at(&["/shapeOf", "/legs"]);
}

async fn what_has_no_place_is_left_out() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    zone(&admin, "Strathcona Lake", [-125.5, 49.6], None).await;
    visitor.search("q=strathcona").await.are(&["Strathcona Park", "Strathcona Lake"]);
    for place in ["bbox=-180,-90,180,90", "near=-125,49", "near=-125,49&radius=1000000"] {
        visitor.search(&format!("q=strathcona&{place}")).await.are(&["Strathcona Lake"]);
        visitor.get(&format!("/parks/search?entity=collection&{place}")).await.faulty(&["entity"]);
    }
    visitor.search_by(json!({ "shape": rectangle(-180.0, -90.0, 180.0, 90.0) })).await.are(&["Strathcona Lake"]);
    // Nothing is offered on any day before there are products.
    visitor.search("open=2026-01-01/2026-01-02").await.is_nothing();
}
