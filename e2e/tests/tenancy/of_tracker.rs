//! The stage of tracker: the fixture, whose two tenants have an issue, an attribute, a member and a job each.

use local::Served;
use serde_json::json;
use tracker::schema::LOG_CHANGES;

use super::stage::{Parts, Stage, Thing};
use crate::harness::{Setup, User};
use crate::tracker::fixture::{Fixture, PROJECT, TENANT, has_work, person, platform_admin};

const OTHER_TENANT: &str = "/tracker/tenants/tenant-3cc8";
const OTHER_PROJECT: &str = "/tracker/tenants/tenant-3cc8/projects/project-7b7e";

pub async fn stage(served: &'static Served) -> Stage {
    // The log of changes would follow the requests a moment later, and the stage restores the table between them.
    let fixture = Fixture::with(Setup { without: vec![LOG_CHANGES], ..Setup::of("tracker") }).await;
    let (vic, ada2) = (person(&fixture.cairn, "vic").await, person(&fixture.cairn, "ada2").await);
    let platform = platform_admin(&fixture.cairn).await;
    let second = json!({ "idpid": "local:zed", "role": "admin" });
    fixture.ada.post(&format!("{TENANT}/members"), second.clone()).await.is(201);
    let zoo = platform.post("/tracker/tenants", json!({ "name": "Zoo", "admin": "local:ada" })).await.is(201);
    fixture.ada.post(&format!("{}/members", zoo.header("location")), second).await.is(201);
    let second = fixture.project("Tay Bridge").await;
    for name in ["Height", "Depth"] {
        fixture.attribute(PROJECT, name, "int").await;
    }
    let new = json!({ "name": "Pages", "type": "int" });
    let pages = ada2.post(&format!("{OTHER_PROJECT}/attributes"), new).await.is(201).text("id").to_owned();
    let (own, foreign) = (cancelled(&fixture.ada, PROJECT).await, cancelled(&ada2, OTHER_PROJECT).await);
    let still = async |user: &User, tenant: &str| !has_work(&user.get(&format!("{tenant}/jobs")).await.is(200));
    fixture.until(async || still(&fixture.ada, TENANT).await && still(&ada2, OTHER_TENANT).await).await;
    // Jobs stay queued: the stage restores the present state of the table, and no worker may write to it then.
    fixture.cairn.engines().wind_down();
    let second = second.rsplit('/').next().unwrap().to_owned();
    let parts = Parts {
        principals: vec![
            ("foreign", ada2),
            ("viewer", vic),
            ("editor", fixture.ann.clone()),
            ("administrator", fixture.ada.clone()),
            ("platform", platform),
        ],
        expired: ("ada", &["platform-admin"]),
        things: vec![
            Thing::new("tenantId", "tenant-0807", "tenant-3cc8", "tenant-0001"),
            Thing::new("projectId", "project-35e9", "project-7b7e", "project-0001"),
            Thing::new("issueId", "issue-af34", "issue-3544", "issue-0001"),
            Thing::new("attributeId", "xattrib-3fe6", &pages, "xattrib-0001"),
            Thing::new("idpid", "local:zed", "local:ada2", "local:nobody"),
            Thing::new("number", "1", "999", "999"),
            Thing::new("jobId", &own, &foreign, "01890a5d-ac96-774b-bcce-b302099a8057"),
        ],
        texts: vec![
            ("project-46fa", second),
            ("local:ann", "local:fay".to_owned()),
            ("Num Items", "Tide".to_owned()),
            ("girder", "needs".to_owned()),
        ],
        outsiders: &["none", "expired", "foreign"],
        insiders: &["administrator"],
        others: "foreign",
        bodies: vec![
            ("updateValues", "administrator", r#"{"values": {"{attributeId}": "7"}}"#),
            ("moveIssue", "administrator", r#"{"project": "{projectId}"}"#),
            (
                "createImport",
                "administrator",
                r#"{"bytes": 100, "mode": "create", "onError": "stop", "columns": {"Height": "{attributeId}"}}"#,
            ),
            ("createExport", "administrator", r#"{"sort": "{attributeId}"}"#),
            ("createIssue", "administrator", r#"{"name": "New", "values": {"{attributeId}": "7"}}"#),
        ],
        word: "showbiz",
        removal: Some("/tracker/tenants/tenant-0807/members/local:ada"),
        ..Parts::default()
    };
    Stage::new(fixture.cairn, served, parts).await
}

/// Creates an import and cancels it, since only an ended one can be undone. Returns the id of its job.
async fn cancelled(user: &User, project: &str) -> String {
    let new = json!({ "bytes": 100, "mode": "create", "onError": "stop", "columns": { "Priority": null } });
    let made = user.post(&format!("{project}/imports"), new).await.is(201);
    user.delete(made.header("location")).await.is(204);
    made.text("id").to_owned()
}
