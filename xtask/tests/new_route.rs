//! A new route, in a copy of the repository: the generators add it to all files.
#![allow(clippy::unwrap_used, reason = "tests say what they expect by unwrapping it")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use http::{Method, Request};
use parks::access::NEXT_NUMBER;
use web::who::Who;
use web::{App, Context, Json, Problem, Route, Sample};
use xtask::systems::Declared;
use xtask::{artefacts_of, drift, root, systems};

/// Files with generated blocks.
const WRITTEN: [&str; 2] = ["docs/parks.md", "Cargo.toml"];

async fn count(_: Context) -> Result<Json<String>, Problem> {
    Ok(Json("counted".to_owned()))
}

/// The declaration of the new route.
fn route() -> Route {
    Route::post("countVisit", "/parks/visits", Who::SignedIn, count)
        .summary("Count a visit")
        .patterns(&[&NEXT_NUMBER])
        .sample(Sample::new("/parks/visits"))
}

/// Returns parks with the new route.
fn declared() -> Vec<Declared> {
    let known = systems::all().into_iter().next().unwrap();
    let engines = Arc::clone(known.app.engines());
    let routes = parks::routes::all().into_iter().chain([route()]).collect();
    let app = App::new(engines, &parks::SYSTEM, routes, known.app.event_handlers().to_vec());
    vec![Declared { app, ..known }]
}

/// Runs the generators in a copy of the repository.
fn generated(copy: &Path) {
    for file in WRITTEN {
        fs::create_dir_all(copy.join(file).parent().unwrap()).unwrap();
        fs::copy(root().join(file), copy.join(file)).unwrap();
    }
    drift::fix(copy, &artefacts_of(&declared())).unwrap();
}

#[test]
fn new_route_is_in_all_generated_files() {
    let copy = tempfile::tempdir().unwrap();
    generated(copy.path());
    for (file, expected) in [
        ("functions/parks/openapi.json", r#""operationId": "countVisit""#),
        ("infra/parks.yaml", "  CountVisitFunction:\n"),
        ("infra/parks.yaml", "          /parks/visits:\n            post:\n"),
        ("infra/parks.yaml", "  CountVisitRole:\n"),
        ("infra/declaration.json", r#""name": "countVisit""#),
        ("events/parks/countVisit.json", r#""routeKey": "POST /parks/visits""#),
        ("docs/parks.md", "| countVisit | `POST /parks/visits` | signed in | Count a visit |"),
        ("docs/parks.md", "countVisit"),
        ("Cargo.toml", r#""/parks/visits" = [{ function = "parks", method = "POST" }]"#),
    ] {
        let text = fs::read_to_string(copy.path().join(file)).unwrap();
        assert!(text.contains(expected), "{file} has no {expected}");
        let before = fs::read_to_string(root().join(file)).unwrap_or_default();
        assert!(!before.contains(expected), "{file} has {expected} without the route");
    }
}

#[test]
fn policy_of_new_route_has_its_declared_calls_only() {
    let copy = tempfile::tempdir().unwrap();
    generated(copy.path());
    let template = fs::read_to_string(copy.path().join("infra/parks.yaml")).unwrap();
    let (_, role) = template.split_once("  CountVisitRole:\n").unwrap();
    let role: Vec<&str> = role.lines().take_while(|line| line.starts_with("    ")).map(str::trim).collect();
    let actions: Vec<&str> =
        role.iter().filter_map(|line| line.strip_prefix("- ")).filter(|word| is_action(word)).collect();
    let expected = [
        "logs:CreateLogStream",
        "logs:PutLogEvents",
        "xray:PutTelemetryRecords",
        "xray:PutTraceSegments",
        "dynamodb:UpdateItem",
    ];
    assert_eq!(actions, expected);
}

fn is_action(word: &str) -> bool {
    word.split_once(':').is_some_and(|(service, action)| {
        ["logs", "xray", "dynamodb", "s3", "es"].contains(&service) && action.starts_with(char::is_uppercase)
    })
}

#[tokio::test]
async fn new_route_is_served() {
    let request = Request::builder().method(Method::POST).uri("/parks/visits").body(bytes::Bytes::new()).unwrap();
    let declared = declared();
    // 401 without a token means that the route was found.
    assert_eq!(declared[0].app.handle(request).await.status(), http::StatusCode::UNAUTHORIZED);
}
