//! Clauses of OpenSearch queries.

use serde_json::{Value, json};

/// Items whose field has this relation to the shape.
pub fn shape_relation(field: &str, shape: &Value, relation: &str) -> Value {
    json!({ "geo_shape": { field: { "shape": shape, "relation": relation } } })
}

/// Items that have neither boundary nor path and match this clause on their location.
pub fn without_shape(location: Value) -> Value {
    json!({ "bool": { "filter": [location], "must_not": [has("boundary"), has("path")] } })
}

/// Items that have the field.
pub fn has(field: &str) -> Value {
    json!({ "exists": { "field": field } })
}

/// Items that match at least one of the clauses.
pub fn any(clauses: impl IntoIterator<Item = Value>) -> Value {
    let clauses: Vec<Value> = clauses.into_iter().collect();
    json!({ "bool": { "should": clauses, "minimum_should_match": 1 } })
}
