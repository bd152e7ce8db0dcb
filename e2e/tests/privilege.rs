//! Least privilege: the calls of functions are within the grants of their policies, and objects that S3 refuses are not
//! treated as absent.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::{Method, Request, Response};
use serde_json::{Value, json};
use table::Config;
use table::grant::Resource;
use tokio::time::Instant;

use crate::harness::Cairn;
use crate::harness::lines::Lines;
use crate::harness::recorder::Recorder;
use crate::harness::recorder::grants::{Grants, Kept, Use, Used};
use crate::harness::server::Server;
use crate::parks::shapes::ellipse;
use crate::tests;

tests! { privilege:
    call_outside_the_grants_is_reported,
    unused_grant_is_reported,
    listed_grant_that_is_used_is_reported,
    calls_of_another_platform_are_not_counted,
    forbidden_object_is_retried_and_not_taken_as_missing,
    shape_that_s3_refuses_alone_goes_to_quarantine_after_15_minutes,
}

/// Two functions with their grants.
fn grants() -> Grants {
    let grants = json!({ "systems": [{ "name": "toys", "functions": [
        { "name": "read", "grants": [
            { "action": "dynamodb:GetItem", "table": "toys" },
            { "action": "dynamodb:Query", "table": "toys", "index": "byName" },
            { "action": "s3:GetObject", "bucket": "toys", "objects": "pictures/" },
            { "action": "sqs:SendMessage", "queue": "toys-repairs" },
            { "action": "events:PutEvents", "eventSource": "toys" },
            { "action": "execute-api:ManageConnections", "connections": "POST" },
        ] },
        { "name": "mirror", "grants": [
            { "action": "dynamodb:UpdateItem", "table": "toys", "attributes": ["pk", "rev"] },
            { "action": "es:ESHttpPost", "searchPath": "toys-*-write/_bulk" },
        ] },
    ] }] });
    Grants::read(&grants.to_string())
}

fn table_of(name: &str) -> Resource {
    Resource::Table(name.to_owned())
}

fn objects(prefix: &str) -> Resource {
    Resource::Objects { bucket: "toys".to_owned(), prefix: prefix.to_owned() }
}

fn queue(name: &str) -> Resource {
    Resource::Queue(name.to_owned())
}

fn events_of(source: &str) -> Resource {
    Resource::EventBus { source: source.to_owned() }
}

fn connections(method: &str) -> Resource {
    Resource::Connections { method: method.to_owned() }
}

fn by_name() -> Resource {
    Resource::Index { table: "toys".to_owned(), index: "byName".to_owned() }
}

fn attributes(names: &[&str]) -> Resource {
    let attributes = names.iter().map(|name| (*name).to_owned()).collect();
    Resource::Attributes { table: "toys".to_owned(), attributes }
}

fn search(path: &str) -> Resource {
    Resource::Search { path: path.to_owned() }
}

fn used(by: &str, uses: impl IntoIterator<Item = (&'static str, Resource)>) -> Used {
    let uses = uses.into_iter().map(|(action, resource)| Use::new(action, resource));
    BTreeMap::from([(by.to_owned(), uses.collect())])
}

/// Asserts that each function may make exactly these calls.
fn all() -> Used {
    let mut all = used(
        "toys-read",
        [
            ("dynamodb:GetItem", table_of("toys")),
            ("dynamodb:Query", by_name()),
            ("s3:GetObject", objects("pictures/")),
            ("sqs:SendMessage", queue("toys-repairs")),
            ("events:PutEvents", events_of("toys")),
            ("execute-api:ManageConnections", connections("POST")),
        ],
    );
    all.extend(used(
        "toys-mirror",
        [("dynamodb:UpdateItem", attributes(&["pk", "rev"])), ("es:ESHttpPost", search("toys-000001-write/_bulk"))],
    ));
    all
}

async fn call_outside_the_grants_is_reported() {
    assert_eq!(grants().past(&all()), Vec::<String>::new());
    for (by, action, resource, told) in [
        ("toys-read", "dynamodb:PutItem", table_of("toys"), "dynamodb:PutItem on table toys"),
        ("toys-read", "dynamodb:GetItem", table_of("games"), "dynamodb:GetItem on table games"),
        ("toys-read", "dynamodb:Query", table_of("toys"), "dynamodb:Query on table toys"),
        ("toys-read", "s3:GetObject", objects("drafts/"), "s3:GetObject on objects toys/drafts/"),
        ("toys-read", "s3:PutObject", objects("pictures/"), "s3:PutObject on objects toys/pictures/"),
        ("toys-read", "sqs:SendMessage", queue("toys-sales"), "sqs:SendMessage on queue toys-sales"),
        ("toys-read", "events:PutEvents", events_of("games"), "events:PutEvents on events of games"),
        (
            "toys-read",
            "execute-api:ManageConnections",
            connections("DELETE"),
            "execute-api:ManageConnections on connections by DELETE",
        ),
        ("toys-read", "sqs:ReceiveMessage", queue("toys-repairs"), "sqs:ReceiveMessage on queue toys-repairs"),
        ("toys-mirror", "sqs:SendMessage", queue("toys-repairs"), "sqs:SendMessage on queue toys-repairs"),
        (
            "toys-mirror",
            "dynamodb:UpdateItem",
            attributes(&["name", "pk"]),
            "dynamodb:UpdateItem on table toys: name, pk",
        ),
        ("toys-mirror", "es:ESHttpPost", search("toys-x-write/_bulk"), "es:ESHttpPost on search toys-x-write/_bulk"),
        ("toys-mirror", "es:ESHttpPost", search("toys/_search"), "es:ESHttpPost on search toys/_search"),
        ("toys-write", "dynamodb:GetItem", table_of("toys"), "dynamodb:GetItem on table toys"),
    ] {
        let past = grants().past(&used(by, [(action, resource)]));
        assert_eq!(past, [format!("`{by}` makes a call that its policy refuses: {told}")]);
    }
}

async fn unused_grant_is_reported() {
    assert_eq!(grants().unused(&all(), &Kept::of("")), Vec::<String>::new());
    let mut less = all();
    less.get_mut("toys-read").unwrap().remove(&Use::new("dynamodb:Query", by_name()));
    less.remove("toys-mirror");
    let expected = [
        "nothing uses a grant: toys-mirror | dynamodb:UpdateItem | table toys: pk, rev",
        "nothing uses a grant: toys-mirror | es:ESHttpPost | search toys-*-write/_bulk",
        "nothing uses a grant: toys-read | dynamodb:Query | index byName of toys",
    ];
    assert_eq!(grants().unused(&less, &Kept::of("")), expected);
}

async fn listed_grant_that_is_used_is_reported() {
    let row = "| `toys-read` | `dynamodb:Query` | `index byName of toys` | only after a crash |";
    let mut less = all();
    less.get_mut("toys-read").unwrap().remove(&Use::new("dynamodb:Query", by_name()));
    assert_eq!(grants().unused(&less, &Kept::of(row)), Vec::<String>::new());
    let stale = "e2e/unused.md is out of date: toys-read | dynamodb:Query | index byName of toys";
    assert_eq!(grants().unused(&all(), &Kept::of(row)), [stale]);
}

async fn calls_of_another_platform_are_not_counted() {
    let cairn = Cairn::start().await;
    let recorder: &'static Recorder = Box::leak(Box::default());
    let config = recorder.before(cairn.engines()).config.clone();
    let calls = || recorder.by_function(&Lines::default()).1;
    let ask = |url: &str, table: String| {
        let request = reqwest::Client::new().post(url).header("x-amz-target", "DynamoDB_20120810.DescribeTable");
        request.header("authorization", "AWS4-HMAC-SHA256").body(json!({ "TableName": table }).to_string()).send()
    };
    // The last requests of a stopped platform may arrive at a reused port, for a table of that platform.
    let (dynamodb, s3) = (config.dynamodb.unwrap(), config.s3.unwrap());
    for url in [&dynamodb, &s3, &config.search] {
        ask(url, "stopped-toys".to_owned()).await.unwrap_err();
        assert_eq!(calls(), BTreeSet::new(), "at {url}");
    }
    ask(&dynamodb, format!("{}toys", config.prefix)).await.unwrap();
    assert_eq!(calls(), BTreeSet::from([Use::new("dynamodb:DescribeTable", table_of("toys"))]));
}

/// Starts an S3 that refuses every read.
async fn forbidding() -> Server {
    Server::start(|_: Request<Incoming>| async {
        let denied = "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>";
        let response = Response::builder().status(403).header("content-type", "application/xml");
        Ok::<_, Infallible>(response.body(Full::new(Bytes::from_static(denied.as_bytes()))).unwrap())
    })
    .await
}

/// Starts an S3 that refuses only one object. It has no other object and accepts new ones.
async fn forbidding_one() -> Server {
    Server::start(|request: Request<Incoming>| async move {
        let status: u16 = match *request.method() {
            Method::PUT => 200,
            Method::HEAD if request.uri().path().ends_with("/none") => 404,
            _ => 403,
        };
        Ok::<_, Infallible>(Response::builder().status(status).body(Full::<Bytes>::default()).unwrap())
    })
    .await
}

/// Starts a platform with a geozone whose boundary is in S3.
async fn with_boundary() -> Cairn {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let zone = json!({ "displayName": "Lakes", "location": [-125.5, 49.5], "isVisible": true });
    admin.post("/parks/geozones/bcparks_1", zone).await.is(201);
    // The shape is too large for an item.
    let boundary = format!(r#"{{"type":"Polygon","coordinates":[{}]}}"#, ellipse([-125.5, 49.6], [0.4, 0.25], 2000, 7));
    let boundary: Value = serde_json::from_str(&boundary).unwrap();
    admin.put("/parks/geozones/bcparks_1/1/geometry/boundary", boundary).await.is(200);
    cairn
}

/// Returns the record of a later write of the geozone, which reads its shape again.
async fn later(cairn: &Cairn) -> Value {
    let mut item = cairn.table().get("geozone::bcparks_1", "1").await.unwrap();
    let rev: u64 = item["rev"].as_n().unwrap().parse().unwrap();
    item.insert("rev".to_owned(), AttributeValue::N((rev + 2).to_string()));
    let mut record = cairn.table().insert_record(&item, 0);
    record["dynamodb"]["ApproximateCreationDateTime"] = cairn.clock.seconds().into();
    record
}

/// Sends a record to the mirror on this S3. Returns its response and its metrics.
async fn mirrored(cairn: &Cairn, s3: &Server, record: &Value) -> (Value, Value) {
    let config = Config { s3: Some(s3.url.clone()), ..cairn.engines().config.clone() };
    let told = Arc::new(Mutex::new(Value::Null));
    let tell = Arc::clone(&told);
    let app = ::parks::app(cairn.engines().at(config))
        .metrics_to(move |line| *tell.lock().unwrap() = serde_json::from_str(line).unwrap());
    let deadline = Instant::now() + Duration::from_secs(60);
    let answer = app.event("mirror", json!({ "Records": [record] }).to_string().into(), deadline).await.unwrap();
    let told = told.lock().unwrap().clone();
    (serde_json::from_slice(&answer).unwrap(), told)
}

fn reported(record: &Value) -> Value {
    json!({ "batchItemFailures": [{ "itemIdentifier": record["dynamodb"]["SequenceNumber"] }] })
}

async fn forbidden_object_is_retried_and_not_taken_as_missing() {
    let cairn = with_boundary().await;
    let before = cairn.document("parks", "geozone::bcparks_1#1").await.unwrap();
    assert_eq!(before["boundaryStatus"], "full");
    let (record, s3) = (later(&cairn).await, forbidding().await);
    // If S3 refuses every object, the record is not at fault, even if it is old.
    for _ in 0..2 {
        let (answer, told) = mirrored(&cairn, &s3, &record).await;
        assert_eq!(answer, reported(&record));
        assert_eq!((&told["Records"], &told["Retried"]), (&json!(1), &json!(1)), "{told}");
        assert_eq!(cairn.document("parks", "geozone::bcparks_1#1").await.unwrap(), before);
        cairn.clock.advance(Duration::from_secs(3600));
    }
    assert_eq!(cairn.quarantined().await, Vec::new());
}

async fn shape_that_s3_refuses_alone_goes_to_quarantine_after_15_minutes() {
    let cairn = with_boundary().await;
    let before = cairn.document("parks", "geozone::bcparks_1#1").await.unwrap();
    let (record, s3) = (later(&cairn).await, forbidding_one().await);
    cairn.clock.advance(Duration::from_secs(14 * 60));
    assert_eq!(mirrored(&cairn, &s3, &record).await.0, reported(&record));
    assert_eq!(cairn.document("parks", "geozone::bcparks_1#1").await.unwrap(), before);
    cairn.clock.advance(Duration::from_secs(60));
    assert_eq!(mirrored(&cairn, &s3, &record).await.0, json!({ "batchItemFailures": [] }));
    assert_eq!(cairn.document("parks", "geozone::bcparks_1#1").await.unwrap()["deleted"], true);
    let quarantined = cairn.quarantined().await;
    assert!(quarantined.len() == 1 && quarantined[0].reason.contains("a shape could not be read"), "{quarantined:?}");
}
