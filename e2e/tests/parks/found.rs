//! What is found: kinds and counts, orders and pages, GeoJSON.

use std::collections::{BTreeSet, HashMap};

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};

use super::search::{FACILITIES, ZONES, zone};
use crate::harness::table::{Item, text};
use crate::harness::{Cairn, Found, Set, Test, User, engines, sized};
use crate::tests;

tests! { search:
    kinds_filter_and_facet,
    map_search_simplifies_for_its_zoom,
    every_sort_order_pages_through_all_hits,
    search_returns_geojson,
    hits_have_the_fields_of_a_card,
    parameter_f_returns_geojson_with_points,
}

/// The size is in the name.
pub fn deep_and_hostile() -> Test {
    let facilities = if engines::set() == Set::Embedded { sized(2_500, 25_000) } else { 2_500 };
    Test::new(format!("search::deep_paging_and_hostile_queries_among_{facilities}_are_bounded"), move || {
        deep_paging_and_hostile_queries(facilities)
    })
    .long()
}

async fn kinds_filter_and_facet() {
    let cairn = Cairn::with_strathcona().await;
    cairn.collection("other", "Other").await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    for (collection, of, sub, name) in [
        ("bcparks_1", "campground", "rustic", "A"),
        ("bcparks_1", "campground", "serviced", "B"),
        ("bcparks_1", "trail", "rustic", "C"),
        ("other", "trail", "loop", "D"),
    ] {
        let new = json!({
            "displayName": name, "location": [-125.5, 49.5], "facilityType": of, "subType": sub, "isVisible": true,
            "isOpen": name == "A", "showOnMap": name != "B"
        });
        admin.post(&format!("/parks/facilities/{collection}"), new).await.is(201);
    }
    zone(&admin, "Z", json!({})).await;

    visitor.search("entity=facility").await.are(&["A", "B", "C", "D"]);
    visitor.search("entity=collection,geozone").await.are(&["Strathcona Park", "Other", "Z"]);
    visitor.search("entity=facility&entity=geozone&collectionId=bcparks_1").await.are(&["A", "B", "C", "Z"]);
    visitor.search("type=trail").await.are(&["C", "D"]);
    visitor.search("subType=rustic,loop&collectionId=other").await.are(&["D"]);
    visitor.search("isOpen=true").await.are(&["A"]);
    visitor.search("entity=facility&showOnMap=false").await.are(&["B"]);
    visitor.search("type=boating").await.is_nothing();
    // A collection's own id chooses it and what is in it.
    visitor.search("collectionId=other").await.are(&["D", "Other"]);

    // Each facet is counted under all filters but its own.
    let found = visitor.search("type=campground&facets=type,subType,entity,collectionId").await;
    found.are(&["A", "B"]);
    assert_eq!((found.count("type", "campground"), found.count("type", "trail")), (2, 2));
    assert_eq!((found.count("subType", "rustic"), found.count("subType", "loop")), (1, 0));
    assert_eq!((found.count("entity", "facility"), found.count("entity", "geozone")), (2, 0));
    assert_eq!((found.count("collectionId", "bcparks_1"), found.count("collectionId", "other")), (2, 0));
    let grid = visitor.search("entity=facility&facets=grid:8&bbox=-126,49,-125,50").await;
    assert_eq!(grid.count("grid", "8/38/87"), 4, "{}", grid.0.told());
    visitor.get("/parks/search?facets=grid:5").await.faulty(&["facets"]);
    visitor.get("/parks/search?facets=grid:13").await.faulty(&["facets"]);
    visitor.get("/parks/search?facets=adminNotes").await.faulty(&["facets"]);
}

async fn map_search_simplifies_for_its_zoom() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    zone(&admin, "From 5", json!({ "minMapZoom": 5 })).await;
    zone(&admin, "To 9", json!({ "maxMapZoom": 9 })).await;
    zone(&admin, "Always", json!({})).await;
    visitor.search("entity=geozone&mapZoom=4").await.are(&["To 9", "Always"]);
    visitor.search("entity=geozone&mapZoom=5").await.are(&["From 5", "To 9", "Always"]);
    visitor.search("entity=geozone&mapZoom=10").await.are(&["From 5", "Always"]);
}

/// The names of all pages of a search, two hits a page.
async fn walked(user: &User, query: &str) -> Vec<String> {
    let first = user.search(&format!("{query}&limit=2")).await;
    let mut names: Vec<String> = first.names().into_iter().map(str::to_owned).collect();
    let mut page = first.0;
    while let Some(cursor) = page.next().map(str::to_owned) {
        page = user.get(&format!("/parks/search?{query}&limit=2&cursor={cursor}")).await.is(200);
        assert!(page.body.get("facets").is_none());
        names.extend(Found(page.clone()).names().into_iter().map(str::to_owned));
    }
    names
}

async fn every_sort_order_pages_through_all_hits() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    // Names that fold to one another are told apart by their keys; one item has no place in an order by distance.
    for (name, longitude) in [("beta", 3), ("Alpha", 1), ("ALPHA", 4), ("émile", 2), ("Gamma", 5)] {
        zone(&admin, name, json!({ "location": [longitude, 1] })).await;
    }
    let zones = "entity=geozone";
    assert_eq!(walked(&visitor, zones).await, ["Alpha", "ALPHA", "beta", "émile", "Gamma"]);
    assert_eq!(
        walked(&visitor, &format!("{zones}&sort=name&order=desc")).await,
        ["Gamma", "émile", "beta", "Alpha", "ALPHA"]
    );
    assert_eq!(walked(&visitor, &format!("{zones}&sort=number")).await, ["beta", "Alpha", "ALPHA", "émile", "Gamma"]);
    let by_distance = walked(&visitor, "near=1,1").await;
    assert_eq!(by_distance, ["Alpha", "émile", "beta", "ALPHA", "Gamma"]);
    let near = visitor.search("near=1,1").await;
    assert_eq!(near[0]["distanceMetres"], 0.0);
    let metres = near[1]["distanceMetres"].as_f64().unwrap();
    assert!((metres - 111_178.0).abs() < 50.0, "{metres}");
    visitor.search("near=1,1&radius=200000").await.are(&["Alpha", "émile"]);
    visitor.search("near=1,1&radius=1").await.are(&["Alpha"]);
    admin.patch(&format!("{ZONES}/1"), json!({ "description": "late" })).await.is(200);
    assert_eq!(walked(&admin, &format!("{zones}&sort=updated&order=desc")).await[0], "beta");
    assert_eq!(walked(&visitor, "q=alpha").await, ["Alpha", "ALPHA"]);
}

async fn search_returns_geojson() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    for number in 1..=3 {
        let boundary = super::shapes::rectangle(f64::from(number), 1.0, f64::from(number) + 0.5, 2.0);
        zone(&admin, &format!("Zone {number}"), json!({ "location": [number, 1], "boundary": boundary })).await;
    }
    cairn.caught_up().await;
    let first = visitor.get("/parks/search?entity=geozone&limit=2&bbox=0,0,10,10").geojson().await.is(200);
    assert_eq!((first["type"].as_str(), &first["numberMatched"]), (Some("FeatureCollection"), &json!(3)));
    assert_eq!(first["numberReturned"], 2);
    let feature = &first["features"][0];
    assert_eq!(feature["bbox"], json!([1, 1, 1.5, 2]));
    assert_eq!(feature["geometry"], json!({ "type": "Point", "coordinates": [1, 1] }));
    assert_eq!(feature["properties"]["displayName"], "Zone 1");
    let item = visitor.get(&format!("/parks/items/{}", feature["id"].as_str().unwrap())).await.is(200);
    assert_eq!(item["displayName"], "Zone 1");
    let next = first["links"].as_array().unwrap().iter().find(|link| link["rel"] == "next").unwrap();
    let second = visitor.get(next["href"].as_str().unwrap()).geojson().await.is(200);
    assert_eq!((&second["features"][0]["properties"]["displayName"], &second["links"]), (&json!("Zone 3"), &json!([])));

    let drawn = async |shape_as: &str| {
        let path = format!("/parks/search?entity=geozone&q=zone 1&shapeAs={shape_as}");
        visitor.get(&path).geojson().await.is(200)["features"][0]["geometry"].clone()
    };
    assert_eq!(drawn("point").await["type"], "Point");
    assert_eq!(drawn("envelope").await, super::shapes::rectangle(1.0, 1.0, 1.5, 2.0));
    assert_eq!(drawn("outline").await["type"], "Polygon");
    assert_eq!(drawn("zoom:10").await, super::shapes::rectangle(1.0, 1.0, 1.5, 2.0));
    visitor.get("/parks/search?f=geojson&shapeAs=zoom:23").await.faulty(&["shapeAs"]);

    // The same by a shape in the body.
    let by_shape = |shape_as: &str| {
        let shape = super::shapes::rectangle(0.9, 0.9, 1.1, 1.1);
        visitor.post("/parks/search", json!({ "entity": ["geozone"], "shape": shape, "shapeAs": shape_as })).geojson()
    };
    let found = by_shape("zoom:10").await.is(200);
    assert_eq!((&found["numberMatched"], &found["features"][0]["geometry"]), (&json!(1), &drawn("zoom:10").await));
    by_shape("zoom:23").await.faulty(&["/shapeAs"]);
}

async fn hits_have_the_fields_of_a_card() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let camp = json!({
        "displayName": "Camp", "location": [-125.5, 49.5], "facilityType": "campground", "isVisible": true, "isOpen": true,
        "address": "77 Quinsam Road", "description": "é".repeat(400),
        "imageUrls": ["https://example.org/1.jpg", "https://example.org/2.jpg"]
    });
    admin.post(FACILITIES, camp).await.is(201);
    let card = visitor.search("q=camp&fields=card").await[0].clone();
    assert_eq!(card["description"], "é".repeat(300));
    assert_eq!((&card["imageUrl"], &card["isOpen"]), (&json!("https://example.org/1.jpg"), &json!(true)));
    assert_eq!(card["address"], "77 Quinsam Road");
    let bare = visitor.search("q=camp").await[0].clone();
    for field in ["description", "imageUrl", "isOpen", "address", "openDays"] {
        assert_eq!(bare.get(field), None, "{field}");
    }

    let hike = json!({ "displayName": "Hike", "activityType": "hiking", "isVisible": true });
    admin.post("/parks/activities/bcparks_1", hike).await.is(201);
    let pass = json!({
        "displayName": "Pass", "rangeStart": "2026-06-01", "rangeEnd": "2026-06-30", "timezone": "America/Vancouver",
        "isVisible": true
    });
    let pass = admin.post("/parks/products/bcparks_1/hiking/1", pass).await.is(201).header("location").to_owned();
    let open = json!({ "from": "2026-06-05", "to": "2026-06-07", "status": "open" });
    admin.post(&format!("{pass}/dates"), open).await.is(200);
    let found = visitor.search("open=2026-06-01/2026-06-06&openMatch=any&entity=product&fields=card").await;
    assert_eq!(found[0]["openDays"], json!(["2026-06-05", "2026-06-06"]));
}

async fn parameter_f_returns_geojson_with_points() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    zone(&admin, "Zone", json!({ "boundary": super::shapes::rectangle(1.0, 1.0, 2.0, 2.0) })).await;
    zone(&admin, "Zone point", json!({})).await;
    cairn.caught_up().await;
    let found = visitor.get("/parks/search?f=geojson&shapeAs=outline").await.is(200);
    assert!(found.header("content-type").starts_with("application/geo+json"), "{}", found.told());
    // The collection has no place.
    let drawn: Vec<_> =
        found["features"].as_array().unwrap().iter().map(|feature| &feature["geometry"]["type"]).collect();
    assert_eq!((drawn, &found["numberReturned"]), (vec![&json!("Polygon"), &json!("Point")], &json!(2)));
    let found = visitor.get("/parks/search?f=json&q=zone").geojson().await.is(200);
    assert!(found.header("content-type").starts_with("application/json"), "{}", found.told());
    let fault = visitor.get("/parks/search?facets=name").await.faulty(&["facets"]);
    assert!(fault.fault("facets").contains("collectionId"), "{}", fault.told());
}

/// The item under another number. Many share a name, so that only their keys tell them apart.
fn place(model: &Item, number: usize) -> Item {
    let mut place = model.clone();
    place.extend(HashMap::from([
        ("sk".to_owned(), text(&format!("structure::{number}"))),
        ("number".to_owned(), AttributeValue::N(number.to_string())),
        ("displayName".to_owned(), text(&format!("Place {}", number * 7919 % 1000))),
        ("globalId".to_owned(), text(&format!("01890a5d-ac96-774b-bcce-{number:012}"))),
        ("rev".to_owned(), AttributeValue::N((model["rev"].as_n().unwrap().parse::<u64>().unwrap() + 2).to_string())),
    ]));
    place
}

async fn deep_paging_and_hostile_queries(facilities: usize) {
    let cairn = Cairn::with_strathcona().await;
    cairn.collection("elsewhere", "Elsewhere").await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let first = json!({
        "displayName": "Place", "location": [-125.5, 49.5], "facilityType": "structure", "isVisible": true
    });
    admin.post(FACILITIES, first).await.is(201);
    // The others are made like it, past the platform: by HTTP they would take minutes.
    let model = cairn.table().get("facility::bcparks_1", "structure::1").await.unwrap();
    cairn.table().put_all((1..=facilities).map(|number| place(&model, number)).collect()).await;

    let mut seen = BTreeSet::new();
    let query = "collectionId=bcparks_1&entity=facility&sort=name&limit=100";
    let mut page = visitor.search(query).await.0;
    let mut last = 0;
    loop {
        let found = Found(page.clone());
        for (id, name) in found.ids().into_iter().zip(found.names()) {
            // Numbers in names are in their own order: 2 before 10.
            let number: usize = name.strip_prefix("Place ").unwrap().parse().unwrap();
            assert!(last <= number, "{name} after {last}");
            last = number;
            assert!(seen.insert(id.clone()), "{id} comes twice");
        }
        // Others write meanwhile.
        let elsewhere = json!({ "displayName": format!("Place {last}"), "location": [1, 2], "isVisible": true });
        admin.post("/parks/geozones/elsewhere", elsewhere).await.is(201);
        let Some(cursor) = page.next().map(str::to_owned) else { break };
        assert_eq!(found.names().len(), 100);
        page = visitor.get(&format!("/parks/search?{query}&cursor={cursor}")).await.is(200);
    }
    assert_eq!(seen.len(), facilities);

    let first = visitor.search(query).await.0;
    assert_eq!(first["total"], json!({ "value": facilities.min(10_000), "exact": facilities <= 10_000 }));
    let cursor = first.next().unwrap();
    for at in [0, cursor.len() / 2, cursor.len() - 1] {
        let mut bytes = cursor.as_bytes().to_vec();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(bytes).unwrap();
        visitor.get(&format!("/parks/search?{query}&cursor={changed}")).await.faulty(&["cursor"]);
    }

    let name = "<img src=x onerror=1> fern";
    zone(&admin, name, json!({})).await;
    let found = visitor.search("q=fern").await;
    found.are(&[name]);
    let pieces = found[0]["highlights"]["name"][0].as_array().unwrap();
    let joined: String = pieces.iter().map(|piece| piece["text"].as_str().unwrap()).collect();
    let hits: Vec<&Value> = pieces.iter().filter(|piece| piece["hit"] == true).map(|piece| &piece["text"]).collect();
    assert_eq!((joined.as_str(), hits), (name, vec![&json!("fern")]));
    visitor.get("/parks/search?lat=1").await.faulty(&["lat"]);
}
