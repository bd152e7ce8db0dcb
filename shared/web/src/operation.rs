//! Generated files about routes besides the API description: sample events, the router of `cargo lambda watch`, and the
//! route table of a system's page in the docs.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::endpoint::path_names;
use crate::parameters;
use crate::route::{Body, Route};
use crate::who::Who;

/// The placeholder of a sample event for a bearer token with [`sample_role`]. A real token would expire.
pub const TOKEN: &str = "TOKEN";

/// The id of items in samples.
pub const SAMPLE_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

/// Returns the route's sample event, in API Gateway's payload format 2.0.
pub fn sample_event(route: &Route) -> Value {
    let target = route.sample.target.map_or_else(|| with_sample_ids(route.template()), str::to_owned);
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let route_key = format!("{} {}", route.method(), route.template());
    let mut headers: Map<String, Value> = Map::new();
    headers.insert("accept".into(), route.content_types().next().unwrap_or("*/*").into());
    headers.insert("host".into(), "sample.execute-api.ca-central-1.amazonaws.com".into());
    if let (Some(_), Body::Json { types, .. } | Body::Bytes { types, .. }) = (route.sample.body, &route.body) {
        headers.insert("content-type".into(), types.first().copied().unwrap_or("").into());
    }
    if sample_role(route.who()).is_some() {
        headers.insert("authorization".into(), format!("Bearer {TOKEN}").into());
    }
    headers.extend(route.sample.headers.iter().map(|(name, value)| (name.to_string(), Value::from(*value))));
    let mut event = json!({
        "version": "2.0",
        "routeKey": route_key,
        "rawPath": path,
        "rawQueryString": query,
        "headers": headers,
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "sample",
            "domainName": "sample.execute-api.ca-central-1.amazonaws.com",
            "domainPrefix": "sample",
            "http": {
                "method": route.method().as_str(),
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "203.0.113.1",
                "userAgent": "sample",
            },
            "requestId": format!("sample-{}", route.name()),
            "routeKey": route_key,
            "stage": "$default",
            "time": "01/Jan/2026:00:00:00 +0000",
            "timeEpoch": 1_767_225_600_000_i64,
        },
        "isBase64Encoded": false,
    });
    let (pairs, _) = parameters::pairs(query);
    insert_strings(&mut event, "queryStringParameters", joined(pairs));
    insert_strings(&mut event, "pathParameters", path_parameters(route.template(), path));
    if let (Value::Object(event), Some(body)) = (&mut event, route.sample.body) {
        event.insert("body".into(), body.into());
    }
    event
}

/// Returns a template with the same id in the place of each parameter.
fn with_sample_ids(template: &str) -> String {
    path_names(template).fold(template.to_owned(), |path, name| path.replace(&format!("{{{name}}}"), SAMPLE_ID))
}

/// Returns the status of the response to the sample event.
pub fn sample_status(route: &Route) -> u16 {
    route.sample.status.or(route.answers.first().map(|answer| answer.status)).unwrap_or(200)
}

/// Returns the role of the sample's token: empty if any token is valid, `None` if no token is needed.
pub fn sample_role(who: Who) -> Option<&'static str> {
    match who {
        Who::Public | Who::Views { .. } => None,
        Who::SignedIn => Some(""),
        Who::Role(role) => Some(role),
        Who::AnyRole(roles) => roles.first().copied(),
    }
}

/// Returns the entries of `[workspace.metadata.lambda.watch.router]`, by which `cargo lambda watch` finds the binary of a
/// path.
pub fn watch_router<'a>(system: &str, routes: impl Iterator<Item = &'a Route>) -> String {
    let mut methods: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for route in routes {
        methods.entry(route.template()).or_default().push(route.method().as_str());
    }
    let mut text = String::new();
    for (template, mut methods) in methods {
        methods.sort_unstable();
        let entries: Vec<String> =
            methods.iter().map(|method| format!("{{ function = \"{system}\", method = \"{method}\" }}")).collect();
        let _ = writeln!(text, "\"{template}\" = [{}]", entries.join(", "));
    }
    text
}

/// Returns the route table of a system's page in the docs, in Markdown.
pub fn route_table<'a>(routes: impl Iterator<Item = &'a Route>) -> String {
    let mut text = String::from("| operation | route | who | what |\n|---|---|---|---|\n");
    for route in routes {
        let (name, method, template, who) = (route.name(), route.method(), route.template(), route.who());
        let _ = writeln!(text, "| {name} | `{method} {template}` | {who} | {} |", route.summary);
    }
    text
}

/// Joins the values of one name with commas, as API Gateway does.
fn joined(pairs: Vec<(String, String)>) -> BTreeMap<String, String> {
    let mut joined: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in pairs {
        joined.entry(name).and_modify(|known| *known = format!("{known},{value}")).or_insert(value);
    }
    joined
}

fn path_parameters(template: &str, path: &str) -> BTreeMap<String, String> {
    let names = template.split('/').zip(path.split('/'));
    names.filter_map(|(name, value)| Some((path_names(name).next()?.to_owned(), value.to_owned()))).collect()
}

fn insert_strings(event: &mut Value, name: &str, values: BTreeMap<String, String>) {
    if let (Value::Object(event), false) = (event, values.is_empty()) {
        event.insert(name.to_owned(), json!(values));
    }
}
