//! The events of changes on the event bus.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ::agencies::schema::PUBLISH_EVENTS;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use serde_json::{Value, json};
use table::{Config, item};
use tokio::time::Instant;

use super::stage::{Stage, hash, invitation};
use crate::harness::Cairn;
use crate::harness::server::Server;
use crate::harness::table::{Item, text};
use crate::tests;

tests! { change_events:
    each_change_is_an_event,
    deletion_of_an_agency_is_an_event_for_each_of_its_members_and_invitations,
    record_that_is_delivered_again_has_the_same_event,
    stamp_and_end_of_an_invitation_s_time_are_no_events,
    record_that_the_bus_refuses_is_reported,
}

/// Returns the kinds of an agency's events, by subject, in the order of the log.
async fn told(stage: &Stage, agency: &str) -> BTreeMap<String, Vec<String>> {
    let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in stage.cairn.bus_events().await {
        let detail = &event["detail"];
        if detail["agencyId"] == agency {
            let of = |name: &str| detail[name].as_str().unwrap().to_owned();
            told.entry(of("subject")).or_default().push(of("type"));
        }
    }
    told
}

fn expected<const N: usize>(subjects: [(&str, &[&str]); N]) -> BTreeMap<String, Vec<String>> {
    let owned = |kinds: &[&str]| kinds.iter().map(|kind| (*kind).to_owned()).collect();
    subjects.into_iter().map(|(subject, kinds)| (subject.to_owned(), owned(kinds))).collect()
}

async fn each_change_is_an_event() {
    let stage = Stage::new().await;
    let Stage { cairn, root, .. } = &stage;
    let new = json!({ "name": "Lake Guard", "admin": { "idpid": "idp:fay", "displayName": "Fay" } });
    let id = root.post("/agencies", new).await.is(201).text("agencyId").to_owned();
    let agency = format!("/agencies/{id}");
    root.post(&format!("{agency}/activate"), json!({})).await.is(200);
    root.patch(&agency, json!({ "name": "Lake Rescue" })).await.is(200);
    let gil = format!("{agency}/members/idp:gil");
    let member = json!({ "idpid": "idp:gil", "displayName": "Gil" });
    root.post(&format!("{agency}/members"), member).await.is(201);
    root.patch(&gil, json!({ "role": "admin" })).await.is(200);
    root.patch(&gil, json!({ "status": "suspended" })).await.is(200);
    root.patch(&gil, json!({ "status": "active" })).await.is(200);
    root.delete(&gil).await.is(204);
    let invitations = format!("{agency}/invitations");
    root.post(&invitations, invitation("hal@example.org")).await.is(201);
    root.delete(&format!("{invitations}/{}", hash("hal@example.org"))).await.is(204);
    let hal = stage.somebody("hal", Some("hal@example.org")).await;
    for answer in ["decline", "accept"] {
        root.post(&invitations, invitation("hal@example.org")).await.is(201);
        let answered = hal.post(&format!("/agencies/me/invitations/{id}/{answer}"), json!({})).await;
        assert!([200, 201].contains(&answered.status), "{answer}: {answered:?}");
    }
    root.post(&format!("{agency}/deactivate"), json!({})).await.is(200);

    let all = expected([
        (&id, &["agency.created", "agency.activated", "agency.updated", "agency.deactivated"]),
        ("idp:fay", &["member.added"]),
        ("idp:gil", &["member.added", "member.updated", "member.suspended", "member.reinstated", "member.removed"]),
        ("idp:hal", &["member.added"]),
        (
            "hal@example.org",
            &[
                "invitation.created",
                "invitation.revoked",
                "invitation.created",
                "invitation.declined",
                "invitation.created",
                "invitation.accepted",
            ],
        ),
    ]);
    assert_eq!(told(&stage, &id).await, all);
    let events = cairn.bus_events().await;
    let keys: BTreeSet<&str> = events.iter().map(|event| event["detail"]["key"].as_str().unwrap()).collect();
    assert_eq!(keys.len(), events.len(), "each event has a key of its own");
    let now = table::clock::rfc3339(cairn.clock.now());
    for event in &events {
        let detail = &event["detail"];
        assert_eq!(event["source"], cairn.engines().config.event_source("agencies"));
        assert_eq!(event["detail-type"], detail["type"]);
        let at = detail["at"].as_str().unwrap();
        assert!(at <= now.as_str() && at.starts_with(event["time"].as_str().unwrap().trim_end_matches('Z')), "{event}");
    }
}

async fn deletion_of_an_agency_is_an_event_for_each_of_its_members_and_invitations() {
    let stage = Stage::new().await;
    stage.root.delete("/agencies/n?cascade=true").await;
    stage.root.get("/agencies/n").await.refused(404, "not-found");
    let all = expected([
        ("n", &["agency.created", "agency.deleted"]),
        ("idp:ann", &["member.added", "member.removed"]),
        ("idp:bob", &["member.added", "member.removed"]),
        ("dee@example.org", &["invitation.created", "invitation.revoked"]),
    ]);
    assert_eq!(told(&stage, "n").await, all);
}

async fn member(stage: &Stage, subject: &str) -> Item {
    stage.table().get("AGENCY#n", &format!("MEMBER#idp:{subject}")).await.unwrap()
}

/// Calls the handler with records. Returns the sequence number of the record that it reports, and the details of the new
/// events.
async fn publish(cairn: &Cairn, records: &[Value]) -> (Option<String>, Vec<Value>) {
    let before = cairn.bus_events().await.len();
    let answer = cairn.event("agencies", PUBLISH_EVENTS, &json!({ "Records": records })).await.unwrap();
    let events = cairn.bus_events().await.split_off(before);
    (reported(&answer), events.into_iter().map(|mut event| event["detail"].take()).collect())
}

fn reported(answer: &Value) -> Option<String> {
    let failures = answer["batchItemFailures"].as_array().unwrap();
    assert!(failures.len() <= 1, "{answer}");
    failures.first().map(|failure| failure["itemIdentifier"].as_str().unwrap().to_owned())
}

async fn record_that_is_delivered_again_has_the_same_event() {
    let stage = Stage::new().await;
    let record = stage.table().insert_record(&member(&stage, "bob").await, 0);
    let (reported, first) = publish(&stage.cairn, std::slice::from_ref(&record)).await;
    assert_eq!((reported, first.len()), (None, 1));
    assert_eq!((&first[0]["type"], &first[0]["subject"]), (&json!("member.added"), &json!("idp:bob")));
    assert_eq!(publish(&stage.cairn, &[record]).await, (None, first));
}

async fn stamp_and_end_of_an_invitation_s_time_are_no_events() {
    let stage = Stage::new().await;
    let (cairn, table) = (&stage.cairn, stage.table());
    let bob = member(&stage, "bob").await;
    let mut stamp = table.insert_record(&bob, 0);
    stamp["dynamodb"]["OldImage"] = table.remove_record(&bob, 0)["dynamodb"]["OldImage"].clone();
    stamp["dynamodb"]["NewImage"]["rev"]["N"] = json!("8");
    let gate = table.get("GATE#n", "GATE#n").await.unwrap();
    let mut foreign = bob.clone();
    foreign.insert("role".to_owned(), text("captain"));
    let none = [stamp, table.insert_record(&gate, 1), table.insert_record(&foreign, 2)];
    assert_eq!(publish(cairn, &none).await, (None, Vec::new()));

    let dee = format!("INVITATION#{}", hash("dee@example.org"));
    let mut invited = table.get("AGENCY#n", &dee).await.unwrap();
    let removal = |invited: &Item| table.remove_record(invited, 3);
    // The record is from 1970, when the invitation was pending.
    let (_, revoked) = publish(cairn, &[removal(&invited)]).await;
    assert_eq!(revoked.iter().map(|event| &event["type"]).collect::<Vec<_>>(), ["invitation.revoked"]);
    invited.insert("expiresAt".to_owned(), text("1970-01-01T00:00:00.000000Z"));
    assert_eq!(publish(cairn, &[removal(&invited)]).await, (None, Vec::new()));
    invited.insert("status".to_owned(), text("declined"));
    assert_eq!(publish(cairn, &[removal(&invited)]).await, (None, Vec::new()));
}

async fn record_that_the_bus_refuses_is_reported() {
    let stage = Stage::new().await;
    let bob = member(&stage, "bob").await;
    let records: Vec<Value> = (0..12)
        .map(|number| {
            let mut one = bob.clone();
            one.insert("SK".to_owned(), text(&format!("MEMBER#idp:m{number}")));
            one.insert("rev".to_owned(), item::number(8 + 2 * number));
            stage.table().insert_record(&one, usize::try_from(number).unwrap())
        })
        .collect();
    let puts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&puts);
    // The first request succeeds. Later ones have an event that is refused.
    let bus = Server::start(move |request: Request<Incoming>| {
        let refuses = counted.fetch_add(1, Ordering::SeqCst) > 0;
        async move {
            let body: Value = serde_json::from_slice(&request.collect().await.unwrap().to_bytes()).unwrap();
            let mut entries: Vec<Value> = vec![json!({ "EventId": "1" }); body["Entries"].as_array().unwrap().len()];
            if refuses {
                entries[1] = json!({ "ErrorCode": "ThrottlingException", "ErrorMessage": "slow down" });
            }
            let answer = json!({ "FailedEntryCount": u8::from(refuses), "Entries": entries });
            Ok::<_, Infallible>(Response::new(Full::<Bytes>::from(answer.to_string())))
        }
    })
    .await;
    let engines = stage.cairn.engines();
    let config = Config { eventbridge: Some(bus.url.clone()), ..engines.config.clone() };
    let app = ::agencies::app(engines.at(config));
    let deadline = Instant::now() + Duration::from_secs(60);
    let payload = json!({ "Records": records }).to_string();
    let answer = app.event(PUBLISH_EVENTS, payload.into(), deadline).await.unwrap();
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    // The eleventh record is the first of the second request.
    assert_eq!(reported(&answer).as_deref(), records[10]["dynamodb"]["SequenceNumber"].as_str());
    assert_eq!(puts.load(Ordering::SeqCst), 2);
}
