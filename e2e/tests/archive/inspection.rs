//! Files whose inspection stops, or runs while other requests change the post. The deletion of a post deletes its files.

use std::pin::pin;
use std::time::Duration;

use serde_json::{Value, json};
use table::{Config, Engines};
use tokio::time::Instant;
use web::App;

use super::publishing::{CENSUS, arrived, assert_nothing_is_left};
use super::stage::Archive;
use crate::harness::stopper::{Moment, Stopper, WRITES};
use crate::harness::{Setup, send_file};
use crate::tests;

tests! { archive_inspection:
    inspection_that_stops_leaves_no_file_of_a_deleted_post,
    file_of_an_upload_that_was_replaced_goes_with_its_post,
    file_that_arrives_while_its_post_is_deleted_is_deleted,
}

/// The handler of the event that a file has arrived.
const INSPECT_FILE: &str = "inspectFile";

/// An archive in which only the test inspects files, and a collection.
async fn by_hand() -> (Archive, String) {
    let archive = Archive::with(Setup { without: vec![INSPECT_FILE], ..Setup::of("archive") }).await;
    let category = archive.category("Census").await;
    let collection = archive.collection("Census of 1871", &[&category]).await;
    (archive, collection)
}

/// Creates a post. Returns its path.
async fn post(archive: &Archive, collection: &str) -> String {
    format!("/archive/posts/{}", archive.post("Dolgellau", collection).await)
}

/// Uploads a file. Returns the event that it has arrived.
async fn send(archive: &Archive, post: &str, csv: &str) -> Value {
    let link = archive.volunteer.post(&format!("{post}/file"), json!({ "bytes": csv.len() })).await.is(201);
    assert_eq!(send_file(&link, csv.as_bytes()).await, 200);
    arrived(post, link.text("uploadId"))
}

/// The function that inspects files, whose DynamoDB holds one of its writes.
struct Inspector {
    app: App,
    stopper: Stopper,
}

impl Inspector {
    async fn held_at(archive: &Archive, write: usize, moment: Moment) -> Self {
        let config = archive.cairn.engines().config.clone();
        let stopper = Stopper::of(WRITES, config.dynamodb.clone().unwrap(), Some((write, moment))).await;
        let config = Config { dynamodb: Some(stopper.url.clone()), ..config };
        let app = ::archive::app(Engines::new(config, archive.cairn.clock.clone())).metrics_to(|_| {});
        Self { app, stopper }
    }

    async fn inspect(&self, event: &Value) {
        let deadline = Instant::now() + Duration::from_secs(60);
        self.app.event(INSPECT_FILE, event.to_string().into(), deadline).await.unwrap();
    }

    /// Inspects a file until the write is held. Returns false if there is no such write.
    async fn dies(&self, event: &Value) -> bool {
        tokio::select! {
            () = self.inspect(event) => false,
            () = self.stopper.stopped() => true,
        }
    }
}

async fn inspection_that_stops_leaves_no_file_of_a_deleted_post() {
    let (archive, collection) = by_hand().await;
    for write in 0.. {
        let mut died = false;
        for moment in Moment::BOTH {
            let post = post(&archive, &collection).await;
            let event = send(&archive, &post, CENSUS).await;
            died = Inspector::held_at(&archive, write, moment).await.dies(&event).await;
            archive.delete_post(&archive.volunteer, &post).await;
            // Lambda calls the function again.
            archive.cairn.event("archive", INSPECT_FILE, &event).await.unwrap();
            assert_nothing_is_left(&archive, &post).await;
        }
        if !died {
            assert!(write > 0, "the inspection wrote nothing");
            break;
        }
    }
}

async fn file_of_an_upload_that_was_replaced_goes_with_its_post() {
    let (archive, collection) = by_hand().await;
    for write in 0.. {
        let post = post(&archive, &collection).await;
        let event = send(&archive, &post, CENSUS).await;
        let died = Inspector::held_at(&archive, write, Moment::BeforeItIsSent).await.dies(&event).await;
        let other = send(&archive, &post, &CENSUS.replace("Pugh", "Puw")).await;
        archive.cairn.event("archive", INSPECT_FILE, &event).await.unwrap();
        archive.cairn.event("archive", INSPECT_FILE, &other).await.unwrap();
        let file = archive.volunteer.get(&format!("{post}/file")).await.is(200);
        assert_eq!(file["inspection"]["sample"][0][1], "Puw", "{}", file.told());
        archive.delete_post(&archive.volunteer, &post).await;
        assert_nothing_is_left(&archive, &post).await;
        if !died {
            assert!(write > 0, "the inspection wrote nothing");
            break;
        }
    }
}

async fn file_that_arrives_while_its_post_is_deleted_is_deleted() {
    let (archive, collection) = by_hand().await;
    for write in 0.. {
        let post = post(&archive, &collection).await;
        let event = send(&archive, &post, CENSUS).await;
        let inspector = Inspector::held_at(&archive, write, Moment::BeforeItIsSent).await;
        let mut inspection = pin!(inspector.inspect(&event));
        let held = tokio::select! {
            () = &mut inspection => false,
            () = inspector.stopper.stopped() => true,
        };
        if !held {
            assert!(write > 0, "the inspection wrote nothing");
            break;
        }
        archive.delete_post(&archive.volunteer, &post).await;
        inspector.stopper.resume();
        inspection.await;
        assert_nothing_is_left(&archive, &post).await;
    }
}
