//! The header fields of requests and answers.

use serde_json::{Map, Value, json};

use crate::problem;
use crate::route::Route;

/// One or more entity tags with commas between, or `*` (RFC 9110, section 13.1).
const TAGS: &str = r#"^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$"#;

/// A strong entity tag.
const TAG: &str = r#"^"[!#-~]+"$"#;

/// Those that a request may have beside its token.
pub(super) fn of_request(route: &Route) -> Vec<Value> {
    let tags = json!({ "type": "string", "pattern": TAGS, "examples": ["\"1767225600000000\""] });
    let key = json!({ "type": "string", "minLength": 1, "maxLength": 64, "pattern": "^[ -~]+$" });
    let heeded = [
        (route.if_match, "If-Match", "Entity tags: nothing is changed unless one of them is still right.", &tags),
        (route.if_none_match, "If-None-Match", "Entity tags: 304 where one of them is still right.", &tags),
        (route.creates, "Idempotency-Key", "The same request with the same key gets the first answer again.", &key),
    ];
    let heeded = heeded.into_iter().filter(|(heeds, ..)| *heeds);
    let described = heeded.map(|(_, name, description, schema)| {
        json!({ "name": name, "in": "header", "required": false, "description": description, "schema": schema })
    });
    described.collect()
}

/// Those of a successful answer with this status.
pub(super) fn of_answer(route: &Route, status: u16) -> Map<String, Value> {
    let tagged = matches!(status, 201 | 304) || (route.tagged && status == 200);
    let fields = [
        (tagged, "ETag", "Names the state that is answered, for `If-Match` and `If-None-Match`."),
        (status == 201, "Location", "The path of what was made."),
        (status == 303, "Location", "Where the content is, for five minutes."),
    ];
    let there = fields.into_iter().filter(|(there, ..)| *there);
    let described = |(_, name, description): (bool, &str, &str)| {
        let schema = if name == "ETag" { json!({ "type": "string", "pattern": TAG }) } else { text() };
        (name.to_owned(), of_type(schema, description, true))
    };
    there.map(described).collect()
}

/// Those of problems with these slugs, which have one status.
pub(super) fn of_problem(slugs: &[&str]) -> Map<String, Value> {
    let among = |kinds: &[problem::Kind]| kinds.iter().any(|kind| slugs.contains(&kind.slug));
    let mut headers = Map::new();
    if among(&[problem::NOT_SIGNED_IN]) {
        headers.insert("WWW-Authenticate".into(), field("`Bearer`", true));
    }
    if among(&[problem::TAKEN]) {
        let holder = "Of `taken`: the path of what holds the value, where it is known.";
        headers.insert("Location".into(), field(holder, false));
    }
    if among(&[problem::CONFLICT, problem::TOO_MANY_REQUESTS, problem::UNAVAILABLE]) {
        let seconds = "After how many seconds the same request may succeed.";
        headers.insert("Retry-After".into(), of_type(json!({ "type": "integer", "minimum": 0 }), seconds, false));
    }
    headers
}

fn field(description: &str, required: bool) -> Value {
    of_type(text(), description, required)
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn of_type(schema: Value, description: &str, required: bool) -> Value {
    json!({ "description": description, "required": required, "schema": schema })
}
