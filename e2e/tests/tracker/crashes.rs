//! Functions that die at their first transactions in turn, before it is sent or with its answer lost: whoever comes next
//! finds what is missing, and the table ends as if nobody had died.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use bytes::Bytes;
use http::Method;
use hyper::Request;
use serde_json::{Map, Value, json};
use table::{Clock, Config, Engines};
use tokio::time::Instant;
use tracker::schema::TRACKER;
use web::App;

use super::files::{announce, import, new, put_by_hand};
use super::files_killed::Worker;
use super::fixture::{Fixture, PROJECT, TENANT, has_work, is_open};
use crate::harness::relay::before_first_transaction;
use crate::harness::stopper::{Moment, Stopper};
use crate::harness::table::{Item, Table, text};
use crate::tests;

tests! { tracker_crashes:
    #[long] issue_rows_are_completed_after_writers_die,
    write_of_an_issue_settles_it_first,
    #[long] project_deletion_settles_issues_of_dead_writers,
    project_deletion_killed_at_its_first_writes_is_finished,
    import_fails_if_its_project_is_deleted_while_it_settles_an_issue,
    undo_fails_if_its_project_is_deleted_while_it_settles_an_issue,
}

/// Runs what is made of an app whose transactions come to a stop where they are told to. True if it died there.
pub async fn dies<F: Future<Output = ()> + Send + 'static>(
    fixture: &Fixture,
    clock: &Clock,
    held: (usize, Moment),
    run: impl FnOnce(App) -> F,
) -> bool {
    let config = fixture.cairn.engines().config.clone();
    let stopper = Stopper::before(config.dynamodb.clone().unwrap(), Some(held)).await;
    let config = Config { dynamodb: Some(stopper.url.clone()), ..config };
    let running = tokio::spawn(run(::tracker::app(Engines::new(config, clock.clone())).metrics_to(|_| {})));
    let abort = running.abort_handle();
    tokio::select! {
        done = running => {
            done.unwrap();
            false
        }
        () = stopper.stopped() => {
            abort.abort();
            true
        }
    }
}

/// A function of the editor's that dies.
async fn call_dies(fixture: &Fixture, held: (usize, Moment), method: Method, path: &str, body: &Value) -> bool {
    let token = fixture.cairn.token("ann", &[]).await;
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .body(Bytes::from(body.to_string()))
        .unwrap();
    dies(fixture, &fixture.cairn.clock, held, |app| async move {
        let answer = app.handle(request).await;
        assert!(answer.status().is_success(), "{answer:?}");
    })
    .await
}

/// A worker that dies.
pub async fn work_dies(fixture: &Fixture, held: (usize, Moment)) -> bool {
    // The lease of the one before has ended, and the index has had its time.
    fixture.cairn.clock.advance(Duration::from_secs(121));
    worker_dies(fixture, &fixture.cairn.clock, held).await
}

/// Other processes do what jobs are left, after those of the fixture were told to wind down.
pub async fn others_do_its_jobs(fixture: &Fixture) {
    for _ in 0..20 {
        let jobs = fixture.ada.get(&format!("{TENANT}/jobs?limit=100")).await.is(200);
        if !has_work(&jobs) {
            return;
        }
        work_dies(fixture, (usize::MAX, Moment::BeforeItIsSent)).await;
    }
    panic!("the jobs do not come to their end");
}

/// A worker with a clock of its own: where that runs ahead, the platform's workers find nothing that is due.
pub async fn worker_dies(fixture: &Fixture, clock: &Clock, held: (usize, Moment)) -> bool {
    dies(fixture, clock, held, |app| async move {
        let deadline = Instant::now() + Duration::from_secs(60);
        app.event("runJobs", "{}".into(), deadline).await.unwrap();
    })
    .await
}

/// Until no issue is left without all of its rows.
async fn all_settled(fixture: &Fixture) {
    fixture.until(async || super::fixture::entries(&fixture.cairn, "due").await.is_empty()).await;
}

async fn issue_rows_are_completed_after_writers_die() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Wide").await;
    let mut attributes = Vec::new();
    for place in 0..100 {
        attributes.push(fixture.attribute(&project, &format!("Column {place}"), "text").await);
    }
    let mut died = 0;
    for (place, moment) in [0, 1].into_iter().flat_map(|place| Moment::BOTH.map(|moment| (place, moment))) {
        let new = json!({ "name": "Killed" });
        died += u32::from(call_dies(&fixture, (place, moment), Method::POST, &format!("{project}/issues"), &new).await);
        all_settled(&fixture).await;
        fixture.holds().await;

        let path = fixture.issue(&project, "Wide", json!({})).await.header("location").to_owned();
        let value = |id: &String| (id.clone(), json!(format!("{id} at {place}")));
        let values: Map<String, Value> = attributes.iter().map(value).collect();
        let values = json!({ "values": values });
        died +=
            u32::from(call_dies(&fixture, (place, moment), Method::PATCH, &format!("{path}/values"), &values).await);
        all_settled(&fixture).await;
        fixture.holds().await;
        let set = fixture.ann.get(&path).await.is(200)["values"].as_object().unwrap().len();
        let done = place > 0 || moment == Moment::AfterItIsDone;
        assert_eq!(set, if done { 100 } else { 0 }, "all or none: {place} {moment:?}");

        fixture.ann.patch(&format!("{path}/values"), values).await.is(200);
        died += u32::from(
            call_dies(&fixture, (place, moment), Method::POST, &format!("{path}/renumber"), &json!({})).await,
        );
        all_settled(&fixture).await;
        fixture.holds().await;
        died += u32::from(call_dies(&fixture, (place, moment), Method::DELETE, &path, &json!({})).await);
        all_settled(&fixture).await;
        fixture.holds().await;
    }
    assert!(died >= 12, "{died}");
}

/// As a writer of many values leaves it that dies after its first transaction.
async fn unsettle(fixture: &Fixture, issue: &str) {
    let table = fixture.cairn.table_of(&::tracker::schema::TRACKER);
    let items = table.items().await;
    let of_issue = |item: &Item| item["PK"].as_s().unwrap() == issue;
    let mut wanting = None;
    for mut item in items.into_iter().filter(|item| of_issue(item)) {
        match item["SK"].as_s().unwrap().as_str() {
            sk if sk.starts_with("project-") => {
                item.insert("Unsettled".to_owned(), AttributeValue::Bool(true));
                table.put(item).await;
            }
            "value-3812" | "blank-3812" => wanting = Some(item),
            _ => {}
        }
    }
    let mut wanting = wanting.unwrap();
    table.delete_item(&wanting).await;
    let other = if wanting["SK"].as_s().unwrap() == "value-3812" { "blank-3812" } else { "value-3812" };
    wanting.insert("SK".to_owned(), text(other));
    table.put(wanting).await;
}

async fn write_of_an_issue_settles_it_first() {
    let fixture = Fixture::new().await;
    let other = fixture.project("Other").await;
    let there = json!({ "project": other.rsplit('/').next().unwrap() });
    let path = format!("{PROJECT}/issues/issue-020e");
    let ann = &fixture.ann;
    let start = format!("{path}/values/xattrib-3812");
    let writes = [
        ann.patch(&path, json!({ "state": "closed" })),
        ann.put(&start, json!({ "value": "2023-05-03" })),
        ann.delete(&start),
        ann.patch(&format!("{path}/values"), json!({ "values": { "xattrib-3fe6": 7 } })),
        ann.post(&format!("{path}/renumber"), json!({})),
        ann.post(&format!("{path}/move"), there),
    ];
    for write in writes {
        unsettle(&fixture, "issue-020e").await;
        let answer = write.await;
        assert!(answer.status < 300, "{}", answer.told());
        fixture.holds().await;
    }
    unsettle(&fixture, "issue-af34").await;
    ann.delete(&format!("{PROJECT}/issues/issue-af34")).await.is(204);
    fixture.holds().await;
}

/// They are due before it, and many.
async fn project_deletion_settles_issues_of_dead_writers() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Wide").await;
    for place in 0..100 {
        fixture.attribute(&project, &format!("Column {place}"), "text").await;
    }
    let new = json!({ "name": "Killed" });
    for _ in 0..10 {
        let first = (0, Moment::AfterItIsDone);
        assert!(call_dies(&fixture, first, Method::POST, &format!("{project}/issues"), &new).await);
    }
    // The platform's own worker lets go of whatever it takes.
    fixture.cairn.engines().wind_down();
    let deletion = fixture.ada.delete(&format!("{project}?cascade=true")).await.is(202);
    assert!(work_dies(&fixture, (0, Moment::BeforeItIsSent)).await);
    let mut runs = 0;
    while is_open(&fixture.ada.get(deletion.header("location")).await.is(200)) {
        work_dies(&fixture, (usize::MAX, Moment::BeforeItIsSent)).await;
        runs += 1;
        assert!(runs < 20, "the deletion never has its turn");
    }
    assert!(!fixture.holds().await.mentions(project.rsplit('/').next().unwrap()));
}

async fn project_deletion_killed_at_its_first_writes_is_finished() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Much").await;
    let id = fixture.attribute(&project, "Weight", "int").await;
    fixture.issues(&project, 60, |place| if place % 4 == 3 { json!({}) } else { json!({ &id: place }) }).await;
    let path = format!("{project}?cascade=true");
    let token = fixture.cairn.token("ada", &[]).await;
    for (place, moment) in (0..4).flat_map(|place| Moment::BOTH.map(|moment| (place, moment))) {
        fixture.cairn.clock.advance(Duration::from_secs(121));
        let request = Request::builder().method(Method::DELETE).uri(&path);
        let request = request.header("authorization", format!("Bearer {token}")).body(Bytes::new()).unwrap();
        dies(&fixture, &fixture.cairn.clock, (place, moment), |app| async move {
            let status = app.handle(request).await.status().as_u16();
            assert!(matches!(status, 202 | 204 | 404), "{status}");
        })
        .await;
    }
    fixture.settled().await;
    fixture.ada.get(&project).await.refused(404, "not-found");
    let held = fixture.holds().await;
    assert!(!held.mentions(project.rsplit("project-").next().unwrap()), "nothing is left of the project");
    assert_eq!(fixture.ada.get(&format!("{TENANT}/projects")).await.is(200).each("name"), ["Forth Rail Bridge"]);
}

async fn import_fails_if_its_project_is_deleted_while_it_settles_an_issue() {
    let fixture = Fixture::new().await;
    fixture.cairn.engines().wind_down();
    let file = "Number,Name\n1,Renamed\n";
    let announced = announce(&fixture.ann, PROJECT, new("upsert", "stop"), file).await;
    put_by_hand(&fixture, &announced, file);
    fails_with_its_project(&fixture, announced.header("location"), "issue-020e").await;
}

async fn undo_fails_if_its_project_is_deleted_while_it_settles_an_issue() {
    let fixture = Fixture::new().await;
    let made = import(&fixture.ann, PROJECT, new("create", "stop"), "Name\nBolts\n").await;
    let issue = fixture.ann.get(&format!("{PROJECT}/numbers/4")).await.is(200).text("id").to_owned();
    fixture.cairn.engines().wind_down();
    let undo = format!("{TENANT}/jobs/{}/undo", made.text("id"));
    let undo = fixture.ada.post(&undo, json!({})).await.is(202).header("location").to_owned();
    fails_with_its_project(&fixture, &undo, &issue).await;
}

/// Runs a job that finds this issue unsettled. Just before it writes the issue's rows, the deletion of the project
/// begins.
async fn fails_with_its_project(fixture: &Fixture, job: &str, issue: &str) {
    unsettle(fixture, issue).await;
    let config = fixture.cairn.engines().config.clone();
    let target = config.dynamodb.clone().unwrap();
    let table = fixture.cairn.table_of(&TRACKER);
    let server = before_first_transaction(target, issue.to_owned(), async move { mark_project(&table).await }).await;
    let Worker(clock) = Worker::ahead(fixture);
    clock.advance(Duration::from_secs(121));
    let config = Config { dynamodb: Some(server.url.clone()), ..config };
    let app = ::tracker::app(Engines::new(config, clock)).metrics_to(|_| {});
    app.event("runJobs", "{}".into(), Instant::now() + Duration::from_secs(20)).await.unwrap();
    let ended = fixture.ada.get(job).await.is(200);
    assert_eq!((ended.text("status"), ended.text("reason")), ("failed", "its project was deleted"), "{}", ended.told());
}

/// As the request leaves the project that deletes it.
async fn mark_project(table: &Table) {
    let mut project = table.get("project-35e9", "tenant-0807").await.unwrap();
    let rev: u64 = project["rev"].as_n().unwrap().parse().unwrap();
    project.insert("rev".to_owned(), table::item::number(rev + 2));
    project.remove("Data");
    table.put(project).await;
    for mut gate in table.items().await.into_iter().filter(|item| item["PK"].as_s().unwrap() == "gate-35e9") {
        gate.insert("Closed".to_owned(), AttributeValue::Bool(true));
        table.put(gate).await;
    }
}
