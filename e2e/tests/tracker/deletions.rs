//! Projects and tenants that are deleted: scenario 14.

use std::future::IntoFuture;

use futures::future::join_all;
use serde_json::json;

use super::fixture::{Fixture, PROJECT, platform_admin};
use crate::tests;

tests! { tracker_deletions:
    scenario_14_a_project_goes_among_creators,
    a_tenant_goes_with_its_projects,
}

/// 120 issues instead of 5000.
async fn scenario_14_a_project_goes_among_creators() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Doomed").await;
    let id = fixture.attribute(&project, "Weight", "int").await;
    for place in 0..120 {
        fixture.issue(&project, "Issue", json!({ &id: place })).await;
    }
    fixture.ada.delete(&project).await.refused(409, "has-dependents");
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
    let deletion = fixture.ada.delete(&format!("{project}?cascade=true")).into_future();
    let (ends, deleted) = tokio::join!(join_all(creators), deletion);
    assert!(matches!(deleted.status, 202 | 204), "{}", deleted.told());
    assert!(ends.iter().all(|(_, status)| *status == 404), "{ends:?}");
    fixture.settled().await;
    fixture.ada.get(&project).await.refused(404, "not-found");
    let held = fixture.holds().await;
    assert!(!held.mentions(project.rsplit("project-").next().unwrap()), "nothing is left of the project");
    assert_eq!(held.issues, 5);
}

async fn a_tenant_goes_with_its_projects() {
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
