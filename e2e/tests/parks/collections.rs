//! `/parks/collections`.

use aws_sdk_dynamodb::types::AttributeValue;
use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use super::held::Held;
use crate::harness::Cairn;
use crate::harness::stopper::TRANSACTIONS;
use crate::tests;

tests! { collections:
    collection_is_created_read_updated_deleted_and_restored,
    id_of_a_deleted_collection_stays_taken,
    collection_id_with_other_characters_is_refused,
    collection_with_items_cannot_be_deleted,
    collections_list_by_name_and_visibility,
    hiding_a_collection_keeps_its_children_visible,
    create_is_refused_whose_collection_is_deleted_meanwhile,
    delete_is_refused_whose_collection_gets_a_child_meanwhile,
    #[long] creates_racing_the_delete_of_their_collection_leave_no_orphan,
}

async fn collection_is_created_read_updated_deleted_and_restored() {
    let cairn = Cairn::start().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let new = json!({
        "collectionId": "bcparks_1", "displayName": "Strathcona Park", "isVisible": true,
        "description": "The oldest.", "searchTerms": ["buttle lake"], "timezone": "America/Vancouver",
        "imageUrls": ["https://example.org/a.jpg"], "adminNotes": "since 1911"
    });
    let made = admin.post("/parks/collections", new.clone()).await.is(201);
    assert_eq!(made.header("location"), "/parks/collections/bcparks_1");
    let url = made.header("location").to_owned();

    let read = admin.get(&url).await.is(200);
    assert_eq!(read.body, made.body);
    assert_eq!(read.tag(), made.tag());
    for (name, value) in new.as_object().unwrap() {
        assert_eq!(&read[name], value, "{name}");
    }
    assert_eq!((read.text("pk"), read.text("sk")), ("collection", "bcparks_1"));
    let seen = visitor.get(&url).await.is(200);
    assert_eq!(seen["displayName"], "Strathcona Park");

    let changed = admin.patch(&url, json!({ "description": null, "displayName": "Strathcona" })).await.is(200);
    assert_eq!((changed.text("displayName"), changed.body.get("description")), ("Strathcona", None));
    assert!(changed.rev() > made.rev());
    assert_eq!(changed["globalId"], made["globalId"]);
    cairn.visitor().search("q=strathcona").await.are(&["Strathcona"]);
    cairn.visitor().search("q=oldest").await.is_nothing();

    admin.delete(&url).await.is(204);
    visitor.get(&url).await.refused(404, "not-found");
    visitor.search("q=strathcona").await.is_nothing();
    assert_eq!(admin.get(&url).await.is(200)["isDeleted"], true);
    admin.patch(&url, json!({ "displayName": "x" })).await.refused(404, "not-found");
    admin.delete(&url).await.refused(404, "not-found");

    let restored = admin.post(&format!("{url}/restore"), json!({})).await.is(200);
    assert_eq!((restored["isDeleted"].as_bool(), &restored["globalId"]), (Some(false), &made["globalId"]));
    admin.post(&format!("{url}/restore"), json!({})).await.refused(409, "not-deleted");
    visitor.search("q=strathcona").await.are(&["Strathcona"]);
}

async fn id_of_a_deleted_collection_stays_taken() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let again = json!({ "collectionId": "bcparks_1", "displayName": "Another" });
    admin.post("/parks/collections", again.clone()).await.refused(409, "exists");
    admin.delete("/parks/collections/bcparks_1").await.is(204);
    admin.post("/parks/collections", again).await.refused(409, "exists");
    // Its case counts.
    cairn.collection("BCparks_1", "Another").await;
}

async fn collection_id_with_other_characters_is_refused() {
    let cairn = Cairn::start().await;
    let admin = cairn.administrator().await;
    let longest = "a".repeat(63);
    for good in ["a", "0", "A-b_9", &longest] {
        cairn.collection(good, "Good").await;
    }
    let too_long = "a".repeat(64);
    for bad in ["", "_a", "-a", "a::b", "a#b", "a b", "a/b", "a\nb", "a\u{0}", "é", ".", &too_long] {
        let new = json!({ "collectionId": bad, "displayName": "Bad" });
        admin.post("/parks/collections", new).await.faulty(&["/collectionId"]);
    }
}

async fn collection_with_items_cannot_be_deleted() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let place = json!({ "displayName": "Place", "location": [-125.5, 49.5] });
    admin.post("/parks/geozones/bcparks_1", place.clone()).await.is(201);
    admin.post("/parks/geozones/bcparks_1", place).await.is(201);
    let camp = json!({ "displayName": "Camp", "location": [-125.5, 49.5], "facilityType": "campground" });
    admin.post("/parks/facilities/bcparks_1", camp).await.is(201);

    let refused = admin.delete("/parks/collections/bcparks_1").await.refused(409, "has-dependents");
    assert_eq!(refused["counts"], json!({ "geozones": 2, "facilities": 1 }));
    admin.delete("/parks/collections/bcparks_1?cascade=maybe").await.faulty(&["cascade"]);

    for below in ["geozones/bcparks_1/1", "geozones/bcparks_1/2", "facilities/bcparks_1/campground/1"] {
        admin.delete(&format!("/parks/{below}")).await.is(204);
    }
    admin.delete("/parks/collections/bcparks_1").await.is(204);
    admin.post("/parks/geozones/bcparks_1/1/restore", json!({})).await.refused(409, "parent-deleted");
    admin.post("/parks/collections/bcparks_1/restore", json!({})).await.is(200);
    admin.post("/parks/geozones/bcparks_1/1/restore", json!({})).await.is(200);
    let refused = admin.delete("/parks/collections/bcparks_1").await.refused(409, "has-dependents");
    assert_eq!(refused["counts"], json!({ "geozones": 1 }));
}

async fn collections_list_by_name_and_visibility() {
    let cairn = Cairn::start().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    for id in ["c", "a", "b"] {
        cairn.collection(id, id).await;
    }
    admin.patch("/parks/collections/b", json!({ "isVisible": false })).await.is(200);
    admin.delete("/parks/collections/c").await.is(204);
    assert_eq!(visitor.get("/parks/collections").await.is(200).sks(), ["a"]);
    assert_eq!(admin.get("/parks/collections").await.is(200).sks(), ["a", "b"]);
    assert_eq!(admin.get("/parks/collections?order=desc").await.is(200).sks(), ["b", "a"]);
    assert_eq!(admin.get("/parks/collections?view=public").await.is(200).sks(), ["a"]);
    assert_eq!(admin.get("/parks/collections?deleted=true").await.is(200).sks(), ["c"]);
    visitor.get("/parks/collections?deleted=true").await.refused(401, "not-signed-in");
    let stranger = cairn.user("stranger", &format!("Bearer {}", cairn.token("eve", &[]).await));
    stranger.get("/parks/collections?deleted=true").await.refused(403, "forbidden");
}

async fn hiding_a_collection_keeps_its_children_visible() {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let lakes = json!({ "displayName": "Lakes", "location": [-125.589, 49.498], "isVisible": true });
    admin.post("/parks/geozones/bcparks_1", lakes).await.is(201);
    admin.patch("/parks/collections/bcparks_1", json!({ "isVisible": false })).await.is(200);
    visitor.get("/parks/collections/bcparks_1").await.refused(404, "not-found");
    visitor.get("/parks/geozones/bcparks_1/1").await.is(200);
    visitor.search("q=lakes").await.are(&["Lakes"]);
    visitor.search("q=strathcona").await.is_nothing();
    // No job hides a collection, so one that restores its children does not keep it from being shown.
    let mut busy = cairn.table().get("collection", "bcparks_1").await.unwrap();
    busy.insert("busy".to_owned(), AttributeValue::Bool(true));
    cairn.table().put(busy).await;
    admin.patch("/parks/collections/bcparks_1", json!({ "isVisible": true })).await.is(200);
    visitor.get("/parks/collections/bcparks_1").await.is(200);
}

async fn create_is_refused_whose_collection_is_deleted_meanwhile() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let held = Held::first_of(&cairn, TRANSACTIONS).await;
    let new = json!({ "displayName": "Racer", "location": [1, 2] });
    let delete = admin.delete("/parks/collections/bcparks_1");
    let (created, deleted) = held.request(Method::POST, "/parks/geozones/bcparks_1", &new, delete).await;
    deleted.is(204);
    assert_eq!(created, 404);
}

async fn delete_is_refused_whose_collection_gets_a_child_meanwhile() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let held = Held::first_of(&cairn, TRANSACTIONS).await;
    let create = admin.post("/parks/geozones/bcparks_1", json!({ "displayName": "Racer", "location": [1, 2] }));
    let (deleted, created) = held.request(Method::DELETE, "/parks/collections/bcparks_1", &Value::Null, create).await;
    created.is(201);
    assert_eq!(deleted, 409);
    admin.get("/parks/collections/bcparks_1").await.is(200);
}

async fn creates_racing_the_delete_of_their_collection_leave_no_orphan() {
    let cairn = Cairn::start().await;
    let admin = cairn.administrator().await;
    let conflicts = cairn.conflicts(0.1);
    // The delete comes a little later each time, so that it is met before, among and after the creates.
    for round in 0..5 {
        let collection = format!("race_{round}");
        cairn.collection(&collection, "Race").await;
        let new = json!({ "displayName": "Racer", "location": [1, 2] });
        let create = || async { admin.post(&format!("/parks/geozones/{collection}"), new.clone()).await };
        let delete = async {
            tokio::time::sleep(std::time::Duration::from_millis(20 * round)).await;
            admin.delete(&format!("/parks/collections/{collection}")).await
        };
        let (creates, delete) = tokio::join!(join_all((0..50).map(|_| create())), delete);
        let made: Vec<_> = creates.iter().filter(|create| create.status == 201).collect();
        let missed = creates.iter().filter(|create| create.status == 404).count();
        match delete.status {
            204 => assert_eq!((made.len(), missed), (0, 50), "a child of a deleted parent, or a create that failed"),
            409 => {
                assert_eq!(missed, 0, "a create was answered 404 though its collection is there");
                for create in &made {
                    admin.get(create.header("location")).await.is(200);
                }
                let all = admin.pages(&format!("/parks/geozones/{collection}"), 100).await;
                assert_eq!(all.iter().flat_map(crate::harness::Answer::sks).count(), made.len());
            }
            _ => panic!("{}", delete.told()),
        }
        for other in creates.iter().filter(|create| !matches!(create.status, 201 | 404)) {
            other.clone().refused(409, "conflict");
        }
    }
    assert!(conflicts.count() > 10, "{}", conflicts.count());
}
