//! A system that exists only in tests. Its keys are in capitals with `#` between their parts, and one of its two tables
//! has no sort key. Its tests show that the platform does not depend on the conventions of the other systems.

mod system;

use std::collections::HashMap;

use ::mirror::{Code, Subject};
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;

use crate::harness::{Cairn, Setup, User};
use crate::tests;

tests! { depot:
    two_tables_are_mirrored_into_one_index,
    equal_keys_of_two_tables_are_distinct,
    made_up_system_gets_tombstones_and_quarantine,
    two_systems_share_one_search_engine,
}

async fn with_depot() -> (Cairn, User) {
    let cairn = Cairn::with(Setup { systems: vec![system::served()], ..Setup::default() }).await;
    let user = cairn.visitor();
    (cairn, user)
}

/// Returns the ids that a search finds, in order.
async fn found(cairn: &Cairn, user: &User, q: &str) -> Vec<String> {
    cairn.caught_up().await;
    let answer = user.get(&format!("/depot/search?q={q}")).await.is(200);
    answer["ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

async fn two_tables_are_mirrored_into_one_index() {
    let (cairn, user) = with_depot().await;
    let made = user.put("/depot/crates/east/3/12", json!({ "content": "copper wire", "weight": 12.50 })).await.is(201);
    assert_eq!(made.body, json!({ "pk": "SHELF#east#3", "sk": "CRATE#12" }));
    user.put("/depot/labels/copper", json!({ "content": "handle with copper gloves" })).await.is(201);
    assert_eq!(found(&cairn, &user, "copper").await, ["LABEL#copper", "SHELF#east#3#CRATE#12"]);
    let read = user.get("/depot/crates/east/3/12").await.is(200);
    assert_eq!(read["content"], "copper wire");
    user.put("/depot/crates/east/3/12", json!({ "content": "iron wire" })).await.is(200);
    assert_eq!(found(&cairn, &user, "copper").await, ["LABEL#copper"]);
    assert_eq!(found(&cairn, &user, "iron").await, ["SHELF#east#3#CRATE#12"]);
    let document = cairn.document("depot", "LABEL#copper").await.unwrap();
    assert_eq!(
        (&document["pk"], document.get("sk"), &document["entity"]),
        (&json!("LABEL#copper"), None, &json!("label"))
    );
    let document = cairn.document("depot", "SHELF#east#3#CRATE#12").await.unwrap();
    assert_eq!((&document["weight"], &document["entity"]), (&json!(12.5), &json!("crate")));
}

async fn equal_keys_of_two_tables_are_distinct() {
    let (cairn, user) = with_depot().await;
    // A delimiter within a part is escaped, so that a room cannot be mistaken for a shelf of another room.
    user.put("/depot/crates/a%23b/3/1", json!({ "content": "moss" })).await.is(201);
    user.put("/depot/crates/a/3/1", json!({ "content": "moss" })).await.is(201);
    assert_eq!(found(&cairn, &user, "moss").await, ["SHELF#a#3#CRATE#1", "SHELF#a~23b#3#CRATE#1"]);
    // A key that fits only a template of the other table goes to quarantine.
    put(&cairn, "depot-Crates", &[("PK", "LABEL#moss"), ("SK", "CRATE#1"), ("content", "moss")]).await;
    put(&cairn, "depot-Labels", &[("PK", "SHELF#a#3"), ("content", "moss")]).await;
    assert_eq!(found(&cairn, &user, "moss").await.len(), 2);
    let quarantined = ::mirror::quarantined(&system::SYSTEM, cairn.engines()).await.unwrap();
    let mut strangers: Vec<(String, Option<String>)> = quarantined
        .iter()
        .map(|(_, marker)| {
            assert_eq!(marker.code, Code::UnknownKey, "{marker:?}");
            let Subject::Item { table, key } = &marker.subject else { panic!("{marker:?}") };
            (table.clone(), key.sk.clone())
        })
        .collect();
    strangers.sort();
    let expected = [("depot-Crates", Some("CRATE#1")), ("depot-Labels", None)];
    assert_eq!(strangers, expected.map(|(table, sk)| (table.to_owned(), sk.map(str::to_owned))));
}

async fn made_up_system_gets_tombstones_and_quarantine() {
    let (cairn, user) = with_depot().await;
    user.put("/depot/labels/fern", json!({ "content": "fern" })).await.is(201);
    user.put("/depot/crates/east/1/1", json!({ "content": "fern" })).await.is(201);
    assert_eq!(found(&cairn, &user, "fern").await.len(), 2);
    user.delete("/depot/labels/fern").await.is(204);
    user.delete("/depot/crates/east/1/1").await.is(204);
    assert_eq!(found(&cairn, &user, "fern").await, Vec::<String>::new());
    for id in ["LABEL#fern", "SHELF#east#1#CRATE#1"] {
        assert_eq!(cairn.document("depot", id).await.unwrap()["deleted"], true);
    }
    // An empty crate is hidden from search without being deleted.
    user.put("/depot/labels/fern", json!({ "content": "" })).await.is(201);
    assert_eq!(cairn.document("depot", "LABEL#fern").await.unwrap()["deleted"], true);
    user.put("/depot/labels/fern", json!({ "content": "fern again" })).await.is(200);
    assert_eq!(found(&cairn, &user, "fern").await, ["LABEL#fern"]);
    // Counters are never searchable. An item with an attribute of the wrong type stays in quarantine until it is fixed.
    put(&cairn, "depot-Crates", &[("PK", "COUNT#east"), ("SK", "COUNT"), ("content", "fern")]).await;
    let mut poison = item(&[("PK", "LABEL#sorrel")]);
    poison.insert("content".to_owned(), AttributeValue::N("7".to_owned()));
    put_item(&cairn, "depot-Labels", poison).await;
    assert_eq!(found(&cairn, &user, "fern").await, ["LABEL#fern"]);
    assert_eq!(::mirror::quarantined(&system::SYSTEM, cairn.engines()).await.unwrap().len(), 1);
    user.put("/depot/labels/sorrel", json!({ "content": "sorrel" })).await.is(200);
    assert_eq!(found(&cairn, &user, "sorrel").await, ["LABEL#sorrel"]);
    assert_eq!(::mirror::quarantined(&system::SYSTEM, cairn.engines()).await.unwrap().len(), 0);
}

async fn two_systems_share_one_search_engine() {
    let systems = vec![*local::systems::named("parks").unwrap(), system::served()];
    let cairn = Cairn::with(Setup { systems, ..Setup::default() }).await;
    let user = cairn.visitor();
    cairn.collection("fern", "Fern").await;
    user.put("/depot/labels/fern", json!({ "content": "fern" })).await.is(201);
    assert_eq!(found(&cairn, &user, "fern").await, ["LABEL#fern"]);
    user.search("q=fern").await.are(&["Fern"]);
    user.get("/depot/health").await.is(200);
    user.get("/parks/health").await.is(200);
}

fn item(attributes: &[(&str, &str)]) -> HashMap<String, AttributeValue> {
    attributes.iter().map(|(name, value)| ((*name).to_owned(), AttributeValue::S((*value).to_owned()))).collect()
}

async fn put(cairn: &Cairn, table: &str, attributes: &[(&str, &str)]) {
    put_item(cairn, table, item(attributes)).await;
}

/// Writes an item directly into the table.
async fn put_item(cairn: &Cairn, table: &str, item: HashMap<String, AttributeValue>) {
    let put = cairn.engines().dynamodb().put_item().table_name(cairn.engines().config.table(table));
    put.set_item(Some(item)).send().await.unwrap();
}
