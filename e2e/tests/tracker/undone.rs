//! Undoing imports: the job deletes the issues that the import has created, except those that were updated since.

use std::fmt::Write;
use std::future::IntoFuture;

use serde_json::json;

use super::crashes::{others_do_its_jobs, work_dies};
use super::files::{announce, ended, import, new, put_by_hand};
use super::files_killed::Worker;
use super::fixture::{Fixture, person};
use crate::harness::Answer;
use crate::harness::stopper::Moment;
use crate::tests;

tests! { tracker_undo:
    undo_deletes_the_issues_that_were_not_updated_since,
    undo_of_an_upsert_keeps_updated_issues,
    #[long] undo_deletes_issues_with_more_rows_than_a_transaction,
    undo_of_a_cancelled_import_deletes_all_its_issues,
    undo_cancelled_after_its_worker_died_counts_what_it_deleted,
    undos_that_begin_at_once_are_all_accepted,
    undo_needs_an_ended_import_and_an_administrator,
}

fn file(rows: usize) -> String {
    let mut file = "Name,State,Weight\n".to_owned();
    for row in 1..=rows {
        writeln!(file, "Row {row},{},{row}", if row % 3 == 0 { "closed" } else { "open" }).unwrap();
    }
    file
}

/// Undoes an import and waits for the end.
async fn undo(fixture: &Fixture, import: &str) -> Answer {
    let accepted = fixture.ada.post(&format!("{import}/undo"), json!({})).await.is(202);
    assert_eq!(accepted.text("kind"), "undoImport");
    ended(&fixture.ada, accepted.header("location")).await
}

fn job(project: &str, import: &Answer) -> String {
    let (tenant, _) = project.split_once("/projects/").unwrap();
    format!("{tenant}/jobs/{}", import.text("id"))
}

async fn undo_deletes_the_issues_that_were_not_updated_since() {
    let fixture = Fixture::new().await;
    let (project, other) = (fixture.project("Undone").await, fixture.project("Other").await);
    let weight = fixture.attribute(&project, "Weight", "int").await;
    let own = fixture.issue(&project, "Own", json!({ &weight: "1" })).await;
    let made = import(&fixture.ann, &project, new("create", "stop"), &file(150)).await;
    assert_eq!(made["counts"]["created"], 150, "{}", made.told());
    let issue = async |number: u64| {
        let found = fixture.ann.get(&format!("{project}/numbers/{number}")).await.is(200);
        format!("{project}/issues/{}", found.text("id"))
    };
    fixture.ann.patch(&issue(2).await, json!({ "name": "Renamed" })).await.is(200);
    fixture.ann.put(&format!("{}/values/{weight}", issue(3).await), json!({ "value": "7" })).await.is(200);
    fixture.ann.post(&format!("{}/renumber", issue(4).await), json!({ "number": 500 })).await.is(200);
    let moved = json!({ "project": other.rsplit('/').next().unwrap() });
    fixture.ann.post(&format!("{}/move", issue(5).await), moved).await.is(200);
    fixture.ann.delete(&issue(6).await).await.is(204);

    let undone = undo(&fixture, &job(&project, &made)).await;
    assert_eq!(undone.text("status"), "succeeded");
    assert_eq!(undone["counts"], json!({ "total": 150, "done": 147, "failed": 3 }));
    assert_eq!(fixture.numbers(&project, "").await, [1, 2, 3, 500]);
    assert_eq!(fixture.numbers(&other, "").await, [1]);
    fixture.ann.get(&format!("{project}/issues/{}", own.text("id"))).await.is(200);
    fixture.holds().await;
    fixture.cairn.caught_up().await;
    let found = fixture.ann.get(&format!("{project}/grid?sort=name&count=true&filter=name:prefix:row")).await.is(200);
    assert_eq!((&found["servedBy"], &found["total"]["value"]), (&json!("search"), &json!(2)), "{}", found.told());

    // A second undo finds nothing to delete.
    let again = undo(&fixture, &job(&project, &made)).await;
    assert_eq!((again.text("status"), &again["counts"]), ("succeeded", &undone["counts"]));
    assert_eq!(fixture.numbers(&project, "").await, [1, 2, 3, 500]);
}

async fn undo_of_an_upsert_keeps_updated_issues() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Upsert").await;
    for name in ["One", "Two"] {
        fixture.issue(&project, name, json!({})).await;
    }
    let file = "Number,Name\n1,One renamed\n,Three\n2,Two renamed\n,Four\n";
    let made = import(&fixture.ann, &project, new("upsert", "stop"), file).await;
    assert_eq!((&made["counts"]["created"], &made["counts"]["updated"]), (&json!(2), &json!(2)), "{}", made.told());
    let undone = undo(&fixture, &job(&project, &made)).await;
    assert_eq!(undone["counts"], json!({ "total": 4, "done": 4, "failed": 0 }));
    let left = fixture.ann.get(&format!("{project}/grid")).await.is(200);
    assert_eq!(left.each("name"), ["One renamed", "Two renamed"]);
    fixture.holds().await;
}

async fn undo_deletes_issues_with_more_rows_than_a_transaction() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Wide").await;
    let names: Vec<String> = (0..100).map(|place| format!("Column {place}")).collect();
    for name in &names {
        fixture.attribute(&project, name, "int").await;
    }
    let row = (0..100).map(|place| place.to_string()).collect::<Vec<_>>().join(",");
    let file = format!("Name,{}\nWide,{row}\nEmpty{}\n", names.join(","), ",".repeat(100));
    let made = import(&fixture.ann, &project, new("create", "stop"), &file).await;
    assert_eq!(made["counts"]["created"], 2, "{}", made.told());
    let undone = undo(&fixture, &job(&project, &made)).await;
    assert_eq!(undone["counts"], json!({ "total": 2, "done": 2, "failed": 0 }));
    assert_eq!(fixture.numbers(&project, "").await, [0; 0]);
    fixture.holds().await;
}

async fn undo_of_a_cancelled_import_deletes_all_its_issues() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Cancelled").await;
    fixture.attribute(&project, "Weight", "int").await;
    let file = file(40);
    let announced = announce(&fixture.ann, &project, new("create", "stop"), &file).await;
    put_by_hand(&fixture, &announced, &file);
    // After some of the issues, and before the checkpoint that counts them.
    assert!(Worker::ahead(&fixture).dies(&fixture, (4, Moment::AfterItIsDone)).await);
    let import = announced.header("location");
    fixture.ann.delete(import).await.is(202);
    fixture.until(async || fixture.ann.get(import).await.is(200).text("status") == "cancelled").await;
    assert_ne!(fixture.numbers(&project, "limit=100").await, [0; 0]);
    assert_eq!(undo(&fixture, import).await.text("status"), "succeeded");
    assert_eq!(fixture.numbers(&project, "").await, [0; 0]);
    fixture.holds().await;
}

async fn undo_cancelled_after_its_worker_died_counts_what_it_deleted() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Died").await;
    fixture.attribute(&project, "Weight", "int").await;
    let made = import(&fixture.ann, &project, new("create", "stop"), &file(80)).await;
    assert_eq!(made["counts"]["created"], 80, "{}", made.told());
    // The platform's own worker lets go of whatever it takes.
    fixture.cairn.engines().wind_down();
    let accepted = fixture.ada.post(&format!("{}/undo", job(&project, &made)), json!({})).await.is(202);
    let work = accepted.header("location");
    // After some of the issues, and before the checkpoint that counts them.
    let died = work_dies(&fixture, (7, Moment::AfterItIsDone)).await;
    assert!(died, "{}", fixture.ada.get(work).await.is(200).told());
    assert_eq!(fixture.ada.delete(work).await.is(202)["cancelRequested"], true);
    others_do_its_jobs(&fixture).await;
    let ended = fixture.ada.get(work).await.is(200);
    let left = fixture.numbers(&project, "limit=100").await.len();
    assert!((1..80).contains(&left), "{left}");
    assert_eq!(ended.text("status"), "cancelled", "{}", ended.told());
    assert_eq!(ended["counts"], json!({ "total": 80, "done": 80 - left, "failed": 0 }), "{}", ended.told());
    fixture.holds().await;
}

/// They take the same place among the open jobs of the person.
async fn undos_that_begin_at_once_are_all_accepted() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Twice").await;
    let mut imports = Vec::new();
    for _ in 0..2 {
        let made = import(&fixture.ann, &project, new("create", "stop"), "Name\nOne\n").await;
        imports.push(job(&project, &made));
    }
    for _ in 0..10 {
        let undo = |import: &str| fixture.ada.post(&format!("{import}/undo"), json!({})).into_future();
        let (one, other) = tokio::join!(undo(&imports[0]), undo(&imports[1]));
        for accepted in [one.is(202), other.is(202)] {
            assert_eq!(ended(&fixture.ada, accepted.header("location")).await.text("status"), "succeeded");
        }
    }
}

async fn undo_needs_an_ended_import_and_an_administrator() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Rights").await;
    let announced = announce(&fixture.ann, &project, new("create", "stop"), "Name\na\n").await;
    let import = format!("{}/undo", announced.header("location"));
    fixture.ann.post(&import, json!({})).await.refused(403, "forbidden");
    person(&fixture.cairn, "vic").await.post(&import, json!({})).await.refused(403, "forbidden");
    person(&fixture.cairn, "ada2").await.post(&import, json!({})).await.refused(404, "not-found");
    fixture.ada.post(&import, json!({})).await.refused(409, "not-undoable");
    fixture.ann.delete(announced.header("location")).await.is(204);
    // Nothing was written before it was cancelled.
    let nothing = undo(&fixture, announced.header("location")).await;
    assert_eq!((nothing.text("status"), &nothing["counts"]["total"]), ("succeeded", &json!(0)));
    let export = fixture.ann.post(&format!("{project}/exports"), json!({})).await.is(202);
    let export = ended(&fixture.ann, export.header("location")).await;
    fixture.ada.post(&format!("{}/undo", job(&project, &export)), json!({})).await.refused(409, "not-undoable");
    let unknown = format!("{}/undo", job(&project, &export).replace(export.text("id"), super::files::UNKNOWN));
    fixture.ada.post(&unknown, json!({})).await.refused(404, "not-found");
    // The same request, sent twice, is one job.
    let once = fixture.ada.post(&import, json!({})).once("undo").await.is(202);
    let twice = fixture.ada.post(&import, json!({})).once("undo").await.is(202);
    assert_eq!(once["id"], twice["id"]);
}
