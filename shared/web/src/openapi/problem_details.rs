//! The schema of problem details (RFC 9457).

use serde_json::{Value, json};

use crate::problem;

/// With the members that the platform adds.
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
            "instance": { "type": "string", "description": "The request's id." },
            "counts": {
                "type": "object",
                "additionalProperties": { "type": "integer" },
                "description": "Of `has-dependents`: how much there is of each kind.",
            },
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
