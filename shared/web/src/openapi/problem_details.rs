//! The schema of problem details (RFC 9457).

use serde_json::{Value, json};

use crate::problem;

/// The standard members and the platform's extensions.
pub(super) fn schema() -> Value {
    let place = |name: &str| json!({ "required": [name] });
    json!({
        "type": "object",
        "required": ["type", "title", "status", "detail", "instance"],
        "properties": {
            "type": { "type": "string", "pattern": "^urn:cairn:problem:" },
            "title": { "type": "string" },
            "status": { "type": "integer", "minimum": 400, "maximum": 599 },
            "detail": { "type": "string" },
            "instance": { "type": "string", "description": "The id of the request." },
            "counts": {
                "type": "object",
                "additionalProperties": { "type": "integer" },
                "description": "Of `has-dependents`: the number of dependents of each kind.",
            },
            "errorCount": { "type": "integer", "description": "The number of faults, if `errors` does not list them all." },
            "errors": {
                "type": "array",
                "maxItems": problem::MAX_FAULTS,
                "items": {
                    "type": "object",
                    "required": ["detail"],
                    "properties": {
                        "pointer": { "type": "string", "description": "A JSON pointer into the request body." },
                        "parameter": { "type": "string", "description": "The name of a path or query parameter." },
                        "header": { "type": "string", "description": "The name of a header field." },
                        "detail": { "type": "string" },
                    },
                    "oneOf": [place("pointer"), place("parameter"), place("header")],
                },
            },
        },
    })
}
