//! The size of a query, which the engine limits.

use serde_json::Value;

use super::criteria::Criteria;
use super::request::{Page, Visibility, request};

/// The clauses that OpenSearch admits in one query (`indices.query.bool.max_clause_count`), less those that are not in the
/// criteria when they are parsed: the hidden runs and the collections of a category.
const MAX_CLAUSES: usize = 1_024 - 8;

/// Queries that are counted as one clause.
const LEAVES: [&str; 7] = ["term", "terms", "exists", "prefix", "wildcard", "fuzzy", "match_all"];

/// Queries of the index or the doc values, whichever is faster. They are counted as both.
const DOUBLE_LEAVES: [&str; 2] = ["range", "geo_distance"];

/// The error is the number of the clauses of a query that has more than the engine admits, and the number that it admits.
pub fn check(criteria: &Criteria) -> Result<(), (usize, usize)> {
    let public = Visibility { hidden_runs: Vec::new(), open_on: Some(0) };
    let request = request(criteria, &public, Page { limit: 1, after: None, facets: false, parent_path: None });
    let size = clauses(request.get("query").unwrap_or(&Value::Null));
    if size > MAX_CLAUSES { Err((size, MAX_CLAUSES)) } else { Ok(()) }
}

/// Returns the most clauses that the engine may count in a query.
fn clauses(query: &Value) -> usize {
    match query {
        Value::Object(members) => {
            let own = |name: &str| match name {
                // The filter for the nested documents.
                "nested" => 1,
                leaf if LEAVES.contains(&leaf) => 1,
                leaf if DOUBLE_LEAVES.contains(&leaf) => 2,
                _ => 0,
            };
            members.iter().map(|(name, inner)| own(name) + clauses(inner)).sum()
        }
        Value::Array(queries) => queries.iter().map(clauses).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ranges_are_counted_twice_and_other_leaves_and_nested_queries_once() {
        let nested = json!({ "nested": { "path": "people", "query": { "bool": { "filter": [
            { "term": { "people.role": "father" } },
            { "terms": { "people.given": ["evan", "ifan"] } },
            { "range": { "people.from": { "gt": 5 } } },
        ] } } } });
        assert_eq!(clauses(&json!({ "dis_max": { "queries": [nested, { "match_all": {} }] } })), 6);
    }
}
