//! Redrives of records that were given up, and of items in quarantine.

use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll};

use futures::task::noop_waker_ref;
use serde_json::{Value, json};
use table::Key;

use super::NIGHTLY;
use super::executor::{TABLES, drive};
use super::scenarios::{codes, deliver_from, key, leaf, poison, put, serving, visible};
use super::toy::Leaves;
use super::world::{Fate, Kind, Shared};
use crate::ports::Fault;
use crate::quarantine::Code;
use crate::redrive::{Redrive, Redriven, Repairs, Run};
use crate::status::count_markers;

const FUNCTION: &str = "toy-mirror";

const MINUTE: i64 = 60_000_000;

async fn run(shared: &Shared, redrive: Redrive<'_>) -> Result<Redriven, Fault> {
    let (failures, documents, tables) = (shared, &Leaves, &*TABLES);
    Run { ports: shared, failures, documents, tables, function: FUNCTION, redrive }.all().await
}

fn redrive(shared: &Shared) -> Redriven {
    drive(shared, run(shared, Redrive { dry_run: false, on_batch: &|_| () })).unwrap()
}

/// Stores an object as Lambda does with what this function gave up.
fn keep(shared: &Shared, name: &str, function: &str, payload: &str) {
    let function = format!("arn:aws:lambda:ca-central-1:000000000000:function:{function}");
    let object = json!({ "requestContext": { "functionArn": function }, "payload": payload });
    let mut world = shared.world();
    let since = world.now;
    world.failures.insert(name.to_owned(), (since, object.to_string()));
}

/// Gives up the records of the stream from this position on.
fn give_up(shared: &Shared, name: &str, from: usize) {
    let to = shared.world_len();
    let payload = shared.world().event(from, to);
    keep(shared, name, FUNCTION, &payload);
}

fn wait(shared: &Shared, minutes: i64) {
    shared.world().now += minutes * MINUTE;
}

fn names(shared: &Shared) -> Vec<String> {
    shared.world().failures.keys().cloned().collect()
}

/// Changes an item at its revision, as if another release could read what it already has.
fn cure(shared: &Shared, tree: &str) {
    let (key, mut cured) = (key(tree), leaf("cured", 10));
    cured.insert("PK".to_owned(), json!({ "S": key.pk }));
    cured.insert("SK".to_owned(), json!({ "S": key.sk }));
    shared.world().table.insert(key, cured);
}

#[test]
fn records_that_were_given_up_are_repaired_from_the_table_after_20_minutes() {
    let shared = serving();
    put(&shared, "a", Some(leaf("old", 10)));
    put(&shared, "a", Some(leaf("new", 12)));
    put(&shared, "b", Some(leaf("deleted", 10)));
    put(&shared, "c", Some(poison(10)));
    give_up(&shared, "1", 0);
    put(&shared, "b", None);

    wait(&shared, 19);
    assert_eq!(redrive(&shared), Redriven { waiting: 1, ..Redriven::default() });
    assert_eq!((visible(&shared), names(&shared)), (vec![], vec!["1".to_owned()]));

    wait(&shared, 1);
    let before = shared.world().table.clone();
    let redriven = redrive(&shared);
    // The item in quarantine is repaired once more with the other markers.
    let repairs = Repairs { written: 1, nothing: 1, quarantined: 2, ..Repairs::default() };
    assert_eq!(redriven, Redriven { objects: 1, records: 4, keys: 4, repairs, ..Redriven::default() });
    assert_eq!(visible(&shared), [("TREE#a#LEAF#1".to_owned(), 12)]);
    assert_eq!(codes(&shared), [(Code::Unfit, 10)]);
    assert_eq!(shared.world().table, before);
    assert_eq!(names(&shared), Vec::<String>::new());
}

#[test]
fn records_without_a_searchable_key_go_to_quarantine_or_are_left_out() {
    let shared = serving();
    let record = |keys: Value| {
        let arn = "arn:aws:dynamodb:ca-central-1:000000000000:table/trees/stream/2024";
        json!({ "eventName": "INSERT", "eventSourceARN": arn, "dynamodb": { "Keys": keys, "SequenceNumber": "1" } })
    };
    let of = |pk: &str, sk: &str| record(json!({ "PK": { "S": pk }, "SK": { "S": sk } }));
    let records = json!({ "Records": [of("COUNTER", "leaves"), of("BUSH#a", "LEAF#1"), record(json!({})), 7] });
    shared.world().put(&Key::new("BUSH#a", "LEAF#1"), Some(leaf("no such template", 10)));
    keep(&shared, "1", FUNCTION, &records.to_string());
    wait(&shared, 20);
    let redriven = redrive(&shared);
    let repairs = Repairs { quarantined: 3, ..Repairs::default() };
    let expected = Redriven { objects: 1, records: 4, keys: 4, unrepairable: 3, repairs, ..Redriven::default() };
    assert_eq!(redriven, expected);
    // Only their dismissal clears them.
    assert_eq!(redrive(&shared), Redriven { unrepairable: 3, ..Redriven::default() });
    let mut found: Vec<_> = codes(&shared).into_iter().map(|(code, _)| code.name()).collect();
    found.sort_unstable();
    assert_eq!(found, ["unknown-key", "unknown-record", "unknown-record"]);
}

#[test]
fn key_that_can_have_no_document_is_in_quarantine_while_its_item_exists() {
    let shared = serving();
    let keys = [Key::new(format!("TREE#{}", "a".repeat(600)), "LEAF#1"), Key::new("BUSH#a", "LEAF#1")];
    keys.iter().for_each(|key| shared.world().put(key, Some(leaf("no document", 10))));
    give_up(&shared, "1", 0);
    wait(&shared, 20);
    redrive(&shared);
    let mut found: Vec<_> = codes(&shared).into_iter().map(|(code, rev)| (code.name(), rev)).collect();
    found.sort_unstable();
    assert_eq!(found, [("key-too-long", 10), ("unknown-key", 10)]);

    // The records of the deletes were lost.
    keys.iter().for_each(|key| shared.world().put_silently(key, None));
    let repairs = Repairs { nothing: 1, ..Repairs::default() };
    assert_eq!(redrive(&shared), Redriven { keys: 1, unrepairable: 1, repairs, ..Redriven::default() });
    assert_eq!(codes(&shared), [(Code::UnknownKey, 10)]);
    give_up(&shared, "2", 0);
    wait(&shared, 20);
    let repairs = Repairs { nothing: 2, ..Repairs::default() };
    let expected = Redriven { objects: 1, records: 2, keys: 2, repairs, ..Redriven::default() };
    assert_eq!((redrive(&shared), codes(&shared)), (expected, vec![]));
}

#[test]
fn objects_of_other_functions_and_unreadable_ones_are_left() {
    let shared = serving();
    put(&shared, "a", Some(leaf("a", 10)));
    let payload = shared.world().event(0, 1);
    keep(&shared, "1", "toy-live", &payload);
    keep(&shared, "2", FUNCTION, "nothing that can be read");
    shared.world().failures.insert("3".to_owned(), (0, "{}".to_owned()));
    wait(&shared, 60);
    let left = Redriven { others: 2, unreadable: 1, unreadable_object: Some("2".to_owned()), ..Redriven::default() };
    assert_eq!(redrive(&shared), left);
    assert_eq!(names(&shared).len(), 3);
}

#[test]
fn dry_run_changes_nothing() {
    let shared = serving();
    put(&shared, "q", Some(poison(10)));
    deliver_from(&shared, 0);
    put(&shared, "a", Some(leaf("a", 10)));
    give_up(&shared, "1", 1);
    wait(&shared, 60);
    let redriven = drive(&shared, run(&shared, Redrive { dry_run: true, on_batch: &|_| () })).unwrap();
    assert_eq!(redriven, Redriven { objects: 1, records: 1, keys: 2, ..Redriven::default() });
    assert_eq!((visible(&shared), names(&shared).len(), codes(&shared).len()), (vec![], 1, 1));
}

#[test]
fn object_is_kept_while_one_of_its_keys_cannot_be_repaired() {
    let shared = serving();
    put(&shared, "a", Some(leaf("a", 10)));
    let mut slow = leaf("b", 10);
    slow.insert("area".to_owned(), json!({ "S": "slow" }));
    put(&shared, "b", Some(slow));
    give_up(&shared, "1", 0);
    wait(&shared, 20);
    let redriven = redrive(&shared);
    assert_eq!((redriven.repairs.written, redriven.repairs.failed, redriven.objects), (1, 1, 0));
    assert!(redriven.reasons[0].contains("timeout"), "{:?}", redriven.reasons);
    assert_eq!(names(&shared).len(), 1);
    put(&shared, "b", Some(leaf("b", 12)));
    assert_eq!(redrive(&shared).objects, 1);
    assert_eq!((visible(&shared).len(), names(&shared).len()), (2, 0));
}

#[test]
fn item_whose_document_alone_is_too_large_goes_to_quarantine() {
    let shared = serving();
    put(&shared, "a", Some(leaf("large", 10)));
    give_up(&shared, "1", 0);
    wait(&shared, 20);
    let mut run = pin!(run(&shared, Redrive { dry_run: false, on_batch: &|_| () }));
    let mut bulks = 0;
    let redriven = loop {
        if let Poll::Ready(redriven) = run.as_mut().poll(&mut Context::from_waker(noop_waker_ref())) {
            break redriven.unwrap();
        }
        let mut world = shared.world();
        let place = world.requests.iter().position(|request| request.kind != Kind::Expired).unwrap();
        let is_bulk = world.requests[place].kind == Kind::Bulk;
        bulks += usize::from(is_bulk);
        // Each document is followed by the tombstone of its item.
        let fate = if is_bulk && bulks % 2 == 1 { Fate::Refused(413) } else { Fate::Answered };
        world.carry(place, fate);
    };
    // The item is repaired as a record that was given up, and then as one in quarantine.
    let repairs = Repairs { quarantined: 2, ..Repairs::default() };
    assert_eq!(redriven, Redriven { objects: 1, records: 1, keys: 2, repairs, ..Redriven::default() });
    assert_eq!((visible(&shared), codes(&shared), names(&shared).len()), (vec![], vec![(Code::TooLarge, 10)], 0));

    let repairs = Repairs { written: 1, ..Repairs::default() };
    assert_eq!(redrive(&shared), Redriven { keys: 1, repairs, ..Redriven::default() });
    assert_eq!((visible(&shared).len(), codes(&shared)), (1, vec![]));
}

#[test]
fn redrive_that_stops_at_any_request_is_resumed_by_the_next() {
    for requests in 0.. {
        let shared = serving();
        put(&shared, "q", Some(poison(10)));
        deliver_from(&shared, 0);
        cure(&shared, "q");
        put(&shared, "a", Some(leaf("a", 10)));
        put(&shared, "b", Some(leaf("b", 10)));
        put(&shared, "b", None);
        give_up(&shared, "1", 1);
        wait(&shared, 20);
        let ended = stop_after(&shared, requests);
        redrive(&shared);
        let shown = [("TREE#a#LEAF#1".to_owned(), 10), ("TREE#q#LEAF#1".to_owned(), 10)];
        assert_eq!((visible(&shared), codes(&shared), names(&shared).len()), (shown.to_vec(), vec![], 0), "{requests}");
        if ended {
            assert!(requests > 10, "it ended after {requests} requests");
            return;
        }
    }
}

/// Starts a redrive and drops it after this number of requests. Returns whether it had ended.
fn stop_after(shared: &Shared, requests: usize) -> bool {
    let mut future = Box::pin(run(shared, Redrive { dry_run: false, on_batch: &|_| () }));
    for _ in 0..=requests {
        if let Poll::Ready(redriven) = future.as_mut().poll(&mut Context::from_waker(noop_waker_ref())) {
            redriven.unwrap();
            return true;
        }
        let mut world = shared.world();
        let place = world.requests.iter().position(|request| request.kind != Kind::Expired).unwrap();
        world.carry(place, Fate::Answered);
    }
    drop(future);
    shared.world().requests.clear();
    false
}

#[test]
fn many_items_that_were_fixed_leave_quarantine_and_delay_no_other_item() {
    let count = if NIGHTLY { 100_000 } else { 3_000 };
    let shared = serving();
    for number in 0..count {
        put(&shared, &format!("q{number}"), Some(poison(10)));
    }
    for from in (0..count).step_by(1_000) {
        let payload = shared.world().event(from, (from + 1_000).min(count));
        super::scenarios::deliver(&shared, &payload);
    }
    assert_eq!(codes(&shared).len(), count);
    // A release can read the items, so they are the same as before. Their records are not written again.
    for number in 0..count {
        cure(&shared, &format!("q{number}"));
    }
    let most = Mutex::new(0);
    let on_batch = |_: &Redriven| {
        let mut most = most.lock().unwrap();
        *most = shared.world().requests.len().max(*most);
    };
    let mut future = Box::pin(run(&shared, Redrive { dry_run: false, on_batch: &on_batch }));
    let mut context = Context::from_waker(noop_waker_ref());
    let mut polls = 0;
    let redriven = loop {
        if let Poll::Ready(redriven) = future.as_mut().poll(&mut context) {
            break redriven.unwrap();
        }
        polls += 1;
        if polls == 100 {
            // Another item is written while the redrive waits for its requests.
            let waiting = std::mem::take(&mut shared.world().requests);
            let from = shared.world_len();
            put(&shared, "other", Some(leaf("other", 10)));
            assert_eq!(deliver_from(&shared, from).ledger.applied, 1);
            shared.world().requests = waiting;
        }
        let mut world = shared.world();
        let place = world.requests.iter().position(|request| request.kind != Kind::Expired).unwrap();
        world.carry(place, Fate::Answered);
    };
    assert!(polls > 100);
    let repairs = Repairs { written: count, ..Repairs::default() };
    assert_eq!(redriven, Redriven { keys: count, repairs, ..Redriven::default() });
    assert_eq!((visible(&shared).len(), codes(&shared)), (count + 1, vec![]));
    // A batch reads eight items at a time, and four batches run at a time.
    assert!(*most.lock().unwrap() <= 4 * 8, "{most:?}");
}

#[test]
fn markers_are_counted_on_every_page_up_to_a_thousand() {
    let shared = serving();
    for (markers, counted) in [(600, 600), (1_100, 1_000)] {
        for from in (shared.world_len()..markers).step_by(100) {
            (from..from + 100).for_each(|number| put(&shared, &format!("q{number}"), Some(poison(10))));
            deliver_from(&shared, from);
        }
        let written = shared.world().generations.clone().unwrap().written;
        assert_eq!(drive(&shared, count_markers(&shared, &written)).unwrap(), counted);
    }
}
