//! Categories and collections: unique names, rows, counts and limits.

use serde_json::{Value, json};

use super::stage::{Archive, id, listed};
use crate::tests;

tests! { archive_catalog:
    category_with_the_name_of_another_is_refused_without_regard_to_case_and_accents,
    renamed_category_moves_in_the_list_and_frees_its_name,
    category_with_a_collection_cannot_be_deleted,
    category_number_1001_is_refused,
    collection_is_in_up_to_90_categories,
    collection_in_unknown_categories_is_refused_and_writes_nothing,
    update_that_changes_more_than_95_categories_is_refused,
    collection_with_other_categories_is_listed_there_alone,
    collection_with_a_post_cannot_be_deleted,
    updated_collection_keeps_its_place_and_renamed_one_moves,
    deleted_id_is_not_given_out_again,
    id_above_the_highest_is_refused_and_the_sequence_stays,
    stale_update_is_refused_with_if_match,
    creation_with_an_idempotency_key_is_carried_out_once,
    faults_of_a_collection_are_at_their_places,
    collection_at_an_unknown_or_replaced_place_is_refused,
}

async fn category_with_the_name_of_another_is_refused_without_regard_to_case_and_accents() {
    let archive = Archive::new().await;
    let births = archive.category("Births").await;
    let again = archive.editor.post("/archive/categories", json!({ "name": "bÍrths" })).await;
    again.refused(409, "taken").at(&["/name"]);
    archive.editor.post("/archive/categories", json!({ "name": "- !" })).await.faulty(&["/name"]);
    let path = format!("/archive/categories/{births}");
    archive.editor.patch(&path, json!({ "name": "BIRTHS" })).await.is(200);
    assert_eq!(archive.visitor.get(&path).await.is(200).text("name"), "BIRTHS");
    archive.agrees().await;
}

async fn renamed_category_moves_in_the_list_and_frees_its_name() {
    let archive = Archive::new().await;
    let births = archive.category("Births").await;
    let deaths = archive.category("Deaths").await;
    let path = format!("/archive/categories/{births}");
    let renamed = archive.editor.patch(&path, json!({ "name": "Marriages" })).await.is(200);
    assert_eq!(renamed.text("name"), "Marriages");
    assert_eq!(listed(&archive.visitor, "/archive/categories", "id").await, [deaths, births]);
    let births = archive.category("Births").await;
    assert_eq!(listed(&archive.visitor, "/archive/categories", "name").await, ["Births", "Deaths", "Marriages"]);
    let path = format!("/archive/categories/{births}");
    archive.editor.patch(&path, json!({ "name": "deaths" })).await.refused(409, "taken");
    archive.agrees().await;
}

async fn category_with_a_collection_cannot_be_deleted() {
    let archive = Archive::new().await;
    let category = archive.category("Births").await;
    let collection = archive.collection("Llanfair", &[&category]).await;
    let path = format!("/archive/categories/{category}");
    assert_eq!(archive.visitor.get(&path).await.is(200)["collections"], 1);
    let refused = archive.editor.delete(&path).await.refused(409, "has-dependents");
    assert_eq!(refused["counts"], json!({ "collections": 1 }));
    archive.editor.delete(&format!("/archive/collections/{collection}")).await.is(204);
    assert_eq!(archive.visitor.get(&path).await.is(200)["collections"], 0);
    archive.editor.delete(&path).await.is(204);
    archive.visitor.get(&path).await.refused(404, "not-found");
    archive.editor.delete(&path).await.refused(404, "not-found");
    archive.agrees().await;
    archive.category("Births").await;
}

async fn category_number_1001_is_refused() {
    let archive = Archive::new().await;
    archive.category("Births").await;
    let table = archive.table();
    let mut counts = table.get("categoryUse", "categoryUse").await.unwrap();
    counts.insert("n".to_owned(), table::item::number(1000));
    table.put(counts).await;
    let more = archive.editor.post("/archive/categories", json!({ "name": "Deaths" })).await;
    more.refused(409, "too-many-categories");
    assert_eq!(listed(&archive.visitor, "/archive/categories", "name").await, ["Births"]);
}

async fn collection_is_in_up_to_90_categories() {
    let archive = Archive::new().await;
    let mut categories = Vec::new();
    for number in 0..91 {
        categories.push(archive.category(&format!("Category {number}")).await);
    }
    let new = |categories: &[String]| json!({ "name": "Everywhere", "categoryIds": categories });
    archive.editor.post("/archive/collections", new(&categories)).await.faulty(&["/categoryIds"]);
    let created = archive.editor.post("/archive/collections", new(&categories[..90])).once("90").await.is(201);
    archive.agrees().await;
    let path = format!("/archive/collections/{}", id(&created));
    let read = archive.visitor.get(&path).await.is(200);
    let named = read["categories"].as_array().unwrap();
    assert_eq!((named.len(), &named[89]["name"]), (90, &json!("Category 89")));
    let of_last = format!("/archive/categories/{}/collections", categories[89]);
    assert_eq!(listed(&archive.visitor, &of_last, "name").await, ["Everywhere"]);
    archive.editor.delete(&path).await.is(204);
    archive.agrees().await;
}

async fn collection_in_unknown_categories_is_refused_and_writes_nothing() {
    let archive = Archive::new().await;
    let category = archive.category("Births").await;
    let before = archive.items().await.len();
    let categories = ["7999999998", category.as_str(), "7999999999"];
    let new = json!({ "name": "Llanfair", "categoryIds": categories });
    let refused = archive.editor.post("/archive/collections", new).await.refused(422, "unprocessable");
    refused.at(&["/categoryIds/0", "/categoryIds/2"]);
    assert_eq!(archive.items().await.len(), before);
    let collection = archive.collection("Llanfair", &[&category]).await;
    let path = format!("/archive/collections/{collection}");
    let moved = archive.editor.patch(&path, json!({ "categoryIds": ["7999999999"] })).await;
    moved.refused(422, "unprocessable").at(&["/categoryIds/0"]);
    let twice = archive.editor.patch(&path, json!({ "categoryIds": [category, category] })).await;
    twice.faulty(&["/categoryIds/1"]);
    archive.agrees().await;
}

async fn update_that_changes_more_than_95_categories_is_refused() {
    let archive = Archive::new().await;
    let mut categories = Vec::new();
    for number in 0..96 {
        categories.push(archive.category(&format!("Category {number}")).await);
    }
    let (some, others) = categories.split_at(48);
    let some: Vec<&str> = some.iter().map(String::as_str).collect();
    let collection = archive.collection("Llanfair", &some).await;
    let path = format!("/archive/collections/{collection}");
    let refused = archive.editor.patch(&path, json!({ "categoryIds": others })).await;
    refused.refused(422, "unprocessable").at(&["/categoryIds"]);
    archive.agrees().await;
    let changed = archive.editor.patch(&path, json!({ "categoryIds": others[..47] })).await.is(200);
    assert_eq!(changed["categoryIds"], json!(others[..47]));
    archive.agrees().await;
}

async fn collection_with_other_categories_is_listed_there_alone() {
    let archive = Archive::new().await;
    let (a, b) = (archive.category("A").await, archive.category("B").await);
    let x = archive.collection("X", &[&a, &b]).await;
    let y = archive.collection("Y", &[&b]).await;
    archive.set_records(&x, 5).await;
    archive.set_records(&y, 3).await;
    let of = async |category: &str| {
        listed(&archive.visitor, &format!("/archive/categories/{category}/collections"), "name").await
    };
    assert_eq!((of(&a).await, of(&b).await), (vec!["X".to_owned()], vec!["X".to_owned(), "Y".to_owned()]));
    let before = archive.table().get(&format!("collectionUse#{y}"), "collectionUse").await;
    let path = format!("/archive/collections/{y}");
    archive.editor.patch(&path, json!({ "categoryIds": [a] })).await.is(200);
    assert_eq!((of(&a).await, of(&b).await), (vec!["X".to_owned(), "Y".to_owned()], vec!["X".to_owned()]));
    assert_eq!(archive.table().get(&format!("collectionUse#{y}"), "collectionUse").await, before);
    // Some of the records may be closed.
    assert_eq!(archive.visitor.get(&path).await.is(200)["recordCount"], Value::Null);
    let read = archive.volunteer.get(&path).await.is(200);
    assert_eq!((&read["recordCount"], &read["categories"]), (&json!(3), &json!([{ "id": a, "name": "A" }])));
    archive.agrees().await;
    archive.visitor.get("/archive/categories/7999999999/collections").await.refused(404, "not-found");
}

async fn collection_with_a_post_cannot_be_deleted() {
    let archive = Archive::new().await;
    let category = archive.category("Births").await;
    let collection = archive.collection("Llanfair", &[&category]).await;
    let post = archive.post("Births 1837", &collection).await;
    let path = format!("/archive/collections/{collection}");
    let refused = archive.editor.delete(&path).await.refused(409, "has-dependents");
    assert_eq!(refused["counts"], json!({ "posts": 1 }));
    archive.agrees().await;
    archive.delete_post(&archive.volunteer, &format!("/archive/posts/{post}")).await;
    archive.editor.delete(&path).await.is(204);
    archive.agrees().await;
}

async fn updated_collection_keeps_its_place_and_renamed_one_moves() {
    let archive = Archive::new().await;
    let category = archive.category("Births").await;
    let first = archive.collection("Aber", &[&category]).await;
    archive.collection("Bala", &[&category]).await;
    let path = format!("/archive/collections/{first}");
    let place = id(&archive.administrator.post("/archive/places", json!({ "name": "Llanfair" })).await.is(201));
    let closed = json!({ "description": "Registers", "closedYears": { "birth": 100 }, "placeId": place });
    let updated = archive.editor.patch(&path, closed).await.is(200);
    assert_eq!(updated["closedYears"]["birth"], 100);
    assert_eq!(updated["closedYears"]["death"], 0);
    assert_eq!(listed(&archive.visitor, "/archive/collections", "name").await, ["Aber", "Bala"]);
    let renamed = json!({ "name": "Conwy", "closedYears": Value::Null, "placeId": Value::Null });
    let renamed = archive.editor.patch(&path, renamed).await.is(200);
    assert_eq!((&renamed["closedYears"], &renamed["placeId"]), (&Value::Null, &Value::Null));
    assert_eq!(listed(&archive.visitor, "/archive/collections", "name").await, ["Bala", "Conwy"]);
}

async fn deleted_id_is_not_given_out_again() {
    let archive = Archive::new().await;
    let first = archive.category("Births").await;
    archive.editor.delete(&format!("/archive/categories/{first}")).await.is(204);
    archive.editor.post("/archive/categories", json!({ "name": "Deaths", "unknown": 1 })).await.is(400);
    let second = archive.category("Births").await;
    assert!(first < second && second.len() == 10, "{first}, {second}");
    let sequence = archive.table().get("sequence", "sequence").await.unwrap();
    assert_eq!(sequence["value"].as_n().unwrap(), &second);
}

async fn id_above_the_highest_is_refused_and_the_sequence_stays() {
    let archive = Archive::new().await;
    archive.category("Births").await;
    let table = archive.table();
    let mut sequence = table.get("sequence", "sequence").await.unwrap();
    sequence.insert("value".to_owned(), table::item::number(7_999_999_998_u64));
    table.put(sequence).await;
    assert_eq!(archive.category("Deaths").await, "7999999999");
    let more = archive.editor.post("/archive/categories", json!({ "name": "Marriages" })).may_fail().await;
    more.refused(500, "internal");
    let sequence = table.get("sequence", "sequence").await.unwrap();
    assert_eq!(sequence["value"].as_n().unwrap(), "7999999999");
    assert_eq!(listed(&archive.visitor, "/archive/categories", "name").await, ["Births", "Deaths"]);
}

async fn stale_update_is_refused_with_if_match() {
    let archive = Archive::new().await;
    let category = archive.category("Births").await;
    let path = format!("/archive/categories/{category}");
    let read = archive.visitor.get(&path).await.is(200);
    let patch = |text: &str| archive.editor.patch(&path, json!({ "description": text }));
    let updated = patch("one").if_match(&read.tag()).await.is(200);
    patch("two").if_match(&read.tag()).await.refused(412, "stale");
    archive.editor.delete(&path).if_match(&read.tag()).await.refused(412, "stale");
    assert_eq!(archive.visitor.get(&path).await.tag(), updated.tag());
    assert_eq!(patch("one").await.is(200).tag(), updated.tag(), "nothing changes");
}

async fn creation_with_an_idempotency_key_is_carried_out_once() {
    let archive = Archive::new().await;
    let new = json!({ "name": "Births" });
    let first = archive.editor.post("/archive/categories", new.clone()).once("a").await.is(201);
    let again = archive.editor.post("/archive/categories", new).once("a").await.is(201);
    assert_eq!((first.body.clone(), first.tag()), (again.body.clone(), again.tag()));
    assert_eq!(first.header("location"), format!("/archive/categories/{}", id(&first)));
    archive.agrees().await;
}

async fn faults_of_a_collection_are_at_their_places() {
    let archive = Archive::new().await;
    let new = json!({
        "name": "\u{200b}",
        "categoryIds": [],
        "closedYears": { "birth": 151 },
        "imageUrlTemplate": "javascript:alert(1)",
        "defaultMapping": [
            { "header": "Name", "field": "name" },
            { "header": "NÁME", "field": "surname", "dateOrder": "dayMonthYear" },
        ],
    });
    let refused = archive.editor.post("/archive/collections", new).await.refused(400, "bad-request");
    for place in ["/categoryIds", "/closedYears/birth"] {
        assert!(refused.places().iter().any(|found| found == place), "{}", refused.told());
    }
    let category = archive.category("Births").await;
    let new = json!({
        "name": "\u{200b}",
        "categoryIds": [category],
        "imageUrlTemplate": "javascript:alert(1)",
        "defaultMapping": [
            { "header": "Name", "field": "name" },
            { "header": "NÁME", "field": "surname", "dateOrder": "dayMonthYear" },
        ],
    });
    let refused = archive.editor.post("/archive/collections", new).await;
    refused.faulty(&["/name", "/imageUrlTemplate", "/defaultMapping/1/header", "/defaultMapping/1/dateOrder"]);
}

async fn collection_at_an_unknown_or_replaced_place_is_refused() {
    let archive = Archive::new().await;
    let category = archive.category("Births").await;
    let place =
        async |name: &str| id(&archive.administrator.post("/archive/places", json!({ "name": name })).await.is(201));
    let (present, replaced) = (place("Bala").await, place("Y Bala").await);
    let replace = format!("/archive/places/{replaced}?replacedBy={present}");
    archive.administrator.delete(&replace).await.is(204);
    let new = |place: &str| json!({ "name": "Llanfair", "categoryIds": [category], "placeId": place });
    for place in ["7999999999", &replaced] {
        let refused = archive.editor.post("/archive/collections", new(place)).await;
        refused.refused(422, "unprocessable").at(&["/placeId"]);
    }
    let path = archive.editor.post("/archive/collections", new(&present)).await.is(201).header("location").to_owned();
    for place in ["7999999999", &replaced] {
        let refused = archive.editor.patch(&path, json!({ "placeId": place })).await;
        refused.refused(422, "unprocessable").at(&["/placeId"]);
    }
    archive.editor.patch(&path, json!({ "placeId": present, "description": "Registers" })).await.is(200);
    archive.editor.patch(&path, json!({ "placeId": null })).await.is(200);
    archive.editor.patch(&path, json!({ "placeId": present })).await.is(200);
    archive.agrees().await;
}
