//! The stage of the archive, whose public catalog and published records all callers share. Staff see the posts and their
//! runs, editors the reports of readers, and administrators the users.

use local::Served;
use local::identity::Person;
use serde_json::json;

use super::stage::{Parts, Stage, Thing};
use crate::archive::publishing::{CENSUS, mapping, publish, upload};
use crate::archive::stage::Archive;
use crate::harness::User;

/// An id that the sequence does not give out.
const ABSENT: &str = "7999999999";

pub async fn stage(served: &'static Served) -> Stage {
    let archive = Archive::new().await;
    let Archive { cairn, visitor, volunteer, editor, administrator } = archive;
    let stranger = cairn.person("stranger", Person { name: Some("Sam Moss"), ..Person::new("sam") }).await;
    // Each has a user, since a user at first sight is a write.
    let mut users = Vec::new();
    for user in [&stranger, &volunteer, &editor, &administrator] {
        users.push(user.get("/archive/me").await.is(200).text("id").to_owned());
    }
    volunteer.patch("/archive/me", json!({ "name": "Val Moss" })).await.is(200);
    let create = async |user: &User, path: &str, body| user.post(path, body).await.is(201).text("id").to_owned();
    let (mut category, mut collection) = (String::new(), String::new());
    let (mut post, mut place, mut report) = (String::new(), String::new(), String::new());
    for name in ["Moss", "More Moss"] {
        category = create(&editor, "/archive/categories", json!({ "name": name })).await;
    }
    for name in ["Moss", "More Moss"] {
        let new = json!({ "name": name, "categoryIds": [category] });
        collection = create(&editor, "/archive/collections", new).await;
    }
    for name in ["Moss", "More Moss"] {
        let new = json!({ "name": name, "collectionId": collection, "mapping": mapping() });
        post = create(&volunteer, "/archive/posts", new).await;
    }
    for name in ["Moss", "More Moss"] {
        place = create(&administrator, "/archive/places", json!({ "name": name })).await;
    }
    let record = published(&volunteer, &post).await;
    for _ in 0..2 {
        let new = json!({ "text": "The name is William." });
        report = create(&visitor, &format!("/archive/records/{record}/reports"), new).await;
    }
    // Jobs stay queued: the stage restores the present state of the table, and no worker may write to it then.
    cairn.caught_up().await;
    cairn.engines().wind_down();
    // The samples name the category and the collection of new items, and words that are not here.
    let texts = vec![
        ("7000000001", category.clone()),
        ("7000000002", collection.clone()),
        ("q=parish%20reg", "q=moss".to_owned()),
        ("q=baptisms", "q=moss".to_owned()),
        ("q=field", "q=moss".to_owned()),
        ("q=llan", "q=moss".to_owned()),
        ("prefix=llan", "prefix=mo".to_owned()),
        ("text=Llanuwchllyn,%20Wales", "text=More%20Moss".to_owned()),
    ];
    let parts = Parts {
        principals: vec![
            ("stranger", stranger),
            ("volunteer", volunteer),
            ("editor", editor),
            ("administrator", administrator),
        ],
        expired: ("ada", &["archive-administrator"]),
        things: vec![
            Thing::new("categoryId", &category, &category, ABSENT),
            Thing::new("collectionId", &collection, &collection, ABSENT),
            Thing::new("postId", &post, &post, ABSENT),
            Thing::same("run", "2"),
            Thing::same("household", "14"),
            Thing::new("recordId", &record, &record, ABSENT),
            Thing::new("reportId", &report, &report, ABSENT),
            Thing::new("placeId", &place, &place, ABSENT),
            Thing::new("userId", &users[1], &users[1], ABSENT),
        ],
        texts,
        outsiders: &["none", "expired", "stranger"],
        insiders: &[],
        others: "administrator",
        bodies: Vec::new(),
        word: "moss",
        removal: None,
        ..Parts::default()
    };
    Stage::new(cairn, served, parts).await
}

/// Publishes two runs of a post, and returns the id of a record with a household.
async fn published(volunteer: &User, post: &str) -> String {
    let path = format!("/archive/posts/{post}");
    for file in [CENSUS.to_owned(), CENSUS.replace("Johann", "John")] {
        upload(volunteer, &path, &file).await;
        let run = publish(volunteer, &path, json!({})).await;
        assert_eq!(run["status"], "published", "{}", run.told());
    }
    let records = volunteer.get(&format!("{path}/records")).await.is(200);
    records["items"][0]["id"].as_str().unwrap().to_owned()
}
