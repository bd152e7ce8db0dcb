//! Search responses of OpenSearch.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Count, Total};

/// A complete response to a search; a partial one is refused when it is received. `F` has the requested fields of a
/// document, each as an array.
#[derive(Debug, Deserialize)]
#[serde(bound = "F: Deserialize<'de> + Default")]
pub struct SearchResponse<F> {
    hits: Hits<F>,
    #[serde(default)]
    aggregations: BTreeMap<String, Counted>,
}

#[derive(Debug, Deserialize)]
#[serde(bound = "F: Deserialize<'de> + Default")]
struct Hits<F> {
    total: Counting,
    hits: Vec<Hit<F>>,
}

#[derive(Debug, Deserialize)]
struct Counting {
    value: u64,
    relation: String,
}

/// One hit, with the requested fields of its document.
#[derive(Debug, Deserialize)]
#[serde(bound = "F: Deserialize<'de> + Default")]
pub struct Hit<F> {
    #[serde(default)]
    pub fields: F,
    /// The marked fragments by field.
    #[serde(default)]
    pub highlight: BTreeMap<String, Vec<String>>,
    /// The sort values as OpenSearch sent them.
    pub sort: Option<Box<RawValue>>,
    #[serde(rename = "_score", default)]
    pub score: Option<f64>,
    /// The names of the named clauses that match.
    #[serde(default)]
    pub matched_queries: Vec<String>,
}

/// The first value of an array.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct One<T>(Vec<T>);

/// The counts of an aggregation.
#[derive(Debug, Deserialize)]
pub struct Counted {
    values: Buckets,
}

#[derive(Debug, Deserialize)]
struct Buckets {
    buckets: Vec<Bucket>,
}

#[derive(Debug, Deserialize)]
struct Bucket {
    key: String,
    doc_count: u64,
}

impl<F> SearchResponse<F> {
    pub fn total(&self) -> Total {
        let Counting { value, relation } = &self.hits.total;
        Total { value: *value, exact: relation == "eq" }
    }

    /// Removes and returns the counts by name, without zeros.
    pub fn take_counts(&mut self) -> BTreeMap<String, Vec<Count>> {
        std::mem::take(&mut self.aggregations).into_iter().map(|(name, counted)| (name, counted.counts())).collect()
    }

    /// Removes and returns the counts of one name, without zeros.
    pub fn take_count(&mut self, name: &str) -> Vec<Count> {
        self.aggregations.remove(name).map_or_else(Vec::new, Counted::counts)
    }

    /// Returns the hits of a page of this size, and the sort values where the next page starts. The request asked for one
    /// hit more than the page has.
    pub fn page(self, limit: usize) -> (Vec<Hit<F>>, Option<Box<RawValue>>) {
        let mut hits = self.hits.hits;
        let more = hits.len() > limit;
        hits.truncate(limit);
        let after = hits.last().filter(|_| more).and_then(|last| last.sort.clone());
        (hits, after)
    }

    /// Returns all hits.
    pub fn hits(self) -> Vec<Hit<F>> {
        self.hits.hits
    }
}

impl Counted {
    fn counts(self) -> Vec<Count> {
        let counted = self.values.buckets.into_iter().filter(|bucket| bucket.doc_count > 0);
        counted.map(|bucket| Count { value: bucket.key, count: bucket.doc_count }).collect()
    }
}

impl<F> Hit<F> {
    /// Returns the sort value at this index if it is a number.
    pub fn sorted_at(&self, index: usize) -> Option<f64> {
        let values: Vec<&RawValue> = serde_json::from_str(self.sort.as_deref()?.get()).ok()?;
        values.get(index)?.get().parse().ok()
    }

    /// Returns whether the clause of this name matches.
    pub fn matches(&self, name: &str) -> bool {
        self.matched_queries.iter().any(|matched| matched == name)
    }
}

impl<T> One<T> {
    pub fn get(self) -> Option<T> {
        self.0.into_iter().next()
    }

    pub fn peek(&self) -> Option<&T> {
        self.0.first()
    }
}

impl<T> Default for One<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Fields {
        sk: One<String>,
    }

    fn response() -> SearchResponse<Fields> {
        let hit = |sk: &str| json!({ "fields": { "sk": [sk] }, "sort": [sk], "_score": 1.5 });
        let text = json!({
            "hits": { "total": { "value": 3, "relation": "gte" }, "hits": [hit("1"), hit("2")] },
            "aggregations": { "kind": { "values": { "buckets": [
                { "key": "a", "doc_count": 2 }, { "key": "b", "doc_count": 0 },
            ] } } },
        });
        serde_json::from_str(&text.to_string()).unwrap()
    }

    #[test]
    fn extra_hit_is_not_on_the_page_and_gives_a_cursor() {
        let (page, after) = response().page(1);
        let sks: Vec<_> = page.into_iter().filter_map(|hit| hit.fields.sk.get()).collect();
        assert_eq!((sks, after.unwrap().get()), (vec!["1".to_owned()], r#"["1"]"#));
        let (page, after) = response().page(2);
        assert_eq!((page.len(), after.is_none()), (2, true));
    }

    #[test]
    fn counts_of_zero_are_omitted() {
        let mut response = response();
        assert_eq!(response.take_counts()["kind"], [Count { value: "a".to_owned(), count: 2 }]);
        assert_eq!(response.total(), Total { value: 3, exact: false });
    }

    #[test]
    fn sort_values_keep_their_digits() {
        let text = r#"{"sort":[1568522.7148369243,"a","1"]}"#;
        let hit: Hit<Fields> = serde_json::from_str(text).unwrap();
        assert_eq!(hit.sort.as_ref().unwrap().get(), r#"[1568522.7148369243,"a","1"]"#);
        assert_eq!((hit.sorted_at(0), hit.sorted_at(1)), (Some(1_568_522.714_836_924_3), None));
        let last: Hit<Fields> = serde_json::from_str(r#"{"sort":["Infinity","a","1"]}"#).unwrap();
        assert_eq!(last.sorted_at(0), None);
    }
}
