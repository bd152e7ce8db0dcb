//! The response of a search over people.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;
use web::search::{Count, Total};

use super::facets::{category_counts, own_place};
use super::matched::Matched;
use crate::households::HouseholdView;
use crate::names::RecordId;
use crate::record::{Event, Person};
use crate::records::{CollectionOfRecord, PostOfRecord};

/// A page of records.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundRecords {
    pub items: Vec<FoundRecord>,
    pub total: Total,
    /// On the first page, how many records have each value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facets: Option<RecordFacets>,
    /// The texts and ids of the query that name no place. Nothing is found there.
    pub unresolved: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A record that was found.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundRecord {
    /// The permanent id.
    pub record: RecordId,
    pub score: f64,
    /// What each word of the queried names matches.
    pub matched: Vec<Matched>,
    pub people: Vec<Person>,
    pub events: Vec<Event>,
    /// The household with its first 10 members. Null for a record without one.
    #[schema(required)]
    pub household: Option<HouseholdView>,
    pub post: PostOfRecord,
    pub collection: CollectionOfRecord,
}

/// Counts of records by value. Each facet is counted under all filters except its own, the most frequent value first.
#[derive(Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct RecordFacets {
    /// By id. A record counts once in each category of its collection.
    pub category: Vec<Count>,
    /// By id.
    pub collection: Vec<Count>,
    /// By the first year. A record counts in each decade that one of its dates touches, for a long interval in the first
    /// three.
    pub decade: Vec<Count>,
    /// By id: the places directly inside the queried `place`, otherwise the countries.
    pub place: Vec<Count>,
}

impl RecordFacets {
    /// Creates the facets from the counts of the search. `categories_of` has the categories of the collections.
    pub fn new(mut counts: BTreeMap<String, Vec<Count>>, categories_of: &BTreeMap<String, Vec<String>>) -> Self {
        let mut take = |name: &str| counts.remove(name).unwrap_or_default();
        let collections = take("category");
        let collections = collections.iter().map(|collection| (collection.value.as_str(), collection.count));
        let categories = category_counts(collections, categories_of);
        let mut category: Vec<Count> = categories.into_iter().map(|(value, count)| Count { value, count }).collect();
        // Equal counts stay in the order of the ids.
        category.sort_by_key(|counted| std::cmp::Reverse(counted.count));
        let place = take("place").into_iter();
        let place = place.map(|Count { value, count }| Count { value: own_place(&value).to_owned(), count });
        Self { category, collection: take("collection"), decade: take("decade"), place: place.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_are_summed_and_places_are_named_by_their_own_ids() {
        let count = |value: &str, count| Count { value: value.to_owned(), count };
        let counts = BTreeMap::from([
            ("category".to_owned(), vec![count("x", 5), count("y", 3)]),
            ("collection".to_owned(), vec![count("x", 5)]),
            ("place".to_owned(), vec![count("9002635167/8000000001", 4)]),
        ]);
        let categories = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        let categories_of =
            BTreeMap::from([("x".to_owned(), categories(&["a", "b"])), ("y".to_owned(), categories(&["b"]))]);
        let facets = RecordFacets::new(counts, &categories_of);
        assert_eq!(facets.category, [count("b", 8), count("a", 5)]);
        assert_eq!(facets.collection, [count("x", 5)]);
        assert_eq!((facets.decade, facets.place), (Vec::new(), vec![count("8000000001", 4)]));
    }
}
