//! `GET /parks/search` and `/parks/suggest`: what comes first, and what the words of a query match.

use serde_json::json;

use super::search::{FACILITIES, zone};
use crate::harness::Cairn;
use crate::tests;

tests! { search:
    hits_rank_by_the_field_that_matches,
    equal_hits_rank_larger_and_shorter_names_first,
    exact_matches_exclude_typo_matches,
    suggestions_tolerate_a_typo_in_a_prefix,
    names_match_without_punctuation,
    names_match_by_parts_and_abbreviations,
    query_relaxes_to_most_words_if_all_find_nothing,
    full_name_is_the_first_suggestion,
}

async fn hits_rank_by_the_field_that_matches() {
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

async fn equal_hits_rank_larger_and_shorter_names_first() {
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

async fn exact_matches_exclude_typo_matches() {
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

async fn suggestions_tolerate_a_typo_in_a_prefix() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    zone(&admin, "Seljalandsfoss", json!({})).await;
    zone(&admin, "New York", json!({})).await;
    for (q, name) in [("seljalnds", "Seljalandsfoss"), ("sejla", "Seljalandsfoss"), ("new yrok", "New York")] {
        visitor.search(&format!("q={q}")).await.are(&[name]);
        assert_eq!(visitor.get(&format!("/parks/suggest?q={q}")).await.is(200).each("displayName"), [name], "{q}");
    }
}

async fn names_match_without_punctuation() {
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

async fn query_relaxes_to_most_words_if_all_find_nothing() {
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

async fn full_name_is_the_first_suggestion() {
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
        assert_eq!((&first["location"], &first["envelope"]), (&json!([1.5, 1.5]), &json!([1, 1, 2, 2])));
    }
}
