//! The API description in OpenAPI 3.1, made from the routes: what it says of requests is what they are checked against.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::problem;
use crate::route::{Body, Described};
use crate::shape::{Parameter, Shape};
use crate::{Route, Who};

/// The API description of a system, as `GET /{system}/openapi.json` serves it.
pub fn describe<'a>(system: &str, routes: impl Iterator<Item = &'a Route>) -> Value {
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    let mut components = Components::default();
    for route in routes {
        components.add_route(route);
        let item = paths.entry(route.template()).or_default();
        item.insert(route.method().as_str().to_lowercase(), describe_route(route));
    }
    components.schemas.insert("Problem".into(), problem_schema());
    json!({
        "openapi": "3.1.0",
        "info": { "title": system, "version": env!("CARGO_PKG_VERSION") },
        "paths": paths,
        "components": {
            "schemas": components.schemas,
            "responses": components.responses,
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer", "bearerFormat": "JWT" } },
        },
    })
}

/// What cannot be described as it is declared, each in a sentence.
pub(crate) fn misdeclared<'a>(routes: impl Iterator<Item = &'a Route>) -> Vec<String> {
    let mut components = Components::default();
    let mut names = Vec::new();
    for route in routes {
        components.add_route(route);
        names.push(route.name());
    }
    names.sort_unstable();
    let doubled = names.windows(2).filter(|pair| pair.first() == pair.last());
    doubled.map(|pair| format!("two operations have one name: {pair:?}")).chain(components.clashes).collect()
}

/// What all routes share. A schema that is sent somewhere is closed everywhere.
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
            // Its properties are described as parameters; only what they refer to is named.
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
                json!({ "description": format!("Problem: {}", slugs.join(" or ")), "content": content })
            });
        }
    }

    fn add(&mut self, shape: &Shape, wanted: impl Fn(&String) -> bool) {
        for (name, schema) in shape.components().into_iter().filter(|(name, _)| wanted(name)) {
            match self.schemas.get(&name) {
                Some(known) if open(known) != open(&schema) => {
                    self.clashes.push(format!("two types are called `{name}` in the API description"));
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

/// A schema without what closing it adds.
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
    operation.insert("security".into(), security(route.who()));
    operation.insert("parameters".into(), parameters(route));
    if let Body::Json { types, shape } | Body::Bytes { types, shape } = &route.body {
        let content = types.iter().map(|content_type| (content_type.to_string(), media_type(shape)));
        let content: Map<String, Value> = content.collect();
        operation.insert("requestBody".into(), json!({ "required": true, "content": content }));
    }
    operation.insert("responses".into(), responses(route));
    Value::Object(operation)
}

fn security(who: Who) -> Value {
    match who {
        Who::Public => json!([]),
        Who::Views { fuller } => json!([{}, { "bearer": [fuller] }]),
        Who::SignedIn => json!([{ "bearer": [] }]),
        Who::Role(role) => json!([{ "bearer": [role] }]),
        Who::AnyRole(roles) => roles.iter().map(|role| json!({ "bearer": [role] })).collect(),
    }
}

fn parameters(route: &Route) -> Value {
    let of = |shape: &Option<Shape>| shape.as_ref().map(Shape::parameters).unwrap_or_default();
    let mut all: Vec<Value> = of(&route.path).iter().map(|own| parameter("path", own)).collect();
    all.extend(of(&route.query).iter().map(|own| parameter("query", own)));
    let mut header = |wanted: bool, name: &str, schema: Value| {
        if wanted {
            all.push(json!({ "name": name, "in": "header", "required": false, "schema": schema }));
        }
    };
    header(route.if_match, "If-Match", json!({ "type": "string" }));
    header(route.if_none_match, "If-None-Match", json!({ "type": "string" }));
    let key = json!({ "type": "string", "minLength": 1, "maxLength": 64, "pattern": "^[ -~]+$" });
    header(route.creates, "Idempotency-Key", key);
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
        if status == 201 {
            let text = json!({ "schema": { "type": "string" } });
            response.insert("headers".into(), json!({ "Location": text, "ETag": text }));
        }
        responses.insert(status.to_string(), response.into());
    }
    if route.if_none_match {
        responses.insert("304".into(), json!({ "description": "Not Modified" }));
    }
    for (status, slugs) in problems(route) {
        responses.insert(status.to_string(), json!({ "$ref": format!("#/components/responses/{}", slugs.join(".")) }));
    }
    json!(responses)
}

/// By status the slugs of the problems that a route may answer: those that follow from its declaration, then its own.
fn problems(route: &Route) -> BTreeMap<u16, Vec<&'static str>> {
    let takes_body = !matches!(route.body, Body::None);
    let following = [
        (true, problem::BAD_REQUEST),
        (true, problem::NOT_SIGNED_IN),
        (route.who().is_by_role(), problem::FORBIDDEN),
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
    let following = following.into_iter().filter(|(follows, _)| *follows).map(|(_, kind)| kind);
    let mut slugs: BTreeMap<u16, Vec<&'static str>> = BTreeMap::new();
    for kind in following.chain(route.problems.iter().copied()) {
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

/// RFC 9457 with the members that the platform adds.
fn problem_schema() -> Value {
    let place = |name: &str| json!({ "required": [name] });
    json!({
        "type": "object",
        "required": ["type", "title", "status", "detail", "instance"],
        "properties": {
            "type": { "type": "string", "pattern": "^urn:cairn:problem:" },
            "title": { "type": "string" },
            "status": { "type": "integer", "minimum": 400, "maximum": 599 },
            "detail": { "type": "string" },
            "instance": { "type": "string", "description": "The request's id." },
            "errorCount": { "type": "integer", "description": "How many faults there are, where not all are listed." },
            "errors": {
                "type": "array",
                "maxItems": problem::MAX_FAULTS,
                "items": {
                    "type": "object",
                    "required": ["detail"],
                    "properties": {
                        "pointer": { "type": "string", "description": "A JSON pointer into the body." },
                        "parameter": { "type": "string", "description": "A parameter of the path or the query string." },
                        "header": { "type": "string" },
                        "detail": { "type": "string" },
                    },
                    "oneOf": [place("pointer"), place("parameter"), place("header")],
                },
            },
        },
    })
}
