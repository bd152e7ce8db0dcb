//! What is rare and must hold as well: values that need escapes, columns that were of another type, runs that come to
//! little.

use std::time::Duration;

use http_body_util::BodyExt;
use hyper::Request;
use hyper::body::Incoming;
use serde_json::{Value, json};
use table::{Config, Engines, item};
use tokio::time::Instant;

use super::crashes::work_dies;
use super::exports::export;
use super::files::{counts, import, new};
use super::fixture::{Fixture, PROJECT, is_open, platform_admin};
use crate::harness::fetch;
use crate::harness::relay::pass_on;
use crate::harness::server::Server;
use crate::harness::stopper::Moment;
use crate::tests;

tests! { tracker_edges:
    filter_values_may_contain_commas_and_backslashes,
    integer_column_retyped_to_decimal_keeps_issues,
    #[long] import_row_that_exceeds_the_issue_size_stops_the_import,
    repeated_numbers_in_bad_rows_are_faults,
    value_of_a_wrong_type_is_a_fault_at_its_pointer,
    tenant_marked_for_deletion_is_absent,
    #[long] export_progresses_in_very_short_runs,
    project_without_free_numbers_refuses_creates,
    number_far_above_the_last_is_refused,
    every_refusal_is_in_the_api_description,
}

async fn filter_values_may_contain_commas_and_backslashes() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Escaped").await;
    for name in ["Smith, A", "Smith, J", "Smith, Z", r"back\", r"back\slash"] {
        fixture.issue(&project, name, json!({})).await;
    }
    fixture.cairn.caught_up().await;
    // Each as it stands in the address.
    for (filter, expected) in [
        (r"filter=name:gte:Smith%5C,%20J", &[2, 3][..]),
        (r"filter=name:lt:Smith%5C,%20J", &[1, 4, 5]),
        (r"filter=name:eq:back%5C%5C,state:eq:open", &[4]),
        (r"filter=name:eq:back%5C%5C,state:eq:closed", &[]),
        (r"filter=name:prefix:back%5C%5C", &[4, 5]),
        (r"filter=name:in:Smith%5C,%20A,back%5C%5Cslash", &[1, 5]),
    ] {
        assert_eq!(fixture.numbers(&project, filter).await, expected, "{filter}");
    }
}

async fn integer_column_retyped_to_decimal_keeps_issues() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Widened").await;
    let id = fixture.attribute(&project, "Weight", "int").await;
    let issue = fixture.issue(&project, "Heavy", json!({ &id: "43" })).await;
    fixture.ada.post(&format!("{project}/attributes/{id}/retype"), json!({ "type": "decimal" })).await.is(200);
    let file = export(&fixture, &project, json!({})).await;
    let again = import(&fixture.ann, &project, new("upsert", "stop"), &file).await;
    assert_eq!((again.text("status"), &again["counts"]), ("succeeded", &counts(1, 0, 0, 0)), "{}", again.told());
    let path = issue.header("location");
    let tag = fixture.ann.get(path).await.is(200).tag();
    let set = fixture.ann.put(&format!("{path}/values/{id}"), json!({ "value": "43" })).await.is(200);
    assert_eq!(set.tag(), tag, "nothing was written");
    let set = fixture.ann.put(&format!("{path}/values/{id}"), json!({ "value": "43.5" })).await.is(200);
    assert_eq!(set["values"][&id], "43.5");
    fixture.holds().await;
}

/// A syllable of three letters is one character, and has nine bytes.
async fn import_row_that_exceeds_the_issue_size_stops_the_import() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Wide").await;
    let names: Vec<String> = (0..46).map(|place| format!("Text {place}")).collect();
    for name in &names {
        fixture.attribute(&project, name, "text").await;
    }
    let texts = |count: usize| format!(",{}", "\u{1100}\u{1161}\u{11a8}".repeat(1024)).repeat(count);
    let file = format!("Name,{}\nSmall{}\nLarge{}\n", names[..40].join(","), ",".repeat(40), texts(40));
    let made = import(&fixture.ann, &project, new("create", "stop"), &file).await;
    assert_eq!(made["counts"], counts(2, 2, 0, 0), "{}", made.told());
    let file = format!("Number,Name,{}\n1,Changed{}\n2,Larger{}\n", names[40..].join(","), ",".repeat(6), texts(6));
    let rejected = import(&fixture.ann, &project, new("upsert", "stop"), &file).await;
    assert_eq!(rejected.text("status"), "failed", "{}", rejected.told());
    assert_eq!((&rejected["faults"][0]["record"], &rejected["counts"]["total"]), (&json!(2), &json!(2)));
    let first = fixture.ann.get(&format!("{project}/numbers/1")).await.is(200);
    assert_eq!(first.text("name"), "Small", "nothing was written");
    let skipped = import(&fixture.ann, &project, new("upsert", "skip"), &file).await;
    assert_eq!(skipped["counts"], counts(2, 0, 1, 1), "{}", skipped.told());
}

/// And told on the lines on which they stand, behind cells of several lines.
async fn repeated_numbers_in_bad_rows_are_faults() {
    let fixture = Fixture::new().await;
    let file = "Sign Off,Number,Name,Num Items\n\
                one,7,First,x\n\
                \"two\nlines\",7,Second,1\n\
                \"three\nmore\nlines\",8,,1\n\
                four,9,Fourth,1\n";
    let told = import(&fixture.ann, PROJECT, new("create", "skip"), file).await;
    let faults: Vec<(&Value, &Value, &Value)> = told["faults"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| (&fault["record"], &fault["line"], &fault["column"]))
        .collect();
    let expected = [
        (json!(1), json!(2), json!("Num Items")),
        (json!(2), json!(4), json!("Number")),
        (json!(3), json!(7), json!("Name")),
    ];
    assert_eq!(faults, expected.iter().map(|(record, line, column)| (record, line, column)).collect::<Vec<_>>());
    assert_eq!(fixture.numbers(PROJECT, "").await, [1, 2, 3, 9]);
}

async fn value_of_a_wrong_type_is_a_fault_at_its_pointer() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Strict").await;
    let issue = fixture.issue(&project, "Any", json!({})).await.header("location").to_owned();
    let value = format!("{issue}/values/xattrib-ffff");
    fixture.ann.put(&value, json!({ "value": "1" })).await.refused(422, "unknown-attribute");
    fixture.ann.delete(&value).await.refused(404, "not-found");
    let exported = json!({ "columns": ["xattrib-ffff"] });
    let refused = fixture.ann.post(&format!("{project}/exports"), exported).await;
    refused.refused(422, "unmapped-column").at(&["/columns/0"]);
    let choice = json!({ "name": "Level", "type": "choice", "options": [{ "label": "High" }] });
    let made = fixture.ada.post(&format!("{project}/attributes"), choice).await.is(201);
    let path = format!("{project}/attributes/{}", made.text("id"));
    let options = json!({ "options": [{ "label": "Low" }, { "id": "999" }] });
    fixture.ada.patch(&path, options.clone()).await.refused(422, "unknown-option").at(&["/options/1/id"]);
    let number = fixture.attribute(&project, "Weight", "int").await;
    let path = format!("{project}/attributes/{number}");
    fixture.ada.patch(&path, options).await.refused(422, "wrong-type").at(&["/options"]);
}

async fn every_refusal_is_in_the_api_description() {
    let fixture = Fixture::new().await;
    let description = fixture.ann.get("/tracker/openapi.json").await.is(200);
    let schemas = &description["components"]["schemas"];
    for (name, property) in [
        ("NewIssue", "name"),
        ("IssuePatch", "name"),
        ("NewProject", "name"),
        ("NewTenant", "name"),
        ("NewAttribute", "name"),
    ] {
        assert_eq!(schemas[name]["properties"][property]["pattern"], "\\S", "{name}");
    }
    let blank = json!({ "name": " \t" });
    for (user, path) in [(&fixture.ann, "issues"), (&fixture.ada, "attributes")] {
        let mut new = blank.clone();
        if path == "attributes" {
            new["type"] = json!("int");
        }
        let refused = user.post(&format!("{PROJECT}/{path}"), new.clone()).await.faulty(&["/name"]);
        assert_eq!(refused["errors"][0]["detail"], "must not be blank");
        new["name"] = json!("");
        let refused = user.post(&format!("{PROJECT}/{path}"), new).await.faulty(&["/name"]);
        assert_eq!(refused["errors"].as_array().unwrap().len(), 1, "{}", refused.told());
    }
    let people = &schemas["NewMember"]["properties"]["idpid"]["pattern"];
    assert_eq!(*people, table::Idpid::PATTERN);
    for idpid in ["nobody", ":ann", "local:", "local:a::b", "local:a#b"] {
        let member = json!({ "idpid": idpid, "role": "viewer" });
        let refused = fixture.ada.post("/tracker/tenants/tenant-0807/members", member).await.faulty(&["/idpid"]);
        assert_eq!(refused["errors"][0]["detail"], format!("must be {}", table::Idpid::EXPECTED), "{idpid}");
    }
    let values = json!({ "name": "New", "values": { "Num Items": "1" } });
    fixture.ann.post(&format!("{PROJECT}/issues"), values).await.faulty(&["/values"]);
    let empty = json!({ "values": {} });
    fixture.ann.patch(&format!("{PROJECT}/issues/issue-020e/values"), empty).await.faulty(&["/values"]);
    fixture.ann.get(&format!("{PROJECT}/grid?cursor=")).await.faulty(&["cursor"]);
}

async fn tenant_marked_for_deletion_is_absent() {
    let fixture = Fixture::new().await;
    let pat = platform_admin(&fixture.cairn).await;
    fixture.ann.get(PROJECT).await.is(200);
    // Nobody goes on with what the request begins.
    fixture.cairn.engines().wind_down();
    let accepted = pat.delete("/tracker/tenants/tenant-0807?cascade=true").await.is(202);
    fixture.ann.get(PROJECT).await.refused(404, "not-found");
    fixture.ada.get("/tracker/tenants/tenant-0807").await.refused(404, "not-found");
    let work = accepted.header("location");
    assert_eq!(pat.get(work).await.is(200).text("status"), "running");
    let mut runs = 0;
    while is_open(&pat.get(work).await.is(200)) {
        work_dies(&fixture, (usize::MAX, Moment::BeforeItIsSent)).await;
        runs += 1;
        assert!(runs < 20, "it never ends");
    }
    assert_eq!(pat.get(work).await.is(200).text("status"), "succeeded", "the job of a deleted tenant can be read");
}

/// A DynamoDB so slow that a run reads a page or two, and each run with time for one step. Where the machine is slow, too,
/// and a run comes to nothing, the next has more time.
async fn export_progresses_in_very_short_runs() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Narrow").await;
    let rows: String = (0..450).map(|row| format!("Row {row}\n")).collect();
    let made = import(&fixture.ann, &project, new("create", "stop"), &format!("Name\n{rows}")).await;
    assert_eq!(made.text("status"), "succeeded", "{}", made.told());
    let whole = export(&fixture, &project, json!({ "columns": [] })).await;
    fixture.cairn.engines().wind_down();
    let begun = fixture.ann.post(&format!("{project}/exports"), json!({ "columns": [] })).await.is(202);
    let (work, mut seen) = (begun.header("location"), vec![0]);
    let mut time = Duration::from_millis(3_900);
    loop {
        fixture.cairn.clock.advance(Duration::from_secs(121));
        let config = fixture.cairn.engines().config.clone();
        let dynamodb = config.dynamodb.clone().unwrap();
        let slow = slow(dynamodb).await;
        let config = Config { dynamodb: Some(slow.url.clone()), ..config };
        let app = ::tracker::app(Engines::new(config, fixture.cairn.clock.clone())).metrics_to(|_| {});
        let run = app.event("runJobs", "{}".into(), Instant::now() + time).await;
        let told = fixture.ann.get(work).await.is(200);
        let done = told["counts"]["done"].as_u64().unwrap();
        if run.is_err() || done == seen[seen.len() - 1] {
            time = time.mul_f64(1.2);
            assert!(time < Duration::from_secs(30), "it came no further than {seen:?}: {run:?} {}", told.told());
            continue;
        }
        seen.push(done);
        if told.text("status") == "succeeded" {
            let fetched = fetch(told.text("link")).await.is(200);
            assert_eq!(String::from_utf8(fetched.bytes.to_vec()).unwrap(), whole);
            break;
        }
    }
    assert!(seen.len() > 2, "one run was enough: {seen:?}");
}

/// A DynamoDB that takes its time for each `BatchGetItem`.
async fn slow(dynamodb: String) -> Server {
    Server::start(move |request: Request<Incoming>| {
        let dynamodb = dynamodb.clone();
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
            if parts.headers["x-amz-target"].to_str().unwrap().ends_with("BatchGetItem") {
                tokio::time::sleep(Duration::from_millis(600)).await;
            }
            pass_on(dynamodb, parts, body).await
        }
    })
    .await
}

async fn project_without_free_numbers_refuses_creates() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Full").await;
    let last = fixture.issue(&project, "Last", json!({})).await;
    let path = format!("{}/renumber", last.header("location"));
    let counter = format!("counter-{}", project.rsplit("project-").next().unwrap());
    let table = fixture.cairn.table_of(&::tracker::schema::TRACKER);
    let mut item = table.get(&counter, "*").await.unwrap();
    item.insert("Last".to_owned(), item::number(999_999_999_999_u64));
    table.put(item).await;
    fixture.ann.post(&path, json!({ "number": 1_000_000_000_001_u64 })).await.faulty(&["/number"]);
    fixture.ann.post(&path, json!({ "number": 1_000_000_000_000_u64 })).await.is(200);
    let more = fixture.ann.post(&format!("{project}/issues"), json!({ "name": "One more" })).await;
    more.refused(409, "taken");
    assert_eq!(fixture.numbers(&project, "").await, [1_000_000_000_000]);
    fixture.cairn.caught_up().await;
    let by_name = format!("sort=name&filter=number:eq:{}", 1_000_000_000_000_u64);
    assert_eq!(fixture.numbers(&project, &by_name).await, [1_000_000_000_000]);
}

/// Whoever may write cannot use up a project's numbers with a request.
async fn number_far_above_the_last_is_refused() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Jumps").await;
    let first = fixture.issue(&project, "First", json!({})).await;
    let path = format!("{}/renumber", first.header("location"));
    for number in [1_000_002_u64, 9_999_999, 1_000_000_000_000] {
        let refused = fixture.ann.post(&path, json!({ "number": number })).await.refused(422, "unprocessable");
        assert_eq!(refused["errors"][0]["pointer"], "/number");
    }
    let file = "Number,Name\n1000002,Too far\n9000001,Foreign\n1000001,As far as it goes\n,Unnumbered\n";
    let rejected = import(&fixture.ann, &project, new("create", "stop"), file).await;
    let faults: Vec<_> = rejected["faults"].as_array().unwrap().iter().map(|fault| fault["record"].clone()).collect();
    assert_eq!((rejected.text("status"), faults), ("failed", vec![json!(1), json!(2)]), "{}", rejected.told());
    let skipped = import(&fixture.ann, &project, new("upsert", "skip"), file).await;
    assert_eq!((skipped.text("status"), &skipped["counts"]), ("succeeded", &counts(4, 2, 0, 2)), "{}", skipped.told());
    assert_eq!(fixture.numbers(&project, "").await, [1, 1_000_001, 1_000_002]);
    fixture.ann.post(&path, json!({ "number": 2_000_002 })).await.is(200);
    assert_eq!(fixture.issue(&project, "Next", json!({})).await["number"], 2_000_003);
    fixture.holds().await;
}
