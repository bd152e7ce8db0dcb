//! Facets: counts of records by category, collection, decade and place, each under every filter except its own.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::criteria::Criteria;

/// The limits of values of a facet. A limit is above what an archive can have, so that counts are exact.
pub const MAX_COLLECTIONS: u32 = 10_000;
const MAX_DECADES: u32 = 1_000;
const MAX_PLACES: u32 = 10_000;

/// A filter that has a facet of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chosen {
    Category,
    Collection,
    Decade,
}

const CHOSEN: [Chosen; 3] = [Chosen::Category, Chosen::Collection, Chosen::Decade];

/// Returns the filters by collection, category and decade.
pub fn filters(criteria: &Criteria) -> Vec<Value> {
    filters_except(criteria, None)
}

/// Returns the aggregations. The hits themselves are filtered after the counting, by `post_filter`. The places are the
/// children of the place with this path, or the countries.
pub fn request(criteria: &Criteria, parent_path: Option<&str>) -> Map<String, Value> {
    let values = |field: &str, size: u32| json!({ "terms": { "field": field, "size": size, "order": [{ "_count": "desc" }, { "_key": "asc" }] } });
    let mut places = values("placePaths", MAX_PLACES);
    if let Some(terms) = places.get_mut("terms").and_then(Value::as_object_mut) {
        let parent = parent_path.map(|path| format!("{path}/")).unwrap_or_default();
        terms.insert("include".to_owned(), json!(format!("{parent}[0-9]+")));
    }
    let count = |except: Option<Chosen>, values: Value| json!({ "filter": { "bool": { "filter": filters_except(criteria, except) } }, "aggs": { "values": values } });
    // Categories are summed from their collections.
    let facets = [
        ("category", count(Some(Chosen::Category), values("collectionId", MAX_COLLECTIONS))),
        ("collection", count(Some(Chosen::Collection), values("collectionId", MAX_COLLECTIONS))),
        ("decade", count(Some(Chosen::Decade), values("decades", MAX_DECADES))),
        ("place", count(None, places)),
    ];
    facets.into_iter().map(|(name, facet)| (name.to_owned(), facet)).collect()
}

/// Returns the counts by category, which are the sums of the counts by collection. A collection counts once in each of
/// its categories.
pub fn category_counts<'a>(
    collections: impl IntoIterator<Item = (&'a str, u64)>,
    categories_of: &BTreeMap<String, Vec<String>>,
) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for (collection, count) in collections {
        for category in categories_of.get(collection).into_iter().flatten() {
            *counts.entry(category.clone()).or_default() += count;
        }
    }
    counts
}

/// Returns the id of the place at the end of a path, such as the value of a facet.
pub fn own_place(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn filters_except(criteria: &Criteria, except: Option<Chosen>) -> Vec<Value> {
    let filter = |chosen: Chosen| match chosen {
        Chosen::Category => {
            criteria.category_collections.as_ref().map(|ids| json!({ "terms": { "collectionId": ids } }))
        }
        Chosen::Collection => one_of("collectionId", &criteria.collection_ids),
        Chosen::Decade => {
            let decades: Vec<String> = criteria.decades.iter().map(u32::to_string).collect();
            one_of("decades", &decades)
        }
    };
    CHOSEN.into_iter().filter(|chosen| Some(*chosen) != except).filter_map(filter).collect()
}

fn one_of(field: &str, values: &[String]) -> Option<Value> {
    (!values.is_empty()).then(|| json!({ "terms": { field: values } }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facet_is_counted_under_all_filters_except_its_own() {
        let criteria = Criteria {
            collection_ids: vec!["x".to_owned()],
            category_collections: Some(vec!["x".to_owned(), "y".to_owned()]),
            decades: vec![1840],
            ..Criteria::default()
        };
        let facets = request(&criteria, None);
        let filters = |name: &str| facets[name]["filter"]["bool"]["filter"].to_string();
        assert_eq!(filters("category"), r#"[{"terms":{"collectionId":["x"]}},{"terms":{"decades":["1840"]}}]"#);
        assert_eq!(filters("collection"), r#"[{"terms":{"collectionId":["x","y"]}},{"terms":{"decades":["1840"]}}]"#);
        assert_eq!(filters("decade"), r#"[{"terms":{"collectionId":["x","y"]}},{"terms":{"collectionId":["x"]}}]"#);
        assert_eq!(facets["place"]["filter"]["bool"]["filter"].as_array().map(Vec::len), Some(3));
    }

    #[test]
    fn category_without_collections_has_no_records() {
        let criteria = Criteria { category_collections: Some(Vec::new()), ..Criteria::default() };
        assert_eq!(filters(&criteria), [json!({ "terms": { "collectionId": [] } })]);
    }

    #[test]
    fn places_are_countries_or_children_of_the_queried_place() {
        let include = |path| request(&Criteria::default(), path)["place"]["aggs"]["values"]["terms"]["include"].clone();
        assert_eq!(include(None), json!("[0-9]+"));
        assert_eq!(include(Some("9002635167/8000000001")), json!("9002635167/8000000001/[0-9]+"));
        assert_eq!(own_place("9002635167/8000000001"), "8000000001");
    }

    #[test]
    fn record_counts_once_in_each_category_of_its_collection() {
        let categories = BTreeMap::from([
            ("x".to_owned(), vec!["a".to_owned(), "b".to_owned()]),
            ("y".to_owned(), vec!["b".to_owned()]),
        ]);
        let counts = category_counts([("x", 5), ("y", 3), ("unknown", 9)], &categories);
        assert_eq!(counts, BTreeMap::from([("a".to_owned(), 5), ("b".to_owned(), 8)]));
    }
}
