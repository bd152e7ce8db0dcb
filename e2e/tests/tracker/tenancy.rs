//! Who sees what: scenario 13, memberships, and the caller's own tenants.

use reqwest::Method;
use serde_json::{Value, json};

use super::fixture::{Fixture, PROJECT, TENANT, person, platform_admin};
use crate::harness::User;
use crate::tests;

tests! { tracker_tenancy:
    scenario_13_another_tenant_learns_nothing,
    roles_decide_what_members_may_do,
    members_come_and_go,
    everybody_sees_their_own_tenants,
}

/// Each route under a tenant, with a body that fits it.
fn routes() -> Vec<(Method, &'static str, Value)> {
    let name = json!({ "name": "New" });
    vec![
        (Method::GET, "", Value::Null),
        (Method::PATCH, "", name.clone()),
        (Method::GET, "/members", Value::Null),
        (Method::POST, "/members", json!({ "idpid": "local:eve", "role": "viewer" })),
        (Method::GET, "/members/local:ann", Value::Null),
        (Method::PATCH, "/members/local:ann", json!({ "role": "viewer" })),
        (Method::DELETE, "/members/local:ann", Value::Null),
        (Method::GET, "/projects", Value::Null),
        (Method::POST, "/projects", name.clone()),
        (Method::GET, "/projects/project-35e9", Value::Null),
        (Method::PATCH, "/projects/project-35e9", name.clone()),
        (Method::DELETE, "/projects/project-35e9?cascade=true", Value::Null),
        (Method::POST, "/projects/project-35e9/attributes", json!({ "name": "New", "type": "int" })),
        (Method::PATCH, "/projects/project-35e9/attributes/xattrib-3fe6", name.clone()),
        (Method::DELETE, "/projects/project-35e9/attributes/xattrib-3fe6", Value::Null),
        (Method::POST, "/projects/project-35e9/attributes/xattrib-3fe6/retype", json!({ "type": "text" })),
        (Method::POST, "/projects/project-35e9/issues", name.clone()),
        (Method::GET, "/projects/project-35e9/issues/issue-af34", Value::Null),
        (Method::PATCH, "/projects/project-35e9/issues/issue-af34", name),
        (Method::DELETE, "/projects/project-35e9/issues/issue-af34", Value::Null),
        (Method::GET, "/projects/project-35e9/numbers/3", Value::Null),
        (Method::POST, "/projects/project-35e9/issues/issue-af34/renumber", json!({})),
        (Method::POST, "/projects/project-35e9/issues/issue-af34/move", json!({ "project": "project-7b7e" })),
        (Method::PUT, "/projects/project-35e9/issues/issue-af34/values/xattrib-3fe6", json!({ "value": 1 })),
        (Method::DELETE, "/projects/project-35e9/issues/issue-af34/values/xattrib-3fe6", Value::Null),
        (Method::PATCH, "/projects/project-35e9/issues/issue-af34/values", json!({ "values": { "xattrib-3fe6": 1 } })),
        (Method::GET, "/projects/project-35e9/grid", Value::Null),
        (Method::GET, "/search?q=girder", Value::Null),
        (Method::GET, "/search?q=girder&projectId=project-35e9", Value::Null),
        (Method::GET, "/work", Value::Null),
        (Method::GET, "/work/work-0001", Value::Null),
    ]
}

async fn tried(user: &User, method: &Method, path: &str, body: &Value) -> (u16, Value) {
    let call = user.call(method.clone(), path);
    let answer = if body.is_null() { call.await } else { call.json(body).await };
    let mut told = answer.body.clone();
    if let Some(told) = told.as_object_mut() {
        told.remove("instance");
    }
    (answer.status, told)
}

async fn scenario_13_another_tenant_learns_nothing() {
    let fixture = Fixture::new().await;
    // The administrator of the other tenant, and somebody with no tenant at all.
    let (other, nobody) = (person(&fixture.cairn, "ada2").await, person(&fixture.cairn, "eve").await);
    let random = |path: &str| {
        let ids = [("tenant-0807", "tenant-0001"), ("project-35e9", "project-0001"), ("issue-af34", "issue-0001")];
        ids.iter().fold(path.to_owned(), |path, (id, random)| path.replace(id, random))
    };
    for (method, below, body) in routes() {
        let path = format!("{TENANT}{below}");
        for user in [&other, &nobody] {
            let (status, told) = tried(user, &method, &path, &body).await;
            assert_eq!(status, 404, "{method} {path} {told}");
            assert_eq!((404, told), tried(user, &method, &random(&path), &body).await, "{method} {path}");
        }
        if below.contains("project-35e9") && !below.contains("search") {
            // One's own tenant with the other's project.
            let own = path.replace("tenant-0807", "tenant-3cc8");
            let (status, told) = tried(&other, &method, &own, &body).await;
            assert_eq!(status, 404, "{method} {own} {told}");
        }
    }
    let page = fixture.ann.get(&format!("{PROJECT}/grid?limit=1")).await.is(200);
    let cursor = page.next().unwrap();
    other
        .get(&format!("/tracker/tenants/tenant-3cc8/projects/project-7b7e/grid?limit=1&cursor={cursor}"))
        .await
        .faulty(&["cursor"]);
    fixture.cairn.caught_up().await;
    for words in ["girder", "approved", "rust"] {
        let found = other.get(&format!("/tracker/tenants/tenant-3cc8/search?q={words}")).await.is(200);
        assert_eq!(found["total"]["value"], 0, "{}", found.told());
    }
    fixture.holds().await;
}

async fn roles_decide_what_members_may_do() {
    let fixture = Fixture::new().await;
    let (vic, pat) = (person(&fixture.cairn, "vic").await, platform_admin(&fixture.cairn).await);
    for (method, below, body) in routes() {
        let path = format!("{TENANT}{below}");
        let reads = method == Method::GET;
        if !reads {
            let (status, told) = tried(&vic, &method, &path, &body).await;
            assert_eq!(status, 403, "{method} {path} {told}");
        } else if !below.contains("work-0001") {
            assert_eq!(tried(&vic, &method, &path, &body).await.0, 200, "{method} {path}");
        }
        let project = below.starts_with("/projects") || below.starts_with("/search");
        if project {
            assert_eq!(tried(&pat, &method, &path, &body).await.0, 404, "{method} {path}");
        }
        let visitor = fixture.cairn.visitor();
        assert_eq!(tried(&visitor, &method, &path, &body).await.0, 401, "{method} {path}");
    }
    pat.get(TENANT).await.is(200);
    pat.get(&format!("{TENANT}/work")).await.is(200);
    fixture.ann.get("/tracker/tenants").await.refused(403, "forbidden");
    fixture.holds().await;
}

async fn members_come_and_go() {
    let fixture = Fixture::new().await;
    let members = format!("{TENANT}/members");
    let eve = person(&fixture.cairn, "eve").await;
    let new = json!({ "idpid": "local:eve", "role": "editor", "name": "Eve" });
    let made = fixture.ada.post(&members, new.clone()).await.is(201);
    assert_eq!(made.header("location"), format!("{members}/local:eve"));
    fixture.ada.post(&members, new).await.refused(409, "exists");
    eve.get(PROJECT).await.is(200);
    eve.post(&format!("{PROJECT}/issues"), json!({ "name": "Mine" })).await.is(201);
    let changed = fixture.ada.patch(&format!("{members}/local:eve"), json!({ "role": "viewer" })).if_match(&made.tag());
    changed.await.is(200);
    eve.post(&format!("{PROJECT}/issues"), json!({ "name": "Mine" })).await.refused(403, "forbidden");
    assert_eq!(fixture.ada.get(&members).await.is(200).each("idpid").len(), 4);
    eve.delete(&format!("{members}/local:eve")).await.is(204);
    eve.get(PROJECT).await.refused(404, "not-found");
    fixture.ada.delete(&format!("{members}/local:ada")).await.refused(409, "last-admin");
    fixture.ada.patch(&format!("{members}/local:ada"), json!({ "role": "viewer" })).await.refused(409, "last-admin");
    let second = json!({ "idpid": "local:second", "role": "admin" });
    let second = fixture.ada.post(&members, second).await.is(201).header("location").to_owned();
    fixture.ada.delete(&second).await.is(204);
}

async fn everybody_sees_their_own_tenants() {
    let fixture = Fixture::new().await;
    let pat = platform_admin(&fixture.cairn).await;
    let eve = person(&fixture.cairn, "eve").await;
    assert_eq!(eve.get("/tracker/me/tenants").await.is(200)["items"], json!([]));
    let made = pat.post("/tracker/tenants", json!({ "name": "Zoo", "admin": "local:ada" })).await.is(201);
    let zoo = made.header("location").to_owned();
    let mine = fixture.ada.get("/tracker/me/tenants").await.is(200);
    assert_eq!(mine.each("name"), ["ACME Engineering", "Zoo"]);
    assert_eq!(mine.each("role"), ["admin", "admin"]);
    let renamed = fixture.ada.patch(&zoo, json!({ "name": "Aquarium" })).if_match(&made.tag()).await.is(200);
    assert_eq!(renamed["name"], "Aquarium");
    assert_eq!(pat.get("/tracker/tenants").await.is(200).each("name"), ["ACME Engineering", "Aquarium", "Big Media"]);
    assert_eq!(pat.get("/tracker/tenants?prefix=A&limit=1").await.is(200).each("name"), ["ACME Engineering"]);
    pat.delete(&zoo).await.is(204);
    assert_eq!(fixture.ada.get("/tracker/me/tenants").await.is(200).each("name"), ["ACME Engineering"]);
}
