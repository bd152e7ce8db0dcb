//! The search over the people in records: names, dates, places, relatives, facets, and what the public may find.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};

use super::publishing::{CENSUS, mapping, publish, upload};
use super::stage::{Archive, attribute, id, listed};
use crate::harness::proxy::Proxy;
use crate::harness::{Answer, Setup, User, engines, sized};
use crate::tests;

tests! { archive_people:
    names_are_found_by_spelling_sound_and_nickname,
    #[long] records_are_found_by_date_and_place,
    uncertain_surname_is_found_below_an_exact_one,
    wildcards_are_bounded_and_find_parts_of_names_with_a_hyphen,
    #[long] closed_record_is_found_by_staff_only,
    #[long] public_lists_end_before_many_closed_rows,
    #[long] page_of_records_ends_among_thousands_that_are_closed,
    relative_who_is_closed_is_hidden_also_with_the_name_of_an_open_member,
    record_stays_closed_while_a_date_that_is_not_understood_may_be_recent,
    #[long] closed_record_that_is_gone_is_no_record_for_the_public,
    #[long] new_closed_years_close_published_records_with_the_next_run,
    #[long] largest_search_for_names_is_answered_and_a_larger_one_is_refused,
    #[long] facet_of_categories_sums_the_counts_of_their_collections,
    #[long] pages_of_records_follow_each_other,
    #[long] page_with_a_hit_whose_record_is_gone_is_filled,
    #[long] records_of_an_unpublished_post_are_not_found,
    search_for_records_without_a_search_engine_returns_503,
}

/// Publishes a file with the columns of [`CENSUS`] in a collection. Returns the post's path.
pub async fn publish_in(archive: &Archive, collection: &str, csv: &str) -> String {
    let columns: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let mapping = mapping();
    let mapping = mapping.as_array().unwrap().iter();
    let mapping: Vec<&Value> = mapping.filter(|column| columns.contains(&column["header"].as_str().unwrap())).collect();
    let new = json!({ "name": "Transcription", "collectionId": collection, "mapping": mapping });
    let post = archive.volunteer.post("/archive/posts", new).await.is(201).header("location").to_owned();
    upload(&archive.volunteer, &post, csv).await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!(run["status"], "published", "{}", run.told());
    post
}

/// Publishes [`CENSUS`] in a collection of its own.
async fn publish_census(archive: &Archive) -> String {
    let category = archive.category("Census").await;
    let collection = archive.collection("Census of 1871", &[&category]).await;
    publish_in(archive, &collection, CENSUS).await
}

/// Searches after search shows all earlier writes.
async fn find(archive: &Archive, user: &User, query: &str) -> Answer {
    archive.cairn.caught_up().await;
    let found = user.get(&format!("/archive/search?{query}")).await.is(200);
    assert_eq!(found["total"]["exact"], true, "{}", found.told());
    found
}

/// Returns the given names of the first person of each hit, with its score.
fn hits(found: &Answer) -> Vec<(&str, f64)> {
    let items = found["items"].as_array().unwrap().iter();
    items.map(|hit| (hit["people"][0]["given"].as_str().unwrap(), hit["score"].as_f64().unwrap())).collect()
}

/// Asserts that these are the hits, and all of them.
#[track_caller]
fn are(found: &Answer, expected: &[(&str, f64)]) {
    assert_eq!(hits(found), expected, "{}", found.told());
    assert_eq!(found["total"]["value"], expected.len(), "{}", found.told());
}

/// Returns the counts of a facet by value.
fn counts(found: &Answer, facet: &str) -> BTreeMap<String, u64> {
    let counts = found["facets"][facet].as_array().unwrap().iter();
    counts.map(|count| (count["value"].as_str().unwrap().to_owned(), count["count"].as_u64().unwrap())).collect()
}

fn counted<const N: usize>(expected: [(&str, u64); N]) -> BTreeMap<String, u64> {
    expected.into_iter().map(|(value, count)| (value.to_owned(), count)).collect()
}

async fn names_are_found_by_spelling_sound_and_nickname() {
    let archive = Archive::new().await;
    publish_census(&archive).await;
    let visitor = &archive.visitor;
    let found = find(&archive, visitor, "surname=Miller").await;
    are(&found, &[("Johann", 5.0)]);
    let hit = &found["items"][0];
    assert_eq!(hit["matched"], json!([{ "role": "principal", "field": "surname", "tier": "sounds" }]));
    assert_eq!((&hit["collection"]["name"], &hit["post"]["name"]), (&json!("Census of 1871"), &json!("Transcription")));
    assert_eq!(hit["events"][0]["dateText"], "1850-1855");
    let found = find(&archive, visitor, "given=Will&surname=Jones").await;
    are(&found, &[("Wm.", 17.0)]);
    let tiers: Vec<&Value> =
        found["items"][0]["matched"].as_array().unwrap().iter().map(|word| &word["tier"]).collect();
    assert_eq!(tiers, ["nickname", "exact"]);
    assert_eq!(found["items"][0]["household"], Value::Null);
    are(&find(&archive, visitor, "surname=Pugg").await, &[("Evan", 5.0), ("Margaret", 5.0), ("Griffith", 5.0)]);
    let found = find(&archive, visitor, "given=Evan&surname=Pugh").await;
    are(&found, &[("Evan", 20.0)]);
    let household = &found["items"][0]["household"];
    let members: Vec<&Value> = household["members"].as_array().unwrap().iter().map(|member| &member["name"]).collect();
    assert_eq!((household["number"].as_str(), &household["count"]), (Some("14"), &json!(3)));
    assert_eq!(members, ["Evan Pugh", "Margaret Pugh", "Griffith Pugh"]);
    are(&find(&archive, visitor, "match=exact&surname=Miller").await, &[]);
    // Their relatives come from the household.
    let parents = "given=Griffith&fatherGiven=Evan&motherGiven=Margaret";
    let found = find(&archive, visitor, parents).await;
    are(&found, &[("Griffith", 30.0)]);
    let roles: Vec<&Value> =
        found["items"][0]["matched"].as_array().unwrap().iter().map(|word| &word["role"]).collect();
    assert_eq!(roles, ["principal", "father", "mother"]);
    are(&find(&archive, visitor, "spouseGiven=Margaret").await, &[("Evan", 10.0)]);
    visitor.get("/archive/search?categoryId=12").await.faulty(&["categoryId"]);
    visitor.get("/archive/search?surname=P*").await.faulty(&["surname"]);
    // A reader of the hit reports an error in it.
    let jones = find(&archive, visitor, "surname=Jones").await;
    let jones = jones["items"][0]["record"].as_str().unwrap();
    let report = json!({ "text": "The surname is Johns." });
    let report = id(&visitor.post(&format!("/archive/records/{jones}/reports"), report).await.is(201));
    assert_eq!(listed(&archive.editor, "/archive/reports?status=open", "id").await, [report.as_str()]);
    let settled = json!({ "status": "accepted", "note": "Compared with the register." });
    let settled = archive.editor.patch(&format!("/archive/reports/{report}"), settled).await.is(200);
    assert_eq!((settled.text("status"), settled.text("recordId")), ("accepted", jones));
}

/// Creates a place. Returns its id.
async fn place(archive: &Archive, name: &str, parent: Option<&str>, location: Option<[f64; 2]>) -> String {
    let mut new = json!({ "name": name, "type": if parent.is_none() { "country" } else { "settlement" } });
    if let Some(parent) = parent {
        new["parentId"] = json!(parent);
    }
    if let Some([latitude, longitude]) = location {
        (new["lat"], new["lon"]) = (json!(latitude), json!(longitude));
    }
    id(&archive.administrator.post("/archive/places", new).await.is(201))
}

async fn records_are_found_by_date_and_place() {
    let archive = Archive::new().await;
    let kingdom = place(&archive, "United Kingdom", None, None).await;
    let wales = place(&archive, "Wales", Some(&kingdom), None).await;
    let dolgellau = place(&archive, "Dolgellau", Some(&wales), Some([52.742_22, -3.886_11])).await;
    let bala = place(&archive, "Bala", Some(&wales), Some([52.911_11, -3.597_22])).await;
    let switzerland = place(&archive, "Switzerland", None, None).await;
    place(&archive, "Zürich", Some(&switzerland), Some([47.366_67, 8.55])).await;
    publish_census(&archive).await;
    let visitor = &archive.visitor;
    are(&find(&archive, visitor, "birth=1836").await, &[("Evan", 1.0)]);
    are(&find(&archive, visitor, "birth=1852").await, &[("Johann", 1.0)]);
    are(&find(&archive, visitor, "birth=1868").await, &[("Griffith", 2.0)]);
    are(&find(&archive, visitor, "birth=1841&missing=include").await, &[("Margaret", 2.0), ("Wm.", 0.0)]);
    visitor.get("/archive/search?birth=next%20year").await.faulty(&["birth"]);
    let all = find(&archive, visitor, "").await;
    assert_eq!(all["total"]["value"], 5);
    assert_eq!(counts(&all, "decade"), counted([("1830", 1), ("1840", 2), ("1850", 1), ("1860", 1)]));
    assert_eq!(counts(&all, "place"), counted([(&kingdom, 3), (&switzerland, 1)]));
    are(&find(&archive, visitor, "decade=1840").await, &[("Evan", 0.0), ("Margaret", 0.0)]);
    let in_wales = [("Evan", 0.0), ("Margaret", 0.0), ("Griffith", 0.0)];
    for query in ["place=Wales", &format!("place={wales}"), "birthPlace=Wales", "near=Bala&km=30"] {
        are(&find(&archive, visitor, query).await, &in_wales);
    }
    let found = find(&archive, visitor, "place=Wales").await;
    assert_eq!(counts(&found, "place"), counted([(&dolgellau, 2), (&bala, 1)]));
    are(&find(&archive, visitor, "near=Bala&km=20").await, &[("Margaret", 0.0)]);
    // The date and the place are those of one event.
    are(&find(&archive, visitor, "birth=1841&birthPlace=Dolgellau").await, &[]);
    are(&find(&archive, visitor, "deathPlace=Wales").await, &[]);
    let found = find(&archive, visitor, "place=Atlantis&birthPlace=Bala").await;
    are(&found, &[]);
    assert_eq!(found["unresolved"], json!(["Atlantis"]));
    assert_eq!(find(&archive, visitor, "near=Wales&km=5").await["unresolved"], json!(["Wales"]));
}

async fn uncertain_surname_is_found_below_an_exact_one() {
    let archive = Archive::new().await;
    let category = archive.category("Baptisms").await;
    let collection = archive.collection("Llanfair", &[&category]).await;
    let csv = "Surname,Forenames\nPu*,Anne\nP[uo]gh,Beth\nP_gh,Carl\nPugh,Dora\nRees,Evan\n";
    publish_in(&archive, &collection, csv).await;
    let found = find(&archive, &archive.visitor, "surname=Pugh").await;
    are(&found, &[("Dora", 10.0), ("Anne", 6.0), ("Beth", 6.0), ("Carl", 6.0)]);
    are(&find(&archive, &archive.visitor, "surname=Pugh&match=exact").await, &[("Dora", 10.0)]);
}

async fn wildcards_are_bounded_and_find_parts_of_names_with_a_hyphen() {
    let archive = Archive::new().await;
    let category = archive.category("Baptisms").await;
    let collection = archive.collection("Llanfair", &[&category]).await;
    let csv = "Surname,Forenames\nLloyd-George,Jean-Baptiste\nPugh,Dora\nLloyd,Jean\n";
    publish_in(&archive, &collection, csv).await;
    let visitor = &archive.visitor;
    for (query, score) in [("surname=Lloyd-Geo*", 18.0), ("given=Jean-Bap*", 18.0), ("surname=Ll*-George", 18.0)] {
        are(&find(&archive, visitor, query).await, &[("Jean-Baptiste", score)]);
    }
    are(&find(&archive, visitor, "surname=Pu*g?").await, &[("Dora", 8.0)]);
    // As many wildcards as a word may have are no error of the engine.
    for surname in ["aa*a????????", "aa*a????*a????", "aa????????????????????*a????????*bcdefghijklmnopqrstuvwxyz"] {
        are(&find(&archive, visitor, &format!("surname={surname}")).await, &[]);
    }
    for surname in ["aa*a????????????????", "aa*a?????????", "aa*a*a*"] {
        visitor.get(&format!("/archive/search?surname={surname}")).await.faulty(&["surname"]);
    }
    visitor.get("/archive/search?otherGiven=aa*a*a*").await.faulty(&["otherGiven"]);
}

async fn closed_record_is_found_by_staff_only() {
    let archive = Archive::new().await;
    let category = archive.category("Registers").await;
    let new = json!({ "name": "Llanfair", "categoryIds": [category], "closedYears": { "birth": 100 } });
    let collection = id(&archive.editor.post("/archive/collections", new).await.is(201));
    let csv = "House,Surname,Forenames,Rel,Born\n1,Rees,Huw,Head,1850\n1,Rees,Nia,Daughter,1990\n";
    let post = publish_in(&archive, &collection, csv).await;
    let seen = async |user: &User| {
        let found = find(&archive, user, "surname=Rees").await;
        let names: Vec<String> = hits(&found).into_iter().map(|(name, _)| name.to_owned()).collect();
        let household = found["items"][0]["household"].clone();
        let members = household["members"].as_array().unwrap().len();
        assert_eq!((&household["count"], &found["total"]["value"]), (&json!(names.len()), &json!(names.len())));
        assert_eq!(counts(&found, "collection"), counted([(&collection, names.len() as u64)]));
        let rows = listed(user, &format!("{post}/records"), "id").await.len();
        (names, members, counts(&found, "decade"), rows)
    };
    let public = (vec!["Huw".to_owned()], 1, counted([("1850", 1)]), 1);
    assert_eq!(seen(&archive.visitor).await, public);
    let staff = (vec!["Huw".to_owned(), "Nia".to_owned()], 2, counted([("1850", 1), ("1990", 1)]), 2);
    assert_eq!(seen(&archive.volunteer).await, staff);
    are(&find(&archive, &archive.visitor, "birth=1990").await, &[]);
    // The father is not found by the name of a closed daughter.
    are(&find(&archive, &archive.visitor, "given=Huw&otherGiven=Nia").await, &[]);
    are(&find(&archive, &archive.volunteer, "given=Huw&otherGiven=Nia").await, &[("Huw", 20.0)]);
    are(&find(&archive, &archive.visitor, "decade=1990").await, &[]);
}

async fn public_lists_end_before_many_closed_rows() {
    let archive = Archive::new().await;
    let category = archive.category("Registers").await;
    let new = json!({ "name": "Llanfair", "categoryIds": [category], "closedYears": { "birth": 100 } });
    let collection = id(&archive.editor.post("/archive/collections", new).await.is(201));
    let (open, rows) = (5, sized(400, 5_000));
    let born = |row: usize| if row < open { 1850 } else { 1990 };
    let rows_of_file: String = (0..rows).map(|row| format!("{row},Rees,Huw,Head,{}\n", born(row))).collect();
    let csv = format!("House,Surname,Forenames,Rel,Born\n{rows_of_file}");
    let post = publish_in(&archive, &collection, &csv).await;
    for list in ["records", "households"] {
        let path = format!("{post}/{list}");
        for limit in [5, 6, 100] {
            let page = archive.visitor.get(&format!("{path}?limit={limit}")).await.is(200);
            assert_eq!((page.each("id").len(), page.next()), (open, None), "{list} {limit}");
        }
        let sizes: Vec<usize> =
            archive.visitor.pages(&path, 2).await.iter().map(|page| page.each("id").len()).collect();
        assert_eq!(sizes, [2, 2, 1], "{list}");
    }
    assert_eq!(listed(&archive.volunteer, &format!("{post}/records"), "id").await.len(), rows);
}

/// Most records are written directly into the table: all of them are closed, except the last.
async fn page_of_records_ends_among_thousands_that_are_closed() {
    let archive = Archive::new().await;
    let category = archive.category("Registers").await;
    let new = json!({ "name": "Llanfair", "categoryIds": [category], "closedYears": { "birth": 100 } });
    let collection = id(&archive.editor.post("/archive/collections", new).await.is(201));
    let post = publish_in(&archive, &collection, "House,Surname,Forenames,Rel,Born\n1,Rees,Huw,Head,1990\n").await;
    let items = archive.table().items().await;
    let with_key = |start: &str| items.iter().find(|item| item["SK"].as_s().unwrap().starts_with(start)).unwrap();
    let first = with_key("record_post#");
    let first_id: u64 = first["PK"].as_s().unwrap().parse().unwrap();
    let last = 5_600;
    let record = |place: u64| {
        let id = table::item::text((first_id + place).to_string());
        let mut record = first.clone();
        record.extend(["PK", "GSISK", "permanentId"].map(|name| (name.to_owned(), id.clone())));
        record.insert("row".to_owned(), table::item::number(place + 1));
        if place == last {
            record.remove("visibleFrom").unwrap();
        }
        record
    };
    archive.table().put_all((1..=last).map(record).collect()).await;
    let mut item = archive.table().get(post.rsplit('/').next().unwrap(), "post").await.unwrap();
    item.insert("lastId".to_owned(), table::item::text((first_id + last).to_string()));
    archive.table().put(item).await;
    let page = archive.visitor.get(&format!("{post}/records?limit=5")).await.is(200);
    assert_eq!(page.each("row"), [&Value::Null; 0]);
    let rest = archive.visitor.get(&format!("{post}/records?limit=5&cursor={}", page.next().unwrap())).await.is(200);
    assert_eq!((rest.each("row"), rest.next()), (vec![&json!(last + 1)], None));
}

async fn relative_who_is_closed_is_hidden_also_with_the_name_of_an_open_member() {
    let archive = Archive::new().await;
    let category = archive.category("Registers").await;
    let new = json!({ "name": "Llanfair", "categoryIds": [category], "closedYears": { "birth": 100 } });
    let collection = id(&archive.editor.post("/archive/collections", new).await.is(201));
    let csv = "House,Surname,Forenames,Rel,Sex,Born\n\
        1,Rees,Evan,Head,M,1850\n1,Rees,Ann,Wife,F,1852\n1,Rees,Evan,Son,M,1990\n";
    let post = publish_in(&archive, &collection, csv).await;
    let ann = format!("/archive/records/{}", listed(&archive.visitor, &format!("{post}/records"), "id").await[1]);
    let evan = |relation: &str| json!({ "relation": relation, "given": "Evan", "surname": "Rees" });
    assert_eq!(archive.visitor.get(&ann).await.is(200)["relatives"], json!([evan("spouse")]));
    let staff = archive.volunteer.get(&ann).await.is(200);
    let days: Vec<&Value> =
        staff["relatives"].as_array().unwrap().iter().map(|relative| &relative["visibleFrom"]).collect();
    assert_eq!(days, [19_510_101, 20_910_101], "{}", staff.told());
}

async fn record_stays_closed_while_a_date_that_is_not_understood_may_be_recent() {
    let archive = Archive::new().await;
    let category = archive.category("Registers").await;
    let years = json!({ "birth": 100, "death": 30 });
    let new = json!({ "name": "Llanfair", "categoryIds": [category], "closedYears": years });
    let collection = id(&archive.editor.post("/archive/collections", new).await.is(201));
    let columns = [("Surname", "surname"), ("Forenames", "given"), ("Born", "birthDate"), ("Died", "deathDate")];
    let mapping = columns.map(|(header, field)| json!({ "header": header, "field": field }));
    let new = json!({ "name": "Transcription", "collectionId": collection, "mapping": mapping });
    let post = archive.volunteer.post("/archive/posts", new).await.is(201).header("location").to_owned();
    let csv = "Surname,Forenames,Born,Died\nRees,Huw,1850,illegible\nRees,Nia,1920,illegible\n";
    upload(&archive.volunteer, &post, csv).await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!(run["status"], "published", "{}", run.told());
    let records = format!("{post}/records");
    let staff = listed(&archive.volunteer, &records, "id").await;
    assert_eq!((listed(&archive.visitor, &records, "id").await, staff.len()), (vec![staff[0].clone()], 2));
    archive.visitor.get(&format!("/archive/records/{}", staff[1])).await.refused(404, "not-found");
    are(&find(&archive, &archive.visitor, "surname=Rees").await, &[("Huw", 10.0)]);
}

async fn closed_record_that_is_gone_is_no_record_for_the_public() {
    let archive = Archive::new().await;
    let category = archive.category("Registers").await;
    let new = json!({ "name": "Llanfair", "categoryIds": [category], "closedYears": { "birth": 100 } });
    let collection = id(&archive.editor.post("/archive/collections", new).await.is(201));
    let kept = "House,Surname,Forenames,Rel,Born\n1,Rees,Huw,Head,1850\n2,Rees,Nia,Head,1990\n";
    let csv = format!("{kept}3,Pugh,Ann,Head,1991\n4,Parry,Ivor,Head,1852\n5,Jones,Owen,Head,1853\n");
    let post = publish_in(&archive, &collection, &csv).await;
    let ids = listed(&archive.volunteer, &format!("{post}/records"), "id").await;
    let path = |row: usize| format!("/archive/records/{}", ids[row - 1]);
    let gone_for_staff_only = async |row: usize| {
        archive.volunteer.get(&path(row)).await.refused(410, "withdrawn");
        archive.visitor.get(&path(row)).await.refused(404, "not-found");
        let report = json!({ "text": "The surname is Rhys." });
        archive.visitor.post(&format!("{}/reports", path(row)), report).await.refused(404, "not-found");
    };
    archive.editor.delete(&path(2)).await.is(204);
    gone_for_staff_only(2).await;
    // A correction by hand closes the last record.
    archive.volunteer.patch(&path(5), json!({ "values": { "Born": "1992" } })).await.is(200);
    upload(&archive.volunteer, &post, kept).await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!((run.text("status"), &run["totals"]["gone"]), ("published", &json!(3)), "{}", run.told());
    for row in [2, 3, 5] {
        gone_for_staff_only(row).await;
    }
    archive.visitor.get(&path(4)).await.refused(410, "withdrawn");
}

async fn new_closed_years_close_published_records_with_the_next_run() {
    let archive = Archive::new().await;
    let category = archive.category("Registers").await;
    let collection = archive.collection("Llanfair", &[&category]).await;
    let csv = "House,Surname,Forenames,Rel,Born\n1,Rees,Huw,Head,1850\n1,Rees,Nia,Daughter,1990\n";
    let post = publish_in(&archive, &collection, csv).await;
    let records = format!("{post}/records");
    let publish_again = async || archive.volunteer.post(&format!("{post}/publish"), json!({})).await;
    publish_again().await.is(200);
    let path = format!("/archive/collections/{collection}");
    archive.editor.patch(&path, json!({ "closedYears": { "birth": 100 } })).await.is(200);
    assert_eq!(listed(&archive.visitor, &records, "id").await.len(), 2);
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!(run["status"], "published", "{}", run.told());
    assert_eq!(listed(&archive.visitor, &records, "id").await.len(), 1);
    assert_eq!(listed(&archive.volunteer, &records, "id").await.len(), 2);
    publish_again().await.is(200);
    // The place of the collection decides which places the texts mean.
    let place = place(&archive, "Llanfair", None, None).await;
    archive.editor.patch(&path, json!({ "placeId": place })).await.is(200);
    assert_eq!(publish(&archive.volunteer, &post, json!({})).await["status"], "published");
}

async fn largest_search_for_names_is_answered_and_a_larger_one_is_refused() {
    let archive = Archive::new().await;
    publish_census(&archive).await;
    archive.cairn.caught_up().await;
    let relatives = ["father", "mother", "spouse", "other"].map(|who| [format!("{who}Given"), format!("{who}Surname")]);
    let parameters: Vec<String> =
        ["given".to_owned(), "surname".to_owned()].into_iter().chain(relatives.into_iter().flatten()).collect();
    let words = ["Johannes", "Margaretha", "Katharina", "Elizabeth"];
    let asked = |counts: &[usize], others: &str| {
        let names = parameters.iter().zip(counts).map(|(name, count)| format!("{name}={}", words[..*count].join("+")));
        format!("/archive/search?{}&{others}", names.collect::<Vec<_>>().join("&"))
    };
    // All dates are asked, too.
    let dates = "birth=1850&baptism=1850&marriage=1850&residence=1850&death=1850&burial=1850&date=1850";
    for others in [dates.to_owned(), format!("{dates}&missing=include")] {
        // One word more each time, until the search is refused.
        let mut counts = vec![2; parameters.len()];
        archive.visitor.get(&asked(&counts, &others)).await.is(200);
        let refused = 'refused: {
            for count in 3..=words.len() {
                for at in 0..parameters.len() {
                    counts[at] = count;
                    let answer = archive.visitor.get(&asked(&counts, &others)).await;
                    if answer.status == 400 {
                        answer.faulty(&[&parameters[at]]);
                        break 'refused true;
                    }
                    answer.is(200);
                }
            }
            false
        };
        assert!(refused, "{counts:?} {others}");
    }
    // The person's role leaves fewer relatives.
    archive.visitor.get(&asked(&[4; 10], &format!("{dates}&role=bride"))).await.is(200);
}

async fn facet_of_categories_sums_the_counts_of_their_collections() {
    let archive = Archive::new().await;
    let (a, b) = (archive.category("A").await, archive.category("B").await);
    let x = archive.collection("X", &[&a, &b]).await;
    let y = archive.collection("Y", &[&b]).await;
    publish_in(&archive, &x, CENSUS).await;
    publish_in(&archive, &y, "Surname,Forenames\nRees,Anne\nRees,Beth\nRees,Carl\n").await;
    let visitor = &archive.visitor;
    let all = find(&archive, visitor, "").await;
    assert_eq!(all["total"]["value"], 8);
    assert_eq!(counts(&all, "category"), counted([(&a, 5), (&b, 8)]));
    assert_eq!(counts(&all, "collection"), counted([(&x, 5), (&y, 3)]));
    let in_a = find(&archive, visitor, &format!("categoryId={a}")).await;
    assert_eq!(in_a["total"]["value"], 5);
    assert_eq!(counts(&in_a, "collection"), counted([(&x, 5)]));
    assert_eq!(counts(&in_a, "category"), counted([(&a, 5), (&b, 8)]));
    let in_y = find(&archive, visitor, &format!("collectionId={y}")).await;
    assert_eq!(in_y["total"]["value"], 3);
    assert_eq!(counts(&in_y, "collection"), counted([(&x, 5), (&y, 3)]));
    assert_eq!(counts(&in_y, "category"), counted([(&b, 3)]));
    let revisions = async || -> BTreeMap<String, String> {
        let items = archive.items().await.into_iter();
        let records = items.filter(|(_, item)| attribute(item, "SK").starts_with("record_"));
        records.map(|(key, item)| (key, item["rev"].as_n().unwrap().clone())).collect()
    };
    let before = revisions().await;
    archive.editor.patch(&format!("/archive/collections/{y}"), json!({ "categoryIds": [a] })).await.is(200);
    let all = find(&archive, visitor, "").await;
    assert_eq!(counts(&all, "category"), counted([(&a, 8), (&b, 5)]));
    assert_eq!(find(&archive, visitor, &format!("categoryId={a}")).await["total"]["value"], 8);
    assert_eq!(revisions().await, before);
    assert_eq!(find(&archive, visitor, "categoryId=7999999999").await["total"]["value"], 0);
}

async fn pages_of_records_follow_each_other() {
    let archive = Archive::new().await;
    publish_census(&archive).await;
    let visitor = &archive.visitor;
    archive.cairn.caught_up().await;
    let pages = visitor.pages("/archive/search?surname=Pugh&missing=include", 2).await;
    let names: Vec<&str> = pages.iter().flat_map(|page| hits(page)).map(|(name, _)| name).collect();
    assert_eq!(names, ["Evan", "Margaret", "Griffith"]);
    assert!(pages[0]["facets"].is_object() && pages[1].body.get("facets").is_none());
    assert!(pages.iter().all(|page| page["total"] == json!({ "value": 3, "exact": true })));
    let cursor = pages[0].next().unwrap();
    visitor.get(&format!("/archive/search?surname=Jones&cursor={cursor}")).await.faulty(&["cursor"]);
    archive.volunteer.get(&format!("/archive/search?surname=Pugh&cursor={cursor}")).await.faulty(&["cursor"]);
}

async fn page_with_a_hit_whose_record_is_gone_is_filled() {
    let archive = Archive::new().await;
    let post = publish_census(&archive).await;
    let found = find(&archive, &archive.visitor, "given=Evan").await;
    let record = found["items"][0]["record"].as_str().unwrap();
    let id = format!("{record}#record_post#{}", post.rsplit('/').next().unwrap());
    let mut document = archive.cairn.document("archive", &id).await.unwrap();
    // A document that comes before all others, without a record in the table.
    (document["pk"], document["permanentId"]) = (json!("1000000000"), json!("1000000000"));
    let index = format!("{}-000001", archive.cairn.engines().config.search_name("archive"));
    let path = format!("/{index}/_doc/gone?version=10&version_type=external&refresh=true");
    archive.cairn.search_engine(Method::PUT, &path, &document).await;
    let pages = archive.visitor.pages("/archive/search?surname=Pugh", 2).await;
    let names: Vec<Vec<&str>> =
        pages.iter().map(|page| hits(page).into_iter().map(|(name, _)| name).collect()).collect();
    assert_eq!(names, [vec!["Evan", "Margaret"], vec!["Griffith"]]);
}

async fn records_of_an_unpublished_post_are_not_found() {
    let archive = Archive::new().await;
    let post = publish_census(&archive).await;
    let published = find(&archive, &archive.visitor, "").await;
    let records: Vec<&Value> = published.each("record");
    // The corrected file is a new run with the same permanent ids.
    upload(&archive.volunteer, &post, &CENSUS.replace("Johann", "John")).await;
    let run = publish(&archive.volunteer, &post, json!({})).await;
    assert_eq!(run["status"], "published", "{}", run.told());
    let again = find(&archive, &archive.visitor, "").await;
    assert_eq!((again["total"]["value"].as_u64(), again.each("record")), (Some(5), records));
    are(&find(&archive, &archive.visitor, "given=John&match=exact").await, &[("John", 10.0)]);
    archive.volunteer.call(Method::POST, &format!("{post}/unpublish")).await.is(202);
    // At once, while search still has the documents.
    let found = archive.visitor.get("/archive/search").await.is(200);
    are(&found, &[]);
    assert_eq!(found["facets"]["collection"], json!([]));
}

async fn search_for_records_without_a_search_engine_returns_503() {
    let proxy = Proxy::before(engines::search().await).await;
    let archive = Archive::with(Setup { search: Some(proxy.url.clone()), ..Setup::of("archive") }).await;
    archive.cairn.caught_up().await;
    proxy.move_to("http://127.0.0.1:1".to_owned());
    archive.visitor.get("/archive/search?surname=Pugh").may_fail().await.refused(503, "search-unavailable");
    proxy.move_to(engines::search().await);
    archive.visitor.get("/archive/search?surname=Pugh").await.is(200);
}
