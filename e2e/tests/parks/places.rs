//! Search by place: boxes, distances, drawn shapes, the shapes of items.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};

use super::shapes::{backward, ellipse, hole_and_island, multi, polygon, rectangle, ring};
use crate::harness::{Cairn, User};
use crate::tests;

tests! { places:
    box_search_intersects_extents,
    near_matches_by_distance_or_containing_shape,
    shape_of_a_quarantined_item_can_be_searched_by,
    near_uses_the_distance_to_the_shape,
    circle_search_crosses_the_antimeridian_and_a_pole,
    containing_areas_rank_first_smallest_first,
    drawn_shape_intersects_contains_or_is_within,
    invalid_or_large_drawn_shape_is_refused,
    search_by_the_shape_of_an_item,
    search_finds_items_that_intersect_an_item,
    place_search_excludes_items_without_a_place,
}

const ZONES: &str = "/parks/geozones/bcparks_1";

async fn zone(admin: &User, name: &str, location: [f64; 2], boundary: Option<Value>) -> String {
    let mut new = json!({ "displayName": name, "location": location, "isVisible": true });
    if let Some(boundary) = boundary {
        new["boundary"] = boundary;
    }
    admin.post(ZONES, new).await.is(201).text("globalId").to_owned()
}

async fn box_search_intersects_extents() {
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

async fn near_matches_by_distance_or_containing_shape() {
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

async fn drawn_shape_intersects_contains_or_is_within() {
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

async fn invalid_or_large_drawn_shape_is_refused() {
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

async fn search_by_the_shape_of_an_item() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let park = zone(&admin, "Park", [-125.8, 49.4], Some(hole_and_island())).await;
    let inside = zone(&admin, "Inside", [-125.9, 49.6], None).await;
    zone(&admin, "In the hole", [-125.5, 49.6], None).await;
    zone(&admin, "Pond", [0.0, 5.0], Some(rectangle(-124.88, 49.42, -124.86, 49.44))).await;
    let found = visitor.search(&format!("shapeOf={park}&relation=within")).await;
    found.are(&["Park", "Inside", "Pond"]);
    assert_eq!(found.0["shapeTolerance"], 0.0);
    assert_eq!(found.0["shapeStatus"], "full");

    // Every position counts.
    let ring: Value = serde_json::from_str(&ellipse([20.0, 20.0], [1.0, 1.0], 3000, 7)).unwrap();
    let round = zone(&admin, "Round", [50.0, 50.0], Some(polygon(json!([ring])))).await;
    zone(&admin, "Centre", [20.0, 20.0], None).await;
    let found = visitor.search(&format!("shapeOf={round}&relation=within")).await;
    found.are(&["Centre", "Round"]);
    assert_eq!(found.0["shapeTolerance"], 0.0);

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

async fn search_finds_items_that_intersect_an_item() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let park = zone(&admin, "Park", [-125.8, 49.4], Some(hole_and_island())).await;
    zone(&admin, "Inside", [-125.9, 49.6], None).await;
    zone(&admin, "In the hole", [-125.5, 49.6], None).await;
    zone(&admin, "Pond", [0.0, 5.0], Some(rectangle(-124.88, 49.42, -124.86, 49.44))).await;
    zone(&admin, "Neighbour", [0.0, 5.0], Some(rectangle(-127.0, 49.3, -125.999, 49.9))).await;
    let found = visitor.search(&format!("shapeOf={park}")).await;
    found.are(&["Park", "Inside", "Pond", "Neighbour"]);
    assert_eq!((&found.0["shapeStatus"], &found.0["shapeTolerance"]), (&json!("full"), &json!(0)));
    visitor.search_by(json!({ "shapeOf": park, "q": "pond" })).await.are(&["Pond"]);
    // A boundary of 3001 positions lies in S3; one neighbour reaches ten metres into it, the other ends as far outside.
    let ring: Value = serde_json::from_str(&ellipse([20.0, 20.0], [1.0, 1.0], 3000, 7)).unwrap();
    let round = zone(&admin, "Round", [50.0, 50.0], Some(polygon(json!([ring])))).await;
    zone(&admin, "Centre", [20.0, 20.0], None).await;
    zone(&admin, "Touching", [0.0, 5.0], Some(rectangle(20.9999, 19.0, 22.0, 21.0))).await;
    zone(&admin, "Beside", [0.0, 5.0], Some(rectangle(20.7072, 20.7072, 21.0, 21.0))).await;
    let found = visitor.search(&format!("shapeOf={round}")).await;
    found.are(&["Round", "Centre", "Touching"]);
    assert_eq!((&found.0["shapeStatus"], &found.0["shapeTolerance"]), (&json!("full"), &json!(0)));
    admin.patch(&format!("{ZONES}/6"), json!({ "isVisible": false })).await.is(200);
    visitor.get(&format!("/parks/search?shapeOf={round}")).await.faulty(&["shapeOf"]);
    // Hidden, it is of no use to a visitor from that moment on.
    admin.patch(&format!("{ZONES}/1"), json!({ "isVisible": false })).await.is(200);
    visitor.get(&format!("/parks/search?shapeOf={park}")).await.faulty(&["shapeOf"]);
    admin.search(&format!("shapeOf={park}&q=pond")).await.are(&["Pond"]);
}

async fn shape_of_a_quarantined_item_can_be_searched_by() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let ring: Value = serde_json::from_str(&ellipse([20.0, 20.0], [1.0, 1.0], 3000, 7)).unwrap();
    let round = zone(&admin, "Round", [50.0, 50.0], Some(polygon(json!([ring])))).await;
    zone(&admin, "Centre", [20.0, 20.0], None).await;
    zone(&admin, "Far", [40.0, 20.0], None).await;
    let mut item = cairn.table().get("geozone::bcparks_1", "1").await.unwrap();
    item.insert("adminNotes".to_owned(), AttributeValue::N("7".to_owned()));
    cairn.table().put(item).await;
    assert_eq!(cairn.quarantined().await.len(), 1);
    for relation in ["intersects", "within"] {
        let found = visitor.search(&format!("shapeOf={round}&relation={relation}")).await;
        found.are(&["Centre"]);
        assert_eq!((&found.0["shapeStatus"], &found.0["shapeTolerance"]), (&json!("full"), &json!(0)));
    }
}

async fn near_uses_the_distance_to_the_shape() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    // A trail of 36 km along a meridian whose location is its far end, and a park of 200 km.
    let trail = json!({ "type": "LineString", "coordinates": [[20.0, 49.0], [20.0, 49.33]] });
    let new = json!({
        "displayName": "Trail", "facilityType": "trail", "location": [20.0, 49.33], "path": trail, "isVisible": true
    });
    admin.post("/parks/facilities/bcparks_1", new).await.is(201);
    zone(&admin, "Park", [11.0, 49.0], Some(rectangle(10.0, 48.0, 12.0, 50.0))).await;
    // A ten thousandth of a degree of longitude is 7.3 m here.
    for (near, radius, names) in [
        ("20.0003,49.1", 30.0, vec!["Trail"]),
        ("20.0003,49.1", 1000.0, vec!["Trail"]),
        ("20.0003,49.1", 20.0, vec![]),
        ("12.01,49", 1000.0, vec!["Park"]),
        ("12.01,49", 700.0, vec![]),
        ("12.5,49", 50000.0, vec!["Park"]),
        ("12.5,49", 36000.0, vec![]),
        ("15,49", 400000.0, vec!["Park", "Trail"]),
    ] {
        let found = visitor.search(&format!("near={near}&radius={radius}")).await;
        found.are(&names);
        found.0["items"].as_array().unwrap().iter().for_each(|hit| assert_eq!(hit.get("inside"), None));
    }
}

async fn circle_search_crosses_the_antimeridian_and_a_pole() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    zone(&admin, "East", [0.0, 5.0], Some(rectangle(179.0, -17.0, 179.9, -16.0))).await;
    zone(&admin, "West", [0.0, 6.0], Some(rectangle(-179.9, -17.0, -179.0, -16.0))).await;
    zone(&admin, "North", [0.0, 7.0], Some(rectangle(-170.0, 88.0, -160.0, 89.0))).await;
    for (near, radius, names) in [
        ("179.95,-16.5", 20000.0, vec!["East", "West"]),
        ("179.95,-16.5", 8000.0, vec!["East"]),
        ("-179.95,-16.5", 8000.0, vec!["West"]),
        ("180,-16.5", 12000.0, vec!["East", "West"]),
        // Over the pole it is two degrees, 222 km.
        ("15,89", 230000.0, vec!["North"]),
        ("15,89", 215000.0, vec![]),
        ("0,90", 112000.0, vec!["North"]),
        ("0,90", 110000.0, vec![]),
        ("0,-90", 1000000.0, vec![]),
    ] {
        visitor.search(&format!("near={near}&radius={radius}")).await.are(&names);
    }
}

async fn containing_areas_rank_first_smallest_first() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    zone(&admin, "Country", [40.0, 40.0], Some(rectangle(0.0, 0.0, 30.0, 30.0))).await;
    zone(&admin, "State", [39.0, 39.0], Some(rectangle(5.0, 5.0, 15.0, 15.0))).await;
    zone(&admin, "Near", [10.1, 10.0], None).await;
    zone(&admin, "Nearer", [10.05, 10.0], None).await;
    let near = "entity=geozone&near=10,10";
    let found = visitor.search(near).await;
    assert_eq!(found.names(), ["State", "Country", "Nearer", "Near"]);
    let inside: Vec<bool> = found.0["items"].as_array().unwrap().iter().map(|hit| hit["inside"] == true).collect();
    assert_eq!(inside, [true, true, false, false]);
    assert_eq!(visitor.search(&format!("{near}&radius=20000")).await.names(), ["State", "Country", "Nearer", "Near"]);
    let pages = visitor.pages(&format!("/parks/search?{near}"), 1).await;
    let walked: Vec<_> = pages.iter().flat_map(|page| page.each("displayName")).collect();
    assert_eq!(walked, ["State", "Country", "Nearer", "Near"]);
    let found = visitor.search(&format!("{near}&sort=name")).await;
    assert_eq!((found[0]["displayName"].as_str(), &found[0]["inside"]), (Some("Country"), &json!(true)));
    assert_eq!(visitor.search(&format!("{near}&q=state")).await[0]["inside"], true);
    assert_eq!(visitor.search(&format!("{near}&q=state&sort=distance")).await[0]["inside"], true);
}

async fn place_search_excludes_items_without_a_place() {
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
