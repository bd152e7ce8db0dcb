//! The changes of a project's issues, as clients follow them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::{join, join_all};
use serde_json::{Value, json};
use table::{Config, item};
use tokio::time::Instant;
use tracker::schema::{LOG_CHANGES, TRACKER};

use super::fixture::{Fixture, PROJECT, TENANT, person};
use crate::harness::table::{Item, Table, text};
use crate::harness::{Answer, Cairn, seed, sized};
use crate::tests;

tests! { tracker_changes:
    changes_of_issues_are_listed_in_their_order,
    #[long] copy_that_follows_the_changes_equals_the_grid,
    changes_logged_at_once_have_different_numbers,
    record_that_is_delivered_again_is_logged_again,
    issue_of_another_release_is_logged_and_other_items_are_not,
    batch_has_changes_of_several_projects,
    record_is_reported_while_the_table_does_not_respond,
    gap_in_the_changes_makes_clients_start_again,
    changes_that_have_expired_are_gone,
    deleted_project_has_no_changes_left,
    changes_are_for_members_and_since_is_checked,
}

/// The changes since an earlier request.
async fn since(fixture: &Fixture, project: &str, query: &str) -> Answer {
    fixture.cairn.caught_up().await;
    fixture.ann.get(&format!("{project}/changes?{query}")).await.is(200)
}

/// The types of changes with the numbers of their issues.
fn kinds(changes: &Answer) -> Vec<String> {
    let items = changes["items"].as_array().unwrap();
    items.iter().map(|change| format!("{} {}", change["type"].as_str().unwrap(), change["number"])).collect()
}

async fn changes_of_issues_are_listed_in_their_order() {
    let fixture = Fixture::new().await;
    let start = since(&fixture, PROJECT, "").await;
    // The fixture has three issues, and one with a column is one change, too.
    assert_eq!(start.body, json!({ "items": [], "since": 3, "more": false }));
    let made = fixture.issue(PROJECT, "Bolts", json!({ "xattrib-3fe6": 1 })).await;
    let bolts = made.header("location").to_owned();
    fixture.ann.patch(&bolts, json!({ "name": "Nuts" })).await.is(200);
    fixture.ann.patch(&bolts, json!({ "name": "Nuts" })).await.is(200);
    fixture.ann.put(&format!("{bolts}/values/xattrib-3fe6"), json!({ "value": 2 })).await.is(200);
    fixture.ann.post(&format!("{bolts}/renumber"), json!({ "number": 9 })).await.is(200);
    let rust = format!("{PROJECT}/issues/issue-67d1");
    fixture.ann.delete(&rust).await.is(204);
    let other = fixture.project("Other").await;
    let there = json!({ "project": other.rsplit('/').next() });
    let moved = fixture.ann.post(&format!("{PROJECT}/issues/issue-020e/move"), there).await.is(200);

    let changes = since(&fixture, PROJECT, "since=3").await;
    assert_eq!((&changes["since"], &changes["more"]), (&json!(9), &json!(false)));
    assert_eq!(changes.each("change"), [4, 5, 6, 7, 8, 9]);
    let mut of_issues: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (change, kind) in changes["items"].as_array().unwrap().iter().zip(kinds(&changes)) {
        of_issues.entry(change["issueId"].as_str().unwrap()).or_default().push(kind);
    }
    let expected: [(&str, &[&str]); 3] = [
        (made.text("id"), &["created 4", "updated 4", "updated 4", "updated 9"]),
        ("issue-020e", &["deleted 1"]),
        ("issue-67d1", &["deleted 2"]),
    ];
    let expected = expected.map(|(id, kinds)| (id, kinds.iter().map(|kind| (*kind).to_owned()).collect()));
    assert_eq!(of_issues, BTreeMap::from(expected));
    // Every change has the issue as it is now, in the form of the grid.
    let row = fixture.ann.get(&format!("{PROJECT}/grid?filter=number:eq:9")).await.is(200)["items"][0].clone();
    assert_eq!(row["name"], "Nuts");
    for change in changes["items"].as_array().unwrap() {
        assert_eq!(change.get("issue"), (change["issueId"] == row["id"]).then_some(&row), "{change}");
    }
    let there = since(&fixture, &other, "since=0").await;
    assert_eq!((kinds(&there), &there["items"][0]["issueId"]), (vec!["created 1".to_owned()], &moved["id"]));

    let mut pages = Vec::new();
    let (mut next, mut more) = (json!(3), true);
    while more {
        let page = since(&fixture, PROJECT, &format!("since={next}&limit=4")).await;
        (next, more) = (page["since"].clone(), page["more"] == true);
        pages.push(kinds(&page).len());
    }
    assert_eq!((pages, next), (vec![4, 2], json!(9)));
    let nothing = since(&fixture, PROJECT, "since=9").await;
    assert_eq!(nothing.body, json!({ "items": [], "since": 9, "more": false }));
}

/// A copy of a project's grid, by id.
type Rows = BTreeMap<String, Value>;

fn apply(copy: &mut Rows, changes: &Answer) {
    for change in changes["items"].as_array().unwrap() {
        let id = change["issueId"].as_str().unwrap().to_owned();
        match change.get("issue") {
            Some(row) => drop(copy.insert(id, row.clone())),
            None => drop(copy.remove(&id)),
        }
    }
}

async fn grid(fixture: &Fixture, project: &str) -> Rows {
    let (mut rows, mut cursor) = (Rows::new(), String::new());
    loop {
        let page = fixture.ann.get(&format!("{project}/grid?limit=40{cursor}")).await.is(200);
        rows.extend(
            page["items"].as_array().unwrap().iter().map(|row| (row["id"].as_str().unwrap().to_owned(), row.clone())),
        );
        match page.next() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return rows,
        }
    }
}

async fn copy_that_follows_the_changes_equals_the_grid() {
    let fixture = Fixture::new().await;
    let (seed, project) = (seed::of_the_run(), fixture.project("Followed").await);
    let weight = fixture.attribute(&project, "Weight", "int").await;
    fixture.issues(&project, 20, |place| json!({ &weight: place })).await;
    let other = json!({ "project": fixture.project("Other").await.rsplit('/').next() });
    let write = async |writer: u64| {
        let mut random = fastrand::Rng::with_seed(seed.wrapping_add(writer));
        let mut own = Vec::new();
        for step in 0..sized(30, 300) {
            let issue = random.choice(&own).cloned();
            match (random.u8(0..8), issue) {
                (0 | 1, _) | (_, None) => {
                    own.push(fixture.issue(&project, "New", json!({})).await.header("location").to_owned());
                }
                (2, Some(issue)) => drop(fixture.ann.patch(&issue, json!({ "name": format!("{step}") })).await.is(200)),
                (3, Some(issue)) => {
                    let value = json!({ "value": random.i32(..) });
                    fixture.ann.put(&format!("{issue}/values/{weight}"), value).await.is(200);
                }
                (4, Some(issue)) => drop(fixture.ann.patch(&issue, json!({ "state": "closed" })).await.is(200)),
                (5, Some(issue)) => drop(fixture.ann.post(&format!("{issue}/renumber"), json!({})).await.is(200)),
                (deletes, Some(issue)) => {
                    if deletes == 6 {
                        fixture.ann.delete(&issue).await.is(204);
                    } else {
                        fixture.ann.post(&format!("{issue}/move"), other.clone()).await.is(200);
                    }
                    own.retain(|other| *other != issue);
                }
            }
        }
    };
    let is_written = AtomicBool::new(false);
    let writers = async {
        join_all((0..4).map(write)).await;
        fixture.cairn.caught_up().await;
        is_written.store(true, Ordering::SeqCst);
    };
    let follower = async {
        let start = fixture.ann.get(&format!("{project}/changes")).await.is(200);
        let mut last = start["since"].as_u64().unwrap();
        let (mut copy, mut ends) = (grid(&fixture, &project).await, false);
        loop {
            let page = fixture.ann.get(&format!("{project}/changes?since={last}&limit=7")).await.is(200);
            let next = page["since"].as_u64().unwrap();
            assert_eq!(page.each("change"), (last + 1..=next).collect::<Vec<_>>(), "CAIRN_SEED={seed}");
            apply(&mut copy, &page);
            last = next;
            if page["more"] == false {
                if ends {
                    return (last, copy);
                }
                // What was logged between this page and the last write is on the pages that follow.
                ends = is_written.load(Ordering::SeqCst);
            }
        }
    };
    let ((), (last, copy)) = join(writers, follower).await;
    let expected = grid(&fixture, &project).await;
    assert!(last > 100 && expected.len() > 20, "{last} changes, {} issues", expected.len());
    assert_eq!(copy, expected, "CAIRN_SEED={seed}");
}

fn table(fixture: &Fixture) -> Table {
    fixture.cairn.table_of(&TRACKER)
}

async fn issue(fixture: &Fixture, id: &str) -> Item {
    table(fixture).get(id, "project-35e9").await.unwrap()
}

/// Calls the handler with records. Returns the answer.
async fn log(cairn: &Cairn, records: &[Value]) -> Value {
    cairn.event("tracker", LOG_CHANGES, &json!({ "Records": records })).await.unwrap()
}

/// The answer of a handler that reports no record.
fn none_failed() -> Value {
    json!({ "batchItemFailures": [] })
}

/// The record of an update of an issue.
fn update(fixture: &Fixture, old: &Item, new: &Item) -> Value {
    let mut record = table(fixture).insert_record(new, 0);
    record["dynamodb"]["OldImage"] = table(fixture).remove_record(old, 0)["dynamodb"]["OldImage"].clone();
    record
}

async fn changes_logged_at_once_have_different_numbers() {
    let fixture = Fixture::new().await;
    fixture.cairn.caught_up().await;
    let one = issue(&fixture, "issue-020e").await;
    let records: Vec<Value> = (0..100).map(|place| table(&fixture).insert_record(&one, place)).collect();
    let calls = records.chunks(20).map(|records| log(&fixture.cairn, records));
    assert_eq!(join_all(calls).await, [(); 5].map(|()| none_failed()));
    let changes = since(&fixture, PROJECT, "since=3&limit=100").await;
    assert_eq!(changes.each("change"), (4..=103).collect::<Vec<_>>());
}

async fn record_that_is_delivered_again_is_logged_again() {
    let fixture = Fixture::new().await;
    fixture.cairn.caught_up().await;
    let record = table(&fixture).remove_record(&issue(&fixture, "issue-020e").await, 0);
    for _ in 0..2 {
        assert_eq!(log(&fixture.cairn, std::slice::from_ref(&record)).await, none_failed());
    }
    let changes = since(&fixture, PROJECT, "since=3").await;
    assert_eq!(kinds(&changes), ["deleted 1", "deleted 1"]);
    // The issue is still there, whatever the record says.
    assert_eq!(changes["items"][0]["issue"]["name"], "Needs Painting");
}

async fn issue_of_another_release_is_logged_and_other_items_are_not() {
    let fixture = Fixture::new().await;
    fixture.cairn.caught_up().await;
    let whole = issue(&fixture, "issue-020e").await;
    let (mut foreign, mut broken) = (whole.clone(), whole.clone());
    foreign.insert("State".to_owned(), text("half open"));
    broken.insert("Num".to_owned(), text("one"));
    let row = table(&fixture).get("issue-020e", "state-35e9").await.unwrap();
    let records = [
        table(&fixture).insert_record(&foreign, 0),
        table(&fixture).insert_record(&broken, 1),
        table(&fixture).insert_record(&row, 2),
        update(&fixture, &foreign, &whole),
        table(&fixture).remove_record(&foreign, 4),
    ];
    assert_eq!(log(&fixture.cairn, &records).await, none_failed());
    assert_eq!(kinds(&since(&fixture, PROJECT, "since=3").await), ["created 1", "updated 1", "deleted 1"]);
}

async fn batch_has_changes_of_several_projects() {
    let fixture = Fixture::new().await;
    let ada2 = person(&fixture.cairn, "ada2").await;
    let news = "/tracker/tenants/tenant-3cc8/projects/project-7b7e";
    fixture.cairn.caught_up().await;
    let here = issue(&fixture, "issue-020e").await;
    let there = table(&fixture).get("issue-3544", "project-7b7e").await.unwrap();
    let gone = fixture.project("Gone").await;
    let of_gone = fixture.issue(&gone, "Gone", json!({})).await.text("id").to_owned();
    let of_gone = table(&fixture).get(&of_gone, gone.rsplit('/').next().unwrap()).await.unwrap();
    fixture.ada.delete(&format!("{gone}?cascade=true")).await;
    let of = [&here, &there, &of_gone];
    // The changes of one project are more than a transaction takes.
    let records: Vec<Value> = (0..330).map(|place| table(&fixture).insert_record(of[place % 3], place)).collect();
    assert_eq!(log(&fixture.cairn, &records).await, none_failed());
    let here = since(&fixture, PROJECT, "since=3&limit=100").await;
    assert_eq!(here.each("change"), (4..=103).collect::<Vec<_>>());
    assert_eq!(since(&fixture, PROJECT, "since=103").await.each("change"), (104..=113).collect::<Vec<_>>());
    let there = ada2.get(&format!("{news}/changes?since=102&limit=100")).await.is(200);
    assert_eq!(there.each("change"), (103..=112).collect::<Vec<_>>());
}

async fn record_is_reported_while_the_table_does_not_respond() {
    let fixture = Fixture::new().await;
    fixture.cairn.caught_up().await;
    let one = issue(&fixture, "issue-020e").await;
    let records: Vec<Value> = (0..2).map(|place| table(&fixture).insert_record(&one, place)).collect();
    let engines = fixture.cairn.engines();
    let silent = Config { dynamodb: Some("http://127.0.0.1:1".to_owned()), ..engines.config.clone() };
    let app = ::tracker::app(engines.at(silent));
    let payload = json!({ "Records": records }).to_string();
    let deadline = Instant::now() + Duration::from_secs(60);
    let answer = app.event(LOG_CHANGES, payload.clone().into(), deadline).await.unwrap();
    let first = json!({ "batchItemFailures": [{ "itemIdentifier": records[0]["dynamodb"]["SequenceNumber"] }] });
    assert_eq!(serde_json::from_slice::<Value>(&answer).unwrap(), first);
    // An invocation that is about to end does not begin a transaction.
    let app = ::tracker::app(Arc::clone(engines));
    let answer = app.event(LOG_CHANGES, payload.into(), Instant::now() + Duration::from_secs(20)).await.unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&answer).unwrap(), first);
    assert_eq!(kinds(&since(&fixture, PROJECT, "since=3").await), [""; 0]);
}

async fn gap_in_the_changes_makes_clients_start_again() {
    let fixture = Fixture::new().await;
    fixture.cairn.caught_up().await;
    let table = table(&fixture);
    let mut last = table.get("changes-35e9", "*").await.unwrap();
    last.insert("Last".to_owned(), item::number(4));
    table.put(last).await;
    fixture.issue(PROJECT, "Later", json!({})).await;
    let before = since(&fixture, PROJECT, "since=2").await;
    assert_eq!((before.each("change"), &before["more"]), (vec![&json!(3)], &json!(true)));
    let refused = fixture.ann.get(&format!("{PROJECT}/changes?since=3")).await.refused(410, "changes-expired");
    assert!(refused.text("detail").starts_with("Send a request without `since`"), "{}", refused.text("detail"));
    assert_eq!(kinds(&since(&fixture, PROJECT, "since=4").await), ["created 4"]);
    assert_eq!(since(&fixture, PROJECT, "").await["since"], 5);
}

async fn changes_that_have_expired_are_gone() {
    let mut fixture = Fixture::new().await;
    fixture.cairn.caught_up().await;
    let day = Duration::from_secs(24 * 3600);
    fixture.cairn.clock.advance(29 * day);
    fixture.ann = person(&fixture.cairn, "ann").await;
    fixture.issue(PROJECT, "Later", json!({})).await;
    assert_eq!(kinds(&since(&fixture, PROJECT, "since=0").await).len(), 4);
    fixture.cairn.clock.advance(2 * day);
    fixture.ann = person(&fixture.cairn, "ann").await;
    for since in [0, 2] {
        fixture.ann.get(&format!("{PROJECT}/changes?since={since}")).await.refused(410, "changes-expired");
    }
    assert_eq!(kinds(&since(&fixture, PROJECT, "since=3").await), ["created 4"]);
    assert_eq!(since(&fixture, PROJECT, "").await["since"], 4);
}

async fn deleted_project_has_no_changes_left() {
    let fixture = Fixture::new().await;
    fixture.cairn.caught_up().await;
    let one = issue(&fixture, "issue-020e").await;
    let records: Vec<Value> = (0..sized(1000, 3000)).map(|place| table(&fixture).insert_record(&one, place)).collect();
    assert_eq!(log(&fixture.cairn, &records).await, none_failed());
    let is_left = async || {
        let items = table(&fixture).partitions().await;
        items.iter().any(|pk| pk == "changes-35e9")
    };
    assert!(is_left().await);
    let deleted = fixture.ada.delete(&format!("{PROJECT}?cascade=true")).await;
    assert!([202, 204].contains(&deleted.status), "{}", deleted.told());
    fixture.settled().await;
    fixture.cairn.caught_up().await;
    // A late record of an issue that was deleted with its project.
    assert_eq!(log(&fixture.cairn, &records[..2]).await, none_failed());
    assert!(!is_left().await);
}

async fn changes_are_for_members_and_since_is_checked() {
    let fixture = Fixture::new().await;
    fixture.cairn.caught_up().await;
    let changes = format!("{PROJECT}/changes");
    person(&fixture.cairn, "vic").await.get(&changes).await.is(200);
    person(&fixture.cairn, "ada2").await.get(&changes).await.refused(404, "not-found");
    fixture.ann.get(&format!("{TENANT}/projects/project-7b7e/changes")).await.refused(404, "not-found");
    // As after the restoration of a table.
    for above in ["4", "18446744073709551615"] {
        fixture.ann.get(&format!("{changes}?since={above}")).await.refused(410, "changes-expired");
    }
    for wrong in ["-1", "18446744073709551616", "1.5", "now", ""] {
        fixture.ann.get(&format!("{changes}?since={wrong}")).await.faulty(&["since"]);
    }
    fixture.ann.get(&format!("{changes}?limit=0")).await.faulty(&["limit"]);
}
