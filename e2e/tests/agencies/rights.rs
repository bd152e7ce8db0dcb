//! Who may see and do what: foreign agencies are as good as absent.

use reqwest::Method;
use serde_json::{Value, json};

use super::stage::{Stage, hash};
use crate::harness::{Answer, User};
use crate::tests;

tests! { rights:
    scenario_04_who_may_what,
    scenario_05_absent_agency,
    a_cursor_is_its_callers_own,
}

/// Every route under an agency: method, path after the agency, body, and whether any member may.
fn routes() -> Vec<(Method, String, Value, bool)> {
    let dee = hash("dee@example.org");
    vec![
        (Method::GET, String::new(), Value::Null, true),
        (Method::PATCH, String::new(), json!({ "name": "x" }), false),
        (Method::POST, "/activate".to_owned(), json!({}), false),
        (Method::POST, "/deactivate".to_owned(), json!({}), false),
        (Method::DELETE, "?cascade=true".to_owned(), Value::Null, false),
        (Method::GET, "/members".to_owned(), Value::Null, true),
        (Method::POST, "/members".to_owned(), json!({ "idpid": "idp:new" }), false),
        (Method::GET, "/members/idp:ann".to_owned(), Value::Null, true),
        (Method::PATCH, "/members/idp:ann".to_owned(), json!({ "role": "member" }), false),
        (Method::DELETE, "/members/idp:ann".to_owned(), Value::Null, false),
        (Method::GET, "/invitations".to_owned(), Value::Null, false),
        (Method::POST, "/invitations".to_owned(), json!({ "address": "x@example.org" }), false),
        (Method::GET, format!("/invitations/{dee}"), Value::Null, false),
        (Method::DELETE, format!("/invitations/{dee}"), Value::Null, false),
    ]
}

async fn send(user: &User, (method, path, body): (&Method, &str, &Value)) -> Answer {
    let call = user.call(method.clone(), path);
    if body.is_null() { call.await } else { call.json(body).await }
}

/// Status, headers and body but for what names the request.
fn told(answer: &Answer) -> (u16, Vec<(String, String)>, Value) {
    let mut body = answer.body.clone();
    body.as_object_mut().unwrap().remove("instance");
    let header = |(name, value): (&reqwest::header::HeaderName, &reqwest::header::HeaderValue)| {
        (name.to_string(), value.to_str().unwrap().to_owned())
    };
    let varies = ["date", "content-length", "apigw-requestid"];
    let headers = answer.headers.iter().map(header).filter(|(name, _)| !varies.contains(&name.as_str()));
    (answer.status, headers.collect(), body)
}

async fn scenario_04_who_may_what() {
    let stage = Stage::new().await;
    let before = stage.table().items().await.len();
    for (method, path, body, members) in routes() {
        let foreign = send(&stage.cay, (&method, &format!("/agencies/n{path}"), &body)).await;
        let absent = format!("/agencies/01890a5d-ac96-774b-bcce-b302099a8057{path}");
        let absent = send(&stage.cay, (&method, &absent, &body)).await;
        assert_eq!(foreign.status, 404, "{}", foreign.told());
        assert_eq!(told(&foreign), told(&absent), "{method} {path}");
        let visitor = stage.cairn.visitor();
        send(&visitor, (&method, &format!("/agencies/n{path}"), &body)).await.refused(401, "not-signed-in");
        let as_bob = send(&stage.bob, (&method, &format!("/agencies/n{path}"), &body)).await;
        if members {
            as_bob.is(200)
        } else {
            as_bob.refused(403, "forbidden")
        };
    }
    for path in ["/agencies", "/agencies/people/idp:ann/agencies"] {
        stage.ann.get(path).await.refused(403, "forbidden");
    }
    stage.ann.post("/agencies", json!({ "name": "x" })).await.refused(403, "forbidden");
    assert_eq!(stage.table().items().await.len(), before);
    // What concerns nobody's agency finds nothing of others.
    let none = stage.somebody("fay", Some("fay@example.org")).await;
    for path in ["/agencies/me/agencies", "/agencies/me/invitations", "/agencies/search?q=north"] {
        assert_eq!(none.get(path).await.is(200)["items"], json!([]), "{path}");
    }
    for verb in ["accept", "decline"] {
        let path = |agency: &str| format!("/agencies/me/invitations/{agency}/{verb}");
        let foreign = none.post(&path("n"), json!({})).await;
        assert_eq!(told(&foreign), told(&none.post(&path("absent"), json!({})).await));
        foreign.refused(404, "not-found");
    }
}

async fn scenario_05_absent_agency() {
    let stage = Stage::new().await;
    let before = stage.table().items().await.len();
    let absent = "/agencies/01890a5d-ac96-774b-bcce-b302099a8057/members";
    stage.root.post(absent, json!({ "idpid": "idp:fay" })).await.refused(404, "not-found");
    assert_eq!(stage.table().items().await.len(), before);
}

async fn a_cursor_is_its_callers_own() {
    let stage = Stage::new().await;
    let page = stage.ann.get("/agencies/n/members?limit=1").await.is(200);
    let next = format!("/agencies/n/members?limit=1&cursor={}", page.next().unwrap());
    stage.ann.get(&next).await.is(200);
    stage.bob.get(&next).await.faulty(&["cursor"]);
    stage.root.get(&next.replace("/n/", "/s/")).await.faulty(&["cursor"]);
}
