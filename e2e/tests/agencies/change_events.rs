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
use table::Config;
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
    invalid_item_has_no_event_and_its_repair_and_removal_have,
    record_that_the_bus_refuses_is_reported,
    #[long] record_is_reported_while_the_bus_does_not_respond,
}

/// Returns the types of an agency's events with the states in them, by subject, in the order of the log.
async fn events_of(stage: &Stage, agency: &str) -> BTreeMap<String, Vec<String>> {
    let mut events: BTreeMap<String, Vec<String>> = BTreeMap::new();
    stage.cairn.caught_up().await;
    for event in stage.cairn.bus_events() {
        let detail = &event["detail"];
        if detail["agencyId"] == agency {
            let of = |name: &str| detail[name].as_str();
            let event = [of("type"), of("status"), of("role")].into_iter().flatten().collect::<Vec<_>>().join(" ");
            events.entry(of("subject").unwrap().to_owned()).or_default().push(event);
        }
    }
    events
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
    root.patch(&gil, json!({ "role": "admin", "status": "suspended" })).await.is(200);
    root.patch(&gil, json!({ "role": "member", "status": "active" })).await.is(200);
    root.patch(&gil, json!({ "displayName": "Gilda" })).await.is(200);
    root.delete(&gil).await.is(204);
    let invitations = format!("{agency}/invitations");
    root.post(&invitations, invitation("hal@example.org")).await.is(201);
    root.delete(&format!("{invitations}/{}", hash("hal@example.org"))).await.is(204);
    let hal = stage.person("hal", Some("hal@example.org")).await;
    for answer in ["decline", "accept"] {
        root.post(&invitations, invitation("hal@example.org")).await.is(201);
        let answered = hal.post(&format!("/agencies/me/invitations/{id}/{answer}"), json!({})).await;
        assert!([200, 201].contains(&answered.status), "{answer}: {answered:?}");
    }
    root.post(&format!("{agency}/deactivate"), json!({})).await.is(200);

    let all = expected([
        (&id, &["agency.created pending", "agency.updated active", "agency.updated active", "agency.updated inactive"]),
        ("idp:fay", &["member.added active admin"]),
        (
            "idp:gil",
            &[
                "member.added active member",
                "member.updated suspended admin",
                "member.updated active member",
                "member.updated active member",
                "member.removed active member",
            ],
        ),
        ("idp:hal", &["member.added active member"]),
        (
            "hal@example.org",
            &[
                "invitation.created member",
                "invitation.revoked member",
                "invitation.created member",
                "invitation.declined member",
                "invitation.created member",
                "invitation.accepted member",
            ],
        ),
    ]);
    assert_eq!(events_of(&stage, &id).await, all);
    let events = cairn.bus_events();
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
        ("n", &["agency.created active", "agency.deleted active"]),
        ("idp:ann", &["member.added active admin", "member.removed active admin"]),
        ("idp:bob", &["member.added active member", "member.removed active member"]),
        ("dee@example.org", &["invitation.created member", "invitation.revoked member"]),
    ]);
    assert_eq!(events_of(&stage, "n").await, all);
}

async fn member(stage: &Stage, subject: &str) -> Item {
    stage.table().get("AGENCY#n", &format!("MEMBER#idp:{subject}")).await.unwrap()
}

/// Calls the handler with records. Returns the sequence number of the record that it reports, and the details of the new
/// events.
async fn publish(cairn: &Cairn, records: &[Value]) -> (Option<String>, Vec<Value>) {
    let before = cairn.bus_events().len();
    let answer = cairn.event("agencies", PUBLISH_EVENTS, &json!({ "Records": records })).await.unwrap();
    let events = cairn.bus_events().split_off(before);
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
    let none = [stamp, table.insert_record(&gate, 1)];
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

async fn invalid_item_has_no_event_and_its_repair_and_removal_have() {
    let stage = Stage::new().await;
    let (cairn, table) = (&stage.cairn, stage.table());
    let bob = member(&stage, "bob").await;
    let mut captain = bob.clone();
    captain.insert("role".to_owned(), text("captain"));
    let mut repair = table.insert_record(&bob, 1);
    repair["dynamodb"]["OldImage"] = table.remove_record(&captain, 1)["dynamodb"]["OldImage"].clone();
    let records = [table.insert_record(&captain, 0), repair, table.remove_record(&captain, 2)];
    let (reported, events) = publish(cairn, &records).await;
    assert_eq!(reported, None);
    let of = |name: &str| events.iter().map(|event| event[name].clone()).collect::<Vec<_>>();
    assert_eq!(of("type"), ["member.updated", "member.removed"]);
    assert_eq!(of("role"), [json!("member"), Value::Null]);
}

/// Returns the records of so many new members.
async fn added(stage: &Stage, number: usize) -> Vec<Value> {
    let bob = member(stage, "bob").await;
    let record = |number: usize| {
        let mut one = bob.clone();
        one.insert("SK".to_owned(), text(&format!("MEMBER#idp:m{number}")));
        stage.table().insert_record(&one, number)
    };
    (0..number).map(record).collect()
}

/// Calls the handler with another event bus. Returns the sequence number of the record that it reports.
async fn publish_to(stage: &Stage, bus: &str, records: &[Value]) -> Option<String> {
    let engines = stage.cairn.engines();
    let app = ::agencies::app(engines.at(Config { eventbridge: Some(bus.to_owned()), ..engines.config.clone() }));
    let deadline = Instant::now() + Duration::from_secs(60);
    let payload = json!({ "Records": records }).to_string();
    let answer = app.event(PUBLISH_EVENTS, payload.into(), deadline).await.unwrap();
    reported(&serde_json::from_slice(&answer).unwrap())
}

async fn record_that_the_bus_refuses_is_reported() {
    let stage = Stage::new().await;
    let records = added(&stage, 12).await;
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
    let reported = publish_to(&stage, &bus.url, &records).await;
    // The eleventh record is the first of the second request.
    assert_eq!(reported.as_deref(), records[10]["dynamodb"]["SequenceNumber"].as_str());
    assert_eq!(puts.load(Ordering::SeqCst), 2);
}

async fn record_is_reported_while_the_bus_does_not_respond() {
    let stage = Stage::new().await;
    let records = added(&stage, 2).await;
    let reported = publish_to(&stage, "http://127.0.0.1:1", &records).await;
    assert_eq!(reported.as_deref(), records[0]["dynamodb"]["SequenceNumber"].as_str());
}
