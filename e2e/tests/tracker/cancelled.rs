//! Imports that are cancelled while they write: what they have made is counted exactly, and names them.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use hyper::Request;
use serde_json::json;
use table::{Config, Engines};
use tokio::time::Instant;
use tracker::schema::TRACKER;

use super::files::{announce, arrived, counts, new, put_by_hand};
use super::files_killed::Worker;
use super::fixture::{Fixture, PROJECT};
use crate::harness::relay::before_first_transaction;
use crate::harness::stopper::Moment;
use crate::harness::{Answer, send_file};
use crate::tests;

tests! { tracker_cancelled:
    import_cancelled_while_it_writes_counts_what_it_made,
    import_cancelled_after_its_worker_died_counts_what_it_made,
    import_cancelled_at_the_end_of_a_step_counts_what_it_updated,
    cancelling_that_races_the_start_of_its_import_is_accepted,
}

/// Cancels the import, waits for its end, and compares its counts with the project.
async fn cancelled(fixture: &Fixture, project: &str, announced: &Answer) -> u64 {
    let work = announced.header("location");
    let requested = fixture.ann.delete(work).await.is(202);
    assert_eq!((requested.text("status"), &requested["cancelRequested"]), ("running", &json!(true)));
    assert_eq!(requested.header("location"), work);
    fixture.until(async || fixture.ann.get(work).await.is(200).text("status") == "cancelled").await;
    let ended = fixture.ann.get(work).await.is(200);
    fixture.ann.delete(work).await.is(204);
    let page = fixture.ann.get(&format!("{project}/grid?limit=100&count=true")).await.is(200);
    let made = page["total"]["value"].as_u64().unwrap();
    assert_eq!(ended["counts"]["created"].as_u64().unwrap_or_default(), made, "{}", ended.told());
    assert!(page.each("importId").iter().all(|import| **import == announced["id"]), "{}", page.told());
    fixture.holds().await;
    made
}

async fn import_cancelled_while_it_writes_counts_what_it_made() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Cancelled").await;
    let rows: String = (0..4000).map(|row| format!("Row {row}\n")).collect();
    let file = format!("Name\n{rows}");
    let announced = announce(&fixture.ann, &project, new("create", "stop"), &file).await;
    assert_eq!(send_file(&announced, &file).await, 200);
    let counted = format!("{project}/grid?limit=1&count=true");
    fixture.until_still(async || fixture.ann.get(&counted).await.is(200)["total"]["value"] != json!(0)).await;
    let made = cancelled(&fixture, &project, &announced).await;
    assert!((1..4000).contains(&made), "{made}");
    let first = fixture.ann.get(&format!("{project}/numbers/1")).await.is(200);
    assert_eq!(first["importId"], announced["id"]);
}

async fn import_cancelled_after_its_worker_died_counts_what_it_made() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Died").await;
    let rows: String = (0..40).map(|row| format!("Row {row}\n")).collect();
    let file = format!("Name\n{rows}");
    let announced = announce(&fixture.ann, &project, new("create", "stop"), &file).await;
    put_by_hand(&fixture, &announced, &file);
    // After some of the issues, and before the checkpoint that counts them.
    assert!(Worker::ahead(&fixture).dies(&fixture, (4, Moment::AfterItIsDone)).await);
    let made = cancelled(&fixture, &project, &announced).await;
    assert!((1..=40).contains(&made), "{made}");
}

/// The rows of the step are written then, and only its checkpoint is not.
async fn import_cancelled_at_the_end_of_a_step_counts_what_it_updated() {
    let fixture = Fixture::new().await;
    let file = "Number,Name\n1,One\nx,None\n2,Two\n";
    let announced = announce(&fixture.ann, PROJECT, new("upsert", "skip"), file).await;
    put_by_hand(&fixture, &announced, file);
    let (ann, job) = (fixture.ann.clone(), announced.header("location").to_owned());
    let config = fixture.cairn.engines().config.clone();
    let target = config.dynamodb.clone().unwrap();
    let checkpoint = r#""updated":{"N":"2"}"#.to_owned();
    let server = before_first_transaction(target, checkpoint, async move {
        assert_eq!(ann.delete(&job).await.is(202)["cancelRequested"], true);
    })
    .await;
    let config = Config { dynamodb: Some(server.url.clone()), ..config };
    let app = ::tracker::app(Engines::new(config, fixture.cairn.clock.clone())).metrics_to(|_| {});
    let arrived = arrived(announced.text("id")).to_string();
    app.event("startImport", arrived.into(), Instant::now() + Duration::from_secs(60)).await.unwrap();
    let ended = fixture.ann.get(announced.header("location")).await.is(200);
    assert_eq!((ended.text("status"), &ended["counts"]), ("cancelled", &counts(3, 0, 2, 1)), "{}", ended.told());
    let page = fixture.ann.get(&format!("{PROJECT}/grid")).await.is(200);
    assert_eq!(page.each("name"), ["One", "Two", "Girder needs replacing"]);
    fixture.holds().await;
}

/// The import starts after the request has read its job, and before the request writes it.
async fn cancelling_that_races_the_start_of_its_import_is_accepted() {
    let fixture = Fixture::new().await;
    fixture.cairn.engines().wind_down();
    let announced = announce(&fixture.ann, PROJECT, new("create", "stop"), "Name\na\n").await;
    let job = announced.header("location");
    let config = fixture.cairn.engines().config.clone();
    let target = config.dynamodb.clone().unwrap();
    let (jobs, sk) = (fixture.cairn.table_of(&TRACKER), format!("job-{}", announced.text("id")));
    let server = before_first_transaction(target, sk.clone(), async move {
        let mut item = jobs.get("tenant-0807", &sk).await.unwrap();
        let rev: u64 = item["rev"].as_n().unwrap().parse().unwrap();
        item.insert("status".to_owned(), table::item::text("running"));
        item.insert("rev".to_owned(), table::item::number(rev + 1));
        jobs.put(item).await;
    })
    .await;
    let config = Config { dynamodb: Some(server.url.clone()), ..config };
    let app = ::tracker::app(Engines::new(config, fixture.cairn.clock.clone())).metrics_to(|_| {});
    let authorization = format!("Bearer {}", fixture.cairn.token("ann", &[]).await);
    let request = Request::builder().method(Method::DELETE).uri(job).header("authorization", authorization);
    let response = app.handle(request.body(Bytes::new()).unwrap()).await;
    assert_eq!(response.status(), 202, "{response:?}");
    let read = fixture.ann.get(job).await.is(200);
    assert_eq!((read.text("status"), &read["cancelRequested"]), ("running", &json!(true)));
}
