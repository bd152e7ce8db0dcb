//! Imports and exports whose worker dies at its writes: in the end each record is one issue, and each row is there once.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use serde_json::{Value, json};
use table::objects::LEAST_PART;
use table::{Clock, Config, Engines};

use super::crashes::worker_dies;
use super::exports::export;
use super::files::{announce, counts, import, new, put_by_hand};
use super::fixture::{Fixture, PROJECT, is_open};
use crate::harness::relay::pass_on;
use crate::harness::server::Server;
use crate::harness::stopper::Moment;
use crate::harness::{fetch, sized};
use crate::tests;

tests! { tracker_files_killed:
    #[long] import_killed_repeatedly_imports_each_row_once,
    #[long] updating_import_killed_at_its_first_writes_is_complete,
    #[long] number_check_killed_half_way_finds_repeated_numbers_once,
    repeated_batch_allocates_no_number_twice,
    repeated_batch_keeps_moves_and_deletes_in_between,
    repeated_batch_counts_its_updates_and_keeps_later_ones,
    import_ignores_the_values_of_an_attribute_that_is_deleted_meanwhile,
    import_resumed_without_its_file_ends,
    cancelled_import_has_no_faults_link,
    #[long] export_killed_before_each_write_is_complete,
    #[long] export_restarts_if_its_parts_are_gone,
    export_sorted_by_a_retyped_column_ends,
}

/// A worker whose clock is past the time in which a file should have come.
pub struct Worker(pub Clock);

impl Worker {
    pub fn ahead(fixture: &Fixture) -> Self {
        let clock = Clock::system();
        let moved = u64::try_from(fixture.cairn.clock.micros() - clock.micros()).unwrap_or_default();
        clock.advance(Duration::from_micros(moved) + Duration::from_secs(20 * 60));
        Self(clock)
    }

    /// True if it died at this transaction; else nothing was left to do.
    pub async fn dies(&self, fixture: &Fixture, held: (usize, Moment)) -> bool {
        // The lease of the one before has ended.
        self.0.advance(Duration::from_secs(121));
        worker_dies(fixture, &self.0, held).await
    }
}

/// A file with quoted line ends, of which every hundredth record cannot be.
pub fn file(rows: usize) -> String {
    let mut file = "\u{feff}Name,Weight,Note\r\n".to_owned();
    for row in 1..=rows {
        let weight = if row % 100 == 50 { "much".to_owned() } else { row.to_string() };
        write!(file, "Row {row},{weight},\"a note\r\nof {row}\"\r\n").unwrap();
    }
    file
}

async fn import_killed_repeatedly_imports_each_row_once() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Large").await;
    let weight = fixture.attribute(&project, "Weight", "int").await;
    fixture.attribute(&project, "Note", "text").await;
    let rows = sized(500, 1500);
    let file = file(rows);
    let announced = announce(&fixture.ann, &project, new("create", "skip"), &file).await;
    put_by_hand(&fixture, &announced, &file);
    let work = announced.header("location");
    let worker = Worker::ahead(&fixture);
    let (mut died, mut places) = (0, BTreeSet::new());
    for (place, moment) in [0, 1, 2, 3, 7].into_iter().flat_map(|place| Moment::BOTH.map(|moment| (place, moment))) {
        died += u32::from(worker.dies(&fixture, (place, moment)).await);
        let done = fixture.ann.get(work).await.is(200)["counts"]["done"].as_u64().unwrap();
        assert!(places.last().is_none_or(|last| *last <= done), "{done} rows after {places:?}");
        places.insert(done);
    }
    assert!(died == 10 && places.len() >= 2, "it died {died} times, after {places:?} rows");
    // The rest is the platform's own worker's.
    assert_eq!(fixture.ann.get(work).await.is(200).text("status"), "running");
    fixture.until(async || fixture.ann.get(work).await.is(200).text("status") == "succeeded").await;
    let done = fixture.ann.get(work).await.is(200);
    let made = rows - rows / 100;
    let counts = json!({ "total": rows, "done": made, "created": made, "updated": 0, "failed": rows / 100 });
    assert_eq!(done["counts"], counts, "{}", done.told());
    assert_eq!((&done["faults"][1]["record"], &done["faults"][1]["line"]), (&json!(150), &json!(300)));
    let held = fixture.holds().await;
    assert_eq!(held.issues, made + 5);
    let mut numbers = Vec::new();
    let mut query = format!("sort={weight}&limit=100");
    loop {
        let page = fixture.ann.get(&format!("{project}/grid?{query}")).await.is(200);
        numbers.extend(page.each("number").into_iter().filter_map(Value::as_u64));
        let Some(cursor) = page.next() else { break };
        query = format!("sort={weight}&limit=100&cursor={cursor}");
    }
    assert_eq!(numbers, (1..=made as u64).collect::<Vec<_>>(), "each number once, in the order of the rows");
    assert_eq!(fixture.issue(&project, "Next", json!({})).await["number"], made + 1);
}

async fn updating_import_killed_at_its_first_writes_is_complete() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Changed").await;
    fixture.attribute(&project, "Weight", "int").await;
    for place in 0..40 {
        fixture.issue(&project, &format!("Issue {place}"), json!({})).await;
    }
    let mut file = "Number,Name,Weight\n".to_owned();
    (1..=60).for_each(|number| writeln!(file, "{number},New {number},{}", number * 10).unwrap());
    let announced = announce(&fixture.ann, &project, new("upsert", "stop"), &file).await;
    put_by_hand(&fixture, &announced, &file);
    let worker = Worker::ahead(&fixture);
    let mut died = 0;
    for (place, moment) in (0..4).flat_map(|place| Moment::BOTH.map(|moment| (place, moment))) {
        died += u32::from(worker.dies(&fixture, (place, moment)).await);
    }
    assert!(died >= 3, "it died {died} times");
    let work = announced.header("location");
    fixture.until(async || fixture.ann.get(work).await.is(200).text("status") == "succeeded").await;
    assert_eq!(fixture.ann.get(work).await.is(200)["counts"], counts(60, 20, 40, 0));
    let file = export(&fixture, &project, json!({})).await;
    let lines: Vec<&str> = file.split("\r\n").skip(1).collect();
    assert_eq!(lines.len(), 61);
    assert!(lines.iter().take(60).enumerate().all(|(place, line)| {
        *line == format!("{number},New {number},open,{}", (place + 1) * 10, number = place + 1)
    }));
    fixture.holds().await;
}

/// Its check takes several steps, since it finds so much, and dies at the second one's end.
async fn number_check_killed_half_way_finds_repeated_numbers_once() {
    for moment in Moment::BOTH {
        let fixture = Fixture::new().await;
        let project = fixture.project("Numbered").await;
        let mut file = "Number,Name,State\n".to_owned();
        let state = |number| if number % 2 == 0 { "open" } else { "ajar" };
        (1..=24_000).for_each(|number| writeln!(file, "{number},Row {number},{}", state(number)).unwrap());
        let announced = announce(&fixture.ann, &project, new("create", "stop"), &file).await;
        put_by_hand(&fixture, &announced, &file);
        let work = announced.header("location");
        assert!(Worker::ahead(&fixture).dies(&fixture, (2, moment)).await);
        fixture.until(async || fixture.ann.get(work).await.is(200).text("status") == "failed").await;
        let all = fetch(fixture.ann.get(work).await.is(200).text("faultsLink")).await.is(200);
        assert_eq!(all["faultCount"], 12_000, "each that is ajar, once");
    }
}

/// A record of it can be no more by then, for its attribute is gone: those after it keep their numbers.
async fn repeated_batch_allocates_no_number_twice() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Batch").await;
    let gone = fixture.attribute(&project, "Gone", "int").await;
    fixture.attribute(&project, "Kept", "int").await;
    let mut file = "Name,Gone,Kept\n".to_owned();
    (1..=64).for_each(|row| writeln!(file, "Row {row},{},{row}", if row == 5 { "1" } else { "" }).unwrap());
    let announced = announce(&fixture.ann, &project, new("create", "skip"), &file).await;
    put_by_hand(&fixture, &announced, &file);
    // After the check: the file has come, and was looked at.
    assert!(Worker::ahead(&fixture).dies(&fixture, (3, Moment::AfterItIsDone)).await);
    let work = announced.header("location");
    assert_eq!(fixture.ann.get(work).await.is(200)["counts"]["created"], 0);
    fixture.ada.delete(&format!("{project}/attributes/{gone}")).await.is(204);
    fixture.until(async || fixture.ann.get(work).await.is(200).text("status") == "succeeded").await;
    fixture.settled().await;
    let numbers = fixture.numbers(&project, "limit=100").await;
    assert!(numbers.len() >= 63 && numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    fixture.holds().await;
}

async fn repeated_batch_keeps_moves_and_deletes_in_between() {
    let fixture = Fixture::new().await;
    let (project, other) = (fixture.project("Batch").await, fixture.project("Other").await);
    fixture.attribute(&project, "Weight", "int").await;
    let mut file = "Name,Weight\n".to_owned();
    (1..=64).for_each(|row| writeln!(file, "Row {row},{row}").unwrap());
    let announced = announce(&fixture.ann, &project, new("create", "stop"), &file).await;
    put_by_hand(&fixture, &announced, &file);
    let work = announced.header("location");
    // After the check: some of the issues are made, and the checkpoint does not say so.
    assert!(Worker::ahead(&fixture).dies(&fixture, (3, Moment::AfterItIsDone)).await);
    assert_eq!(fixture.ann.get(work).await.is(200)["counts"]["created"], 0);
    let made = fixture.ann.get(&format!("{project}/grid")).await.is(200);
    let made = made.each("id");
    let [moved, deleted] = [0, 1].map(|place| format!("{project}/issues/{}", made[place].as_str().unwrap()));
    let there = json!({ "project": other.rsplit('/').next().unwrap() });
    fixture.ann.post(&format!("{moved}/move"), there).await.is(200);
    fixture.ann.delete(&deleted).await.is(204);
    fixture.until(async || fixture.ann.get(work).await.is(200).text("status") == "succeeded").await;
    assert_eq!(fixture.ann.get(work).await.is(200)["counts"]["created"], 64);
    fixture.ann.get(&moved).await.is(404);
    fixture.ann.get(&deleted).await.is(404);
    assert_eq!(fixture.numbers(&project, "limit=100").await.len(), 62);
    assert_eq!(fixture.numbers(&other, "").await, [1]);
    fixture.holds().await;
}

/// Its worker dies after the first of the updates, which another request then overwrites.
async fn repeated_batch_counts_its_updates_and_keeps_later_ones() {
    let fixture = Fixture::new().await;
    let file = "Number,Name\n1,One\n2,Two\n3,Three\n";
    let announced = announce(&fixture.ann, PROJECT, new("upsert", "stop"), file).await;
    put_by_hand(&fixture, &announced, file);
    let names = async || {
        let page = fixture.ann.get(&format!("{PROJECT}/grid")).await.is(200);
        page.each("name").into_iter().cloned().collect::<Vec<_>>()
    };
    let worker = Worker::ahead(&fixture);
    while names().await[0] != "One" {
        assert!(worker.dies(&fixture, (0, Moment::AfterItIsDone)).await, "the job has ended");
    }
    assert_eq!(names().await, ["One", "Check for rust", "Girder needs replacing"]);
    let work = announced.header("location");
    assert_eq!(fixture.ann.get(work).await.is(200)["counts"]["done"], 0);
    let later = json!({ "name": "Later" });
    fixture.ann.patch(&format!("{PROJECT}/issues/issue-020e"), later).await.is(200);
    fixture.until(async || fixture.ann.get(work).await.is(200).text("status") == "succeeded").await;
    assert_eq!(fixture.ann.get(work).await.is(200)["counts"], counts(3, 0, 3, 0));
    assert_eq!(names().await, ["Later", "Two", "Three"]);
    fixture.holds().await;
}

/// With its file go the notes of its check, however it came to wait so long.
async fn import_ignores_the_values_of_an_attribute_that_is_deleted_meanwhile() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Narrower").await;
    let weight = fixture.attribute(&project, "Weight", "int").await;
    let note = fixture.attribute(&project, "Note", "text").await;
    let file = file(40);
    let announced = announce(&fixture.ann, &project, new("create", "stop"), &file).await;
    put_by_hand(&fixture, &announced, &file);
    // After some of the issues.
    assert!(Worker::ahead(&fixture).dies(&fixture, (4, Moment::AfterItIsDone)).await);
    assert_ne!(fixture.numbers(&project, "limit=100").await, [0; 0]);
    let deleted = fixture.ada.delete(&format!("{project}/attributes/{weight}")).await;
    assert!([202, 204].contains(&deleted.status), "{}", deleted.told());
    let import = announced.header("location");
    fixture.until(async || !is_open(&fixture.ann.get(import).await.is(200))).await;
    let ended = fixture.ann.get(import).await.is(200);
    let expected = json!({ "total": 40, "done": 40, "created": 40, "updated": 0, "failed": 0 });
    assert_eq!((ended.text("status"), &ended["counts"]), ("succeeded", &expected), "{}", ended.told());
    let issues = fixture.ann.get(&format!("{project}/grid?limit=100")).await.is(200);
    assert_eq!(issues.each("number"), (1..=40).collect::<Vec<_>>());
    for values in issues.each("values") {
        assert_eq!(values.as_object().unwrap().keys().collect::<Vec<_>>(), [&note]);
    }
    fixture.settled().await;
    fixture.holds().await;
}

async fn import_resumed_without_its_file_ends() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Late").await;
    fixture.attribute(&project, "Weight", "int").await;
    let mut file = "Number,Name\n".to_owned();
    (1..=64).for_each(|row| writeln!(file, "{row},Row {row}").unwrap());
    file.push_str("none,Row 65\n");
    let announced = announce(&fixture.ann, &project, new("create", "skip"), &file).await;
    put_by_hand(&fixture, &announced, &file);
    assert!(Worker::ahead(&fixture).dies(&fixture, (3, Moment::AfterItIsDone)).await);
    for folder in ["imports", "checks"] {
        std::fs::remove_dir_all(fixture.cairn.bucket("tracker").join(folder)).unwrap();
    }
    let work = announced.header("location");
    fixture.until(async || fixture.ann.get(work).await.is(200).text("status") == "failed").await;
    let stopped = fixture.ann.get(work).await.is(200);
    assert_eq!(stopped.text("reason"), "the file was deleted before all of it was read");
    let made = fixture.numbers(&project, "limit=100").await.len();
    assert!(made > 0, "it died before it had made any");
    assert_eq!((&stopped["counts"]["created"], &stopped["counts"]["done"]), (&json!(made), &json!(made)));
    let all = fetch(stopped.text("faultsLink")).await.is(200);
    assert_eq!(all["faultCount"], 1, "what the check has found is told");
    fixture.holds().await;
}

async fn cancelled_import_has_no_faults_link() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Cancelled").await;
    fixture.attribute(&project, "Weight", "int").await;
    let file = "Name,Weight\nOne,much\nTwo,2\n";
    let announced = announce(&fixture.ann, &project, new("create", "skip"), file).await;
    let work = announced.header("location");
    put_by_hand(&fixture, &announced, file);
    assert!(Worker::ahead(&fixture).dies(&fixture, (1, Moment::AfterItIsDone)).await);
    fixture.ann.delete(work).await.is(202);
    fixture.until(async || fixture.ann.get(work).await.is(200).text("status") == "cancelled").await;
    let cancelled = fixture.ann.get(work).await.is(200);
    assert!(cancelled["faults"][0]["record"] == 1 && cancelled["faultsLink"].is_null(), "{}", cancelled.told());
}

/// An export of several parts.
async fn export_killed_before_each_write_is_complete() {
    let fixture = Fixture::new().await;
    let project = of_several_parts(&fixture).await;
    let whole = export(&fixture, &project, json!({})).await;
    assert!(whole.len() > LEAST_PART);
    assert_eq!(whole.matches("\r\n").count(), 251);
    // The platform's own worker leaves it to this one.
    fixture.cairn.engines().wind_down();
    let begun = fixture.ann.post(&format!("{project}/exports"), json!({})).await.is(202);
    let (work, worker, mut died) = (begun.header("location"), Worker::ahead(&fixture), 0);
    while worker.dies(&fixture, (died, Moment::BeforeItIsSent)).await {
        died += 1;
    }
    assert!(died >= 2, "it died {died} times");
    let done = fixture.ann.get(work).await.is(200);
    assert_eq!(done.text("status"), "succeeded");
    let fetched = fetch(done.text("link")).await.is(200);
    assert_eq!(fetched.bytes.len(), whole.len());
    assert!(fetched.bytes == whole, "the file differs");
}

/// A project whose export has several parts.
pub async fn of_several_parts(fixture: &Fixture) -> String {
    let project = fixture.project("Written").await;
    let texts: Vec<String> = (0..12).map(|place| format!("Text {place}")).collect();
    for text in &texts {
        fixture.attribute(&project, text, "text").await;
    }
    let mut file = format!("Name,{}\n", texts.join(","));
    for row in 0..250 {
        write!(file, "Row {row}").unwrap();
        (0..12).for_each(|_| write!(file, ",{}", "字".repeat(1024)).unwrap());
        file.push('\n');
    }
    assert_eq!(import(&fixture.ann, &project, new("create", "stop"), &file).await.text("status"), "succeeded");
    project
}

/// An S3 that gives up the first upload after its first part.
async fn giving_up(s3: String) -> Server {
    let first = Arc::<Mutex<Option<String>>>::default();
    Server::start(move |request: Request<Incoming>| {
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
        let upload = path.split(['?', '&']).find_map(|pair| pair.strip_prefix("uploadId=")).map(str::to_owned);
        let given_up = {
            let mut first = first.lock().unwrap();
            let given_up = upload.is_some() && *first == upload;
            *first = first.take().or(upload);
            given_up
        };
        let url = format!("{s3}{path}");
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            if given_up {
                let error = "<Error><Code>NoSuchUpload</Code><Message>It was given up.</Message></Error>";
                let response = Response::builder().status(404).header("content-type", "application/xml");
                return Ok(response.body(Full::new(Bytes::from_static(error.as_bytes())))?);
            }
            Ok::<_, Box<dyn Error + Send + Sync>>(pass_on(url, parts, body).await?)
        }
    })
    .await
}

async fn export_restarts_if_its_parts_are_gone() {
    let fixture = Fixture::new().await;
    let project = of_several_parts(&fixture).await;
    let whole = export(&fixture, &project, json!({})).await;
    fixture.cairn.engines().wind_down();
    let begun = fixture.ann.post(&format!("{project}/exports"), json!({})).await.is(202);
    let config = fixture.cairn.engines().config.clone();
    let s3 = giving_up(config.s3.clone().unwrap()).await;
    let Worker(clock) = Worker::ahead(&fixture);
    let app = ::tracker::app(Engines::new(Config { s3: Some(s3.url.clone()), ..config }, clock)).metrics_to(|_| {});
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    app.event("runJobs", "{}".into(), deadline).await.unwrap();
    let done = fixture.ann.get(begun.header("location")).await.is(200);
    assert_eq!((done.text("status"), &done["counts"]["done"]), ("succeeded", &json!(250)), "{}", done.told());
    let link = done.text("link").replacen(&s3.url, &fixture.cairn.engines().config.s3.clone().unwrap(), 1);
    assert!(fetch(&link).await.is(200).bytes == whole, "the file differs");
}

/// Where it had come to is no place among values of another type.
async fn export_sorted_by_a_retyped_column_ends() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Sorted").await;
    let weight = fixture.attribute(&project, "Weight", "int").await;
    fixture.issue(&project, "One", json!({ &weight: 1 })).await;
    fixture.cairn.engines().wind_down();
    let begun = fixture.ann.post(&format!("{project}/exports"), json!({ "sort": weight })).await.is(202);
    let work = begun.header("location");
    let retype = json!({ "type": "text" });
    let retyped = fixture.ada.post(&format!("{project}/attributes/{weight}/retype"), retype).await.is(202);
    let worker = Worker::ahead(&fixture);
    for path in [retyped.header("location"), work] {
        while is_open(&fixture.ada.get(path).await.is(200)) {
            assert!(!worker.dies(&fixture, (usize::MAX, Moment::BeforeItIsSent)).await);
        }
    }
    let stopped = fixture.ann.get(work).await.is(200);
    assert_eq!(stopped.text("status"), "failed", "{}", stopped.told());
    assert_eq!(stopped.text("reason"), "the columns by which it sorts or filters have changed");
}
