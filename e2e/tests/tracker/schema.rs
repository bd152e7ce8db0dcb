//! Attributes of projects that have issues: made, changed, retyped and deleted as work.

use std::error::Error;
use std::future::IntoFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use serde_json::{Value, json};
use table::{Config, Engines, EntityKey};
use tokio::time::Instant;
use tracker::items::AttributeItem;
use tracker::keys::AttributeKey;
use tracker::names::{AttributeId, ProjectId};
use tracker::schema::TRACKER;

use super::crashes::{others_do_its_jobs, work_dies};
use super::files::{import, new};
use super::fixture::{Fixture, PROJECT, TENANT, entries, person};
use crate::harness::relay::{before_first_transaction, pass_on};
use crate::harness::server::Server;
use crate::harness::sized;
use crate::harness::stopper::Moment;
use crate::harness::table::stored;
use crate::tests;

tests! { tracker_schema:
    new_attribute_of_a_small_project_is_built_by_its_request,
    #[long] request_works_on_500_issues_and_leaves_501_to_a_job,
    attribute_that_is_being_built_takes_values,
    attribute_is_built_while_issues_come_and_go,
    attribute_is_built_even_if_the_count_of_issues_never_equals_its_rows,
    attribute_is_not_ready_before_an_issue_that_is_listed_late_has_its_row,
    name_of_a_deleted_attribute_becomes_free,
    attribute_is_retyped_to_text,
    attribute_that_is_being_retyped_is_busy,
    choice_allows_50_options_and_999_in_all,
    options_over_380_kb_are_refused,
    options_of_a_project_fit_a_response,
    #[long] deleting_an_attribute_clears_its_many_values,
    #[long] columns_have_distinct_names_and_positions,
    #[long] column_can_be_moved_between_two_others_repeatedly,
    one_of_several_tags_suffices,
    change_of_a_stale_attribute_is_refused,
    tag_of_a_project_holds_until_the_commit,
    issue_that_is_created_meanwhile_makes_no_tag_stale,
}

/// The response has the state that the request has left, and so has that of a repeated request.
async fn new_attribute_of_a_small_project_is_built_by_its_request() {
    let fixture = Fixture::new().await;
    let conflicts = fixture.cairn.conflicts(0.4);
    let new = || {
        let weight = json!({ "name": "Weight", "type": "int" });
        fixture.ada.post(&format!("{PROJECT}/attributes"), weight).header("idempotency-key", "weight")
    };
    let made = new().await.is(201);
    assert_eq!(made["status"], "ready");
    let id = made.text("id");
    assert_eq!(fixture.numbers(PROJECT, &format!("sort={id}")).await, [1, 2, 3]);
    assert_eq!(fixture.numbers(PROJECT, &format!("filter={id}:empty")).await, [1, 2, 3]);
    let work = fixture.ada.get(&format!("{TENANT}/jobs")).await.is(200);
    let job = &work["items"][0];
    assert_eq!((&job["kind"], &job["status"]), (&json!("buildAttribute"), &json!("succeeded")));
    let renamed = fixture.ada.patch(made.header("location"), json!({ "name": "Mass" })).if_match(&made.tag());
    let tag = renamed.await.is(200).tag();
    let again = new().await.is(201);
    assert_eq!((&again["name"], again.header("location"), again.tag()), (&json!("Mass"), made.header("location"), tag));
    assert!(conflicts.count() > 0, "no conflict occurred");
    fixture.holds().await;
}

async fn request_works_on_500_issues_and_leaves_501_to_a_job() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Bounded").await;
    let rows: String = (1..=500).map(|row| format!("Row {row}\n")).collect();
    let done = import(&fixture.ann, &project, new("create", "stop"), &format!("Name\n{rows}")).await;
    assert_eq!(done["counts"]["created"], 500, "{}", done.told());
    let create =
        |name: &str| fixture.ada.post(&format!("{project}/attributes"), json!({ "name": name, "type": "int" }));
    let small = create("Small").await.is(201);
    assert_eq!(small["status"], "ready");
    let retype = |of: &str| fixture.ada.post(&format!("{}/retype", small.header("location")), json!({ "type": of }));
    assert_eq!(retype("text").await.is(200)["status"], "ready");
    fixture.ada.delete(small.header("location")).await.is(204);
    fixture.issue(&project, "Row 501", json!({})).await;
    let large = create("Large").await.is(201);
    assert_eq!(large["status"], "building");
    fixture.ada.delete(large.header("location")).await.is(202);
    fixture.settled().await;
    fixture.holds().await;
}

async fn attribute_that_is_being_built_takes_values() {
    let fixture = Fixture::new().await;
    // A request gives the job back, as one does that has no time left.
    fixture.cairn.engines().wind_down();
    let id = fixture.attribute(PROJECT, "Weight", "int").await;
    let project = fixture.ann.get(PROJECT).await.is(200);
    assert_eq!(project["attributes"][4]["status"], "building");
    let busy = fixture.ann.get(&format!("{PROJECT}/grid?sort={id}")).await.refused(409, "attribute-busy");
    assert_eq!(busy.header("retry-after"), "60");
    fixture.ann.get(&format!("{PROJECT}/grid?filter={id}:empty")).await.refused(409, "attribute-busy");
    let issue = format!("{PROJECT}/issues/issue-67d1");
    fixture.ann.put(&format!("{issue}/values/{id}"), json!({ "value": 5 })).await.is(200);
    fixture.issue(PROJECT, "Later", json!({ &id: 1 })).await;
    others_do_its_jobs(&fixture).await;
    assert_eq!(fixture.numbers(PROJECT, &format!("sort={id}")).await, [4, 2, 1, 3]);
    assert_eq!(fixture.numbers(PROJECT, &format!("filter={id}:empty")).await, [1, 3]);
    fixture.holds().await;
}

/// What was found while an issue was created or deleted is no proof, so a job goes on when the index has had its time.
async fn attribute_is_built_while_issues_come_and_go() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Lively").await;
    let first = fixture.issues(&project, 40, |_| json!({})).await;
    let change = async {
        for gone in &first[..15] {
            fixture.issue(&project, "New", json!({})).await;
            fixture.ann.delete(gone.header("location")).await.is(204);
        }
    };
    let add = async {
        let mut ids = Vec::new();
        for name in ["A", "B", "C", "D"] {
            ids.push(fixture.attribute(&project, name, "int").await);
        }
        ids
    };
    let ((), ids) = tokio::join!(change, add);
    fixture.settled().await;
    for id in ids {
        assert_eq!(fixture.numbers(&project, &format!("filter={id}:empty&limit=100")).await.len(), 40);
    }
    fixture.holds().await;
}

/// In a project in which issues are created all the time, the gates count issues that the index does not list yet.
async fn attribute_is_built_even_if_the_count_of_issues_never_equals_its_rows() {
    let fixture = Fixture::new().await;
    let table = fixture.cairn.table_of(&TRACKER);
    let count = async |issues: u64| {
        let mut gate = table.get("gate-35e9", "00").await.unwrap();
        gate.insert("Live".to_owned(), table::item::number(issues));
        table.put(gate).await;
    };
    count(4).await;
    let new = json!({ "name": "Weight", "type": "int" });
    let made = fixture.ada.post(&format!("{PROJECT}/attributes"), new).await.is(201);
    assert_eq!(made["status"], "building");
    fixture.settled().await;
    assert_eq!(fixture.numbers(PROJECT, &format!("sort={}", made.text("id"))).await, [1, 2, 3]);
    count(3).await;
    fixture.holds().await;
}

/// The index lists an issue late. Another issue is deleted when the job has read the gates three times: in a pass that
/// finds issues without a row, in one that finds none, and before it compares them with the list.
async fn attribute_is_not_ready_before_an_issue_that_is_listed_late_has_its_row() {
    let fixture = Fixture::new().await;
    // A request gives the job back, as one does that has no time left.
    fixture.cairn.engines().wind_down();
    let id = fixture.attribute(PROJECT, "Weight", "int").await;
    let is_building = async || fixture.ann.get(PROJECT).await.is(200)["attributes"][4]["status"] == "building";

    let config = fixture.cairn.engines().config.clone();
    let (target, ann) = (config.dynamodb.clone().unwrap(), fixture.ann.clone());
    let (lags, reads) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicUsize::new(0)));
    let (lagging, read) = (Arc::clone(&lags), Arc::clone(&reads));
    let server = Server::start(move |request: Request<Incoming>| {
        let (target, ann) = (target.clone(), ann.clone());
        let (lagging, read) = (Arc::clone(&lagging), Arc::clone(&read));
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let is_query = parts.headers["x-amz-target"].as_bytes().ends_with(b".Query");
            let asked = String::from_utf8_lossy(&body).into_owned();
            if is_query && asked.contains("gate-35e9") && read.fetch_add(1, Ordering::SeqCst) == 3 {
                ann.delete(&format!("{PROJECT}/issues/issue-67d1")).await.is(204);
            }
            let answer = pass_on(target, parts, body).await?;
            let lists = is_query && asked.contains("SK-Data") && asked.contains("project-35e9");
            if !lists || !lagging.load(Ordering::SeqCst) {
                return Ok::<_, Box<dyn Error + Send + Sync>>(answer);
            }
            let mut listed: Value = serde_json::from_slice(&answer.into_body().collect().await?.to_bytes())?;
            listed["Items"].as_array_mut().unwrap().retain(|entry| entry["PK"]["S"] != "issue-af34");
            let listed = Full::new(Bytes::from(listed.to_string()));
            Ok(Response::builder().header("content-type", "application/x-amz-json-1.0").body(listed)?)
        }
    })
    .await;
    let config = Config { dynamodb: Some(server.url.clone()), ..config };
    let run = async || {
        // The lease of the worker before has ended, and the index has had its time.
        fixture.cairn.clock.advance(Duration::from_secs(121));
        let app = ::tracker::app(Engines::new(config.clone(), fixture.cairn.clock.clone())).metrics_to(|_| {});
        app.event("runJobs", "{}".into(), Instant::now() + Duration::from_secs(60)).await.unwrap();
    };
    while reads.load(Ordering::SeqCst) < 3 {
        run().await;
    }
    assert!(is_building().await, "an issue has no row");
    lags.store(false, Ordering::SeqCst);
    while is_building().await {
        run().await;
    }
    assert_eq!(fixture.numbers(PROJECT, &format!("sort={id}")).await, [1, 3]);
    assert_eq!(fixture.numbers(PROJECT, &format!("filter={id}:empty")).await, [1, 3]);
    fixture.holds().await;
}

async fn name_of_a_deleted_attribute_becomes_free() {
    let fixture = Fixture::new().await;
    let new = || fixture.ada.post(&format!("{PROJECT}/attributes"), json!({ "name": "num items", "type": "int" }));
    fixture.ada.delete(&format!("{PROJECT}/attributes/xattrib-3fe6")).await.is(204);
    let again = new().await.is(201);
    fixture.holds().await;
    // A request gives the job back, as one does that has no time left.
    fixture.cairn.engines().wind_down();
    fixture.ada.delete(again.header("location")).await.is(202);
    let taken = new().await.refused(409, "taken");
    let detail = taken["errors"][0]["detail"].as_str().unwrap();
    assert!(detail.contains("an attribute that is being deleted"), "{detail}");
    others_do_its_jobs(&fixture).await;
    new().await.is(201);
}

/// The entity tag is that of the project, which has its attributes.
async fn one_of_several_tags_suffices() {
    let fixture = Fixture::new().await;
    for path in [TENANT, PROJECT] {
        let tag = fixture.ada.get(path).await.is(200).tag();
        let rename = |name: &str| fixture.ada.patch(path, json!({ "name": name })).if_match(&format!("\"1\", {tag}"));
        rename("New").await.is(200);
        rename("Newer").await.refused(412, "stale");
    }
}

async fn change_of_a_stale_attribute_is_refused() {
    let fixture = Fixture::new().await;
    let new = json!({ "name": "Priority", "type": "choice", "options": [{ "label": "High" }] });
    let made = fixture.ada.post(&format!("{PROJECT}/attributes"), new).await.is(201);
    let (path, stale) = (made.header("location").to_owned(), made.tag());
    assert_eq!(fixture.ada.get(PROJECT).await.is(200).tag(), stale);
    let with = |label: &str| {
        let options = json!([{ "id": made["options"][0]["id"], "label": "High" }, { "label": label }]);
        fixture.ada.patch(&path, json!({ "options": options })).if_match(&stale)
    };
    let changed = with("Low").await.is(200);
    with("Medium").await.refused(412, "stale");
    let project = fixture.ada.get(PROJECT).await.is(200);
    assert_eq!(project.tag(), changed.tag());
    let is_it = |attribute: &&Value| path.ends_with(attribute["id"].as_str().unwrap());
    let attribute = project["attributes"].as_array().unwrap().iter().find(is_it).unwrap();
    let labels: Vec<_> = attribute["options"].as_array().unwrap().iter().map(|option| &option["label"]).collect();
    assert_eq!(labels, ["High", "Low"]);
    let retyped = fixture.ada.post(&format!("{path}/retype"), json!({ "type": "text" }));
    retyped.if_match(&stale).await.refused(412, "stale");
    fixture.ada.delete(&path).if_match(&stale).await.refused(412, "stale");
    let next = fixture.ada.put(&format!("{PROJECT}/next-number"), json!({ "number": 50 }));
    next.if_match(&stale).await.refused(412, "stale");
    let next = fixture.ada.put(&format!("{PROJECT}/next-number"), json!({ "number": 50 }));
    next.if_match(&changed.tag()).await.is(204);
    // What changes nothing has the same tag.
    let same = fixture.ada.patch(&path, json!({ "name": "Priority" })).if_match(&changed.tag()).await.is(200);
    assert_eq!(same.tag(), changed.tag());
    fixture.ada.delete(&path).if_match(&changed.tag()).await.is(204);
    fixture.holds().await;
}

/// The project is renamed after each request has compared the tag, and before the request writes.
async fn tag_of_a_project_holds_until_the_commit() {
    let fixture = Fixture::new().await;
    let (attribute, next) = (format!("{PROJECT}/attributes/xattrib-3fe6"), format!("{PROJECT}/next-number"));
    let retype = format!("{attribute}/retype");
    fixture.ada.put(&next, json!({ "number": 30 })).await.is(204);
    let before = fixture.ada.get(PROJECT).await.is(200);
    let authorization = format!("Bearer {}", fixture.cairn.token("ada", &[]).await);
    for (place, (method, path, body)) in [
        (Method::PATCH, &attribute, json!({ "name": "Items" }).to_string()),
        (Method::POST, &retype, json!({ "type": "decimal" }).to_string()),
        (Method::DELETE, &attribute, String::new()),
        (Method::PUT, &next, json!({ "number": 50 }).to_string()),
        (Method::PUT, &next, json!({ "number": 10 }).to_string()),
    ]
    .into_iter()
    .enumerate()
    {
        let tag = fixture.ada.get(PROJECT).await.is(200).tag();
        let config = fixture.cairn.engines().config.clone();
        let (ada, name) = (fixture.ada.clone(), format!("Renamed {place}"));
        let server =
            before_first_transaction(config.dynamodb.clone().unwrap(), "project-35e9".to_owned(), async move {
                ada.patch(PROJECT, json!({ "name": name })).await.is(200);
            })
            .await;
        let config = Config { dynamodb: Some(server.url.clone()), ..config };
        let app = ::tracker::app(Engines::new(config, fixture.cairn.clock.clone())).metrics_to(|_| {});
        let request = Request::builder().method(&method).uri(path).header("content-type", "application/json");
        let request = request.header("authorization", &authorization).header("if-match", tag);
        let response = app.handle(request.body(Bytes::from(body)).unwrap()).await;
        assert_eq!(response.status(), 412, "{method} {path}: {response:?}");
    }
    let after = fixture.ada.get(PROJECT).await.is(200);
    assert_eq!((after.text("name"), &after["attributes"]), ("Renamed 4", &before["attributes"]));
    assert_eq!(fixture.issue(PROJECT, "Next", json!({})).await["number"], 30);
    fixture.holds().await;
}

/// The project has no issue when the request reads its gates.
async fn issue_that_is_created_meanwhile_makes_no_tag_stale() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Empty").await;
    let id = fixture.attribute(&project, "Weight", "int").await;
    let tag = fixture.ada.get(&project).await.is(200).tag();
    let config = fixture.cairn.engines().config.clone();
    let (ann, issues) = (fixture.ann.clone(), format!("{project}/issues"));
    let server = before_first_transaction(config.dynamodb.clone().unwrap(), id.clone(), async move {
        ann.post(&issues, json!({ "name": "Meanwhile" })).await.is(201);
    })
    .await;
    let config = Config { dynamodb: Some(server.url.clone()), ..config };
    let app = ::tracker::app(Engines::new(config, fixture.cairn.clock.clone())).metrics_to(|_| {});
    let authorization = format!("Bearer {}", fixture.cairn.token("ada", &[]).await);
    let request = Request::builder().method(Method::DELETE).uri(format!("{project}/attributes/{id}"));
    let request = request.header("authorization", authorization).header("if-match", tag);
    let response = app.handle(request.body(Bytes::new()).unwrap()).await;
    assert!(response.status().is_success(), "{response:?}");
    assert_eq!(fixture.ann.get(&project).await.is(200)["attributes"], json!([]));
    fixture.settled().await;
    fixture.holds().await;
}

async fn attribute_is_retyped_to_text() {
    let fixture = Fixture::new().await;
    let retype =
        |id: &str, of: &str| fixture.ada.post(&format!("{PROJECT}/attributes/{id}/retype"), json!({ "type": of }));
    retype("xattrib-3812", "int").await.refused(422, "unsafe-retype");
    assert_eq!(retype("xattrib-3fe6", "decimal").await.is(200)["type"], "decimal");
    let retyped = retype("xattrib-3fe6", "text").await.is(200);
    assert_eq!((&retyped["type"], &retyped["status"]), (&json!("text"), &json!("ready")));
    assert_eq!(fixture.ann.get(PROJECT).await.is(200).tag(), retyped.tag());
    assert_eq!(fixture.numbers(PROJECT, "sort=xattrib-3fe6").await, [3, 1, 2]);
    let rows = entries(&fixture.cairn, "value-3fe6").await;
    assert_eq!(rows, [("42␁p1303".to_owned(), "issue-af34".to_owned())]);
    fixture.holds().await;
}

async fn attribute_that_is_being_retyped_is_busy() {
    let fixture = Fixture::new().await;
    // A request gives the job back, as one does that has no time left.
    fixture.cairn.engines().wind_down();
    let retype = fixture.ada.post(&format!("{PROJECT}/attributes/xattrib-3fe6/retype"), json!({ "type": "text" }));
    let accepted = retype.await.is(202);
    assert!(accepted.header("location").starts_with("/tracker/tenants/tenant-0807/jobs/"));
    fixture.ann.get(&format!("{PROJECT}/grid?sort=xattrib-3fe6")).await.refused(409, "attribute-busy");
    others_do_its_jobs(&fixture).await;
    let ended = fixture.ada.get(accepted.header("location")).await.is(200);
    assert_eq!(ended["status"], "succeeded", "{}", ended.told());
    assert_eq!(fixture.numbers(PROJECT, "sort=xattrib-3fe6").await, [3, 1, 2]);
    fixture.holds().await;
}

async fn choice_allows_50_options_and_999_in_all() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Options").await;
    let attributes = format!("{project}/attributes");
    let options = |from: usize, count: usize| -> Value {
        (from..from + count).map(|place| json!({ "label": format!("Option {place}") })).collect()
    };
    let new = |count: usize| json!({ "name": "Level", "type": "choice", "options": options(1, count) });
    fixture.ada.post(&attributes, new(51)).await.faulty(&["/options"]);
    let made = fixture.ada.post(&attributes, new(50)).await.is(201);
    let level = format!("{attributes}/{}", made.text("id"));
    let change = |from: usize, count: usize| fixture.ada.patch(&level, json!({ "options": options(from, count) }));
    change(51, 51).await.faulty(&["/options"]);
    // Each time those from before are retired.
    for round in 1..19 {
        change(round * 50 + 1, 50).await.is(200);
    }
    let all = change(951, 49).await.is(200)["options"].as_array().unwrap().clone();
    assert_eq!((all.len(), &all[48]["id"]), (999, &json!("999")));
    assert_eq!(all.iter().filter(|option| option["retired"] == true).count(), 950);
    change(1000, 1).await.faulty(&["/options"]);
    assert_eq!(fixture.ann.get(&project).await.is(200)["attributes"][0]["options"], Value::from(all));
}

/// An emoji has four bytes.
async fn options_over_380_kb_are_refused() {
    let fixture = Fixture::new().await;
    let attributes = format!("{}/attributes", fixture.project("Long options").await);
    let options = |round: usize, rest: &str| -> Value {
        (round * 50..(round + 1) * 50).map(|place| json!({ "label": format!("{place:04}{rest}") })).collect()
    };
    let long = "😀".repeat(96);
    let new = json!({ "name": "Level", "type": "choice", "options": options(0, &long) });
    let made = fixture.ada.post(&attributes, new).await.is(201);
    let level = format!("{attributes}/{}", made.text("id"));
    for round in 1..18 {
        fixture.ada.patch(&level, json!({ "options": options(round, &long) })).await.is(200);
    }
    let refused = fixture.ada.patch(&level, json!({ "options": options(18, &long) })).await.faulty(&["/options"]);
    let detail = "would take more than 380 KB, including former ones; shorten their labels";
    assert_eq!(refused["errors"][0]["detail"], detail);
    let with_short_labels = fixture.ada.patch(&level, json!({ "options": options(18, "") })).await.is(200);
    assert_eq!(with_short_labels["options"].as_array().unwrap().len(), 950);
}

/// The other attributes are put into the table, each with as many options as an attribute can have.
async fn options_of_a_project_fit_a_response() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Many long options").await;
    let attributes = format!("{project}/attributes");
    let option = |label: &str| json!([{ "label": label }]);
    let choice = |name: &str| json!({ "name": name, "type": "choice", "options": option("Low") });
    let level = fixture.ada.post(&attributes, choice("Level")).await.is(201).header("location").to_owned();
    let id = |path: &str| path.rsplit('/').next().unwrap().to_owned();
    let stored_in = fixture.cairn.table_of(&TRACKER);
    let item = stored_in.get(&id(&project), &id(&level)).await.unwrap();
    let long: Vec<Value> = (1..900)
        .map(|place| json!({ "id": format!("{place:03}"), "label": "😀".repeat(96), "retired": place > 1 }))
        .collect();
    let in_project: ProjectId = id(&project).trim_start_matches("project-").parse().unwrap();
    let copy = |place: u8| {
        let attribute = AttributeItem {
            name: format!("Level {place}"),
            slot: place,
            options: serde_json::from_value(Value::from(long.clone())).unwrap(),
            ..table::item::from_item(item.clone()).unwrap()
        };
        let key = AttributeKey { project: in_project, attribute: AttributeId::new() };
        stored(&TRACKER, &key.key(), &attribute)
    };
    stored_in.put_all((1..=11).map(copy).collect()).await;
    let refused = fixture.ada.post(&attributes, choice("More")).await.faulty(&["/options"]);
    let detail = "would make the options of all attributes longer than 4 MB, including former ones; shorten labels, or \
                  delete an attribute";
    assert_eq!(refused["errors"][0]["detail"], detail);
    let longer = json!({ "options": option("Lowest") });
    fixture.ada.patch(&level, longer).await.faulty(&["/options"]);
    assert!(fixture.ann.get(&project).await.is(200).body.to_string().len() < 5_000_000);
    // What makes them shorter is accepted, and what does not concern them.
    fixture.ada.patch(&level, json!({ "name": "Height", "options": [{ "id": "001", "label": "L" }] })).await.is(200);
    fixture.ada.post(&attributes, json!({ "name": "Size", "type": "int" })).await.is(201);
}

/// Workers die three times on the way.
async fn deleting_an_attribute_clears_its_many_values() {
    let issues = sized(420, 1050);
    let fixture = Fixture::new().await;
    let project = fixture.project("Much").await;
    let id = fixture.attribute(&project, "Weight", "int").await;
    let text = fixture.attribute(&project, "Note", "text").await;
    let values = |place: usize| {
        if place % 21 == 20 { json!({ &text: "kept" }) } else { json!({ &id: place, &text: "kept" }) }
    };
    let made = fixture.issues(&project, issues, values).await;
    let path = made[7].header("location").to_owned();
    // The platform's own worker lets go of whatever it takes.
    fixture.cairn.engines().wind_down();
    let delete = fixture.ada.delete(&format!("{project}/attributes/{id}"));
    let setting = fixture.ann.put(&format!("{path}/values/{id}"), json!({ "value": 7 }));
    let (deleted, set) = tokio::join!(delete.into_future(), setting.into_future());
    deleted.is(202);
    assert!(matches!(set.status, 200 | 422), "{}", set.told());
    let hidden = async || {
        assert_eq!(fixture.ann.get(&path).await.is(200)["values"][&id], Value::Null, "hidden at once");
        fixture.ann.get(&format!("{project}/grid?sort={id}")).await.faulty(&["sort"]);
    };
    hidden().await;
    let deaths = [(3, Moment::BeforeItIsSent), (5, Moment::AfterItIsDone), (4, Moment::BeforeItIsSent)];
    for held in sized(deaths.map(|(place, moment)| (place / 2, moment)), deaths) {
        let mut tries = 0;
        while !work_dies(&fixture, held).await {
            tries += 1;
            assert!(tries < 20, "nobody dies at {held:?}");
        }
        hidden().await;
    }
    others_do_its_jobs(&fixture).await;
    let bare = id.trim_start_matches("xattrib-");
    let held = fixture.holds().await;
    assert_eq!(held.issues, issues + 5);
    assert!(!held.mentions(bare), "nothing is left of the attribute");
    for partition in ["value", "blank"] {
        assert_eq!(entries(&fixture.cairn, &format!("{partition}-{bare}")).await, []);
    }
    fixture.cairn.caught_up().await;
    let found = fixture.cairn.document("tracker", &document_id(&path, &project)).await.unwrap();
    assert_eq!((&found["k00"], found["k01"].is_string()), (&Value::Null, true));
    assert_eq!(fixture.attribute(&project, "weight", "date").await.len(), id.len(), "its name and slot are free");
}

fn document_id(issue: &str, project: &str) -> String {
    format!("{}#{}", issue.rsplit('/').next().unwrap(), project.rsplit('/').next().unwrap())
}

/// Each time half way between its neighbours, until no number is left there.
async fn column_can_be_moved_between_two_others_repeatedly() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Columns").await;
    for name in ["A", "B", "C"] {
        fixture.attribute(&project, name, "int").await;
    }
    let ids = async || {
        let read = fixture.ann.get(&project).await.is(200);
        read["attributes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let first = ids().await[1].clone();
    // Now the first is at 0, and halves come as near to it as numbers can.
    fixture.ada.patch(&format!("{project}/attributes/{first}"), json!({ "position": 1 })).await.is(200);
    let mut order = ids().await;
    for _ in 0..450 {
        let third = order[2].clone();
        fixture.ada.patch(&format!("{project}/attributes/{third}"), json!({ "position": 2 })).await.is(200);
        order = ids().await;
        assert_eq!(order[1], third);
    }
}

async fn columns_have_distinct_names_and_positions() {
    let fixture = Fixture::new().await;
    let attributes = format!("{PROJECT}/attributes");
    let names = async || {
        let project = fixture.ann.get(PROJECT).await.is(200);
        project["attributes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names().await, ["Start", "End", "Num Items", "Sign Off"]);
    fixture.ada.patch(&format!("{attributes}/xattrib-47e5"), json!({ "position": 2.0 })).await.is(200);
    let refused = fixture.ada.patch(&format!("{attributes}/xattrib-47e5"), json!({ "position": 2.5 })).await;
    let refused = refused.faulty(&["/position"]);
    assert!(!refused.told().contains("usize"), "{}", refused.told());
    assert_eq!(names().await, ["Start", "Sign Off", "End", "Num Items"]);
    fixture.ada.patch(&format!("{attributes}/xattrib-3812"), json!({ "position": 4 })).await.is(200);
    assert_eq!(names().await, ["Sign Off", "End", "Num Items", "Start"]);
    for turn in 0..120 {
        let id = if turn % 2 == 0 { "xattrib-3fe6" } else { "xattrib-882a" };
        fixture.ada.patch(&format!("{attributes}/{id}"), json!({ "position": 2 })).await.is(200);
    }
    assert_eq!(names().await, ["Sign Off", "End", "Num Items", "Start"]);
    let new = |name: &str| fixture.ada.post(&attributes, json!({ "name": name, "type": "int" }));
    new("sign off").await.refused(409, "taken").at(&["/name"]);
    for reserved in ["Number", "STATE", " name "] {
        new(reserved).await.faulty(&["/name"]);
    }
    let ann = person(&fixture.cairn, "ann").await;
    ann.post(&attributes, json!({ "name": "Mine", "type": "int" })).await.refused(403, "forbidden");
}
