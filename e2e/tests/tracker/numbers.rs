//! The next number of a project, set by its administrators.

use std::time::Duration;

use serde_json::{Value, json};
use table::item;

use super::files::{announce, new};
use super::fixture::{Fixture, PROJECT, is_open};
use crate::harness::Answer;
use crate::tests;

tests! { tracker_numbers:
    next_number_is_set_above_every_issue,
    project_with_exhausted_numbers_continues_after_next_number,
    number_allocated_in_between_keeps_the_counter,
    lowering_the_counter_allocates_no_number_twice,
}

fn to(number: u64) -> Value {
    json!({ "number": number })
}

/// How the work of an answer ended.
async fn ended(fixture: &Fixture, accepted: &Answer) -> Answer {
    let work = accepted.header("location");
    fixture.until(async || !is_open(&fixture.ada.get(work).await.is(200))).await;
    fixture.ada.get(work).await.is(200)
}

async fn next_number_is_set_above_every_issue() {
    let fixture = Fixture::new().await;
    let path = format!("{PROJECT}/next-number");
    fixture.ann.put(&path, to(10)).await.refused(403, "forbidden");
    fixture.ada.put(&path, to(0)).await.faulty(&["/number"]);
    fixture.ada.put(&path, to(1_000_000_000_001)).await.faulty(&["/number"]);
    fixture.ada.put(&path, to(10)).await.is(204);
    fixture.ada.put(&path, to(10)).await.is(204);
    let tenth = fixture.issue(PROJECT, "Tenth", json!({})).await;
    assert_eq!(tenth["number"], 10);
    // No limit of jumps holds for administrators.
    fixture.ada.put(&path, to(90_000_000)).await.is(204);
    let far = fixture.issue(PROJECT, "Far", json!({})).await;
    assert_eq!(far["number"], 90_000_000);
    let refused = fixture.ada.put(&path, to(90_000_000)).await.refused(409, "taken");
    assert_eq!(refused["errors"][0]["pointer"], "/number");
    fixture.ann.delete(far.header("location")).await.is(204);
    let refused = fixture.ada.put(&path, to(10)).await.refused(409, "taken");
    assert!(refused["errors"][0]["detail"].as_str().unwrap().contains("above 10,"), "{}", refused.told());
    // An import that is open may have numbers for issues that it has not made yet.
    let import = announce(&fixture.ann, PROJECT, new("create", "stop"), "Name\n").await;
    fixture.ada.put(&path, to(11)).await.refused(409, "numbers-in-use");
    fixture.ann.delete(import.header("location")).await.is(204);
    let accepted = fixture.ada.put(&path, to(11)).await.is(202);
    assert_eq!(accepted.text("kind"), "lowerNumbers");
    assert_eq!(ended(&fixture, &accepted).await.text("status"), "succeeded");
    assert_eq!(fixture.issue(PROJECT, "Eleventh", json!({})).await["number"], 11);
    fixture.holds().await;
}

/// Though people keep trying to make issues there.
async fn project_with_exhausted_numbers_continues_after_next_number() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Full").await;
    fixture.issue(&project, "First", json!({})).await;
    let counter = format!("counter-{}", project.rsplit("project-").next().unwrap());
    let table = fixture.cairn.table_of(&::tracker::schema::TRACKER);
    let mut item = table.get(&counter, "*").await.unwrap();
    item.insert("Last".to_owned(), item::number(1_000_000_000_000_u64));
    table.put(item).await;
    let full = async || {
        let one_more = fixture.ann.post(&format!("{project}/issues"), json!({ "name": "One more" })).await;
        one_more.refused(409, "taken");
    };
    full().await;
    let accepted = fixture.ada.put(&format!("{project}/next-number"), to(2)).await.is(202);
    full().await;
    assert_eq!(ended(&fixture, &accepted).await.text("status"), "succeeded");
    assert_eq!(fixture.issue(&project, "Second", json!({})).await["number"], 2);
    fixture.holds().await;
}

async fn number_allocated_in_between_keeps_the_counter() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Busy").await;
    let gone = fixture.issue(&project, "Gone", json!({})).await;
    fixture.ann.delete(gone.header("location")).await.is(204);
    let accepted = fixture.ada.put(&format!("{project}/next-number"), to(1)).await.is(202);
    let second = fixture.issue(&project, "Second", json!({})).await;
    assert_eq!(second["number"], 2);
    let stopped = ended(&fixture, &accepted).await;
    assert_eq!((stopped.text("status"), stopped.text("reason")), ("failed", "another number was allocated meanwhile"));
    assert_eq!(fixture.issue(&project, "Third", json!({})).await["number"], 3);
}

/// Whoever has taken a number before, and writes its issue after, takes another.
async fn lowering_the_counter_allocates_no_number_twice() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Raced").await;
    let path = format!("{project}/next-number");
    for round in 0..4 {
        let gone: Vec<Answer> = fixture.issues(&project, 5, |_| json!({})).await;
        for issue in &gone {
            fixture.ann.delete(issue.header("location")).await.is(204);
        }
        let next = gone.iter().map(|issue| issue["number"].as_u64().unwrap()).min().unwrap();
        let (set, made) =
            tokio::join!(async { fixture.ada.put(&path, to(next)).await }, fixture.issues(&project, 12, |_| json!({})));
        if set.status == 202 {
            let ended = ended(&fixture, &set).await;
            assert!(["succeeded", "failed"].contains(&ended.text("status")), "{round}: {}", ended.told());
        }
        fixture.issues(&project, 6, |_| json!({})).await;
        assert_eq!(made.len(), 12);
        fixture.holds().await;
        fixture.cairn.clock.advance(Duration::from_secs(1));
    }
}
