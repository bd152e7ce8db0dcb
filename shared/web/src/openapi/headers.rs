//! The header fields of requests and responses.

use serde_json::{Map, Value, json};

use crate::problem;
use crate::route::Route;

/// One or more entity tags separated by commas, or `*` (RFC 9110, section 13.1).
const TAGS: &str = r#"^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$"#;

/// A strong entity tag.
const TAG: &str = r#"^"[!#-~]+"$"#;

/// Describes the header fields of a request besides its token.
pub(super) fn of_request(route: &Route) -> Vec<Value> {
    let tags = json!({ "type": "string", "pattern": TAGS, "examples": ["\"1767225600000000\""] });
    let key = json!({ "type": "string", "minLength": 1, "maxLength": 64, "pattern": "^[ -~]+$" });
    let honoured = [
        (
            route.if_match,
            "If-Match",
            "Entity tags. The operation fails with 412 if none of them matches the resource.",
            &tags,
        ),
        (
            route.if_none_match,
            "If-None-Match",
            "Entity tags. The response is 304 if one of them matches the resource.",
            &tags,
        ),
        (
            route.creates,
            "Idempotency-Key",
            "A key of the client's choice. A repeated request with the same key gets the first response again.",
            &key,
        ),
    ];
    let honoured = honoured.into_iter().filter(|(is_honoured, ..)| *is_honoured);
    let described = honoured.map(|(_, name, description, schema)| {
        json!({ "name": name, "in": "header", "required": false, "description": description, "schema": schema })
    });
    described.collect()
}

/// Describes the header fields of a successful response with this status.
pub(super) fn of_response(route: &Route, status: u16) -> Map<String, Value> {
    let tagged = matches!(status, 201 | 304) || (route.tagged && status == 200);
    let fields = [
        (tagged, "ETag", "The entity tag of the resource, for `If-Match` and `If-None-Match`."),
        (status == 201, "Location", "The path of the created resource."),
        (status == 303, "Location", "The URL of the content, valid for five minutes."),
    ];
    let present = fields.into_iter().filter(|(is_present, ..)| *is_present);
    let described = |(_, name, description): (bool, &str, &str)| {
        let schema = if name == "ETag" { json!({ "type": "string", "pattern": TAG }) } else { text() };
        (name.to_owned(), of_type(schema, description, true))
    };
    present.map(described).collect()
}

/// Describes the header fields of problems with these slugs, which share a status.
pub(super) fn of_problem(slugs: &[&str]) -> Map<String, Value> {
    let among = |kinds: &[problem::Kind]| kinds.iter().any(|kind| slugs.contains(&kind.slug));
    let mut headers = Map::new();
    if among(&[problem::NOT_SIGNED_IN]) {
        headers.insert("WWW-Authenticate".into(), field("`Bearer`", true));
    }
    if among(&[problem::TAKEN]) {
        let holder = "Of `taken`: the path of the resource that has the value, if it is known.";
        headers.insert("Location".into(), field(holder, false));
    }
    if among(&[problem::CONFLICT, problem::TOO_MANY_REQUESTS, problem::UNAVAILABLE]) {
        let seconds = "The seconds after which the client may retry.";
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
