//! Issues and their values.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use reqwest::Method;
use serde_json::{Map, Value, json};
use table::{Config, Engines};

use super::fixture::{Fixture, PROJECT};
use crate::harness::relay::pass_on;
use crate::harness::server::Server;
use crate::tests;

tests! { tracker_issues:
    values_are_set_all_or_none,
    #[long] issue_with_a_hundred_attributes_is_complete_in_the_grid,
    issue_over_380_kb_is_refused,
    issue_is_renumbered_moved_and_deleted,
    moved_issue_keeps_choices_by_label,
    attribute_named_twice_in_values_is_refused,
    body_may_have_100_values_of_escaped_emoji,
    value_is_cleared_while_reads_do_not_show_its_attribute,
    values_are_set_cleared_and_normalized,
}

const ISSUE: &str = "/tracker/tenants/tenant-0807/projects/project-35e9/issues/issue-af34";

async fn values_are_set_all_or_none() {
    all_or_nothing(&Fixture::new().await).await;
}

pub async fn all_or_nothing(fixture: &Fixture) {
    let options = json!([{ "label": "High" }]);
    let new = json!({ "name": "Priority", "type": "choice", "options": options });
    let choice = fixture.ada.post(&format!("{PROJECT}/attributes"), new).await.is(201).text("id").to_owned();
    let before = fixture.ann.get(ISSUE).await.is(200);
    let values = json!({ "values": { "xattrib-3fe6": "ten", "xattrib-3812": "2023-02-30", &choice: "Urgent" } });
    let places = ["/values/xattrib-3fe6", "/values/xattrib-3812", &format!("/values/{choice}")];
    fixture.ann.patch(&format!("{ISSUE}/values"), values).await.refused(422, "wrong-type").at(&places);
    let urgent = json!({ "values": { &choice: "Urgent" } });
    fixture.ann.patch(&format!("{ISSUE}/values"), urgent).await.refused(422, "unknown-option").at(&[places[2]]);
    let urgent = json!({ "value": "Urgent" });
    fixture.ann.put(&format!("{ISSUE}/values/{choice}"), urgent).await.refused(422, "unknown-option");
    let word = json!({ "value": "ten" });
    fixture.ann.put(&format!("{ISSUE}/values/xattrib-3fe6"), word).await.refused(422, "wrong-type");
    let new = json!({ "name": "New", "values": { "xattrib-3fe6": "ten", &choice: "High" } });
    fixture.ann.post(&format!("{PROJECT}/issues"), new).await.refused(422, "wrong-type").at(&[places[0]]);
    let unknown = json!({ "values": { "xattrib-0000": "1" } });
    fixture.ann.patch(&format!("{ISSUE}/values"), unknown).await.refused(422, "unknown-attribute");
    fixture.ann.patch(&format!("{ISSUE}/values"), json!({ "values": {} })).await.faulty(&["/values"]);
    let after = fixture.ann.get(ISSUE).await.is(200);
    assert_eq!((after.tag(), &after.body), (before.tag(), &before.body));
    let project = fixture.project("Full").await;
    for place in 0..100 {
        fixture.attribute(&project, &format!("Column {place}"), "int").await;
    }
    let new = json!({ "name": "One more", "type": "int" });
    fixture.ada.post(&format!("{project}/attributes"), new).await.refused(409, "too-many-attributes");
    fixture.settled().await;
    fixture.holds().await;
}

async fn issue_with_a_hundred_attributes_is_complete_in_the_grid() {
    a_hundred_attributes(&Fixture::new().await).await;
}

pub async fn a_hundred_attributes(fixture: &Fixture) {
    let project = fixture.project("Wide").await;
    let mut attributes = Vec::new();
    for place in 0..100 {
        attributes.push(fixture.attribute(&project, &format!("Column {place}"), "text").await);
    }
    let issue = fixture.issue(&project, "Wide", json!({})).await;
    let path = issue.header("location").to_owned();
    assert_eq!(fixture.ann.get(&path).await.is(200).tag(), issue.tag(), "its rows are complete");
    fixture.holds().await;
    let values: Map<String, Value> =
        attributes.iter().map(|id| (id.clone(), json!(format!("value of {id}")))).collect();
    let set = fixture.ann.patch(&format!("{path}/values"), json!({ "values": values })).await.is(200);
    assert_eq!(set["values"].as_object().unwrap().len(), 100);
    fixture.holds().await;
    let renumbered = fixture.ann.post(&format!("{path}/renumber"), json!({ "number": 500 })).await.is(200);
    assert_eq!(renumbered["number"], 500);
    fixture.holds().await;
    fixture.ann.patch(&path, json!({ "name": "Wider" })).if_match(&renumbered.tag()).await.is(200);
    fixture.ann.delete(&path).await.is(204);
    let held = fixture.holds().await;
    assert!(!held.mentions(path.rsplit('/').next().unwrap()), "nothing is left of the issue");
}

/// Texts are kept as they were sent: a syllable of three letters is one character, and has nine bytes.
async fn issue_over_380_kb_is_refused() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Heavy").await;
    let long = "\u{1100}\u{1161}\u{11a8}".repeat(1024);
    let mut values = Map::new();
    for place in 0..42 {
        let id = fixture.attribute(&project, &format!("Text {place}"), "text").await;
        values.insert(id, json!(long));
    }
    let issues = format!("{project}/issues");
    let new = |values: &Map<String, Value>| json!({ "name": "Heavy", "values": values });
    fixture.ann.post(&issues, new(&values)).await.refused(422, "issue-too-large");
    let one = values.keys().next().unwrap().clone();
    values.remove(&one);
    let made = fixture.ann.post(&issues, new(&values)).await.is(201);
    assert_eq!(made["number"], 1, "no number was taken in vain");
    let path = made.header("location");
    let put = fixture.ann.put(&format!("{path}/values/{one}"), json!({ "value": long }));
    put.await.refused(422, "issue-too-large");
    let same = fixture.ann.get(path).await.is(200);
    assert_eq!((same.tag(), &same["values"][&one]), (made.tag(), &Value::Null));
    fixture.holds().await;
}

/// Only then does the request reach the attributes, which do not exist.
async fn body_may_have_100_values_of_escaped_emoji() {
    let fixture = Fixture::new().await;
    let emoji = r"\ud83d\ude00".repeat(1024);
    let values: Vec<String> = (0..100).map(|place| format!("\"xattrib-{place:04x}\":\"{emoji}\"")).collect();
    let values = format!("{{\"values\":{{{}}}}}", values.join(","));
    let set = fixture.ann.call(Method::PATCH, &format!("{ISSUE}/values")).bytes("application/merge-patch+json", values);
    set.await.refused(422, "unknown-attribute");
}

async fn attribute_named_twice_in_values_is_refused() {
    let fixture = Fixture::new().await;
    let twice = r#"{"values":{"xattrib-3fe6":"1","xattrib-3fe6":"2"}}"#;
    let json = "application/json";
    let set = fixture.ann.call(Method::PATCH, &format!("{ISSUE}/values")).bytes("application/merge-patch+json", twice);
    set.await.faulty(&["/values"]);
    let new = twice.replace("{\"values", "{\"name\":\"Twice\",\"values");
    let create = fixture.ann.call(Method::POST, &format!("{PROJECT}/issues")).bytes(json, new);
    create.await.faulty(&["/values"]);
    let columns = r#"{"mode":"create","onError":"stop","bytes":9,"columns":{"A":"name","A":"number"}}"#;
    let import = fixture.ann.call(Method::POST, &format!("{PROJECT}/imports")).bytes(json, columns);
    import.await.faulty(&["/columns"]);
    fixture.ann.patch(&format!("{ISSUE}/values"), json!({ "values": {} })).await.faulty(&["/values"]);
}

/// Though its label is the id of another option there.
async fn moved_issue_keeps_choices_by_label() {
    let fixture = Fixture::new().await;
    let options: Vec<Value> = (1..=12).map(|place| json!({ "label": format!("{:03}", place * 10) })).collect();
    let size = json!({ "name": "Size", "type": "choice", "options": options });
    let mut places = Vec::new();
    for name in ["From", "To"] {
        let project = fixture.project(name).await;
        let made = fixture.ada.post(&format!("{project}/attributes"), size.clone()).await.is(201);
        places.push((project, made.text("id").to_owned()));
    }
    let [(from, from_size), (to, to_size)] = places.try_into().unwrap();
    let issue = fixture.issue(&from, "Moves", json!({ &from_size: { "id": "001" } })).await;
    let shown = json!({ "id": "001", "label": "010" });
    assert_eq!(fixture.ann.get(issue.header("location")).await.is(200)["values"][&from_size], shown);
    let there = json!({ "project": to.rsplit('/').next().unwrap() });
    let moved = fixture.ann.post(&format!("{}/move", issue.header("location")), there).await.is(200);
    assert_eq!((&moved["dropped"], &moved["values"][&to_size]), (&json!([]), &shown));
}

async fn issue_is_renumbered_moved_and_deleted() {
    let fixture = Fixture::new().await;
    for (taken, status) in [(3, 409), (1, 409), (9, 200)] {
        fixture.ann.post(&format!("{ISSUE}/renumber"), json!({ "number": taken })).await.is(status);
    }
    assert_eq!(fixture.issue(PROJECT, "Next", json!({})).await["number"], 10);
    assert_eq!(fixture.ann.post(&format!("{ISSUE}/renumber"), json!({})).await.is(200)["number"], 11);
    fixture.holds().await;

    let other = fixture.project("Other").await;
    let items = fixture.attribute(&other, "num ITEMS", "int").await;
    let project = other.rsplit('/').next().unwrap();
    let move_there = |strict: bool| json!({ "project": project, "strict": strict });
    fixture.ann.post(&format!("{ISSUE}/move"), move_there(true)).await.refused(409, "would-drop");
    let moved = fixture.ann.post(&format!("{ISSUE}/move"), move_there(false)).await.is(200);
    assert_eq!((&moved["number"], &moved["dropped"]), (&json!(1), &json!(["Sign Off"])));
    assert_eq!(moved["values"], json!({ &items: "42" }));
    fixture.ann.get(ISSUE).await.refused(404, "not-found");
    let there = format!("{other}/issues/issue-af34");
    assert_eq!(fixture.ann.get(&there).await.is(200).tag(), moved.tag());
    fixture.holds().await;
    let unknown = json!({ "project": "project-7b7e" });
    fixture.ann.post(&format!("{there}/move"), unknown).await.refused(422, "unprocessable").at(&["/project"]);

    let closed = fixture.ann.patch(&there, json!({ "state": "closed" })).await.is(200);
    let again = fixture.ann.patch(&there, json!({ "state": "closed" })).await.is(200);
    assert_eq!(again.tag(), closed.tag(), "the same again changes nothing");
    fixture.ann.delete(&there).if_match("\"2\"").await.refused(412, "stale");
    fixture.ann.delete(&there).await.is(204);
    fixture.ann.delete(&there).await.refused(404, "not-found");
    fixture.holds().await;
}

async fn values_are_set_cleared_and_normalized() {
    let fixture = Fixture::new().await;
    let decimal = fixture.attribute(PROJECT, "Weight", "decimal").await;
    let moment = fixture.attribute(PROJECT, "Seen", "dateTime").await;
    let body = format!(
        r#"{{"values":{{"{decimal}":1.50,"{moment}":"2023-05-01T12:00:00+02:00","xattrib-3fe6":9223372036854775807}}}}"#
    );
    let call = fixture.ann.call(Method::PATCH, &format!("{ISSUE}/values"));
    let set = call.bytes("application/merge-patch+json", body).await.is(200);
    assert_eq!(set["values"][&decimal], "1.5");
    assert_eq!(set["values"][&moment], "2023-05-01T10:00:00.000000Z");
    assert_eq!(set["values"]["xattrib-3fe6"], "9223372036854775807", "no digit is lost");
    fixture.ann.delete(&format!("{ISSUE}/values/{decimal}")).await.is(204);
    fixture.ann.delete(&format!("{ISSUE}/values/{decimal}")).await.refused(404, "not-found");
    let one = fixture.ann.put(&format!("{ISSUE}/values/{decimal}"), json!({ "value": -0.001 })).await.is(200);
    assert_eq!(one["values"][&decimal], "-0.001");
    let cleared = fixture.ann.patch(&format!("{ISSUE}/values"), json!({ "values": { &decimal: null } })).await.is(200);
    assert_eq!(cleared["values"][&decimal], Value::Null);
    let unknown = fixture.ann.put(&format!("{ISSUE}/values/xattrib-0000"), json!({ "value": "1" })).await;
    unknown.refused(422, "unknown-attribute");
    fixture.settled().await;
    fixture.holds().await;
}

async fn value_is_cleared_while_reads_do_not_show_its_attribute() {
    let fixture = Fixture::new().await;
    let config = fixture.cairn.engines().config.clone();
    let target = config.dynamodb.clone().unwrap();
    let is_hidden = Arc::new(AtomicBool::new(false));
    let hiding = Arc::clone(&is_hidden);
    let server = Server::start(move |request: Request<Incoming>| {
        let (target, hiding) = (target.clone(), Arc::clone(&hiding));
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let is_query = parts.headers["x-amz-target"].as_bytes().ends_with(b".Query");
            let query: Value = serde_json::from_slice(&body)?;
            let answer = pass_on(target, parts, body).await?;
            if !is_query || query["ConsistentRead"] == true {
                return Ok::<_, Box<dyn Error + Send + Sync>>(answer);
            }
            let found = answer.into_body().collect().await?.to_bytes();
            let found = String::from_utf8(found.to_vec())?;
            hiding.fetch_or(found.contains("xattrib-3fe6"), Ordering::Relaxed);
            let found = Bytes::from(found.replace("xattrib-3fe6", "unknown-3fe6"));
            Ok(Response::builder().header("content-type", "application/x-amz-json-1.0").body(Full::new(found))?)
        }
    })
    .await;
    let config = Config { dynamodb: Some(server.url.clone()), ..config };
    let app = ::tracker::app(Engines::new(config, fixture.cairn.clock.clone())).metrics_to(|_| {});
    let authorization = format!("Bearer {}", fixture.cairn.token("ann", &[]).await);
    let clear = Request::delete(format!("{ISSUE}/values/xattrib-3fe6")).header("authorization", authorization);
    let cleared = app.handle(clear.body(Bytes::new()).unwrap()).await;
    assert_eq!(cleared.status(), 204, "{cleared:?}");
    assert!(is_hidden.load(Ordering::Relaxed), "the project was not read");
    assert_eq!(fixture.ann.get(ISSUE).await.is(200)["values"].get("xattrib-3fe6"), None);
    fixture.holds().await;
}
