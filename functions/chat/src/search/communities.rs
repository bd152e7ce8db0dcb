//! `GET /chat/search/communities`

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use table::{AccessPattern, Key};
use utoipa::ToSchema;
use web::search::{Count, Highlights, Marks, Piece, Total};
use web::{Context, Json, Limit, Problem, Query, Route, Sample, problem};

use super::filters::{all_named, equal, named};
use super::page::{self, FoundPage, Hit, Loaded, SearchQuery, Searched};
use super::text::{Field, Words, keep_present};
use super::{SEARCH, TIMEOUT, searcher};
use crate::access::{CALLER, COMMUNITIES};
use crate::caller::{BANNED, SIGNED_IN};
use crate::communities::{Community, CommunityView};
use crate::{rates, schema};

const PATH: &str = "/chat/search/communities";

/// The present communities of a search's hits.
const FOUND_COMMUNITIES: AccessPattern = AccessPattern::new("foundCommunities", &[COMMUNITIES.batch_get()]);

const FIELDS: [Field; 3] = [
    Field { name: "name", word: 10, prefix: 6, typo: 3, is_long: false },
    Field { name: "topic", word: 8, prefix: 5, typo: 2, is_long: false },
    Field { name: "description", word: 4, prefix: 2, typo: 1, is_long: true },
];

/// The most values of a facet.
const MAX_VALUES: u32 = 50;

/// The facets and their fields.
const FACETS: [(&str, &str); 2] = [("topic", "topicKey"), ("country", "country")];

/// The query string of a search for communities.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct CommunityQuery {
    /// Words of the name, the description or the topic, or prefixes of words. Each must be found; typos are
    /// tolerated.
    #[schema(min_length = 1, max_length = 200)]
    q: Option<String>,
    /// Only communities with this topic, in upper or lower case.
    #[schema(min_length = 1, max_length = 40)]
    topic: Option<String>,
    /// Only communities in this country, in upper or lower case.
    #[schema(min_length = 1, max_length = 60)]
    country: Option<String>,
    /// Only communities in this state.
    #[schema(min_length = 1, max_length = 60)]
    state: Option<String>,
    /// Only communities in this city.
    #[schema(min_length = 1, max_length = 60)]
    city: Option<String>,
    #[serde(default)]
    limit: Limit,
    #[schema(min_length = 1)]
    cursor: Option<String>,
}

/// A page of communities, the best first, of equal ones the largest.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundCommunities {
    pub items: Vec<FoundCommunity>,
    pub total: Total,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facets: Option<CommunityFacets>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// On the first page, the counts of communities by values in lower case, each under all filters but its own.
#[derive(Debug, Serialize, ToSchema)]
pub struct CommunityFacets {
    pub topic: Vec<Count>,
    pub country: Vec<Count>,
}

/// A community that was found.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundCommunity {
    pub community: CommunityView,
    /// The fragments by field, each in pieces whose concatenation is the text.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, Vec<Vec<Piece>>>)]
    pub highlights: Highlights,
}

impl FoundCommunity {
    fn new(community: Community, mut highlights: Highlights) -> Self {
        keep_present(&mut highlights, |field| match field {
            "name" => Some(&community.name),
            "description" => Some(&community.description),
            "topic" => Some(&community.topic),
            _ => None,
        });
        Self { community: community.into(), highlights }
    }
}

#[derive(Debug)]
struct CommunitySearch {
    words: Option<Words>,
    /// The fields of the facets with the values that were chosen.
    chosen: BTreeMap<&'static str, Value>,
    filters: Vec<Value>,
}

pub fn route() -> Route {
    Route::get("searchCommunities", PATH, SIGNED_IN, search)
        .summary("Search the communities by words, topic and place")
        .patterns(&[&CALLER, &rates::COUNT, &SEARCH, &FOUND_COMMUNITIES])
        .timeout(TIMEOUT)
        .problems(&[
            problem::FORBIDDEN,
            BANNED,
            problem::CONFLICT,
            problem::TOO_MANY_REQUESTS,
            problem::SEARCH_UNAVAILABLE,
        ])
        .sample(Sample::new("/chat/search/communities?q=moss&country=Canada"))
}

async fn search(cx: Context, Query(query): Query<CommunityQuery>) -> Result<Json<FoundCommunities>, Problem> {
    searcher(&cx).await?;
    let words = query.q.as_deref().map(Words::parse).transpose();
    let words = words.map_err(|fault| Problem::faults(vec![fault]))?;
    let topic = query.topic.as_ref().map(|topic| ("topicKey", equal("topicKey", topic)));
    let country = query.country.as_ref().map(|country| ("country", named("country", country)));
    let chosen = topic.into_iter().chain(country).collect();
    let filters = all_named([("state", &query.state), ("city", &query.city)]);
    let mut search = CommunitySearch { words, chosen, filters };
    let FoundPage { items, total, mut counts, next_cursor } =
        page::page(&cx, &mut search, query.limit, query.cursor.as_deref()).await?;
    let facets = query.cursor.is_none().then(|| CommunityFacets {
        topic: counts.remove("topic").unwrap_or_default(),
        country: counts.remove("country").unwrap_or_default(),
    });
    Ok(Json(FoundCommunities { items, total, facets, next_cursor }))
}

impl CommunitySearch {
    /// Returns the facets, each counted under all chosen values but its own.
    fn facets(&self) -> Map<String, Value> {
        let facet = |(name, field): (&str, &str)| {
            let others = self.chosen.iter().filter(|(chosen, _)| **chosen != field);
            let others: Vec<&Value> = others.map(|(_, filter)| filter).collect();
            let values = json!({ "terms": { "field": field, "size": MAX_VALUES, "order": [{ "_count": "desc" }, { "_key": "asc" }] } });
            let facet = json!({ "filter": { "bool": { "filter": others } }, "aggs": { "values": values } });
            (name.to_owned(), facet)
        };
        FACETS.into_iter().map(facet).collect()
    }
}

impl Searched for CommunitySearch {
    type Item = FoundCommunity;

    fn query(&self, marks: &Marks, is_first: bool) -> SearchQuery {
        let mut filters = vec![equal("entity", "community")];
        filters.extend(self.filters.iter().cloned());
        let chosen = self.chosen.values().cloned();
        // Facets count more communities than the hits.
        let (post_filters, facets) = if is_first {
            (chosen.collect(), self.facets())
        } else {
            filters.extend(chosen);
            (Vec::new(), Map::new())
        };
        SearchQuery {
            must: self.words.iter().flat_map(|words| words.clauses(&FIELDS, |_| Vec::new())).collect(),
            filters,
            highlight: self.words.as_ref().map(|words| words.highlight(&FIELDS, marks)),
            sort: json!([{ "_score": "desc" }, { "numMembers": "desc" }, { "pk": "asc" }]),
            post_filters,
            facets,
            ..SearchQuery::default()
        }
    }

    async fn load(&mut self, cx: &Context, hits: Vec<Hit>) -> Result<Loaded<FoundCommunity>, Problem> {
        let keys: Vec<Key> = hits.iter().map(|hit| hit.key.clone()).collect();
        let stored = cx.access().table(&FOUND_COMMUNITIES, &schema::COMMUNITIES).batch_get(&keys).await?;
        let mut items = Vec::with_capacity(hits.len());
        for (stored, hit) in stored.into_iter().zip(hits) {
            let community = stored.map(|stored| stored.read::<Community>()).transpose()?;
            let present = community.filter(|community| community.deleting_at.is_none());
            items.push(present.map(|present| FoundCommunity::new(present, hit.highlights)));
        }
        Ok(Loaded { items, is_narrowed: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search() -> CommunitySearch {
        let filter = |field: &'static str, value| (field, equal(field, value));
        CommunitySearch {
            words: None,
            chosen: BTreeMap::from([filter("topicKey", "walking"), filter("country", "wales")]),
            filters: vec![json!({ "term": { "city": "bangor" } })],
        }
    }

    #[test]
    fn facet_is_counted_under_all_filters_except_its_own() {
        let query = search().query(&Marks::random(), true);
        let filters = |name: &str| query.facets[name]["filter"]["bool"]["filter"].clone();
        assert_eq!(filters("topic"), json!([{ "term": { "country": "wales" } }]));
        assert_eq!(filters("country"), json!([{ "term": { "topicKey": "walking" } }]));
        assert_eq!(query.post_filters.len(), 2);
        assert_eq!(
            query.filters,
            [json!({ "term": { "entity": "community" } }), json!({ "term": { "city": "bangor" } })]
        );
    }

    #[test]
    fn later_pages_have_all_filters_and_no_facets() {
        let query = search().query(&Marks::random(), false);
        assert_eq!((query.filters.len(), query.post_filters.len(), query.facets.len()), (4, 0, 0));
    }
}
