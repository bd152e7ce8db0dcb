//! Changes of a schema and deletions, stopped at each of their writes: before it is sent, half done if it is a batch, and
//! after it was applied with its answer lost. A process that knows nothing of the one that died goes on, and table and index are in the end as if
//! nobody had died.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde_json::{Map, Value, json};
use table::access::{AccessPattern, Call, TableAction};
use table::item::{self, from_item};
use table::{Access, Config, Engines, Item, Key};
use tokio::time::Instant;
use tracker::schema::{LOG_CHANGES, TRACKER};
use web::App;

use super::files::{import, new};
use super::fixture::{Fixture, entries};
use super::rule::all;
use crate::harness::stopper::{Met, Moment, Stopper, WRITES};
use crate::harness::{Cairn, Set, Setup, Test, engines, sized};

/// How many issues is in the names.
pub fn tests() -> Vec<Test> {
    let (issues, told) = match engines::set() {
        Set::Real => sized((12, "12"), (60, "60")),
        _ => sized((12, "12"), (120, "120")),
    };
    let name = |what: &str| format!("tracker_stopped::{what}_of_{told}_issues_killed_at_each_step_is_finished");
    vec![
        Test::new(name("building_an_attribute"), move || a_new_attribute(issues)),
        Test::new(name("deleting_an_attribute"), move || an_attribute_that_goes(issues)),
        Test::new(name("retyping_to_text"), move || values_that_become_text(issues)),
        Test::new(name("deleting_a_project"), move || the_deletion_of_a_project(issues)).long(),
        Test::new(name("undoing_an_import"), move || an_undone_import(issues)).long(),
        Test::new(name("deleting_a_tenant"), move || the_deletion_of_a_tenant(issues)).long(),
        Test::new("tracker_stopped::deleting_an_issue_killed_at_each_step_is_finished", the_deletion_of_a_wide_issue)
            .long(),
    ]
}

/// Past the platform.
const RESTORE: AccessPattern =
    AccessPattern { name: "restore", calls: &[Call::Table { table: "tracker", action: TableAction::BatchWriteItem }] };

/// What another run of the same has otherwise: revisions, moments, and which of the gates counts, whose sum is checked.
const VARYING: [&str; 8] = ["rev", "CreatedAt", "UpdatedAt", "createdAt", "endedAt", "expires", "Live", "Open"];

/// Something that an administrator asks for, and that goes on as work.
struct Change {
    fixture: Fixture,
    token: String,
    method: Method,
    path: String,
    body: Bytes,
    /// What the table holds before it.
    before: Vec<Item>,
}

async fn a_new_attribute(issues: usize) {
    let (fixture, project, _) = with_issues(issues).await;
    let height = Bytes::from(json!({ "name": "Height", "type": "int" }).to_string());
    let change = Change::of(fixture, Method::POST, format!("{project}/attributes"), height).await;
    let writes = change.is_stopped_at_each_write().await;
    assert!(writes >= sized(3, 5), "{writes}");
}

async fn an_attribute_that_goes(issues: usize) {
    let (fixture, project, weight) = with_issues(issues).await;
    let path = format!("{project}/attributes/{weight}");
    let change = Change::of(fixture, Method::DELETE, path, Bytes::new()).await;
    let writes = change.is_stopped_at_each_write().await;
    assert!(writes >= 5, "{writes}");
    let held = change.fixture.holds().await;
    assert!(!held.mentions(weight.trim_start_matches("xattrib-")), "something is left of the attribute");
}

async fn values_that_become_text(issues: usize) {
    let (fixture, project, weight) = with_issues(issues).await;
    let text = Bytes::from(json!({ "type": "text" }).to_string());
    let path = format!("{project}/attributes/{weight}/retype");
    let change = Change::of(fixture, Method::POST, path, text).await;
    let writes = change.is_stopped_at_each_write().await;
    assert!(writes >= sized(3, 5), "{writes}");
}

async fn the_deletion_of_a_project(issues: usize) {
    let (fixture, project, _) = with_issues(issues).await;
    log_changes(&fixture.cairn, &project).await;
    let change = Change::of(fixture, Method::DELETE, format!("{project}?cascade=true"), Bytes::new()).await;
    let died = change.is_stopped_again_and_again().await;
    assert!(died > 2 * issues, "it died {died} times");
    let held = change.fixture.holds().await;
    assert!(!held.mentions(project.rsplit("project-").next().unwrap()), "something is left of the project");
}

async fn the_deletion_of_a_tenant(issues: usize) {
    let (fixture, _, _) = with_issues(issues).await;
    let path = "/tracker/tenants/tenant-0807?cascade=true".to_owned();
    let change = Change::of(fixture, Method::DELETE, path, Bytes::new()).await;
    let died = change.is_stopped_again_and_again().await;
    assert!(died > 2 * issues, "it died {died} times");
    let held = change.fixture.holds().await;
    assert!(!held.mentions("tenant-0807") && !held.mentions("35e9"), "something is left of the tenant");
    assert_eq!(held.issues, 2, "those of the other tenant");
}

async fn an_undone_import(issues: usize) {
    let (fixture, project, _) = with_issues(issues).await;
    let first = fixture.ann.get(&format!("{project}/numbers/1")).await.is(200);
    fixture.ann.patch(&format!("{project}/issues/{}", first.text("id")), json!({ "state": "open" })).await.is(200);
    let import = format!("/tracker/tenants/tenant-0807/jobs/{}", first.text("importId"));
    let job = fixture.ada.post(&format!("{import}/undo"), json!({})).await.is(202).header("location").to_owned();
    // The job exists already; the request only reads it.
    let change = Change::of(fixture, Method::GET, job, Bytes::new()).await;
    let writes = change.is_stopped_at_each_write().await;
    assert!(writes > issues, "{writes}");
    assert_eq!(change.fixture.numbers(&project, "").await, [1]);
}

/// It has more rows than a transaction takes.
async fn the_deletion_of_a_wide_issue() {
    let fixture = without_readers().await;
    let project = fixture.project("Wide").await;
    let mut values = Map::new();
    for place in 0..100 {
        values.insert(fixture.attribute(&project, &format!("Column {place}"), "int").await, json!(place));
    }
    let path = fixture.issue(&project, "Wide", values.into()).await.header("location").to_owned();
    fixture.until(async || entries(&fixture.cairn, "due").await.is_empty()).await;
    fixture.cairn.engines().wind_down();
    let change = Change::of(fixture, Method::DELETE, path, Bytes::new()).await;
    let writes = change.is_stopped_at_each_write().await;
    assert!(writes >= 2, "{writes}");
}

/// A platform that logs no changes, since it differs between runs how many are logged when a process dies.
async fn without_readers() -> Fixture {
    Fixture::with(Setup { without: vec![LOG_CHANGES], ..Setup::of("tracker") }).await
}

/// Logs the creation of all issues of a project.
async fn log_changes(cairn: &Cairn, project: &str) {
    let table = cairn.table_of(&TRACKER);
    let is_of_project = |item: &&Item| item["SK"].as_s().is_ok_and(|sk| project.ends_with(sk.as_str()));
    let issues = all(cairn).await;
    let records: Vec<Value> =
        issues.iter().filter(is_of_project).enumerate().map(|(place, item)| table.insert_record(item, place)).collect();
    assert!(!records.is_empty());
    let answer = cairn.event("tracker", LOG_CHANGES, &json!({ "Records": records })).await.unwrap();
    assert_eq!(answer, json!({ "batchItemFailures": [] }));
}

/// A project of three attributes and so many issues, some of them closed and some without a weight; and the id of that
/// attribute. The platform's own worker leaves what is due to others.
async fn with_issues(issues: usize) -> (Fixture, String, String) {
    let fixture = without_readers().await;
    let project = fixture.project("Much").await;
    let weight = fixture.attribute(&project, "Weight", "int").await;
    fixture.attribute(&project, "Note", "text").await;
    fixture.attribute(&project, "Day", "date").await;
    let mut file = "Name,State,Weight,Note,Day\n".to_owned();
    for row in 0..issues {
        let state = if row % 5 == 0 { "closed" } else { "open" };
        let weight = if row % 4 == 3 { String::new() } else { row.to_string() };
        writeln!(file, "Issue {row},{state},{weight},Note {row},2023-05-{:02}", row % 28 + 1).unwrap();
    }
    let made = import(&fixture.ann, &project, new("create", "stop"), &file).await;
    assert_eq!(made["counts"]["created"], issues, "{}", made.told());
    fixture.cairn.engines().wind_down();
    (fixture, project, weight)
}

/// Any gate will do for a write, and work has another id whenever its beginning is tried again.
fn is_random(key: &str) -> bool {
    key.starts_with("gate-") || key.starts_with("job-") || key.contains(" job-")
}

impl Change {
    async fn of(fixture: Fixture, method: Method, path: String, body: Bytes) -> Self {
        let token = fixture.cairn.token("ada", &["platform-admin"]).await;
        let before = all(&fixture.cairn).await;
        Self { fixture, token, method, path, body, before }
    }

    /// Stops it at each of its writes in turn, and each time lets another process do the rest. Returns how many it has.
    async fn is_stopped_at_each_write(&self) -> usize {
        let uninterrupted = self.uninterrupted().await;
        let mut place = 0;
        loop {
            let mut batch = false;
            for moment in [Moment::BeforeItIsSent, Moment::HalfDone, Moment::AfterItIsDone] {
                if moment == Moment::HalfDone && !batch {
                    continue;
                }
                self.restore().await;
                let stopper = self.stopper(Some((place, moment))).await;
                if !self.dies(&stopper).await {
                    return place;
                }
                batch = stopper.holds_a_batch();
                assert!(!self.dies(&self.stopper(None).await).await);
                self.has_come_to(&uninterrupted, &format!("{moment:?} of write {place}")).await;
            }
            place += 1;
        }
    }

    /// Stops it at each of its writes, at each moment, and each process goes on where the one before has died: for what has too
    /// many writes to be begun anew for each. Returns how many died.
    async fn is_stopped_again_and_again(&self) -> usize {
        let uninterrupted = self.uninterrupted().await;
        self.restore().await;
        let (met, mut died) = (Met::new(is_random), 0);
        while self.dies(&Stopper::at_unmet(&met, self.dynamodb()).await).await {
            died += 1;
        }
        self.has_come_to(&uninterrupted, &format!("after {died} deaths")).await;
        died
    }

    /// What it comes to where nobody dies.
    async fn uninterrupted(&self) -> Vec<String> {
        assert!(!self.dies(&self.stopper(None).await).await);
        self.fixture.holds().await;
        self.outcome().await
    }

    fn dynamodb(&self) -> String {
        self.fixture.cairn.engines().config.dynamodb.clone().unwrap()
    }

    async fn stopper(&self, held: Option<(usize, Moment)>) -> Stopper {
        Stopper::of(WRITES, self.dynamodb(), held).await
    }

    /// A process of its own does all that is left of it. True if it has died.
    async fn dies(&self, stopper: &Stopper) -> bool {
        let cairn = &self.fixture.cairn;
        let config = Config { dynamodb: Some(stopper.url.clone()), ..cairn.engines().config.clone() };
        let app = ::tracker::app(Engines::new(config, cairn.clock.clone())).metrics_to(|_| {});
        tokio::select! {
            () = self.carry_out(&app) => false,
            () = stopper.stopped() => true,
        }
    }

    /// Asks for it, as a client does that was not answered, and goes on with what is due until nothing is.
    async fn carry_out(&self, app: &App) {
        let request = http::Request::builder().method(self.method.clone()).uri(&self.path);
        let request = request.header("authorization", format!("Bearer {}", self.token));
        let request = request.header("content-type", "application/json").body(self.body.clone()).unwrap();
        let status = app.handle(request).await.status().as_u16();
        // What was asked for before may be done.
        assert!(matches!(status, 200..=204 | 404 | 409), "{status}");
        while !entries(&self.fixture.cairn, "due").await.is_empty() {
            // The lease of the one before has ended, and the index has had its time.
            self.fixture.cairn.clock.advance(Duration::from_secs(121));
            let deadline = Instant::now() + Duration::from_secs(60);
            app.event("runJobs", "{}".into(), deadline).await.unwrap();
        }
    }

    /// Puts everything back, with a revision above all that were written since: search goes by that.
    async fn restore(&self) {
        let cairn = &self.fixture.cairn;
        let key = |item: &Item| item::key(&TRACKER, item).unwrap();
        let known: BTreeSet<Key> = self.before.iter().map(key).collect();
        let made: Vec<Key> = all(cairn).await.iter().map(key).filter(|key| !known.contains(key)).collect();
        let access = Access::new(Arc::clone(cairn.engines()), &[&RESTORE]);
        access.table(&RESTORE, &TRACKER).batch_delete(&made).await.unwrap();
        let rev = item::number(cairn.clock.micros() * 2);
        let mut items = self.before.clone();
        for kept in items.iter_mut().filter_map(|item| item.get_mut("rev")) {
            *kept = rev.clone();
        }
        cairn.table_of(&TRACKER).put_all(items).await;
    }

    async fn has_come_to(&self, expected: &[String], when: &str) {
        let found = self.outcome().await;
        let differing = || -> Vec<&String> {
            let strange = found.iter().filter(|line| !expected.contains(line));
            strange.chain(expected.iter().filter(|line| !found.contains(line))).collect()
        };
        assert!(found == expected, "{when}: {:#?}", differing());
        self.fixture.holds().await;
    }

    /// All items and all documents, as text in an order of its own.
    async fn outcome(&self) -> Vec<String> {
        let items = all(&self.fixture.cairn).await;
        let given: Vec<String> = items.iter().filter_map(|item| self.given(item)).collect();
        let mut lines = self.documents().await;
        for mut item in items {
            for (_, value) in item.iter_mut().filter(|(name, _)| VARYING.contains(&name.as_str())) {
                *value = item::text("varies");
            }
            let line = from_item::<Value>(item).unwrap().to_string();
            lines.push(given.iter().fold(line, |line, id| line.replace(id, "given")));
        }
        lines.sort_unstable();
        lines
    }

    /// The id of work or of an attribute that the change has made.
    fn given(&self, item: &Item) -> Option<String> {
        let sk = item["SK"].as_s().unwrap();
        let id = sk.strip_prefix("job-").or_else(|| sk.strip_prefix("xattrib-"))?;
        let is_new = self.before.iter().all(|before| before["SK"] != item["SK"]);
        is_new.then(|| id.to_owned())
    }

    /// All documents of the index, but for their revisions.
    async fn documents(&self) -> Vec<String> {
        let cairn = &self.fixture.cairn;
        cairn.caught_up().await;
        let query = json!({ "query": { "bool": { "must_not": [{ "term": { "deleted": true } }] } }, "size": 1000 });
        let path = format!("/{}/_search", cairn.engines().config.search_name("tracker"));
        let found = cairn.search_engine(Method::POST, &path, &query).await;
        let hits = found["hits"]["hits"].as_array().unwrap();
        assert_eq!(found["hits"]["total"]["value"], hits.len(), "{found}");
        let document = |hit: &Value| {
            let mut document = hit["_source"].clone();
            document.as_object_mut().unwrap().remove("rev");
            document.to_string()
        };
        hits.iter().map(document).collect()
    }
}
