//! Concurrent writes.

use std::collections::BTreeSet;
use std::future::IntoFuture;
use std::sync::Arc;

use futures::future::join_all;
use serde_json::json;

use super::fixture::{Fixture, PROJECT, numbers};
use crate::harness::conflicts::Conflicts;
use crate::harness::lines::OF_THE_RUN;
use crate::harness::{recorder, warnings};
use crate::tests;

tests! { tracker_concurrent:
    hundred_concurrent_creates_get_distinct_issue_numbers,
    hundred_concurrent_creates_survive_conflicts,
    #[long] gap_in_numbers_comes_from_a_failed_create,
    two_editors_of_one_issue_both_succeed,
    two_tenant_administrators_leaving_at_once_keep_one,
}

async fn hundred_concurrent_creates_get_distinct_issue_numbers() {
    a_hundred_create(&Fixture::new().await).await;
}

async fn hundred_concurrent_creates_survive_conflicts() {
    let fixture = Fixture::new().await;
    let conflicts = fixture.cairn.conflicts(0.2);
    a_hundred_create(&fixture).await;
    // Each creation is two writes: the number, and the issue with its rows.
    assert!(conflicts.count() > 20, "{}", conflicts.count());
}

pub async fn a_hundred_create(fixture: &Fixture) {
    let project = fixture.project("New").await;
    let path = format!("{project}/issues");
    let calls =
        (0..100).map(|place| fixture.ann.post(&path, json!({ "name": format!("Issue {place}") })).into_future());
    let mut given: Vec<u64> =
        join_all(calls).await.into_iter().map(|made| made.is(201)["number"].as_u64().unwrap()).collect();
    given.sort_unstable();
    assert_eq!(given, (1..=100).collect::<Vec<_>>());
    let page = fixture.ann.get(&format!("{project}/grid?limit=100&count=true")).await.is(200);
    assert_eq!(numbers(&page), given);
    assert_eq!(page["total"], json!({ "value": 100, "exact": true }));

    let calls = (0..10).map(|_| fixture.ann.post(&path, json!({ "name": "Once" })).once("k").into_future());
    let answers = join_all(calls).await;
    let first = answers[0].clone().is(201);
    for answer in answers {
        let answer = answer.is(201);
        assert_eq!((&answer.body, answer.tag()), (&first.body, first.tag()));
    }
    let page = fixture.ann.get(&format!("{project}/grid?count=true&limit=1")).await.is(200);
    assert_eq!(page["total"], json!({ "value": 101, "exact": true }));
    fixture.holds().await;
}

/// Of a hundred at once, sixty come in pairs with one key: one of two creates, and the other may have taken a number in
/// vain. The others meet conflicts for as long as they try, once they have a number.
async fn gap_in_numbers_comes_from_a_failed_create() {
    const PAIRS: usize = 30;
    let fixture = Fixture::new().await;
    let project = fixture.project("Gaps").await;
    let path = format!("{project}/issues");
    let conflicts = Arc::new(Conflicts::at(0.2).always("Doomed"));
    recorder::OF_THE_RUN.conflicts(fixture.cairn.engines(), Arc::clone(&conflicts));
    let twice = |place: usize| fixture.ann.post(&path, json!({ "name": "Once" })).once(&format!("k{}", place / 2));
    let doomed = |place: usize| fixture.ann.post(&path, json!({ "name": format!("Doomed {place}") }));
    let calls = (0..100).map(|place| if place < 2 * PAIRS { twice(place) } else { doomed(place) });
    let answers = join_all(calls.map(IntoFuture::into_future)).await;
    let (pairs, failed) = answers.split_at(2 * PAIRS);
    let mut given = BTreeSet::new();
    for pair in pairs.chunks(2) {
        assert_eq!(pair[0].clone().is(201).body, pair[1].clone().is(201).body);
        assert!(given.insert(pair[0]["number"].as_u64().unwrap()), "a number was given twice");
    }
    let mut in_vain = Vec::new();
    for answer in &answers {
        let request = answer.header("apigw-requestid");
        let units = OF_THE_RUN.of(request).consumed().get("nextNumber").map_or(0.0, |(_, write)| *write);
        assert!(units == 0.0 || units == 1.0, "a request takes one number or none: {units} units");
        let told = warnings::OF_THE_RUN.of(request);
        let told: Vec<u64> = told.iter().filter_map(|warning| warning.number("number")).collect();
        assert!(told.is_empty() || units == 1.0, "a request tells of {told:?}, and has taken no number");
        in_vain.extend(told);
    }
    for answer in failed {
        answer.clone().refused(409, "conflict");
    }
    in_vain.sort_unstable();
    let next = fixture.issue(&project, "Next", json!({})).await["number"].as_u64().unwrap();
    let missing: Vec<u64> = (1..next).filter(|number| !given.contains(number)).collect();
    assert_eq!(in_vain, missing, "each number that is missing is told by one request that took it");
    assert!(missing.len() > failed.len(), "none of two with one key has taken a number in vain");
    assert!(conflicts.count() > 20, "{}", conflicts.count());
    fixture.holds().await;
}

async fn two_editors_of_one_issue_both_succeed() {
    two_edit_one_issue(&Fixture::new().await).await;
}

pub async fn two_edit_one_issue(fixture: &Fixture) {
    let issue = format!("{PROJECT}/issues/issue-020e");
    let set = |attribute: &str, value: &str| {
        fixture.ann.put(&format!("{issue}/values/{attribute}"), json!({ "value": value }))
    };
    let (one, other) = tokio::join!(set("xattrib-3fe6", "7").into_future(), set("xattrib-47e5", "Seen").into_future());
    one.is(200);
    other.is(200);
    let both = fixture.ann.get(&issue).await.is(200);
    assert_eq!((&both["values"]["xattrib-3fe6"], &both["values"]["xattrib-47e5"]), (&json!("7"), &json!("Seen")));
    let tag = both.tag();
    let (one, other) = tokio::join!(
        set("xattrib-3fe6", "8").if_match(&tag).into_future(),
        set("xattrib-47e5", "Again").if_match(&tag).into_future()
    );
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412]);
    fixture.holds().await;
}

async fn two_tenant_administrators_leaving_at_once_keep_one() {
    let fixture = Fixture::new().await;
    let members = "/tracker/tenants/tenant-0807/members";
    fixture.ada.patch(&format!("{members}/local:ann"), json!({ "role": "admin" })).await.is(200);
    let (ada, ann) = tokio::join!(
        fixture.ada.delete(&format!("{members}/local:ada")).into_future(),
        fixture.ann.delete(&format!("{members}/local:ann")).into_future()
    );
    let mut statuses = [ada.status, ann.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [204, 409]);
    let gone = if ada.status == 204 { &fixture.ada } else { &fixture.ann };
    gone.get(members).await.refused(404, "not-found");
}
