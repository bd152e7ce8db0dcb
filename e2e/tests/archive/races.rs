//! Requests at the same moment: what one deletes or renames is never used by the other.

use serde_json::json;
use tokio::join;

use super::stage::{Archive, listed};
use crate::tests;

tests! { archive_races:
    category_deleted_and_used_at_once_leaves_no_dangling_row,
    two_renames_to_one_name_at_once_succeed_once,
    two_categories_with_one_name_at_once_are_created_once,
    collection_deleted_and_used_at_once_leaves_no_dangling_post,
    concurrent_changes_of_categories_keep_rows_and_counts,
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
