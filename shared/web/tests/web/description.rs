//! Everything generated from the declarations: the API description, sample events, the watch router, the route table.

use crate::zoo::{AnimalPath, Zoo, json};
use bytes::Bytes;
use http::Request;
use serde_json::json;
use web::{Context, NoContent, Path, Problem, Route, operation};

#[tokio::test]
async fn api_description_matches_its_snapshot() {
    let zoo = Zoo::open();
    let response = zoo.get("/zoo/openapi.json").await;
    insta::assert_json_snapshot!("openapi", json(&response));
}

#[tokio::test]
async fn function_of_the_description_describes_the_whole_system() {
    let whole = json(&Zoo::open().get("/zoo/openapi.json").await);
    let app = Zoo::open().app.only("getApiDescription").unwrap();
    let request = || Request::get("/zoo/openapi.json").body(Bytes::new()).unwrap();
    assert_eq!(json(&app.handle(request()).await), whole);
    let other = Request::get("/zoo/health").body(Bytes::new()).unwrap();
    assert_eq!(app.handle(other).await.body().as_ref(), br#"{"message":"Not Found"}"#);
}

#[test]
fn sample_events_match_their_snapshot() {
    let zoo = Zoo::open();
    let events: Vec<_> = zoo.app.routes().map(operation::sample_event).collect();
    insta::assert_json_snapshot!("events", events);
}

#[tokio::test]
async fn sample_event_gets_its_declared_status() {
    let zoo = Zoo::open();
    for route in zoo.app.routes().filter(|route| route.name() != "feed") {
        let event = operation::sample_event(route);
        let target = format!("{}?{}", event["rawPath"].as_str().unwrap(), event["rawQueryString"].as_str().unwrap());
        let mut request = Request::builder().method(route.method()).uri(target);
        for (name, value) in event["headers"].as_object().unwrap() {
            let role = operation::sample_role(route.who()).unwrap_or_default();
            let token = zoo.key.sign(&zoo.claims(&[role])).unwrap();
            request = request.header(name, value.as_str().unwrap().replace(operation::TOKEN, &token));
        }
        let body = event["body"].as_str().unwrap_or_default().to_owned();
        let response = zoo.send(request.body(Bytes::from(body)).unwrap()).await;
        assert_eq!(response.status(), operation::sample_status(route), "{route:?}: {response:?}");
    }
}

#[test]
fn watch_router_has_every_path() {
    let zoo = Zoo::open();
    let expected = r#""/zoo/animals/{enclosure}" = [{ function = "zoo", method = "GET" }, { function = "zoo", method = "POST" }]
"/zoo/animals/{enclosure}/{number}" = [{ function = "zoo", method = "GET" }, { function = "zoo", method = "PATCH" }]
"/zoo/feedings" = [{ function = "zoo", method = "POST" }]
"/zoo/health" = [{ function = "zoo", method = "GET" }]
"/zoo/openapi.json" = [{ function = "zoo", method = "GET" }]
"/zoo/photos/{enclosure}" = [{ function = "zoo", method = "PUT" }]
"#;
    assert_eq!(operation::watch_router("zoo", zoo.app.routes()), expected);
}

#[test]
fn route_table_has_a_row_for_each_route() {
    let zoo = Zoo::open();
    let table = operation::route_table(zoo.app.routes());
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows.len(), 2 + zoo.app.routes().count());
    assert_eq!(
        rows[3],
        "| createAnimal | `POST /zoo/animals/{enclosure}` | `zoo-keeper` | Create an animal in an enclosure |"
    );
}

/// A handler whose path does not fit the template.
async fn wrong(_: Context, Path(_): Path<AnimalPath>) -> Result<NoContent, Problem> {
    Ok(NoContent)
}

#[test]
fn errors_of_declarations_are_reported() {
    let zoo = Zoo::open();
    let mut routes = crate::zoo::routes();
    let one: Route = routes.remove(0);
    let other = Route::get("listAnimals", one.template(), one.who(), wrong);
    let twice = vec![one, other];
    let app = web::App::new(zoo.app.engines().clone(), &crate::zoo::SYSTEM, twice, Vec::new());
    let expected = json!([
        "listAnimals GET /zoo/animals/{enclosure} is not the only route of its method and path",
        "listAnimals GET /zoo/animals/{enclosure} has the path parameters [\"enclosure\"], its type has [\"enclosure\", \"number\"]",
        "two operations have the same name: [\"listAnimals\", \"listAnimals\"]",
    ]);
    assert_eq!(json!(app.misdeclared()), expected);
}
