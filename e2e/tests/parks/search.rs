//! `GET` and `POST /parks/search`, `/parks/suggest`: words, who sees what, and what is asked wrongly.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{Answer, Cairn, User};
use crate::tests;

tests! { search:
    visitor_discovers_a_park_by_name_place_and_day,
    every_word_must_match_some_field,
    typos_are_forgiven_from_three_letters_and_the_first_letter_holds,
    notes_are_searched_for_administrators_only,
    hit_in_notes_is_highlighted_for_administrators,
    administrator_filters_include_hidden_and_deleted,
    search_fault_names_its_parameter,
    suggestions_return_names,
    deleted_item_is_not_found,
}

pub const ZONES: &str = "/parks/geozones/bcparks_1";
pub const FACILITIES: &str = "/parks/facilities/bcparks_1";

/// Makes a visible geozone with these fields besides.
pub async fn zone(admin: &User, name: &str, more: Value) -> Answer {
    let mut new = json!({ "displayName": name, "location": [-125.5, 49.5], "isVisible": true });
    for (field, value) in more.as_object().unwrap() {
        new[field] = value.clone();
    }
    admin.post(ZONES, new).await.is(201)
}

async fn visitor_discovers_a_park_by_name_place_and_day() {
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

async fn every_word_must_match_some_field() {
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

async fn notes_are_searched_for_administrators_only() {
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

async fn hit_in_notes_is_highlighted_for_administrators() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let new = json!({ "displayName": "Bear Camp", "location": [1, 2], "adminNotes": "wolverine den" });
    admin.post(ZONES, new).await.is(201);
    let found = admin.search("q=wolverine").await;
    assert_eq!(found[0]["highlights"]["adminNotes"][0][0], json!({ "text": "wolverine", "hit": true }));
}

async fn administrator_filters_include_hidden_and_deleted() {
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

async fn search_fault_names_its_parameter() {
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

async fn suggestions_return_names() {
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

async fn deleted_item_is_not_found() {
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
