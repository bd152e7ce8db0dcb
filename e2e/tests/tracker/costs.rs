//! What each access pattern consumes of DynamoDB's capacity, in a project of four attributes with issues of less than 1 KB.

use std::time::Duration;

use serde_json::json;
use tracker::schema::{LOG_CHANGES, TRACKER};

use super::fixture::{Fixture, PROJECT, TENANT, platform_admin};
use crate::harness::Setup;
use crate::harness::measured::Measured;
use crate::tests;

tests! { tracker_costs: each_access_pattern_costs_what_is_recorded }

async fn each_access_pattern_costs_what_is_recorded() {
    // The platform leaves jobs to the measured calls.
    let without = vec!["runJob", "runJobs"];
    let fixture = Fixture::with(Setup { without, ..Setup::of("tracker") }).await;
    let pat = platform_admin(&fixture.cairn).await;
    let (ada, ann) = (&fixture.ada, &fixture.ann);
    let mut costs = Measured::default();
    let app = ::tracker::app;
    let made = costs.of("create a tenant", pat.post("/tracker/tenants", json!({ "name": "Zoo" })), 201).await;
    let zoo = made.header("location").to_owned();
    costs.of("update a tenant's name", pat.patch(&zoo, json!({ "name": "Aquarium" })), 200).await;
    costs.of("3 tenants by name", pat.get("/tracker/tenants"), 200).await;
    costs.of("the only tenant of a person", ada.get("/tracker/me/tenants"), 200).await;
    let eve = json!({ "idpid": "local:eve", "role": "editor" });
    costs.of("add a member", ada.post(&format!("{TENANT}/members"), eve), 201).await;
    costs.of("4 members", ada.get(&format!("{TENANT}/members")), 200).await;
    let member = format!("{TENANT}/members/local:eve");
    costs.of("a member", ada.get(&member), 200).await;
    costs.of("make a member an administrator", ada.patch(&member, json!({ "role": "admin" })), 200).await;
    costs.of("remove an administrator", ada.delete(&member), 204).await;
    let only = ada.delete(&format!("{TENANT}/members/local:ada"));
    costs.of("refuse to remove the only administrator", only, 409).await;
    let eve = json!({ "idpid": "local:eve", "role": "editor" });
    ada.post(&format!("{TENANT}/members"), eve).await.is(201);
    let eve = "/tracker/people/local:eve/tenants";
    costs.of("remove a person from the only tenant", pat.delete(eve), 200).await;

    let made = costs.of("create a project", ada.post(&format!("{TENANT}/projects"), json!({ "name": "Pens" })), 201);
    let pens = made.await.header("location").to_owned();
    costs.of("2 projects by name", ann.get(&format!("{TENANT}/projects")), 200).await;
    costs.of("a project with 4 attributes", ann.get(PROJECT), 200).await;
    costs.of("update a project's name", ada.patch(&pens, json!({ "name": "Cages" })), 200).await;
    let attribute = json!({ "name": "Weight", "type": "int" });
    let create = ada.post(&format!("{pens}/attributes"), attribute);
    let attribute = costs.of("create an attribute, no issue there", create, 201).await.header("location").to_owned();
    costs.of("update an attribute", ada.patch(&attribute, json!({ "name": "Mass" })), 200).await;
    costs.of("delete an attribute, no issue there", ada.delete(&attribute), 204).await;

    let all =
        json!({ "xattrib-3812": "2023-05-01", "xattrib-882a": "2023-05-02", "xattrib-3fe6": 1, "xattrib-47e5": "a" });
    let new = json!({ "name": "Bolts", "values": all });
    let made = costs.of("create an issue, all 4 values set", ann.post(&format!("{PROJECT}/issues"), new), 201).await;
    let issue = made.header("location").to_owned();
    let new = json!({ "name": "Bolts" });
    costs.of("create an issue without values", ann.post(&format!("{PROJECT}/issues"), new), 201).await;
    costs.of("an issue", ann.get(&issue), 200).await;
    costs.of("an issue by its number", ann.get(&format!("{PROJECT}/numbers/4")), 200).await;
    let value = format!("{issue}/values/xattrib-3fe6");
    costs.of("update a value", ann.put(&value, json!({ "value": 2 })), 200).await;
    costs.of("clear a value", ann.delete(&value), 204).await;
    costs.of("set a value first", ann.put(&value, json!({ "value": 3 })), 200).await;
    costs.of("close an issue", ann.patch(&issue, json!({ "state": "closed" })), 200).await;
    costs.of("renumber an issue", ann.post(&format!("{issue}/renumber"), json!({})), 200).await;
    let next = json!({ "number": 20 });
    costs.of("set the next number", ada.put(&format!("{PROJECT}/next-number"), next), 204).await;
    costs.of("a page of 5 issues by an attribute", ann.get(&format!("{PROJECT}/grid?sort=xattrib-3fe6")), 200).await;
    costs.of("a page of 5 issues, counted", ann.get(&format!("{PROJECT}/grid?count=true")), 200).await;
    fixture.cairn.caught_up().await;
    let changes = ann.get(&format!("{PROJECT}/changes?since=3"));
    costs.of("7 changes of 2 issues", changes, 200).await;
    let table = fixture.cairn.table_of(&TRACKER);
    let record = table.insert_record(&table.get("issue-020e", "project-35e9").await.unwrap(), 0);
    let record = json!({ "Records": [record] });
    costs.of_event("log a change", &fixture.cairn, app, (LOG_CHANGES, &record), Duration::ZERO).await;
    let there = json!({ "project": pens.rsplit('/').next() });
    costs.of("move an issue", ann.post(&format!("{issue}/move"), there), 200).await;
    let issue = issue.replace(PROJECT, &pens);
    costs.of("delete an issue", ann.delete(&issue), 204).await;

    let file = "Name,Num Items\nBolts,1\nNuts,2\n";
    let announced = json!({ "mode": "create", "onError": "stop", "bytes": file.len() });
    let announced = costs.of("create an import", ann.post(&format!("{PROJECT}/imports"), announced), 201).await;
    super::files::put_by_hand(&fixture, &announced, file);
    let arrived = super::files::arrived(announced.text("id"));
    costs.of_event("import 2 issues", &fixture.cairn, app, ("startImport", &arrived), Duration::ZERO).await;
    let undo = ada.post(&format!("{}/undo", announced.header("location")), json!({}));
    let undo = costs.of("create a job that undoes an import", undo, 202).await;
    let message = super::messages::message(undo.text("id"));
    costs.of_event("undo an import of 2 issues", &fixture.cairn, app, ("runJob", &message), Duration::ZERO).await;
    for name in ["Bolts", "Nuts"] {
        let new = json!({ "name": name, "values": { "xattrib-3fe6": 1 } });
        ann.post(&format!("{PROJECT}/issues"), new).await.is(201);
    }
    let begun = costs.of("create an export", ann.post(&format!("{PROJECT}/exports"), json!({})), 202).await;
    costs.of("cancel an export", ann.delete(begun.header("location")), 204).await;
    let begun = ann.post(&format!("{PROJECT}/exports"), json!({})).await.is(202);
    let message = super::messages::message(begun.text("id"));
    costs.of_event("export 6 issues", &fixture.cairn, app, ("runJob", &message), Duration::ZERO).await;

    let text = json!({ "type": "text" });
    let retyped = ada.post(&format!("{PROJECT}/attributes/xattrib-3fe6/retype"), text);
    costs.of("convert an attribute of 6 issues to text", retyped, 200).await;
    costs.of("a job", ann.get(begun.header("location")), 200).await;
    costs.of("the jobs of a tenant", ann.get(&format!("{TENANT}/jobs")), 200).await;
    let mass = json!({ "name": "Mass", "type": "int" });
    let made = costs
        .of("create an attribute with 6 issues there", ada.post(&format!("{PROJECT}/attributes"), mass), 201)
        .await;
    costs.of("delete an attribute with 6 issues there", ada.delete(made.header("location")), 204).await;
    let last = ann.post(&format!("{PROJECT}/issues"), json!({ "name": "Last" })).await.is(201);
    ann.delete(last.header("location")).await.is(204);
    let lower = json!({ "number": last["number"] });
    costs.of("create a job for lower numbers", ada.put(&format!("{PROJECT}/next-number"), lower), 202).await;
    let later = Duration::from_secs(90);
    costs.of_event("a batch of a due job", &fixture.cairn, app, ("runJobs", &json!({})), later).await;
    // The deletion also deletes the project's changes.
    fixture.cairn.caught_up().await;
    costs.of("delete a project with 6 issues", ada.delete(&format!("{PROJECT}?cascade=true")), 204).await;
    costs.of("delete a tenant without projects", pat.delete(&format!("{zoo}?cascade=true")), 204).await;
    costs.of("the health of the system", ada.get("/tracker/health"), 200).await;
    costs.match_record("tracker");
}
