//! Clauses of OpenSearch queries.

use serde_json::{Value, json};

/// Returns the query for documents that have the field.
pub fn has(field: &str) -> Value {
    json!({ "exists": { "field": field } })
}

/// Returns the query for documents that do not match a clause. Its score is 0.
pub fn not(clause: Value) -> Value {
    json!({ "bool": { "must_not": [clause], "filter": [{ "match_all": {} }] } })
}

/// Returns the query for documents that are closed to the public on a day. The field has the first open day.
pub fn closed(field: &str, day: u32) -> Value {
    json!({ "range": { field: { "gt": day } } })
}

/// Returns the query for documents that match at least one of the clauses, with the score of the best.
pub fn best(clauses: Vec<Value>) -> Value {
    json!({ "dis_max": { "queries": clauses } })
}

/// Returns the query with a fixed score for the documents that a filter keeps.
pub fn scored(points: u32, filter: Value) -> Value {
    json!({ "constant_score": { "filter": filter, "boost": points } })
}

/// Returns the query for documents with a nested object that matches, with the score of the best such object.
pub fn nested(path: &str, query: Value) -> Value {
    json!({ "nested": { "path": path, "query": query, "score_mode": "max" } })
}

/// Returns the query for documents that match all filters, with the sum of the scores of `must`.
pub fn all(must: Vec<Value>, filters: Vec<Value>) -> Value {
    json!({ "bool": { "must": must, "filter": filters } })
}
