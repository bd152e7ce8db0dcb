//! Deletion of projects and tenants.

use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use table::EntityKey;
use tokio::time::Instant;
use tracker::audit::Audit;
use tracker::items::{Member, Role};
use tracker::keys::MemberKey;
use tracker::schema::TRACKER;

use super::crashes::{dies, others_do_its_jobs};
use super::fair::platform_of_its_own;
use super::fixture::{Fixture, PROJECT, TENANT, person, platform_admin};
use crate::harness::stopper::Moment;
use crate::harness::table::stored;
use crate::tests;

tests! { tracker_deletions:
    #[long] deleting_a_project_with_500_issues_leaves_nothing,
    deleting_a_tenant_deletes_its_projects,
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
    let request = http::Request::builder().method(http::Method::DELETE).uri(&path);
    let authorization = format!("Bearer {}", fixture.cairn.token("ada", &[]).await);
    let request = request.header("authorization", authorization).body(bytes::Bytes::new()).unwrap();
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
