//! `GET /parks/suggest`: autocomplete.

use serde::Serialize;
use utoipa::ToSchema;
use web::{Context, Fault, Json, Problem, Query, Route, Sample, problem};

use super::TIMEOUT;
use super::hits::{Hit, SearchResponse};
use super::point::Point;
use super::query::SuggestQuery;
use super::request::suggestions;
use super::words::Words;
use crate::access::SEARCH;
use crate::names::Kind;
use crate::schema::ALIAS;
use crate::view::{Cached, EVERYONE, View};

/// The limit of names in a response.
const MAX_NAMES: usize = 10;

/// Distinct names, the best first.
#[derive(Debug, Serialize, ToSchema)]
pub struct Suggestions {
    pub items: Vec<Suggestion>,
}

/// A name with the best item of this name.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    pub display_name: String,
    pub entity: Kind,
    pub global_id: String,
    pub pk: String,
    pub sk: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collection_id: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub item_type: Option<String>,
    /// `[longitude, latitude]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<[f64; 2]>,
    /// `[west, south, east, north]` of its shapes; `west > east` across 180 degrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub envelope: Option<[f64; 4]>,
}

pub fn route() -> Route {
    Route::get("suggest", "/parks/suggest", EVERYONE, suggest)
        .summary("Search item names that start with the given prefix, the best first, for autocomplete")
        .patterns(&[&SEARCH])
        .timeout(TIMEOUT)
        .problems(&[problem::SEARCH_UNAVAILABLE])
        .sample(Sample::new("/parks/suggest?q=bed"))
}

async fn suggest(cx: Context, Query(query): Query<SuggestQuery>) -> Result<Cached<Json<Suggestions>>, Problem> {
    let view = View::of(&cx, query.view);
    let words = Words::parse(&query.q).map_err(|detail| Problem::faults(vec![Fault::parameter("q", detail)]))?;
    let request = suggestions(&words, &query.chosen(), view, MAX_NAMES);
    let response: SearchResponse = cx.access().search(&SEARCH, ALIAS, &request).await?;
    let suggestions = Suggestions::new(response).ok_or_else(|| Problem::internal("a hit lacks its keys"))?;
    Ok(Cached(view, Json(suggestions)))
}

impl Suggestions {
    /// None if a hit lacks a field that every document has.
    fn new(response: SearchResponse) -> Option<Self> {
        let items: Option<_> = response.hits().into_iter().map(Suggestion::new).collect();
        Some(Self { items: items? })
    }
}

impl Suggestion {
    fn new(Hit { fields, .. }: Hit) -> Option<Self> {
        let location = fields.location().map(|Point { longitude, latitude }| [longitude, latitude]);
        let envelope = fields.envelope();
        Some(Self {
            display_name: fields.name.get().unwrap_or_default(),
            entity: fields.entity.get()?.parse().ok()?,
            global_id: fields.global_id.get().unwrap_or_default(),
            pk: fields.pk.get()?,
            sk: fields.sk.get()?,
            collection_id: fields.collection_id.get(),
            item_type: fields.item_type.get(),
            location,
            envelope,
        })
    }
}
