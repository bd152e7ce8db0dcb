//! Lists walk all pages, each item once, and show nothing of another partition.

use std::collections::BTreeSet;

use ::archive::keys::{CollectionCategoryKey, CollectionKey, PostKey};
use ::archive::names::{CategoryId, CollectionId};
use ::archive::schema::ARCHIVE;
use serde_json::{Value, json};
use table::EntityKey;

use super::stage::{Archive, listed};
use crate::harness::table::stored;
use crate::harness::{Answer, User, sized};
use crate::tests;

tests! { archive_lists:
    many_posts_are_listed_once_each_over_all_pages,
    page_of_large_posts_fits_a_response,
    page_of_large_collections_of_a_category_fits_a_response,
    posts_of_a_collection_are_those_with_exactly_its_id,
    items_without_an_order_are_in_no_list,
    index_lists_equal_ids_in_the_order_of_their_numbers,
}

/// Returns the key and the attributes of a post.
fn post(number: u64, collection: &str) -> (PostKey, Value) {
    let item = json!({
        "GSISK": collection, "name": format!("Post {number}"), "ownerId": "1000000000", "metadata": {}, "mapping": [],
        "status": "draft", "run": 0, "recordCount": 0, "householdCount": 0, "searchLag": false,
        "createdAt": "2026-01-01T00:00:00.000000Z", "updatedAt": "2026-01-01T00:00:00.000000Z",
        "createdBy": "1000000000",
    });
    (PostKey { post: number.to_string().parse().unwrap() }, item)
}

async fn put(archive: &Archive, posts: impl Iterator<Item = (PostKey, Value)>) {
    let items = posts.map(|(key, item)| stored(&ARCHIVE, &key.key(), &item)).collect();
    archive.table().put_all(items).await;
}

async fn many_posts_are_listed_once_each_over_all_pages() {
    let archive = Archive::new().await;
    let count = sized(230, 2600);
    put(&archive, (0..count).map(|number| post(2_000_000_000 + number as u64, "1000000001"))).await;
    let ids = listed(&archive.volunteer, "/archive/posts", "id").await;
    assert_eq!(ids.len(), count);
    assert_eq!(ids.into_iter().collect::<BTreeSet<_>>().len(), count);
}

/// Walks a list whose pages end before their limit.
async fn short_pages(user: &User, path: &str) -> Vec<Answer> {
    let mut pages = vec![user.get(path).await.is(200)];
    while let Some(cursor) = pages.last().and_then(Answer::next) {
        let page = user.get(&format!("{path}&cursor={cursor}")).await.is(200);
        pages.push(page);
    }
    assert!((2..=4).contains(&pages.len()), "{} pages", pages.len());
    pages
}

/// In the response of a function each quote takes four bytes.
async fn page_of_large_posts_fits_a_response() {
    let archive = Archive::new().await;
    let large = |number: u64| {
        let (key, mut item) = post(2_000_000_000 + number, "1000000001");
        item["metadata"] = json!({ "Note": "\"".repeat(20_000) });
        (key, item)
    };
    put(&archive, (0..100).map(large)).await;
    let first = archive.volunteer.get("/archive/posts?limit=100").await.is(200);
    let rest =
        archive.volunteer.get(&format!("/archive/posts?limit=100&cursor={}", first.next().unwrap())).await.is(200);
    let ids: BTreeSet<&str> = first.each("id").into_iter().chain(rest.each("id")).filter_map(Value::as_str).collect();
    assert_eq!((ids.len(), rest.next()), (100, None));
    // The same posts as hits of a search.
    archive.cairn.caught_up().await;
    let found = short_pages(&archive.volunteer, "/archive/search/posts?q=post&limit=100").await;
    let found = found.iter().flat_map(|page| page.each("post"));
    assert_eq!(found.filter_map(|post| post["id"].as_str()).collect::<BTreeSet<_>>(), ids);
}

async fn page_of_large_collections_of_a_category_fits_a_response() {
    let archive = Archive::new().await;
    let category: CategoryId = archive.category("Births").await.parse().unwrap();
    let large = |number: u64| {
        let collection: CollectionId = (2_000_000_000 + number).to_string().parse().unwrap();
        let item = json!({
            "GSISK": format!("Llanfair {number}"), "name": format!("Llanfair {number}"),
            "description": "\"".repeat(20_000), "categoryIds": [category], "citationTemplate": "",
            "createdAt": "2026-01-01T00:00:00.000000Z", "updatedAt": "2026-01-01T00:00:00.000000Z",
            "createdBy": "1000000000",
        });
        let row = CollectionCategoryKey { collection, category };
        [
            stored(&ARCHIVE, &CollectionKey { collection }.key(), &item),
            stored(&ARCHIVE, &row.key(), &json!({ "GSISK": collection })),
        ]
    };
    archive.table().put_all((0..100).flat_map(large).collect()).await;
    let pages = short_pages(&archive.visitor, &format!("/archive/categories/{category}/collections?limit=100")).await;
    let ids: BTreeSet<&str> = pages.iter().flat_map(|page| page.each("id")).filter_map(Value::as_str).collect();
    assert_eq!(ids.len(), 100);
    // The same collections as hits of a search.
    archive.cairn.caught_up().await;
    let found = short_pages(&archive.visitor, "/archive/search/catalog?q=llanfair&limit=100").await;
    let found = found.iter().flat_map(|page| page.each("collection"));
    assert_eq!(found.filter_map(|collection| collection["id"].as_str()).collect::<BTreeSet<_>>(), ids);
}

async fn posts_of_a_collection_are_those_with_exactly_its_id() {
    let archive = Archive::new().await;
    let category = archive.category("Births").await;
    let first = archive.collection("First", &[&category]).await;
    let second = archive.collection("Second", &[&category]).await;
    let posts = [post(2_000_000_001, &first), post(2_000_000_002, &second), post(2_000_000_003, &format!("{first}0"))];
    put(&archive, posts.into_iter()).await;
    let of = |collection: &str| format!("/archive/collections/{collection}/posts");
    assert_eq!(listed(&archive.volunteer, &of(&first), "id").await, ["2000000001"]);
    assert_eq!(listed(&archive.volunteer, &of(&second), "id").await, ["2000000002"]);
    // A part of an id names nothing.
    for part in [&first[..9], &format!("{first}0"), "0000000012"] {
        archive.volunteer.get(&of(part)).await.refused(404, "not-found");
        archive.visitor.get(&format!("/archive/collections/{part}")).await.refused(404, "not-found");
    }
}

async fn items_without_an_order_are_in_no_list() {
    let archive = Archive::new().await;
    let category = archive.category("Births").await;
    archive.collection("Llanfair", &[&category]).await;
    archive.volunteer.get("/archive/me").await.is(200);
    let settings = json!({ "abbreviations": {}, "noiseWords": [] });
    archive.administrator.put("/archive/place-settings", settings).await.is(200);
    let unlisted = ["placeSettings", "sequence", "categoryName", "categoryUse", "collectionUse", "userKey"];
    let items = archive.items().await;
    for sk in unlisted {
        let mut of = items.values().filter(|item| item["SK"].as_s().unwrap() == sk).peekable();
        assert!(of.peek().is_some(), "no {sk}");
        assert!(of.all(|item| !item.contains_key("GSISK")), "{sk}");
    }
}

async fn index_lists_equal_ids_in_the_order_of_their_numbers() {
    let archive = Archive::new().await;
    let category = archive.category("Births").await;
    let mut collections = Vec::new();
    for number in 0..12 {
        collections.push(archive.collection(&format!("Collection {number}"), &[&category]).await);
    }
    let path = format!("/archive/categories/{category}/collections");
    let pages = archive.visitor.pages(&path, 5).await;
    let ids: Vec<_> = pages.iter().flat_map(|page| page.each("id")).map(|id| id.as_str().unwrap()).collect();
    assert_eq!(ids, collections);
}
