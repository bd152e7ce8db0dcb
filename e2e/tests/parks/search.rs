//! `GET` and `POST /parks/search`, `/parks/suggest`: words, kinds, order, facets, and who sees what.

use std::collections::BTreeSet;

use futures::stream::{self, StreamExt};
use serde_json::{Value, json};

use crate::harness::{Answer, Cairn, Found, Test, User};
use crate::tests;

tests! { search:
    scenario_01_discovery,
    each_word_occurs_somewhere,
    typos_are_forgiven_from_three_letters_and_the_first_letter_holds,
    the_better_the_place_the_higher_the_hit,
    kinds_are_chosen_and_counted,
    what_a_map_of_a_zoom_shows,
    every_order_can_be_walked,
    notes_are_for_administrators_alone,
    administrators_ask_for_more,
    a_fault_names_its_parameter,
    suggestions_are_names,
    hits_come_as_geojson,
    a_deleted_item_is_nowhere,
}

/// The size is in the name.
pub fn scenario_19() -> Test {
    let facilities = 2_500;
    Test::new(format!("search::scenario_19_deep_and_hostile_{facilities}"), move || {
        scenario_19_deep_and_hostile(facilities)
    })
}

const ZONES: &str = "/parks/geozones/bcparks_1";
const FACILITIES: &str = "/parks/facilities/bcparks_1";

async fn scenario_01_discovery() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let lakes = json!({
        "displayName": "Bedwell Lakes", "location": [-125.589, 49.498], "searchTerms": ["cream lake"], "isVisible": true
    });
    admin.post(ZONES, lakes).await.is(201);
    for q in ["bedwel lak", "CREAM", "bed"] {
        let found = visitor.search(&format!("q={q}")).await;
        found.are(&["Bedwell Lakes"]);
        assert_eq!((&found[0]["pk"], &found[0]["sk"]), (&json!("geozone::bcparks_1"), &json!("1")), "{q}");
        assert_eq!(found[0]["location"], json!([-125.589, 49.498]));
    }
    visitor.search("q=bedwell kayak").await.is_nothing();
}

async fn zone(admin: &User, name: &str, more: Value) -> Answer {
    let mut new = json!({ "displayName": name, "location": [-125.5, 49.5], "isVisible": true });
    for (field, value) in more.as_object().unwrap() {
        new[field] = value.clone();
    }
    admin.post(ZONES, new).await.is(201)
}

async fn each_word_occurs_somewhere() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    zone(&admin, "Élan Peak", json!({ "searchTerms": ["Old Baldy"], "description": "Steep scree above the lake." }))
        .await;
    for q in [
        "elan",
        "ÉLAN",
        "élan peak",
        "peak elan",
        "baldy",
        "scree",
        "elan scree",
        "baldy lake",
        "sc",
        "elan s",
        "peak, élan!",
    ] {
        visitor.search(&format!("q={q}")).await.are(&["Élan Peak"]);
    }
    // Only the last word may be a beginning.
    for q in ["el peak", "scr above", "elan granite", "strathcona peak"] {
        visitor.search(&format!("q={q}")).await.is_nothing();
    }
    let facility = json!({
        "displayName": "Camp", "location": [1, 2], "facilityType": "campground", "address": "77 Quinsam Road",
        "isVisible": true
    });
    admin.post(FACILITIES, facility).await.is(201);
    visitor.search("q=quinsam 77").await.are(&["Camp"]);
}

async fn typos_are_forgiven_from_three_letters_and_the_first_letter_holds() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    zone(&admin, "Buttle Oak Ash", json!({})).await;
    for q in ["buttel", "butle", "bttle", "buttles", "bxttlx", "oac", "ahs", "buttle oac"] {
        visitor.search(&format!("q={q}")).await.are(&["Buttle Oak Ash"]);
    }
    for q in ["xuttle", "bxxtlx", "oxx", "uttle"] {
        visitor.search(&format!("q={q}")).await.is_nothing();
    }
}

async fn the_better_the_place_the_higher_the_hit() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    zone(&admin, "Rest", json!({ "description": "Behind Green Lake." })).await;
    zone(&admin, "Term", json!({ "searchTerms": ["green lake"] })).await;
    zone(&admin, "Lake of Green Ice", json!({})).await;
    zone(&admin, "The Green Lake Loop", json!({})).await;
    zone(&admin, "Green Lake", json!({})).await;
    let found = visitor.search("q=green lake").await;
    assert_eq!(found.names(), ["Green Lake", "The Green Lake Loop", "Lake of Green Ice", "Term", "Rest"]);
    assert_eq!(visitor.search("q=green lake&sort=name").await.names()[0], "Green Lake");
}

async fn kinds_are_chosen_and_counted() {
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

async fn what_a_map_of_a_zoom_shows() {
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

async fn every_order_can_be_walked() {
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

async fn notes_are_for_administrators_alone() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let new = json!({
        "displayName": "Bear Camp", "location": [1, 2], "facilityType": "campground", "isVisible": true,
        "adminNotes": "wolverine den", "externalId": "wolverine-7"
    });
    let made = admin.post(FACILITIES, new).await.is(201);
    let url = made.header("location").to_owned();
    admin.search("q=wolverine").await.are(&["Bear Camp"]);
    let found = visitor.search("q=wolverine&facets=type,entity,subType,collectionId").await;
    found.is_nothing();
    assert_eq!(found.count("type", "campground"), 0);
    assert!(visitor.get("/parks/suggest?q=wolverine").await.is(200)["items"].as_array().unwrap().is_empty());
    admin.search("q=wolverine&view=public").await.is_nothing();
    let hit = admin.search("q=wolverine").await;
    assert!(hit[0]["highlights"].get("adminNotes").is_some(), "{}", hit.0.told());

    // A change of the notes alone changes nothing that a visitor gets, but for the entity tag.
    let seen = [visitor.get(&url).await, visitor.get(FACILITIES).await, visitor.search("q=bear").await.0];
    admin.patch(&url, json!({ "adminNotes": "moved on" })).await.is(200);
    let again = [visitor.get(&url).await, visitor.get(FACILITIES).await, visitor.search("q=bear").await.0];
    for (before, after) in seen.iter().zip(&again) {
        assert_eq!((before.status, &before.bytes), (after.status, &after.bytes));
        let told = before.told();
        for word in ["adminNotes", "wolverine", "createdBy", "updatedAt", "externalId", "\"rev\"", "isDeleted"] {
            assert!(!told.contains(word), "{word} in {told}");
        }
    }
    assert_ne!(seen[0].tag(), again[0].tag());
}

async fn administrators_ask_for_more() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    zone(&admin, "Seen", json!({})).await;
    zone(&admin, "Hidden", json!({ "isVisible": false })).await;
    let gone = zone(&admin, "Gone", json!({})).await;
    admin.delete(gone.header("location")).await.is(204);
    for (query, names) in [
        ("entity=geozone", vec!["Seen", "Hidden"]),
        ("entity=geozone&visible=true", vec!["Seen"]),
        ("entity=geozone&visible=false", vec!["Hidden"]),
        ("entity=geozone&deleted=true", vec!["Gone"]),
        ("entity=geozone&deleted=any", vec!["Seen", "Hidden", "Gone"]),
        ("entity=geozone&deleted=any&visible=true", vec!["Seen", "Gone"]),
        ("entity=geozone&sort=updated", vec!["Seen", "Hidden"]),
        ("entity=geozone&view=public", vec!["Seen"]),
    ] {
        admin.search(query).await.are(&names);
    }
    visitor.search("entity=geozone").await.are(&["Seen"]);
    let stranger = cairn.user("stranger", &format!("Bearer {}", cairn.token("eve", &["tracker-admin"]).await));
    stranger.search("entity=geozone").await.are(&["Seen"]);
    for query in ["visible=true", "visible=false", "deleted=false", "deleted=any", "sort=updated"] {
        let path = format!("/parks/search?{query}");
        visitor.get(&path).await.refused(401, "not-signed-in");
        stranger.get(&path).await.refused(403, "forbidden");
        admin.get(&format!("{path}&view=public")).await.refused(403, "forbidden");
        let (name, value) = query.split_once('=').unwrap();
        let body = if name == "visible" { json!({ name: value == "true" }) } else { json!({ name: value }) };
        visitor.post("/parks/search", body).await.refused(401, "not-signed-in");
    }
}

async fn a_fault_names_its_parameter() {
    let cairn = Cairn::with_strathcona().await;
    let visitor = cairn.visitor();
    let long = "x".repeat(201);
    let words = ["a"; 21].join(" ");
    for (query, names) in [
        ("lat=40.7", vec!["lat"]),
        ("lat=1&lon=2", vec!["lat", "lon"]),
        ("q=", vec!["q"]),
        (&format!("q={long}"), vec!["q"]),
        (&format!("q={words}"), vec!["q"]),
        ("q=--", vec!["q"]),
        ("q=a&q=b", vec!["q"]),
        ("near=49.28,-123.12", vec!["near"]),
        ("near=1", vec!["near"]),
        ("near=a,b", vec!["near"]),
        ("near=1,2&radius=0", vec!["radius"]),
        ("near=1,2&radius=1000001", vec!["radius"]),
        ("radius=5", vec!["radius"]),
        ("bbox=1,2,1,4", vec!["bbox"]),
        ("bbox=1,4,2,2", vec!["bbox"]),
        ("bbox=1,2,3", vec!["bbox"]),
        ("bbox=1,2,3,4,5", vec!["bbox"]),
        ("bbox=-181,2,3,4", vec!["bbox"]),
        ("bbox=1,2,3,NaN", vec!["bbox"]),
        ("entity=park", vec!["entity"]),
        ("entity=collection&bbox=1,2,3,4", vec!["entity"]),
        ("entity=product&near=1,2", vec!["entity"]),
        ("subType=UPPER", vec!["subType"]),
        ("collectionId=a::b", vec!["collectionId"]),
        ("open=2026-02-29/2026-03-01", vec!["open"]),
        ("open=2026-03-02/2026-03-01", vec!["open"]),
        ("open=2026-01-01/2026-02-01", vec!["open"]),
        ("open=2026-01-01/2027-01-02&openMatch=any", vec!["open"]),
        ("open=tomorrow", vec!["open"]),
        ("openMatch=any", vec!["openMatch"]),
        ("sort=size", vec!["sort"]),
        ("sort=relevance", vec!["sort"]),
        ("sort=distance", vec!["sort"]),
        ("q=a&order=desc", vec!["order"]),
        ("limit=0", vec!["limit"]),
        ("limit=101", vec!["limit"]),
        ("limit=ten", vec!["limit"]),
        ("mapZoom=23", vec!["mapZoom"]),
        ("isOpen=yes", vec!["isOpen"]),
        ("relation=within", vec!["relation"]),
        ("shapeOf=nothing", vec!["shapeOf"]),
        ("shapeAs=circle", vec!["shapeAs"]),
        ("cursor=abc", vec!["cursor"]),
        ("view=admin", vec!["view"]),
        ("q=%FF", vec!["q"]),
        ("limit=0&near=1&colour=red", vec!["limit", "near", "colour"]),
    ] {
        visitor.get(&format!("/parks/search?{query}")).await.faulty(&names);
    }
    let swapped = visitor.get("/parks/search?near=49.28,-123.12").await;
    assert!(swapped.fault("near").contains("longitude first"), "{}", swapped.told());
    // In a body they are members.
    for (body, places) in [
        (json!({ "lat": 1 }), vec!["/lat"]),
        (json!({ "near": [49.28, -123.12] }), vec!["/near"]),
        (json!({ "bbox": "1,2,3,4" }), vec!["/bbox"]),
        (json!({ "q": 7, "limit": 0 }), vec!["/q", "/limit"]),
        (json!([]), vec![""]),
    ] {
        visitor.post("/parks/search", body).await.faulty(&places);
    }
    visitor.get("/parks/search").header("accept", "text/html").await.refused(406, "not-acceptable");
}

async fn suggestions_are_names() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    for number in 0..12 {
        zone(&admin, &format!("Bedwell {number}"), json!({})).await;
    }
    zone(&admin, "Cream Lake", json!({ "searchTerms": ["bedford"], "description": "bedrock" })).await;
    zone(&admin, "Bedhidden", json!({ "isVisible": false })).await;
    zone(&admin, "Bedwell 1", json!({})).await;
    cairn.caught_up().await;
    let names = async |user: &User, query: &str| -> Vec<String> {
        let answer = user.get(&format!("/parks/suggest?{query}")).await.is(200);
        answer.each("displayName").into_iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let bed = names(&visitor, "q=bed").await;
    assert_eq!((bed.len(), bed.iter().collect::<BTreeSet<_>>().len()), (10, 10), "{bed:?}");
    assert!(bed.iter().all(|name| name.starts_with("Bedwell")), "{bed:?}");
    assert_eq!(names(&visitor, "q=bedford").await, ["Cream Lake"]);
    assert_eq!(names(&visitor, "q=bedrock").await, Vec::<String>::new());
    assert_eq!(names(&visitor, "q=bedhid").await, Vec::<String>::new());
    assert_eq!(names(&admin, "q=bedhid").await, ["Bedhidden"]);
    assert_eq!(names(&visitor, "q=strath&entity=collection").await, ["Strathcona Park"]);
    assert_eq!(names(&visitor, "q=strath&entity=geozone").await, Vec::<String>::new());
    assert_eq!(names(&visitor, "q=strath&collectionId=other").await, Vec::<String>::new());
    visitor.get("/parks/suggest").await.faulty(&["q"]);
    visitor.get("/parks/suggest?q=a&limit=5").await.faulty(&["limit"]);
}

async fn hits_come_as_geojson() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    for number in 1..=3 {
        let boundary = super::shapes::rectangle(f64::from(number), 1.0, f64::from(number) + 0.5, 2.0);
        zone(&admin, &format!("Zone {number}"), json!({ "location": [number, 1], "boundary": boundary })).await;
    }
    cairn.caught_up().await;
    let first = visitor.get("/parks/search?entity=geozone&limit=2&bbox=0,0,10,10").as_geojson().await.is(200);
    assert_eq!((first["type"].as_str(), &first["numberMatched"]), (Some("FeatureCollection"), &json!(3)));
    assert_eq!(first["numberReturned"], 2);
    let feature = &first["features"][0];
    assert_eq!(feature["bbox"], json!([1, 1, 1.5, 2]));
    assert_eq!(feature["geometry"], json!({ "type": "Point", "coordinates": [1, 1] }));
    assert_eq!(feature["properties"]["displayName"], "Zone 1");
    let item = visitor.get(&format!("/parks/items/{}", feature["id"].as_str().unwrap())).await.is(200);
    assert_eq!(item["displayName"], "Zone 1");
    let next = first["links"].as_array().unwrap().iter().find(|link| link["rel"] == "next").unwrap();
    let second = visitor.get(next["href"].as_str().unwrap()).as_geojson().await.is(200);
    assert_eq!((&second["features"][0]["properties"]["displayName"], &second["links"]), (&json!("Zone 3"), &json!([])));

    let drawn = async |shape_as: &str| {
        let path = format!("/parks/search?entity=geozone&q=zone 1&shapeAs={shape_as}");
        visitor.get(&path).as_geojson().await.is(200)["features"][0]["geometry"].clone()
    };
    assert_eq!(drawn("point").await["type"], "Point");
    assert_eq!(drawn("envelope").await, super::shapes::rectangle(1.0, 1.0, 1.5, 2.0));
    assert_eq!(drawn("outline").await["type"], "Polygon");
}

async fn a_deleted_item_is_nowhere() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let made = zone(&admin, "Fleeting", json!({ "boundary": super::shapes::rectangle(1.0, 1.0, 2.0, 2.0) })).await;
    let url = made.header("location").to_owned();
    visitor.search("q=fleeting").await.are(&["Fleeting"]);
    admin.delete(&url).await.is(204);
    for query in ["q=fleeting", "bbox=1,1,2,2", "near=1.5,1.5&radius=10", "entity=geozone&facets=entity"] {
        let found = visitor.search(query).await;
        found.is_nothing();
        assert_eq!(found.count("entity", "geozone"), 0);
    }
    assert!(visitor.get("/parks/suggest?q=fleet").await.is(200)["items"].as_array().unwrap().is_empty());
    visitor.get(&format!("/parks/search?shapeOf={}", made.text("globalId"))).await.faulty(&["shapeOf"]);
    admin.post(&format!("{url}/restore"), json!({})).await.is(200);
    visitor.search("q=fleeting").await.are(&["Fleeting"]);
}

async fn scenario_19_deep_and_hostile(facilities: usize) {
    let cairn = Cairn::with_strathcona().await;
    cairn.collection("elsewhere", "Elsewhere").await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let make = |number: usize| {
        let admin = &admin;
        async move {
            // Many share a name, so that only their keys tell them apart.
            let name = format!("Place {}", number * 7919 % 1000);
            let new = json!({
                "displayName": name, "location": [-125.5, 49.5], "facilityType": "structure", "isVisible": true
            });
            admin.post(FACILITIES, new).await.is(201);
        }
    };
    stream::iter(0..facilities).for_each_concurrent(16, make).await;

    let mut seen = BTreeSet::new();
    let query = "collectionId=bcparks_1&entity=facility&sort=name&limit=100";
    let mut page = visitor.search(query).await.0;
    let mut last = String::new();
    loop {
        let found = Found(page.clone());
        for (id, name) in found.ids().into_iter().zip(found.names()) {
            assert!(last.as_str() <= name, "{name} after {last}");
            last = name.to_owned();
            assert!(seen.insert(id.clone()), "{id} comes twice");
        }
        // Others write meanwhile.
        let elsewhere = json!({ "displayName": last, "location": [1, 2], "isVisible": true });
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
