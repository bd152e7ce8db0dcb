//! `GET` and `POST /parks/search`, `/parks/suggest`: words, who sees what, and what is asked wrongly.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{Answer, Cairn, User};
use crate::tests;

tests! { search:
    scenario_01_discovery,
    each_word_occurs_somewhere,
    typos_are_forgiven_from_three_letters_and_the_first_letter_holds,
    the_better_the_place_the_higher_the_hit,
    of_equal_hits_the_wider_and_the_shorter_come_first,
    words_as_typed_leave_out_what_only_resembles_them,
    a_word_may_have_a_typo_while_it_is_typed,
    names_match_without_their_points_and_apostrophes,
    names_match_by_parts_and_abbreviations,
    most_of_the_words_find_what_all_of_them_do_not,
    notes_are_for_administrators_alone,
    a_hit_in_the_notes_is_shown_to_administrators,
    administrators_ask_for_more,
    a_fault_names_its_parameter,
    suggestions_are_names,
    a_name_in_full_is_the_first_suggestion,
    a_deleted_item_is_nowhere,
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
    zone(&admin, "The Green and Blue Lake", json!({})).await;
    zone(&admin, "Green Lake Loop", json!({})).await;
    zone(&admin, "Green Lake", json!({})).await;
    let ranked = ["Green Lake", "Green Lake Loop", "Term", "The Green and Blue Lake", "Lake of Green Ice", "Rest"];
    let found = visitor.search("q=green lake").await;
    assert_eq!(found.names(), ranked);
    assert_eq!(found.total(), 6);
    assert_eq!(visitor.search("q=green lake&sort=name").await.names()[0], "Green Lake");
    // Page by page the order is the same.
    let mut walked: Vec<String> = Vec::new();
    for page in visitor.pages("/parks/search?q=green lake", 1).await {
        walked.extend(page.each("displayName").into_iter().map(|name| name.as_str().unwrap().to_owned()));
    }
    assert_eq!(walked, ranked);
}

async fn of_equal_hits_the_wider_and_the_shorter_come_first() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let facility =
        json!({ "displayName": "Cedar", "location": [1, 2], "facilityType": "campground", "isVisible": true });
    admin.post(FACILITIES, facility).await.is(201);
    let activity = json!({ "displayName": "Cedar", "activityType": "hiking", "isVisible": true });
    admin.post("/parks/activities/bcparks_1", activity).await.is(201);
    zone(&admin, "Cedar Flats", json!({})).await;
    zone(&admin, "Cedar Bay", json!({})).await;
    zone(&admin, "Cedar", json!({})).await;
    cairn.collection("cedar", "Cedar").await;
    let found = visitor.search("q=cedar").await;
    let entities: Vec<_> = found.0.each("entity").into_iter().map(|entity| entity.as_str().unwrap()).collect();
    assert_eq!(entities, ["collection", "geozone", "facility", "activity", "geozone", "geozone"]);
    assert_eq!(found.names()[4..], ["Cedar Bay", "Cedar Flats"]);
    for name in ["Trail 10", "Trail 2", "Trail 1"] {
        zone(&admin, name, json!({})).await;
    }
    assert_eq!(visitor.search("q=trail&sort=name").await.names(), ["Trail 1", "Trail 2", "Trail 10"]);
    assert_eq!(visitor.search("q=trail").await.names(), ["Trail 1", "Trail 2", "Trail 10"]);
}

async fn words_as_typed_leave_out_what_only_resembles_them() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    zone(&admin, "Ireland", json!({})).await;
    zone(&admin, "Rhode Island", json!({})).await;
    zone(&admin, "Iceland", json!({})).await;
    zone(&admin, "Waterfalls", json!({ "description": "Most of them are in Iceland." })).await;
    let found = visitor.search("q=iceland&facets=entity").await;
    assert_eq!(found.names(), ["Iceland", "Waterfalls"]);
    assert_eq!((found.total(), found.count("entity", "geozone")), (2, 2));
    // Nothing is so named: one typo comes before two.
    let found = visitor.search("q=icelandd&facets=entity").await;
    assert_eq!(found.names()[0], "Iceland");
    assert_eq!(found.count("entity", "geozone"), found.total());
}

async fn a_word_may_have_a_typo_while_it_is_typed() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    zone(&admin, "Seljalandsfoss", json!({})).await;
    zone(&admin, "New York", json!({})).await;
    for (q, name) in [("seljalnds", "Seljalandsfoss"), ("sejla", "Seljalandsfoss"), ("new yrok", "New York")] {
        visitor.search(&format!("q={q}")).await.are(&[name]);
        assert_eq!(visitor.get(&format!("/parks/suggest?q={q}")).await.is(200).each("displayName"), [name], "{q}");
    }
}

async fn names_match_without_their_points_and_apostrophes() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    for name in ["E.C. Manning", "Devil's Tower", "Parc national de l’Île-Bonaventure"] {
        zone(&admin, name, json!({})).await;
    }
    for (q, name) in [
        ("ec manning", "E.C. Manning"),
        ("e.c. manning", "E.C. Manning"),
        ("EC", "E.C. Manning"),
        ("devils tower", "Devil's Tower"),
        ("devil’s tower", "Devil's Tower"),
        ("lile bonaventure", "Parc national de l’Île-Bonaventure"),
    ] {
        visitor.search(&format!("q={q}")).await.are(&[name]);
    }
}

async fn names_match_by_parts_and_abbreviations() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let names = [
        "Parc d’Oka",
        "Parc national de l'Île-Bonaventure",
        "Coeur d'Alene",
        "Côte d'Ivoire",
        "E.C. Manning",
        "Mt. Robson",
        "Mount St Helens",
        "St. Mary",
        "Ste-Anne",
        "Fort Steele",
        "10 Mile Lake",
    ];
    for name in names {
        zone(&admin, name, json!({})).await;
    }
    for (q, name) in [
        ("oka", "Parc d’Oka"),
        ("parc oka", "Parc d’Oka"),
        ("ile bonaventure", "Parc national de l'Île-Bonaventure"),
        ("alene", "Coeur d'Alene"),
        ("coeur d alene", "Coeur d'Alene"),
        ("cote d ivoire", "Côte d'Ivoire"),
        ("cote divoire", "Côte d'Ivoire"),
        ("e c manning", "E.C. Manning"),
        ("mount robson", "Mt. Robson"),
        ("mt rob", "Mt. Robson"),
        ("mt st helens", "Mount St Helens"),
        ("saint helens", "Mount St Helens"),
        ("st mary", "St. Mary"),
        ("saint m", "St. Mary"),
        ("sainte anne", "Ste-Anne"),
        ("ft steele", "Fort Steele"),
        ("ten mile lake", "10 Mile Lake"),
        ("10 mile", "10 Mile Lake"),
    ] {
        let found = visitor.search(&format!("q={q}")).await;
        assert_eq!(found.names()[..1], [name], "{q}: {}", found.0.told());
    }
    let found = visitor.search("q=mount robson").await;
    assert_eq!(found[0]["highlights"]["name"][0][0], json!({ "text": "Mt", "hit": true }));
}

async fn most_of_the_words_find_what_all_of_them_do_not() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    zone(&admin, "Denver Airport", json!({})).await;
    zone(&admin, "Airport Road", json!({ "description": "It leads to Denver." })).await;
    zone(&admin, "Denver", json!({})).await;
    let query = "q=airport near denver";
    let found = visitor.search(&format!("{query}&facets=entity")).await;
    assert_eq!(found.names(), ["Denver Airport", "Airport Road"]);
    assert_eq!((found.total(), found.count("entity", "geozone")), (2, 2));
    assert_eq!(found.0["relaxed"], true);
    for page in visitor.pages(&format!("/parks/search?{query}"), 1).await {
        assert_eq!(page["relaxed"], true, "{}", page.told());
    }
    let collection = visitor.get(&format!("/parks/search?{query}")).geojson().await.is(200);
    assert_eq!(collection["relaxed"], true);
    // Of two words most are both.
    let found = visitor.search("q=denver kayak").await;
    found.is_nothing();
    assert_eq!(found.0.body.get("relaxed"), None);
    assert_eq!(visitor.search("q=airport denver").await.0.body.get("relaxed"), None);
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

async fn a_hit_in_the_notes_is_shown_to_administrators() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let new = json!({ "displayName": "Bear Camp", "location": [1, 2], "adminNotes": "wolverine den" });
    admin.post(ZONES, new).await.is(201);
    let found = admin.search("q=wolverine").await;
    assert_eq!(found[0]["highlights"]["adminNotes"][0][0], json!({ "text": "wolverine", "hit": true }));
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

async fn a_name_in_full_is_the_first_suggestion() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let boundary = super::shapes::rectangle(1.0, 1.0, 2.0, 2.0);
    for number in 0..12 {
        zone(&admin, &format!("County {number}, Texas"), json!({})).await;
    }
    let facility =
        json!({ "displayName": "Texas", "location": [1, 2], "facilityType": "campground", "isVisible": true });
    admin.post(FACILITIES, facility).await.is(201);
    zone(&admin, "Texas", json!({ "location": [1.5, 1.5], "boundary": boundary })).await;
    cairn.caught_up().await;
    for q in ["texas", "TEXAS", "tex", "t"] {
        let first = visitor.get(&format!("/parks/suggest?q={q}")).await.is(200)["items"][0].clone();
        assert_eq!((&first["displayName"], &first["entity"]), (&json!("Texas"), &json!("geozone")), "{q}");
        assert_eq!((&first["location"], &first["envelope"]), (&json!([1.5, 1.5]), &json!([1.0, 1.0, 2.0, 2.0])));
    }
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
