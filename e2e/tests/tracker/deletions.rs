//! Deletion of projects and tenants.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::future::join_all;
use http::{Request, Response};
use serde_json::{Value, json};
use table::{Config, Engines, EntityKey};
use tokio::time::Instant;
use tracker::audit::Audit;
use tracker::items::{Member, Role};
use tracker::keys::MemberKey;
use tracker::schema::TRACKER;

use super::crashes::{dies, others_do_its_jobs, work_dies};
use super::fair::platform_of_its_own;
use super::fixture::{Fixture, PROJECT, TENANT, entries, is_open, person, platform_admin};
use crate::harness::relay::before_first_transaction;
use crate::harness::stopper::Moment;
use crate::harness::table::stored;
use crate::tests;

tests! { tracker_deletions:
    #[long] deleting_a_project_with_500_issues_leaves_nothing,
    two_deletions_of_a_project_at_once_have_one_job,
    deletion_of_a_project_counts_the_issues_of_its_commit,
    deleted_and_moved_issues_leave_no_row_of_a_deleted_attribute,
    deleting_a_tenant_deletes_its_projects,
    two_deletions_of_a_tenant_at_once_have_one_job,
    all_of_many_members_lose_a_tenant_before_its_deletion_is_answered,
    deletion_of_a_tenant_removes_thousands_of_members_step_by_step,
    stopped_job_has_a_reason,
    #[long] step_that_can_never_be_written_fails_its_run,
}

async fn stopped_job_has_a_reason() {
    let fixture = Fixture::new().await;
    let attribute = format!("{PROJECT}/attributes/xattrib-3fe6");
    // A request gives the job back, as one does that has no time left.
    fixture.cairn.engines().wind_down();
    let retype = fixture.ada.post(&format!("{attribute}/retype"), json!({ "type": "text" })).await.is(202);
    fixture.ada.delete(&attribute).await.is(202);
    others_do_its_jobs(&fixture).await;
    let stopped = fixture.ada.get(retype.header("location")).await.is(200);
    assert_eq!(stopped.text("status"), "failed", "{}", stopped.told());
    assert_eq!(stopped.text("reason"), "its attribute was deleted or is converted already");
}

/// Whoever deletes dies half way.
async fn deleting_a_project_with_500_issues_leaves_nothing() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Doomed").await;
    let id = fixture.attribute(&project, "Weight", "int").await;
    fixture.issues(&project, 500, |place| json!({ &id: place })).await;
    fixture.ada.delete(&project).await.refused(409, "has-dependents");
    let conflicts = fixture.cairn.conflicts(0.1);
    let issues = format!("{project}/issues");
    let creators = (0..10).map(|_| async {
        let mut made = 0;
        loop {
            match fixture.ann.post(&issues, json!({ "name": "Late" })).await.status {
                201 => made += 1,
                status => return (made, status),
            }
        }
    });
    let path = format!("{project}?cascade=true");
    let authorization = format!("Bearer {}", fixture.cairn.token("ada", &[]).await);
    let request = Request::delete(&path).header("authorization", authorization).body(Bytes::new()).unwrap();
    let deletion = dies(&fixture, &fixture.cairn.clock, (6, Moment::AfterItIsDone), |app| async move {
        app.handle(request).await;
    });
    let (ends, died) = tokio::join!(join_all(creators), deletion);
    assert!(died, "the deletion was done before it came to where it dies");
    assert!(ends.iter().all(|(_, status)| *status == 404), "{ends:?}");
    let bare = project.rsplit("project-").next().unwrap();
    let left = super::rule::all(&fixture.cairn).await;
    let of_project = |item: &&table::Item| item["SK"].as_s().is_ok_and(|sk| sk == &format!("project-{bare}"));
    let left = left.iter().filter(of_project).count();
    assert!(0 < left && left < 500, "{left} issues are left");
    fixture.settled().await;
    fixture.ada.get(&project).await.refused(404, "not-found");
    assert!(conflicts.count() > 0, "no conflict occurred");
    let held = fixture.holds().await;
    assert!(!held.mentions(bare), "nothing is left of the project");
    assert_eq!(held.issues, 5);
    fixture.cairn.caught_up().await;
    let query = json!({ "query": { "bool": {
        "filter": [{ "term": { "projectId": format!("project-{bare}") } }], "must_not": [{ "term": { "deleted": true } }],
    } } });
    let alias = fixture.cairn.engines().config.search_name("tracker");
    let found = fixture.cairn.search_engine(reqwest::Method::POST, &format!("/{alias}/_search"), &query).await;
    assert_eq!(found["hits"]["hits"], json!([]), "{found}");
}

/// Deletes a project or a tenant as ada, by a request that has no time for the job. Runs `act` just before it marks it.
async fn delete_after<A>(fixture: &Fixture, path: &str, act: A) -> Response<Bytes>
where
    A: Future<Output = ()> + Send + 'static,
{
    let config = fixture.cairn.engines().config.clone();
    let id = path.trim_end_matches("?cascade=true").rsplit('/').next().unwrap().to_owned();
    let server = before_first_transaction(config.dynamodb.clone().unwrap(), id, act).await;
    let config = Config { dynamodb: Some(server.url.clone()), ..config };
    let app = ::tracker::app(Engines::new(config, fixture.cairn.clock.clone())).metrics_to(|_| {});
    app.engines().wind_down();
    let authorization = format!("Bearer {}", fixture.cairn.token("ada", &["platform-admin"]).await);
    app.handle(Request::delete(path).header("authorization", authorization).body(Bytes::new()).unwrap()).await
}

async fn two_deletions_of_a_project_at_once_have_one_job() {
    let fixture = Fixture::new().await;
    let path = format!("{PROJECT}?cascade=true");
    // A request gives the job back, as one does that has no time left.
    fixture.cairn.engines().wind_down();
    let job = Arc::<Mutex<String>>::default();
    let (ada, same, first) = (fixture.ada.clone(), path.clone(), Arc::clone(&job));
    let second = delete_after(&fixture, &path, async move {
        let accepted = ada.delete(&same).await.is(202);
        *first.lock().unwrap() = accepted.header("location").to_owned();
    })
    .await;
    assert_eq!(second.status(), 202, "{second:?}");
    assert_eq!(second.headers()["location"].to_str().unwrap(), *job.lock().unwrap());
    others_do_its_jobs(&fixture).await;
    let jobs = fixture.ada.get(&format!("{TENANT}/jobs")).await.is(200);
    assert_eq!((jobs.each("kind"), jobs.each("status")), (vec![&json!("deleteProject")], vec![&json!("succeeded")]));
    let held = fixture.holds().await;
    assert!(!held.mentions("35e9"), "nothing is left of the project");
}

/// The projects have no issue when the requests read their gates.
async fn deletion_of_a_project_counts_the_issues_of_its_commit() {
    let fixture = Fixture::new().await;
    let (filled, empty) = (fixture.project("Filled").await, fixture.project("Empty").await);
    let (ann, issues) = (fixture.ann.clone(), format!("{filled}/issues"));
    let refused = delete_after(&fixture, &filled, async move {
        for name in ["One", "Two"] {
            ann.post(&issues, json!({ "name": name })).await.is(201);
        }
    })
    .await;
    let problem: Value = serde_json::from_slice(refused.body()).unwrap();
    assert_eq!((refused.status().as_u16(), &problem["counts"]), (409, &json!({ "issues": 2 })), "{problem}");
    let (ann, issues) = (fixture.ann.clone(), format!("{empty}/issues"));
    let accepted = delete_after(&fixture, &empty, async move {
        // Each is counted by random gates.
        for _ in 0..3 {
            let made = ann.post(&issues, json!({ "name": "Short-lived" })).await.is(201);
            ann.delete(made.header("location")).await.is(204);
        }
    })
    .await;
    assert_eq!(accepted.status(), 202, "{accepted:?}");
    fixture.settled().await;
    fixture.ada.get(&empty).await.refused(404, "not-found");
    fixture.holds().await;
}

/// The project may be deleted before the attribute's job has run, which then finds no project.
async fn deleted_and_moved_issues_leave_no_row_of_a_deleted_attribute() {
    let fixture = Fixture::new().await;
    let (project, other) = (fixture.project("From").await, fixture.project("To").await);
    let id = fixture.attribute(&project, "Weight", "int").await;
    let issues = fixture.issues(&project, 4, |place| if place == 0 { json!({}) } else { json!({ &id: place }) }).await;
    let [blank, updated, moved, last] = [0, 1, 2, 3].map(|place: usize| issues[place].header("location"));
    // A request gives the job back, as one does that has no time left.
    fixture.cairn.engines().wind_down();
    fixture.ada.delete(&format!("{project}/attributes/{id}")).await.is(202);
    // The update removes the value from the issue, and leaves its row to the job.
    fixture.ann.patch(updated, json!({ "name": "Updated" })).await.is(200);
    for path in [blank, updated] {
        fixture.ann.delete(path).await.is(204);
    }
    let there = json!({ "project": other.rsplit('/').next().unwrap() });
    fixture.ann.post(&format!("{moved}/move"), there).await.is(200);
    let bare = id.trim_start_matches("xattrib-");
    let left = entries(&fixture.cairn, &format!("value-{bare}")).await;
    let left: Vec<&str> = left.iter().map(|(_, issue)| issue.as_str()).collect();
    assert_eq!(left, [last.rsplit('/').next().unwrap()]);
    assert_eq!(entries(&fixture.cairn, &format!("blank-{bare}")).await, []);
    fixture.ada.delete(&format!("{project}?cascade=true")).await.is(202);
    others_do_its_jobs(&fixture).await;
    let held = fixture.holds().await;
    assert!(!held.mentions(bare), "nothing is left of the attribute");
}

async fn deleting_a_tenant_deletes_its_projects() {
    let fixture = Fixture::new().await;
    let pat = platform_admin(&fixture.cairn).await;
    let tenant = "/tracker/tenants/tenant-0807";
    pat.get(PROJECT).await.refused(404, "not-found");
    fixture.ada.delete(tenant).await.refused(403, "forbidden");
    pat.delete(tenant).await.refused(409, "has-dependents");
    let deleted = pat.delete(&format!("{tenant}?cascade=true")).await;
    assert!(matches!(deleted.status, 202 | 204), "{}", deleted.told());
    fixture.ada.get(PROJECT).await.refused(404, "not-found");
    pat.get(tenant).await.refused(404, "not-found");
    fixture.until(async || pat.delete(&format!("{tenant}?cascade=true")).await.status != 202).await;
    let held = fixture.holds().await;
    assert_eq!(held.issues, 2);
    assert!(!held.mentions("35e9"), "nothing is left of its project");
    assert_eq!(pat.get("/tracker/tenants").await.is(200).each("name"), ["Big Media"]);
}

async fn two_deletions_of_a_tenant_at_once_have_one_job() {
    let fixture = Fixture::new().await;
    let pat = platform_admin(&fixture.cairn).await;
    let path = format!("{TENANT}?cascade=true");
    // A request gives the job back, as one does that has no time left.
    fixture.cairn.engines().wind_down();
    let job = Arc::<Mutex<String>>::default();
    let (user, same, first) = (pat.clone(), path.clone(), Arc::clone(&job));
    let second = delete_after(&fixture, &path, async move {
        let accepted = user.delete(&same).await.is(202);
        *first.lock().unwrap() = accepted.header("location").to_owned();
    })
    .await;
    assert_eq!(second.status(), 202, "{second:?}");
    let job = job.lock().unwrap().clone();
    assert_eq!(second.headers()["location"].to_str().unwrap(), job);
    for _ in 0..20 {
        if !is_open(&pat.get(&job).await.is(200)) {
            break;
        }
        work_dies(&fixture, (usize::MAX, Moment::BeforeItIsSent)).await;
    }
    let ended = pat.get(&job).await.is(200);
    assert_eq!((ended.text("kind"), ended.text("status")), ("deleteTenant", "succeeded"), "{}", ended.told());
    pat.delete(&path).await.refused(404, "not-found");
    let held = fixture.holds().await;
    assert!(!held.mentions("35e9"), "nothing is left of its project");
}

/// The transaction that marks the tenant removes only some of them.
async fn all_of_many_members_lose_a_tenant_before_its_deletion_is_answered() {
    let fixture = Fixture::new().await;
    let pat = platform_admin(&fixture.cairn).await;
    for place in 0..90 {
        let member = json!({ "idpid": format!("local:m{place:02}"), "role": "viewer" });
        fixture.ada.post(&format!("{TENANT}/members"), member).await.is(201);
    }
    let vic = person(&fixture.cairn, "vic").await;
    vic.get(PROJECT).await.is(200);
    // A request gives the job back, as one does that has no time left.
    fixture.cairn.engines().wind_down();
    pat.delete(&format!("{TENANT}?cascade=true")).await.is(202);
    vic.get(PROJECT).await.refused(404, "not-found");
}

/// A request removes at most 1090 of them, so it ends in time.
async fn deletion_of_a_tenant_removes_thousands_of_members_step_by_step() {
    let fixture = Fixture::new().await;
    let pat = platform_admin(&fixture.cairn).await;
    let data = "2023-01-01T00:00:00.000000Z".to_owned();
    let member = Member { data, role: Role::Viewer, name: String::new(), audit: Audit::default() };
    let item = |place: usize| {
        let user = format!("local:m{place:04}").parse().unwrap();
        let key = MemberKey { tenant: "tenant-0807".to_owned().try_into().unwrap(), user };
        stored(&TRACKER, &key.key(), &member)
    };
    let table = fixture.cairn.table_of(&TRACKER);
    table.put_all((0..2500).map(item).collect()).await;
    let members = async || {
        let items = table.items().await;
        let is_member = |item: &&table::Item| table.name_of(item).starts_with("tenant-0807#user-");
        items.iter().filter(is_member).count()
    };
    let all = members().await;
    // A request gives the job back, as one does that has no time left.
    fixture.cairn.engines().wind_down();
    let path = format!("{TENANT}?cascade=true");
    pat.delete(&path).await.is(202);
    assert_eq!(members().await, all - 1090);
    pat.delete(&path).await.is(202);
    assert_eq!(members().await, all - 2090);
    let app = platform_of_its_own(&fixture.cairn);
    app.event("runJobs", "{}".into(), Instant::now() + Duration::from_secs(60)).await.unwrap();
    assert_eq!(members().await, 0);
}

/// Without the tenant, which the last step updates, the transaction of that step fails each time.
async fn step_that_can_never_be_written_fails_its_run() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Orphan").await;
    fixture.cairn.engines().wind_down();
    fixture.ada.delete(&project).await.is(202);
    let table = fixture.cairn.table_of(&TRACKER);
    table.delete_item(&table.get("tenant-0807", "*").await.unwrap()).await;
    let app = platform_of_its_own(&fixture.cairn);
    let failure = app.event("runJobs", "{}".into(), Instant::now() + Duration::from_secs(60)).await.unwrap_err();
    assert!(failure.to_string().contains("1 of 1 due jobs failed"), "{failure}");
}
