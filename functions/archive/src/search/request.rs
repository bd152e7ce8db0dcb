//! The request to OpenSearch.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::clauses::{all, closed};
use super::criteria::Criteria;
use super::{events, facets, people};

/// Shorter than the function's timeout, so that a slow search is reported as slow.
pub const TIMEOUT: &str = "4s";

/// The fields of a hit, which name the items that it is joined from.
const FIELDS: [&str; 4] = ["pk", "sk", "collectionId", "household"];

/// Which records the caller may find.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Visibility {
    /// Runs as `{postId}-{n}` that search must not show.
    pub hidden_runs: Vec<String>,
    /// The day as `yyyymmdd` by which a record must be open. None for staff, who see closed records, too.
    pub open_on: Option<u32>,
}

/// A page of hits.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    pub limit: usize,
    /// The sort values of the last hit of the page before, digit for digit.
    pub after: Option<&'a RawValue>,
    /// Whether the first page has facets. Later pages have none.
    pub facets: bool,
    /// The ids of the queried place and its ancestors, country first, joined by `/`: the facet of places counts its
    /// children.
    pub parent_path: Option<&'a str>,
}

/// Returns the body of a search for one page, and one more hit that shows whether there is another page.
pub fn request(criteria: &Criteria, visibility: &Visibility, page: Page<'_>) -> Value {
    let must: Vec<Value> = people::clause(criteria, visibility.open_on)
        .into_iter()
        .chain(criteria.events.iter().map(|event| events::clause(event, criteria.missing)))
        .collect();
    let mut filters = vec![json!({ "term": { "entity": "record" } })];
    filters.extend(criteria.post_id.as_ref().map(|post| json!({ "term": { "postId": post } })));
    filters.extend(criteria.keywords.iter().map(|word| json!({ "term": { "keywords": word } })));
    let chosen = facets::filters(criteria);
    let counts = page.facets && page.after.is_none();
    // Facets count more records than the hits.
    if !counts {
        filters.extend(chosen.iter().cloned());
    }
    let mut query = all(must, filters);
    if let Some(query) = query.get_mut("bool").and_then(Value::as_object_mut) {
        query.insert("must_not".to_owned(), Value::Array(visibility.hidden()));
    }
    let mut request = json!({
        "query": query,
        "sort": [{ "_score": "desc" }, { "permanentId": "asc" }],
        "size": page.limit.saturating_add(1),
        "track_total_hits": true,
        "track_scores": true,
        "_source": false,
        "docvalue_fields": FIELDS,
        "timeout": TIMEOUT,
    });
    if let Some(request) = request.as_object_mut() {
        request.extend(page.after.map(|after| ("search_after".to_owned(), json!(after))));
        if counts {
            request.insert("aggs".to_owned(), Value::Object(facets::request(criteria, page.parent_path)));
            if !chosen.is_empty() {
                request.insert("post_filter".to_owned(), all(Vec::new(), chosen));
            }
        }
    }
    request
}

impl Visibility {
    /// Returns the queries for records that the caller must not find.
    pub fn hidden(&self) -> Vec<Value> {
        let runs = (!self.hidden_runs.is_empty()).then(|| json!({ "terms": { "run": self.hidden_runs } }));
        let closed = self.open_on.map(|day| closed("visibleFrom", day));
        let deleted = json!({ "term": { "deleted": true } });
        runs.into_iter().chain(closed).chain([deleted]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Page<'_> = Page { limit: 25, after: None, facets: true, parent_path: None };

    fn criteria() -> Criteria {
        Criteria {
            collection_ids: vec!["x".to_owned()],
            keywords: vec!["smith".to_owned()],
            post_id: Some("1000000007".to_owned()),
            ..Criteria::default()
        }
    }

    #[test]
    fn order_is_total_and_page_has_one_more_hit_than_its_limit() {
        let request = request(&criteria(), &Visibility::default(), FIRST);
        assert_eq!(request["sort"], json!([{ "_score": "desc" }, { "permanentId": "asc" }]));
        assert_eq!((&request["size"], &request["track_total_hits"]), (&json!(26), &json!(true)));
    }

    #[test]
    fn hits_of_the_first_page_are_filtered_after_facets_are_counted() {
        let filter = json!({ "terms": { "collectionId": ["x"] } });
        let first = request(&criteria(), &Visibility::default(), FIRST);
        assert_eq!(first["post_filter"]["bool"]["filter"], json!([filter]));
        assert!(!first["query"].to_string().contains("collectionId"));
        let after = RawValue::from_string(r#"[20.0,"1000000001"]"#.to_owned()).unwrap();
        let next = request(&criteria(), &Visibility::default(), Page { after: Some(&after), ..FIRST });
        assert!(next["query"]["bool"]["filter"].as_array().unwrap().contains(&filter));
        assert_eq!((next.get("aggs"), next.get("post_filter")), (None, None));
        assert_eq!(next["search_after"], json!([20.0, "1000000001"]));
    }

    #[test]
    fn hidden_runs_and_closed_records_are_excluded_before_counting() {
        let public = Visibility { hidden_runs: vec!["1000000007-2".to_owned()], open_on: Some(20_261_125) };
        let hidden = request(&criteria(), &public, FIRST)["query"]["bool"]["must_not"].clone();
        assert_eq!(
            hidden,
            json!([
                { "terms": { "run": ["1000000007-2"] } },
                { "range": { "visibleFrom": { "gt": 20_261_125 } } },
                { "term": { "deleted": true } },
            ])
        );
        let staff = Visibility { hidden_runs: Vec::new(), open_on: None };
        assert_eq!(
            request(&criteria(), &staff, FIRST)["query"]["bool"]["must_not"],
            json!([{ "term": { "deleted": true } }])
        );
    }

    #[test]
    fn only_records_are_found() {
        let filters = request(&criteria(), &Visibility::default(), FIRST)["query"]["bool"]["filter"].clone();
        assert_eq!(
            filters,
            json!([
                { "term": { "entity": "record" } },
                { "term": { "postId": "1000000007" } },
                { "term": { "keywords": "smith" } },
            ])
        );
    }
}
