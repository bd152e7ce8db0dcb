//! The API description in OpenAPI 3.1. It is generated from the routes, and requests are checked against the same
//! schemas.

mod headers;
mod ordered;
mod problem_details;
mod prose;
mod security;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use table::Call;

use crate::Route;
use crate::problem;
use crate::route::{Body, Described};
use crate::shape::{Parameter, Shape};

pub use ordered::Ordered;

/// Returns the API description of a system, as `GET /{system}/openapi.json` serves it.
pub fn describe<'a>(system: &str, routes: impl Iterator<Item = &'a Route>) -> Value {
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    let mut components = Components::default();
    let (mut tags, mut schemes) = (BTreeSet::new(), Map::new());
    for route in routes {
        components.add_route(route);
        tags.insert(tag(route));
        schemes.extend(security::schemes(route.who()));
        let item = paths.entry(route.template()).or_default();
        item.insert(route.method().as_str().to_lowercase(), describe_route(route));
    }
    components.schemas.insert("Problem".into(), problem_details::schema());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": system,
            "version": env!("CARGO_PKG_VERSION"),
            "description": prose::OVERVIEW,
            "contact": { "name": "Cairn" },
            "license": { "name": env!("CARGO_PKG_LICENSE"), "identifier": env!("CARGO_PKG_LICENSE") },
        },
        "servers": [{ "url": "/", "description": "The host that serves this description." }],
        "tags": tags.into_iter().map(|tag| describe_tag(system, tag)).collect::<Value>(),
        "paths": paths,
        "components": {
            "schemas": components.schemas,
            "responses": components.responses,
            "securitySchemes": schemes,
        },
    })
}

/// Returns the errors of the declarations, each as a sentence.
pub(crate) fn misdeclared<'a>(routes: impl Iterator<Item = &'a Route>) -> Vec<String> {
    let mut components = Components::default();
    let mut names = Vec::new();
    for route in routes {
        components.add_route(route);
        names.push(route.name());
    }
    names.sort_unstable();
    let doubled = names.windows(2).filter(|pair| pair.first() == pair.last());
    doubled.map(|pair| format!("two operations have the same name: {pair:?}")).chain(components.clashes).collect()
}

/// The components that routes share. A schema of any request is closed everywhere.
#[derive(Default)]
struct Components {
    schemas: BTreeMap<String, Value>,
    /// Problems by their slugs.
    responses: BTreeMap<String, Value>,
    closed: BTreeMap<String, bool>,
    clashes: Vec<String>,
}

impl Components {
    fn add_route(&mut self, route: &Route) {
        for shape in route.path.iter().chain(&route.query) {
            // Its properties are described as parameters, so only the schemas that they refer to are components.
            let own = shape.name();
            self.add(shape, |name| *name != own);
        }
        if let Body::Json { shape, .. } | Body::Bytes { shape, .. } = &route.body {
            self.add(shape, |_| true);
        }
        for (_, shape) in route.answers.iter().filter_map(|answer| answer.content.as_ref()) {
            self.add(shape, |_| true);
        }
        for (name, slugs) in problems(route).values().map(|slugs| (slugs.join("."), slugs)) {
            self.responses.entry(name).or_insert_with(|| {
                let schema = json!({ "$ref": "#/components/schemas/Problem" });
                let content = json!({ (problem::CONTENT_TYPE): { "schema": schema } });
                let headers = headers::of_problem(slugs);
                let description = format!("Problem: {}", slugs.join(" or "));
                let response = [("description".to_owned(), description.into()), ("content".to_owned(), content)];
                with_headers(response.into_iter().collect(), headers)
            });
        }
    }

    fn add(&mut self, shape: &Shape, wanted: impl Fn(&String) -> bool) {
        for (name, schema) in shape.components().into_iter().filter(|(name, _)| wanted(name)) {
            match self.schemas.get(&name) {
                Some(known) if open(known) != open(&schema) => {
                    self.clashes.push(format!("two types have the same name `{name}` in the API description"));
                }
                Some(_) if self.closed.get(&name) == Some(&true) => {}
                _ => {
                    self.schemas.insert(name.clone(), schema);
                    self.closed.insert(name, shape.is_closed());
                }
            }
        }
    }
}

/// Returns a schema without the keywords that close it.
fn open(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let closing = |(key, value): &(&String, &Value)| {
                matches!(key.as_str(), "additionalProperties" | "unevaluatedProperties")
                    && **value == Value::Bool(false)
            };
            let kept = map.iter().filter(|entry| !closing(entry));
            Value::Object(kept.map(|(key, value)| (key.clone(), open(value))).collect())
        }
        Value::Array(items) => items.iter().map(open).collect(),
        other => other.clone(),
    }
}

fn describe_route(route: &Route) -> Value {
    let mut operation = Map::new();
    operation.insert("operationId".into(), route.name().into());
    operation.insert("summary".into(), route.summary.into());
    operation.insert("description".into(), prose::of(route).into());
    operation.insert("tags".into(), json!([tag(route)]));
    operation.insert("security".into(), security::of(route.who()));
    operation.insert("parameters".into(), parameters(route));
    if let Body::Json { types, shape } | Body::Bytes { types, shape } = &route.body {
        let content = types.iter().map(|content_type| (content_type.to_string(), media_type(shape)));
        let content: Map<String, Value> = content.collect();
        operation.insert("requestBody".into(), json!({ "required": true, "content": content }));
    }
    operation.insert("responses".into(), responses(route));
    Value::Object(operation)
}

/// Returns the first segment of the path below the system.
fn tag(route: &Route) -> &str {
    route.template().split('/').nth(2).unwrap_or("")
}

fn describe_tag(system: &str, tag: &str) -> Value {
    json!({ "name": tag, "description": format!("Operations under `/{system}/{tag}`.") })
}

fn parameters(route: &Route) -> Value {
    let of = |shape: &Option<Shape>| shape.as_ref().map_or_else(Vec::new, Shape::parameters);
    let mut all: Vec<Value> = of(&route.path).iter().map(|own| parameter("path", own)).collect();
    all.extend(of(&route.query).iter().map(|own| parameter("query", own)));
    all.extend(headers::of_request(route));
    Value::Array(all)
}

fn parameter(place: &str, own: &Parameter) -> Value {
    let mut parameter = Map::new();
    parameter.insert("name".into(), own.name.as_str().into());
    parameter.insert("in".into(), place.into());
    parameter.insert("required".into(), (own.required || place == "path").into());
    if let Some(description) = own.schema.get("description") {
        parameter.insert("description".into(), description.clone());
    }
    if own.list {
        parameter.insert("style".into(), "form".into());
        parameter.insert("explode".into(), false.into());
    }
    parameter.insert("schema".into(), own.schema.clone());
    Value::Object(parameter)
}

fn responses(route: &Route) -> Value {
    let mut contents: BTreeMap<u16, Map<String, Value>> = BTreeMap::new();
    for Described { status, content } in &route.answers {
        let types = contents.entry(*status).or_default();
        types.extend(content.iter().map(|(content_type, shape)| (content_type.to_string(), media_type(shape))));
    }
    let mut responses: BTreeMap<String, Value> = BTreeMap::new();
    for (status, content) in contents {
        let reason = http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
        let mut response = Map::new();
        response.insert("description".into(), reason.unwrap_or("Success").into());
        if !content.is_empty() {
            response.insert("content".into(), content.into());
        }
        responses.insert(status.to_string(), with_headers(response, headers::of_response(route, status)));
    }
    if route.if_none_match {
        let unchanged = [("description".to_owned(), "Not Modified".into())].into_iter().collect();
        responses.insert("304".into(), with_headers(unchanged, headers::of_response(route, 304)));
    }
    for (status, slugs) in problems(route) {
        responses.insert(status.to_string(), json!({ "$ref": format!("#/components/responses/{}", slugs.join(".")) }));
    }
    json!(responses)
}

fn with_headers(mut response: Map<String, Value>, headers: Map<String, Value>) -> Value {
    if !headers.is_empty() {
        response.insert("headers".into(), headers.into());
    }
    response.into()
}

/// Returns the slugs of a route's problems by status: those that follow from its declaration, its own, and that of search.
fn problems(route: &Route) -> BTreeMap<u16, Vec<&'static str>> {
    let takes_body = !matches!(route.body, Body::None);
    let mut calls = route.patterns.iter().flat_map(|pattern| pattern.calls);
    let searches = calls.any(|call| matches!(call, Call::Search { .. }));
    let implied = [
        (true, problem::BAD_REQUEST),
        (true, problem::NOT_SIGNED_IN),
        (route.who().is_by_role(), problem::FORBIDDEN),
        (route.path.is_some(), problem::NOT_FOUND),
        (route.content_types().next().is_some(), problem::NOT_ACCEPTABLE),
        (route.creates, problem::CONFLICT),
        (route.if_match, problem::STALE),
        (takes_body, problem::TOO_LARGE),
        (takes_body, problem::WRONG_CONTENT_TYPE),
        (route.creates, problem::KEY_REUSED),
        (true, problem::TOO_MANY_REQUESTS),
        (true, problem::INTERNAL),
        (true, problem::OUT_OF_TIME),
        (true, problem::UNAVAILABLE),
    ];
    let implied = implied.into_iter().filter(|(applies, _)| *applies).map(|(_, kind)| kind);
    let mut slugs: BTreeMap<u16, Vec<&'static str>> = BTreeMap::new();
    let searches = searches.then_some(problem::SEARCH_UNAVAILABLE);
    for kind in implied.chain(route.problems.iter().copied()).chain(searches) {
        let of_status = slugs.entry(kind.status).or_default();
        if !of_status.contains(&kind.slug) {
            of_status.push(kind.slug);
        }
    }
    slugs
}

fn media_type(shape: &Shape) -> Value {
    json!({ "schema": shape.reference() })
}
