//! Places: their names and keys, lists, autocomplete, the places that texts mean, and the gazetteer.

use std::collections::BTreeSet;
use std::sync::Arc;

use ::archive::gazetteer::{Gazetteer, LOAD, Loaded, Mode, load};
use ::archive::places::item::Place;
use ::archive::places::{UPDATE_PLACE, count_children};
use futures::future::join_all;
use serde_json::{Value, json};
use table::Access;

use super::publishing::{CENSUS, publish, published};
use super::stage::{Archive, attribute, id, listed};
use crate::harness::proxy::Proxy;
use crate::harness::{Answer, Setup, engines};
use crate::tests;

tests! { archive_places:
    autocomplete_gives_the_likeliest_places_first,
    autocomplete_without_search_says_that_it_is_incomplete,
    text_that_is_long_when_folded_is_completed,
    place_in_any_script_is_stored_listed_and_found,
    renamed_place_moves_in_list_search_and_words,
    list_of_places_has_each_once_on_all_pages,
    text_means_the_place_that_uses_most_of_it,
    place_settings_decide_how_a_text_is_understood,
    place_is_beneath_its_parent,
    place_with_places_inside_is_neither_renamed_nor_moved_nor_deleted,
    replaced_place_leads_to_its_replacement,
    #[long] place_of_a_record_or_a_collection_is_replaced_and_not_deleted,
    #[long] place_of_a_record_is_not_moved,
    country_with_places_inside_keeps_its_code,
    place_that_was_replaced_meanwhile_gets_no_child,
    more_than_90_changed_names_are_refused,
    place_has_300_long_names_in_any_script,
    word_of_more_than_300_places_keeps_the_heaviest,
    concurrent_creations_are_all_counted_in_their_parent,
    second_load_of_the_gazetteer_writes_nothing,
    load_completes_an_interrupted_one_and_keeps_edited_places,
    city_of_a_renamed_division_is_loaded_beneath_it,
    place_that_the_gazetteer_renames_moves,
    dry_run_counts_and_writes_nothing,
    places_are_changed_by_administrators_only,
    faults_of_a_place_are_at_their_places,
}

/// The countries, divisions and cities that the tests name.
const EXTRACT: &str = include_str!("../../../functions/archive/src/gazetteer/extract.tsv");

const WALES: &str = "8075809337";
const BALA: &str = "9002656615";

async fn load_extract(archive: &Archive) -> Loaded {
    load_these(archive, Gazetteer::from_lines(EXTRACT).unwrap(), Mode::Write).await
}

async fn load_these(archive: &Archive, gazetteer: Gazetteer, mode: Mode) -> Loaded {
    let access = Access::new(Arc::clone(archive.cairn.engines()), &[&LOAD]);
    let now = table::clock::rfc3339(archive.cairn.clock.now());
    load(&access, &gazetteer, mode, &now, &|_, _| ()).await.unwrap()
}

/// An archive with the extract, which search has caught up with.
async fn with_extract() -> Archive {
    let archive = Archive::new().await;
    load_extract(&archive).await;
    archive.cairn.caught_up().await;
    archive
}

/// The full names of the completions of a text.
async fn completed(archive: &Archive, text: &str) -> Vec<String> {
    let answer = archive.visitor.get(&format!("/archive/places/autocomplete?q={text}")).await.is(200);
    assert_eq!(answer["complete"], true, "{}", answer.told());
    full_names(&answer)
}

fn full_names(answer: &Answer) -> Vec<String> {
    answer.each("fullName").into_iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

async fn resolved(archive: &Archive, query: &str) -> (String, Value) {
    let answer = archive.visitor.get(&format!("/archive/places/resolve?{query}")).await.is(200);
    (answer["place"]["fullName"].as_str().unwrap().to_owned(), answer["unused"].clone())
}

async fn create(archive: &Archive, new: Value) -> String {
    id(&archive.administrator.post("/archive/places", new).await.is(201))
}

async fn child_count(archive: &Archive, place: &str) -> u64 {
    archive.visitor.get(&format!("/archive/places/{place}")).await.is(200)["childCount"].as_u64().unwrap()
}

async fn autocomplete_gives_the_likeliest_places_first() {
    let archive = with_extract().await;
    for (text, expected) in [
        ("pa", &["Pakistan", "Paraná, Brazil", "Papua New Guinea"] as &[_]),
        ("PA", &["Pakistan", "Paraná, Brazil", "Papua New Guinea"]),
        ("%C3%A5l", &["Algeria", "Alberta, Canada"]),
        ("al", &["Algeria", "Alberta, Canada"]),
        ("sao%20p", &["São Paulo, Brazil"]),
        ("s%C3%A3o%20p", &["São Paulo, Brazil"]),
        ("%E6%9D%B1%E4%BA%AC", &["Tokyo, Tokyo, Japan"]),
        ("%D0%BC%D0%BE%D1%81%D0%BA%D0%B2%D0%B0", &["Moscow, Moscow, Russia"]),
        ("saint-%C3%A9", &["Saint-Étienne, Auvergne-Rhône-Alpes, France"]),
        ("saint%20e", &["Saint-Étienne, Auvergne-Rhône-Alpes, France"]),
        ("paris,%20t", &["Paris, Texas, United States", "Paris, Tennessee, United States"]),
        ("sal,%20ut", &["Salt Lake City, Utah, United States"]),
        ("paris%20france", &["Paris, Île-de-France, France"]),
        ("france%20paris", &["Paris, Île-de-France, France"]),
    ] {
        let mut completed = completed(&archive, text).await;
        completed.truncate(expected.len());
        assert_eq!(completed, expected, "{text}");
    }
    for text in ["y", "%E6%9D%B1", ""] {
        assert!(completed(&archive, text).await.is_empty(), "{text}");
    }
    assert_eq!(completed(&archive, "paris&limit=2").await.len(), 2);
    archive.visitor.get("/archive/places/autocomplete?q=paris&limit=21").await.faulty(&["limit"]);
}

async fn autocomplete_without_search_says_that_it_is_incomplete() {
    let proxy = Proxy::before(engines::search().await).await;
    let archive = Archive::with(Setup { search: Some(proxy.url.clone()), ..Setup::of("archive") }).await;
    load_extract(&archive).await;
    archive.cairn.caught_up().await;
    // No server listens on this port.
    proxy.move_to("http://127.0.0.1:1".to_owned());
    let answer = archive.visitor.get("/archive/places/autocomplete?q=pa&limit=3").await.is(200);
    assert_eq!(full_names(&answer), ["Pakistan", "Paraná, Brazil", "Papua New Guinea"]);
    assert_eq!(answer["complete"], false);
    let answer = archive.visitor.get("/archive/places/autocomplete?q=paris,%20t").await.is(200);
    assert_eq!(full_names(&answer), ["Paris, Texas, United States", "Paris, Tennessee, United States"]);
    assert_eq!(resolved(&archive, "text=Bala,%20Wales").await.0, "Bala, Wales, United Kingdom");
    // Only search knows whether a place is used.
    let bala = format!("/archive/places/{BALA}");
    archive.administrator.delete(&bala).may_fail().await.refused(503, "search-unavailable");
    proxy.move_to(engines::search().await);
    assert!(!completed(&archive, "pa").await.is_empty());
}

async fn text_that_is_long_when_folded_is_completed() {
    let archive = Archive::new().await;
    // Ligatures that fold to 18 and to six characters.
    for text in ["ﷺ".repeat(200), "㌖".repeat(200), format!("bala,{}", "㌖".repeat(195))] {
        assert_eq!(completed(&archive, &text).await, Vec::<String>::new());
    }
}

async fn place_in_any_script_is_stored_listed_and_found() {
    let archive = Archive::new().await;
    for (name, prefix, typed) in [
        ("Łódź", "lo", "lodz"),
        ("東京", "東京", "%E6%9D%B1%E4%BA%AC"),
        ("Ærholt", "ae", "aerh"),
        ("Þingvellir", "th", "thing"),
        ("Ἀθῆναι", "αθ", "%CE%B1%CE%B8%CE%B7"),
    ] {
        let place = create(&archive, json!({ "name": name })).await;
        let item = archive.table().get(&place, &format!("place#{prefix}")).await.unwrap();
        assert_eq!(attribute(&item, "fullName"), name);
        archive.cairn.caught_up().await;
        assert_eq!(completed(&archive, typed).await, [name]);
        let list = format!("/archive/places?prefix={typed}");
        assert_eq!(listed(&archive.visitor, &list, "id").await, [place.as_str()]);
    }
}

async fn renamed_place_moves_in_list_search_and_words() {
    let archive = Archive::new().await;
    let place = create(&archive, json!({ "name": "Ærholt", "altNames": ["Old Holt"] })).await;
    let table = archive.table();
    assert!(table.get(&place, "place#ae").await.is_some());
    archive.cairn.caught_up().await;
    assert_eq!(completed(&archive, "aerh").await, ["Ærholt"]);
    let path = format!("/archive/places/{place}");
    let renamed = archive.administrator.patch(&path, json!({ "name": "Øholt" })).await.is(200);
    assert_eq!((renamed.text("id"), renamed.text("fullName")), (place.as_str(), "Øholt"));
    archive.cairn.caught_up().await;
    assert_eq!(completed(&archive, "ohol").await, ["Øholt"]);
    assert!(completed(&archive, "aerh").await.is_empty());
    assert_eq!(listed(&archive.visitor, "/archive/places?prefix=oh", "id").await, [place.as_str()]);
    assert!(listed(&archive.visitor, "/archive/places?prefix=ae", "id").await.is_empty());
    assert_eq!(resolved(&archive, "text=Oholt").await.0, "Øholt");
    assert_eq!(resolved(&archive, "text=old%20holt").await.0, "Øholt");
    archive.visitor.get("/archive/places/resolve?text=Aerholt").await.refused(404, "not-found");
    assert!(table.get(&place, "place#ae").await.is_none());
    assert!(table.get("placeWord#aerholt", "placeWord").await.is_none());
    assert_eq!(archive.visitor.get(&path).await.is(200).tag(), renamed.tag());
}

async fn list_of_places_has_each_once_on_all_pages() {
    let archive = Archive::new().await;
    let mut created = Vec::new();
    for number in 0..30 {
        created.push(create(&archive, json!({ "name": format!("Llanfair {number:02}") })).await);
    }
    create(&archive, json!({ "name": "Llandudno" })).await;
    let pages = archive.visitor.pages("/archive/places?prefix=LLANF", 7).await;
    let ids: Vec<String> =
        pages.iter().flat_map(|page| page.each("id")).map(|id| id.as_str().unwrap().to_owned()).collect();
    assert_eq!((pages.len(), ids), (5, created));
    for prefix in ["l", ",ll", "-", "%E6%9D%B1"] {
        archive.visitor.get(&format!("/archive/places?prefix={prefix}")).await.faulty(&["prefix"]);
    }
}

async fn text_means_the_place_that_uses_most_of_it() {
    let archive = with_extract().await;
    for (query, expected, unused) in [
        ("text=Bala,%20Wales", "Bala, Wales, United Kingdom", json!([])),
        ("text=Wales%20Bala", "Bala, Wales, United Kingdom", json!([])),
        ("text=Bedrock,%20Colorado", "Colorado, United States", json!(["Bedrock"])),
        ("text=New%20York,%20New%20York", "New York City, New York, United States", json!([])),
        ("text=Bala", "Bala, Mehedinți County, Romania", json!([])),
        ("text=Bala&within=8075809337", "Bala, Wales, United Kingdom", json!([])),
        ("text=Bala&within=7999999999", "Bala, Mehedinți County, Romania", json!([])),
        ("text=%E6%9D%B1%E4%BA%AC", "Tokyo, Tokyo, Japan", json!([])),
    ] {
        assert_eq!(resolved(&archive, query).await, (expected.to_owned(), unused), "{query}");
    }
    archive.visitor.get("/archive/places/resolve?text=Bedrock").await.refused(404, "not-found");
    archive.visitor.get("/archive/places/resolve?text=--").await.refused(404, "not-found");
    archive.visitor.get("/archive/places/resolve").await.faulty(&["text"]);
}

async fn place_settings_decide_how_a_text_is_understood() {
    let archive = with_extract().await;
    archive.visitor.get("/archive/places/resolve?text=near%20S%20Etienne").await.refused(404, "not-found");
    let settings = json!({ "abbreviations": { "S.": "Saint" }, "noiseWords": ["Near"] });
    archive.administrator.put("/archive/place-settings", settings).await.is(200);
    archive.cairn.clock.advance(std::time::Duration::from_secs(301));
    let (place, unused) = resolved(&archive, "text=near%20S%20Etienne").await;
    assert_eq!((place.as_str(), unused), ("Saint-Étienne, Auvergne-Rhône-Alpes, France", json!([])));
}

async fn place_is_beneath_its_parent() {
    let archive = with_extract().await;
    let new = json!({
        "name": "Llanuwchllyn", "altNames": ["Llanuwchlyn"], "type": "parish", "parentId": WALES,
        "lat": 52.8579, "lon": -3.6687, "weight": 617,
    });
    let created = archive.administrator.post("/archive/places", new).await.is(201);
    let kingdom = "9002635167";
    let place = id(&created);
    assert_eq!(created.text("fullName"), "Llanuwchllyn, Wales, United Kingdom");
    assert_eq!(created["path"], json!([kingdom, WALES, place]));
    let shown = [&created["level"], &created["country"], &created["lat"], &created["source"]];
    assert_eq!(shown, [&json!(3), &json!("GB"), &json!(52.8579), &json!("archive")]);
    assert_eq!(created.header("location"), format!("/archive/places/{place}"));
    let count = child_count(&archive, WALES).await;
    let path = format!("/archive/places/{place}");
    // To Romania, and out of every place.
    let romania = json!({ "parentId": "9000798549" });
    let moved = archive.administrator.patch(&path, romania).await.is(200);
    assert_eq!(moved.text("fullName"), "Llanuwchllyn, Romania");
    assert_eq!((child_count(&archive, WALES).await, &moved["country"]), (count - 1, &json!("RO")));
    assert_eq!(child_count(&archive, "9000798549").await, 2);
    let freed = archive.administrator.patch(&path, json!({ "parentId": null, "country": "GB" })).await.is(200);
    assert_eq!((freed.text("fullName"), &freed["level"]), ("Llanuwchllyn", &json!(1)));
    archive.administrator.delete(&path).await.is(204);
    archive.visitor.get(&path).await.refused(404, "not-found");
    assert_eq!(child_count(&archive, "9000798549").await, 1);
    // Five levels are the most.
    let mut parent = WALES.to_owned();
    for level in 3..=5 {
        parent = create(&archive, json!({ "name": format!("Level {level}"), "parentId": parent })).await;
    }
    let deeper = json!({ "name": "Level 6", "parentId": parent });
    archive.administrator.post("/archive/places", deeper).await.refused(422, "unprocessable").at(&["/parentId"]);
    let unknown = json!({ "name": "Nowhere", "parentId": "7999999999" });
    archive.administrator.post("/archive/places", unknown).await.refused(422, "unprocessable").at(&["/parentId"]);
}

async fn place_with_places_inside_is_neither_renamed_nor_moved_nor_deleted() {
    let archive = with_extract().await;
    let wales = format!("/archive/places/{WALES}");
    let count = child_count(&archive, WALES).await;
    for patch in [json!({ "name": "Cymru" }), json!({ "parentId": null })] {
        let refused = archive.administrator.patch(&wales, patch).await.refused(409, "has-dependents");
        assert_eq!(refused["counts"], json!({ "places": count }));
    }
    archive.administrator.delete(&wales).await.refused(409, "has-dependents");
    let itself = archive.administrator.patch(&wales, json!({ "parentId": WALES })).await;
    itself.refused(422, "unprocessable").at(&["/parentId"]);
    // An alternative name is in no other place's full name.
    let named = archive.administrator.patch(&wales, json!({ "altNames": ["Cymru"] })).await.is(200);
    assert_eq!(named["source"], "geonamesEdited");
    assert_eq!(resolved(&archive, "text=Bala,%20Cymru").await.0, "Bala, Wales, United Kingdom");
}

async fn replaced_place_leads_to_its_replacement() {
    let archive = with_extract().await;
    let double = create(&archive, json!({ "name": "Y Bala", "parentId": WALES })).await;
    let count = child_count(&archive, WALES).await;
    let path = format!("/archive/places/{double}");
    for (other, parameter) in [(double.as_str(), "replacedBy"), ("7999999999", "replacedBy")] {
        let refused = archive.administrator.delete(&format!("{path}?replacedBy={other}")).await;
        refused.refused(422, "unprocessable").at(&[parameter]);
    }
    archive.administrator.delete(&format!("{path}?replacedBy={BALA}")).await.is(204);
    let answer = archive.visitor.get(&path).await.is(200);
    assert_eq!((answer.text("id"), answer.text("name")), (BALA, "Bala"));
    assert_eq!(child_count(&archive, WALES).await, count - 1);
    archive.cairn.caught_up().await;
    assert!(listed(&archive.visitor, "/archive/places?prefix=y%20bala", "id").await.is_empty());
    let completed = completed(&archive, "y%20bal").await;
    assert!(!completed.contains(&"Y Bala, Wales, United Kingdom".to_owned()), "{completed:?}");
    archive.administrator.patch(&path, json!({ "weight": 1 })).await.refused(404, "not-found");
    archive.administrator.delete(&path).await.refused(404, "not-found");
    // A parent may replace its last child.
    let child = create(&archive, json!({ "name": "Bala Farm", "parentId": BALA })).await;
    archive.administrator.delete(&format!("/archive/places/{child}?replacedBy={BALA}")).await.is(204);
    assert_eq!(child_count(&archive, BALA).await, 0);
}

async fn place_of_a_record_or_a_collection_is_replaced_and_not_deleted() {
    let archive = with_extract().await;
    let place = |id: &str| format!("/archive/places/{id}");
    let parish = create(&archive, json!({ "name": "Llanfair" })).await;
    let category = archive.category("Births").await;
    let new = json!({ "name": "Llanfair", "categoryIds": [category], "placeId": parish });
    archive.editor.post("/archive/collections", new).await.is(201);
    let post = published(&archive, CENSUS).await;
    for used in [parish.as_str(), BALA] {
        let refused = archive.administrator.delete(&place(used)).await.refused(409, "in-use");
        assert_eq!(refused["uses"], 1, "{}", refused.told());
    }
    let other = create(&archive, json!({ "name": "Y Bala", "parentId": WALES })).await;
    archive.administrator.delete(&format!("{}?replacedBy={other}", place(BALA))).await.is(204);
    assert_eq!(archive.visitor.get(&place(BALA)).await.is(200).text("id"), other);
    // From then on the texts of the register mean the other place, if they name it.
    archive.administrator.patch(&place(&other), json!({ "altNames": ["Bala"] })).await.is(200);
    let run = publish(&archive.volunteer, &post, json!({ "resolve": true })).await;
    assert_eq!(run["status"], "published", "{}", run.told());
    let found = archive.visitor.get(&format!("/archive/search?place={BALA}")).await.is(200);
    assert_eq!(found["total"]["value"], 1, "{}", found.told());
    archive.administrator.delete(&place(&other)).await.refused(409, "in-use");
}

async fn place_of_a_record_is_not_moved() {
    let archive = with_extract().await;
    let bala = format!("/archive/places/{BALA}");
    let free = create(&archive, json!({ "name": "Llanfair", "parentId": WALES })).await;
    published(&archive, CENSUS).await;
    archive.cairn.caught_up().await;
    let romania = json!({ "parentId": "9000798549" });
    let refused = archive.administrator.patch(&bala, romania.clone()).await.refused(409, "in-use");
    assert_eq!(refused["uses"], 1, "{}", refused.told());
    // Records have the ids of places, not their names.
    let renamed = json!({ "name": "Y Bala", "altNames": ["Bala"], "parentId": WALES });
    archive.administrator.patch(&bala, renamed).await.is(200);
    assert_eq!(archive.visitor.get(&format!("/archive/search?place={WALES}")).await.is(200)["total"]["value"], 3);
    archive.administrator.patch(&format!("/archive/places/{free}"), romania).await.is(200);
}

async fn country_with_places_inside_keeps_its_code() {
    let archive = Archive::new().await;
    let country = create(&archive, json!({ "name": "Wales", "country": "GB" })).await;
    let path = format!("/archive/places/{country}");
    archive.administrator.patch(&path, json!({ "country": "IE" })).await.is(200);
    create(&archive, json!({ "name": "Bala", "parentId": country })).await;
    let refused = archive.administrator.patch(&path, json!({ "country": "GB" })).await.refused(409, "has-dependents");
    assert_eq!(refused["counts"], json!({ "places": 1 }));
    archive.administrator.patch(&path, json!({ "country": "IE", "weight": 5 })).await.is(200);
}

async fn place_that_was_replaced_meanwhile_gets_no_child() {
    let archive = Archive::new().await;
    let [wales, cymru] = ["Wales", "Cymru"].map(|name| json!({ "name": name }));
    let (wales, cymru) = (create(&archive, wales).await, create(&archive, cymru).await);
    // As a request reads it that is slower than the replacement.
    let items = archive.items().await;
    let before = items.values().find(|item| attribute(item, "PK") == cymru).unwrap();
    let before: Place = table::item::from_item(before.clone()).unwrap();
    archive.administrator.delete(&format!("/archive/places/{cymru}?replacedBy={wales}")).await.is(204);
    let access = Access::new(Arc::clone(archive.cairn.engines()), &[&UPDATE_PLACE]);
    let counted = access.write(&UPDATE_PLACE, count_children(&before, 1).unwrap()).await;
    assert!(matches!(counted, Err(table::Error::ConditionFailed(_))), "{counted:?}");
}

async fn more_than_90_changed_names_are_refused() {
    let archive = Archive::new().await;
    let names = |range: std::ops::Range<u32>| range.map(|number| format!("Name {number}")).collect::<Vec<_>>();
    let new = |count| json!({ "name": "Llanfair", "altNames": names(0..count) });
    let refused = archive.administrator.post("/archive/places", new(91)).await.refused(422, "unprocessable");
    refused.at(&["/altNames"]);
    let created = archive.administrator.post("/archive/places", new(90)).once("90").await.is(201);
    let path = format!("/archive/places/{}", id(&created));
    let more = json!({ "name": "Moved", "altNames": names(0..180) });
    archive.administrator.patch(&path, more).await.is(200);
    let other = json!({ "altNames": names(0..271) });
    archive.administrator.patch(&path, other).await.refused(422, "unprocessable").at(&["/altNames"]);
    archive.administrator.patch(&path, json!({ "altNames": names(0..301) })).await.faulty(&["/altNames"]);
    archive.administrator.delete(&path).await.refused(422, "unprocessable");
    archive.administrator.patch(&path, json!({ "altNames": names(0..90) })).await.is(200);
    archive.administrator.delete(&path).await.is(204);
    let words = archive.items().await.into_keys().filter(|key| key.starts_with("placeWord#")).count();
    assert_eq!(words, 0);
}

async fn place_has_300_long_names_in_any_script() {
    let archive = Archive::new().await;
    // Two spellings of each name, which are one word.
    let names = |count: u32| -> Vec<String> {
        let spellings = |number| ["ж", "Ж"].map(|letter| format!("{number:03}{}", letter.repeat(230)));
        (0..count).flat_map(spellings).collect()
    };
    let new = json!({ "name": "Llanfair", "altNames": names(90) });
    let created = archive.administrator.post("/archive/places", new).await.is(201);
    let path = format!("/archive/places/{}", id(&created));
    archive.administrator.patch(&path, json!({ "altNames": names(150) })).await.is(200);
    assert_eq!(archive.visitor.get(&path).await.is(200)["altNames"], json!(names(150)));
}

async fn word_of_more_than_300_places_keeps_the_heaviest() {
    let archive = Archive::new().await;
    let (first, second) = (
        create(&archive, json!({ "name": "Llanfair", "weight": 5 })).await,
        create(&archive, json!({ "name": "Llanfair", "weight": 9 })).await,
    );
    let table = archive.table();
    let mut word = table.get("placeWord#llanfair", "placeWord").await.unwrap();
    let mut places = word["places"].as_ss().unwrap().clone();
    // Places that do not exist are the lightest of all.
    places.extend((0..298).map(|number| (7_000_000_000_u64 + number).to_string()));
    word.insert("places".to_owned(), aws_sdk_dynamodb::types::AttributeValue::Ss(places));
    table.put(word).await;
    let third = create(&archive, json!({ "name": "Llanfair", "weight": 7 })).await;
    let word = table.get("placeWord#llanfair", "placeWord").await.unwrap();
    let places = word["places"].as_ss().unwrap();
    assert_eq!(places.len(), 300);
    assert!([first, second, third].iter().all(|place| places.contains(place)));
}

async fn concurrent_creations_are_all_counted_in_their_parent() {
    let archive = with_extract().await;
    let before = child_count(&archive, WALES).await;
    let create = |number: u32| {
        let new = json!({ "name": format!("Llanfair {number}"), "altNames": ["Llan"], "parentId": WALES });
        create(&archive, new)
    };
    let mut expected = join_all((0..4).map(create)).await;
    assert_eq!(child_count(&archive, WALES).await, before + 4);
    let word = archive.table().get("placeWord#llan", "placeWord").await.unwrap();
    expected.sort();
    let mut places = word["places"].as_ss().unwrap().clone();
    places.sort();
    assert_eq!(places, expected);
}

async fn second_load_of_the_gazetteer_writes_nothing() {
    let archive = Archive::new().await;
    let places = Gazetteer::from_lines(EXTRACT).unwrap().places("").unwrap().len() as u64;
    let first = load_extract(&archive).await;
    assert_eq!((first.created, first.updated, first.unchanged, first.kept), (places, 0, 0, 0));
    let before = archive.items().await;
    let second = load_extract(&archive).await;
    assert_eq!(second, Loaded { unchanged: places, ..Loaded::default() });
    assert_eq!(archive.items().await, before);
}

async fn load_completes_an_interrupted_one_and_keeps_edited_places() {
    let archive = with_extract().await;
    let whole = archive.items().await;
    let bala = format!("/archive/places/{BALA}");
    // A load that stopped early, and a word that another place has, too.
    let table = archive.table();
    for (pk, sk) in [("placeWord#dolgellau", "placeWord"), ("placeWord#wales", "placeWord")] {
        table.delete(pk, sk).await;
    }
    let own = create(&archive, json!({ "name": "Paris" })).await;
    let edited = archive.administrator.patch(&bala, json!({ "name": "Y Bala", "weight": 2000 })).await.is(200);
    let mut utah = table.get("9005780993", "place#sa").await.unwrap();
    utah.insert("weight".to_owned(), table::item::number(1));
    table.put(utah).await;
    // The mirror stamps an item that was written directly, and a load would take its new revision for an edit.
    archive.cairn.caught_up().await;
    let loaded = load_extract(&archive).await;
    assert_eq!((loaded.created, loaded.updated, loaded.kept, loaded.words), (0, 1, 1, 2));
    assert_eq!(archive.visitor.get(&bala).await.is(200).tag(), edited.tag());
    let items = archive.items().await;
    let paris = items["placeWord#paris#placeWord"]["places"].as_ss().unwrap();
    assert!(paris.contains(&own), "the place of the archive keeps its word");
    for name in ["placeWord#dolgellau#placeWord", "9005780993#place#sa"] {
        let (mut now, mut then) = (items[name].clone(), whole[name].clone());
        for attribute in ["rev", "updatedAt"] {
            now.remove(attribute);
            then.remove(attribute);
        }
        assert!(table::item::same_item(&now, &then), "{name}");
    }
}

async fn city_of_a_renamed_division_is_loaded_beneath_it() {
    let archive = Archive::new().await;
    let mut divisions = Gazetteer::from_lines(EXTRACT).unwrap();
    divisions.keep(u64::MAX, &BTreeSet::new());
    load_these(&archive, divisions, Mode::Write).await;
    let wales = format!("/archive/places/{WALES}");
    archive.administrator.patch(&wales, json!({ "name": "Cymru", "altNames": ["Wales"] })).await.is(200);
    load_extract(&archive).await;
    let bala = archive.visitor.get(&format!("/archive/places/{BALA}")).await.is(200);
    assert_eq!(bala.text("fullName"), "Bala, Cymru, United Kingdom");
    assert_eq!((child_count(&archive, WALES).await, bala["path"][1].as_str()), (2, Some(WALES)));
    assert_eq!(load_extract(&archive).await.updated, 0);
}

async fn place_that_the_gazetteer_renames_moves() {
    let archive = with_extract().await;
    let renamed = EXTRACT.replace("2651154\tDolgellau\t", "2651154\tSarn\t");
    let loaded = load_these(&archive, Gazetteer::from_lines(&renamed).unwrap(), Mode::Write).await;
    assert_eq!((loaded.created, loaded.updated), (0, 1));
    let table = archive.table();
    assert!(table.get("9002651154", "place#do").await.is_none());
    assert!(table.get("9002651154", "place#sa").await.is_some());
    assert_eq!(resolved(&archive, "text=Sarn").await.0, "Sarn, Wales, United Kingdom");
    archive.visitor.get("/archive/places/resolve?text=Dolgellau").await.refused(404, "not-found");
    assert_eq!(child_count(&archive, WALES).await, 2);
}

async fn dry_run_counts_and_writes_nothing() {
    let archive = Archive::new().await;
    let gazetteer = Gazetteer::from_lines(EXTRACT).unwrap();
    let counted = load_these(&archive, gazetteer, Mode::DryRun).await;
    assert!(archive.items().await.is_empty());
    assert_eq!(load_extract(&archive).await, counted);
}

async fn places_are_changed_by_administrators_only() {
    let archive = with_extract().await;
    let bala = format!("/archive/places/{BALA}");
    for user in [&archive.volunteer, &archive.editor] {
        user.post("/archive/places", json!({ "name": "Sarn" })).await.refused(403, "forbidden");
        user.patch(&bala, json!({ "weight": 1 })).await.refused(403, "forbidden");
        user.delete(&bala).await.refused(403, "forbidden");
    }
    archive.visitor.post("/archive/places", json!({ "name": "Sarn" })).await.refused(401, "not-signed-in");
    let read = archive.visitor.get(&bala).await.is(200);
    assert!(read.body.get("createdBy").is_none());
    let stale = archive.administrator.patch(&bala, json!({ "weight": 1 })).if_match("\"2\"").await;
    stale.refused(412, "stale");
}

async fn faults_of_a_place_are_at_their_places() {
    let archive = Archive::new().await;
    let faulty = json!({ "name": "--", "altNames": ["Sarn", "!"], "lat": 1.5 });
    archive.administrator.post("/archive/places", faulty).await.faulty(&["/name", "/altNames/1", ""]);
    let faulty = json!({ "name": "x".repeat(121), "lat": 91, "lon": 0, "country": "gb" });
    archive.administrator.post("/archive/places", faulty).await.faulty(&["/name", "/lat", "/country"]);
    let place = create(&archive, json!({ "name": "Sarn" })).await;
    let path = format!("/archive/places/{place}");
    let half = archive.administrator.patch(&path, json!({ "lat": 1.5 })).await;
    half.refused(422, "unprocessable").at(&[""]);
    let long = |name: &str| json!({ "name": name.repeat(120) });
    let parent = create(&archive, long("a")).await;
    let child = create(&archive, json!({ "name": "b".repeat(120), "parentId": parent })).await;
    let third = json!({ "name": "c".repeat(20), "parentId": child });
    archive.administrator.post("/archive/places", third).await.refused(422, "unprocessable").at(&["/name"]);
}
