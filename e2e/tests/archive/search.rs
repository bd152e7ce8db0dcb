//! The search for categories, collections, posts and users by words.

use local::identity::Person;
use serde_json::{Value, json};

use super::stage::{Archive, id};
use crate::harness::{Answer, User};
use crate::tests;

tests! { archive_search:
    name_is_found_before_its_beginning_and_its_description,
    collection_is_found_with_its_number_of_records_for_staff,
    renamed_and_deleted_entries_are_found_by_their_present_names,
    names_in_any_script_are_found,
    posts_are_found_by_name_and_metadata,
    users_are_found_by_name_and_address,
    pages_of_hits_follow_each_other,
    query_without_a_letter_is_refused,
    word_that_is_long_when_folded_is_searched,
}

async fn find(archive: &Archive, user: &User, path: &str) -> Answer {
    archive.cairn.caught_up().await;
    user.get(path).await.is(200)
}

/// Returns the names and the points of the hits of this kind.
fn hits(found: &Answer, kind: &str) -> Vec<(String, f64)> {
    let hits = found["items"].as_array().unwrap().iter().filter(|hit| hit[kind].is_object());
    hits.map(|hit| (hit[kind]["name"].as_str().unwrap().to_owned(), hit["score"].as_f64().unwrap())).collect()
}

async fn name_is_found_before_its_beginning_and_its_description() {
    let archive = Archive::new().await;
    for (name, description) in [("Deaths", "Registers of births too"), ("Birthstones", ""), ("Births", "")] {
        let new = json!({ "name": name, "description": description });
        archive.editor.post("/archive/categories", new).await.is(201);
    }
    let found = find(&archive, &archive.visitor, "/archive/search/catalog?q=births").await;
    let expected =
        [("Births", 10.0), ("Birthstones", 6.0), ("Deaths", 2.0)].map(|(name, score)| (name.to_owned(), score));
    assert_eq!(hits(&found, "category"), expected);
    assert_eq!(found["total"], json!({ "value": 3, "exact": true }));
    // Every word must be found.
    let found = find(&archive, &archive.visitor, "/archive/search/catalog?q=births+regist").await;
    assert_eq!(found["items"], json!([]), "{}", found.told());
    let found = find(&archive, &archive.visitor, "/archive/search/catalog?q=deaths+registers").await;
    assert_eq!(hits(&found, "category"), [("Deaths".to_owned(), 12.0)]);
}

async fn collection_is_found_with_its_number_of_records_for_staff() {
    let archive = Archive::new().await;
    let category = archive.category("Llanfair").await;
    let collection = archive.collection("Llanfair registers", &[&category]).await;
    archive.set_records(&collection, 5).await;
    // Some of the records may be closed, so that their number is for staff.
    for (user, count) in [(&archive.volunteer, json!(5)), (&archive.visitor, Value::Null)] {
        let found = find(&archive, user, "/archive/search/catalog?q=llanfair").await;
        let records: Vec<&Value> = found.each("collection").into_iter().map(|found| &found["recordCount"]).collect();
        assert_eq!(records, [&Value::Null, &count], "{}", found.told());
        assert_eq!(hits(&found, "category").len(), 1);
    }
}

async fn renamed_and_deleted_entries_are_found_by_their_present_names() {
    let archive = Archive::new().await;
    let category = archive.category("Births").await;
    let path = format!("/archive/categories/{category}");
    archive.editor.patch(&path, json!({ "name": "Baptisms" })).await.is(200);
    let count = async |q: &str| {
        let found = find(&archive, &archive.visitor, &format!("/archive/search/catalog?q={q}")).await;
        found["total"]["value"].as_u64().unwrap()
    };
    assert_eq!((count("births").await, count("baptisms").await), (0, 1));
    archive.editor.delete(&path).await.is(204);
    assert_eq!(count("baptisms").await, 0);
}

async fn names_in_any_script_are_found() {
    let archive = Archive::new().await;
    for name in ["Łódź", "東京", "Москва", "Saint-Étienne"] {
        archive.category(name).await;
    }
    for (q, name) in [("lodz", "Łódź"), ("東", "東京"), ("моск", "Москва"), ("saint+etienne", "Saint-Étienne")]
    {
        let found = find(&archive, &archive.visitor, &format!("/archive/search/catalog?q={q}")).await;
        assert_eq!(hits(&found, "category").first().map(|(name, _)| name.as_str()), Some(name), "{}", found.told());
    }
}

async fn posts_are_found_by_name_and_metadata() {
    let archive = Archive::new().await;
    let category = archive.category("Births").await;
    let collection = archive.collection("Llanfair", &[&category]).await;
    let settings = json!({ "title": "A", "postMetadata": [{ "name": "Source", "type": "string" }] });
    archive.administrator.put("/archive/settings", settings).await.is(200);
    let new = json!({ "name": "Volume 3", "collectionId": collection, "metadata": { "Source": "County Office" } });
    archive.volunteer.post("/archive/posts", new).await.is(201);
    archive.post("Office list", &collection).await;
    let found = find(&archive, &archive.volunteer, "/archive/search/posts?q=office").await;
    assert_eq!(hits(&found, "post"), [("Office list".to_owned(), 10.0), ("Volume 3".to_owned(), 2.0)]);
    let public = find(&archive, &archive.visitor, "/archive/search/catalog?q=office").await;
    assert_eq!(public["items"], json!([]));
}

async fn users_are_found_by_name_and_address() {
    let archive = Archive::new().await;
    let person = Person { name: Some("Zoë Field"), address: Some("hill@example.org"), ..Person::new("zoe") };
    archive.cairn.person("zoe", person).await.get("/archive/me").await.is(200);
    for q in ["zoe", "fiel", "hill", "hill@example.org"] {
        let found = find(&archive, &archive.administrator, &format!("/archive/search/users?q={q}")).await;
        assert_eq!(hits(&found, "user").len(), 1, "{q}: {}", found.told());
    }
}

async fn pages_of_hits_follow_each_other() {
    let archive = Archive::new().await;
    for number in 0..7 {
        archive.category(&format!("Births {number}")).await;
    }
    archive.cairn.caught_up().await;
    let pages = archive.visitor.pages("/archive/search/catalog?q=births", 3).await;
    let names: Vec<_> = pages.iter().flat_map(|page| hits(page, "category")).map(|(name, _)| name).collect();
    assert_eq!(names, (0..7).map(|number| format!("Births {number}")).collect::<Vec<_>>());
}

async fn query_without_a_letter_is_refused() {
    let archive = Archive::new().await;
    archive.visitor.get("/archive/search/catalog?q=--").await.faulty(&["q"]);
    archive.visitor.get("/archive/search/catalog").await.faulty(&["q"]);
    let category = archive.category("Births").await;
    assert_eq!(id(&archive.visitor.get(&format!("/archive/categories/{category}")).await.is(200)), category);
}

async fn word_that_is_long_when_folded_is_searched() {
    let archive = Archive::new().await;
    // One character that folds to six.
    let q = "㌖".repeat(200);
    for path in ["/archive/search/catalog", "/archive/search/posts", "/archive/search/users"] {
        let found = find(&archive, &archive.administrator, &format!("{path}?q={q}")).await;
        assert_eq!(found["items"], json!([]));
    }
    let name = "㌖".repeat(100);
    archive.visitor.get(&format!("/archive/search?surname={name}")).await.faulty(&["surname"]);
    archive.visitor.get(&format!("/archive/search?surname={name}*")).await.faulty(&["surname"]);
}
