//! Requests at the same moment: what one deletes or renames is never used by the other.

use bytes::Bytes;
use http::Response;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::join;
use tokio::task::JoinHandle;

use super::stage::{Archive, id, listed};
use crate::harness::stopper::Stopper;
use crate::tests;

tests! { archive_races:
    category_deleted_and_used_at_once_leaves_no_dangling_row,
    two_renames_to_one_name_at_once_succeed_once,
    two_categories_with_one_name_at_once_are_created_once,
    collection_deleted_and_used_at_once_leaves_no_dangling_post,
    concurrent_changes_of_categories_keep_rows_and_counts,
    collection_is_refused_whose_place_is_replaced_meanwhile,
    collection_has_the_place_that_is_renamed_meanwhile,
}

/// Pairs of requests. Each pair may end in either order.
const ROUNDS: usize = 12;

async fn category_deleted_and_used_at_once_leaves_no_dangling_row() {
    let archive = Archive::new().await;
    for round in 0..ROUNDS {
        let category = archive.category(&format!("Category {round}")).await;
        let path = format!("/archive/categories/{category}");
        let new = json!({ "name": "Llanfair", "categoryIds": [category] });
        let (deleted, created) = join!(
            async { archive.editor.delete(&path).await },
            archive.administrator.post("/archive/collections", new)
        );
        let statuses = (deleted.status, created.status);
        assert!([(204, 422), (409, 201)].contains(&statuses), "{statuses:?}: {}", created.told());
    }
    archive.agrees().await;
}

async fn two_renames_to_one_name_at_once_succeed_once() {
    let archive = Archive::new().await;
    for round in 0..ROUNDS {
        let one = archive.category(&format!("One {round}")).await;
        let two = archive.category(&format!("Two {round}")).await;
        let rename = |category: &str| {
            let burials = json!({ "name": format!("Burials {round}") });
            archive.editor.patch(&format!("/archive/categories/{category}"), burials)
        };
        let (first, second) = join!(async { rename(&one).await }, async { rename(&two).await });
        let mut statuses = [first.status, second.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "{} {}", first.told(), second.told());
    }
    archive.agrees().await;
}

async fn two_categories_with_one_name_at_once_are_created_once() {
    let archive = Archive::new().await;
    let create = |name: &str| archive.editor.post("/archive/categories", json!({ "name": name }));
    let (first, second) = join!(async { create("Births").await }, async { create("births").await });
    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409]);
    assert_eq!(listed(&archive.visitor, "/archive/categories", "id").await.len(), 1);
    archive.agrees().await;
}

async fn collection_deleted_and_used_at_once_leaves_no_dangling_post() {
    let archive = Archive::new().await;
    let category = archive.category("Births").await;
    archive.volunteer.get("/archive/me").await.is(200);
    for round in 0..ROUNDS {
        let collection = archive.collection(&format!("Collection {round}"), &[&category]).await;
        let path = format!("/archive/collections/{collection}");
        let new = json!({ "name": "Births", "collectionId": collection });
        let (deleted, created) = join!(async { archive.editor.delete(&path).await }, async {
            archive.volunteer.post("/archive/posts", new).await
        });
        let statuses = (deleted.status, created.status);
        assert!([(204, 422), (409, 201)].contains(&statuses), "{statuses:?}: {}", created.told());
    }
    archive.agrees().await;
}

async fn concurrent_changes_of_categories_keep_rows_and_counts() {
    let archive = Archive::new().await;
    let (a, b) = (archive.category("A").await, archive.category("B").await);
    let collection = archive.collection("X", &[&a]).await;
    let path = format!("/archive/collections/{collection}");
    let conflicts = archive.cairn.conflicts(0.2);
    for _ in 0..ROUNDS {
        let change = |categories: &[&String]| archive.editor.patch(&path, json!({ "categoryIds": categories }));
        let (one, two, three) =
            join!(async { change(&[&a, &b]).await }, async { change(&[&b]).await }, async { change(&[&a]).await });
        for answer in [one, two, three] {
            answer.is(200);
        }
    }
    assert!(conflicts.count() > 0, "no write was refused");
    archive.agrees().await;
}

async fn place(archive: &Archive, name: &str) -> String {
    id(&archive.administrator.post("/archive/places", json!({ "name": name })).await.is(201))
}

/// Lets two requests name a place, one that creates a collection and one that updates another. Both are held after they
/// have read the place.
async fn held_with_place(archive: &Archive, place: &str) -> [(Stopper, JoinHandle<Response<Bytes>>); 2] {
    let category = archive.category("Births").await;
    let path = format!("/archive/collections/{}", archive.collection("Llanfair", &[&category]).await);
    let new = json!({ "name": "Llanfor", "categoryIds": [category], "placeId": place });
    let creation = archive.held(Method::POST, "/archive/collections", new).await;
    [creation, archive.held(Method::PATCH, &path, json!({ "placeId": place })).await]
}

/// Continues a request. Returns the status and the body of its response.
async fn resumed((stopper, response): (Stopper, JoinHandle<Response<Bytes>>)) -> (u16, Value) {
    stopper.resume();
    let response = response.await.unwrap();
    (response.status().as_u16(), serde_json::from_slice(response.body()).unwrap())
}

async fn collection_is_refused_whose_place_is_replaced_meanwhile() {
    let archive = Archive::new().await;
    let (bala, replaced) = (place(&archive, "Bala").await, place(&archive, "Y Bala").await);
    let held = held_with_place(&archive, &replaced).await;
    let replace = format!("/archive/places/{replaced}?replacedBy={bala}");
    archive.administrator.delete(&replace).await.is(204);
    for request in held {
        let (status, problem) = resumed(request).await;
        assert_eq!((status, &problem["errors"][0]["pointer"]), (422, &json!("/placeId")), "{problem}");
    }
    assert_eq!(listed(&archive.visitor, "/archive/collections", "name").await, ["Llanfair"]);
    archive.agrees().await;
}

async fn collection_has_the_place_that_is_renamed_meanwhile() {
    let archive = Archive::new().await;
    let lake = place(&archive, "Bala Lake").await;
    let held = held_with_place(&archive, &lake).await;
    // The key of a place begins with the name.
    archive.administrator.patch(&format!("/archive/places/{lake}"), json!({ "name": "Llyn Tegid" })).await.is(200);
    for (request, expected) in held.into_iter().zip([201, 200]) {
        let (status, collection) = resumed(request).await;
        assert_eq!((status, &collection["placeId"]), (expected, &json!(lake)), "{collection}");
    }
    archive.agrees().await;
}
