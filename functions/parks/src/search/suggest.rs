//! Names for what has been typed so far.

use serde::Serialize;
use utoipa::ToSchema;
use web::{Answer, Fault, Problem, Request};

use super::extent::Point;
use super::form::SuggestForm;
use super::hits::{Hit, SearchResponse};
use super::request::suggestions;
use super::words::Words;
use super::{ALIAS, SEARCH};
use crate::names::Kind;
use crate::view::View;

/// The most names of an answer.
const NAMES: usize = 10;

/// The best names first, each once.
#[derive(Debug, Serialize, ToSchema)]
pub struct Suggestions {
    pub items: Vec<Suggestion>,
}

/// A name, with the best item that has it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    pub display_name: String,
    pub entity: Kind,
    pub global_id: String,
    pub pk: String,
    pub sk: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub collection_id: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub item_type: Option<String>,
    /// `[longitude, latitude]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub location: Option<[f64; 2]>,
    /// `[west, south, east, north]` of its shapes; west lies beyond east across 180 degrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub envelope: Option<[f64; 4]>,
}

pub async fn suggest(request: Request) -> Result<Answer, Problem> {
    let form: SuggestForm = request.query()?;
    let view = View::of(&request, form.view);
    let words = Words::parse(&form.q).map_err(|detail| Problem::faults(vec![Fault::parameter("q", detail)]))?;
    let asked = suggestions(&words, &form.chosen(), view, NAMES);
    let response: SearchResponse = request.access().search(&SEARCH, ALIAS, &asked).await?;
    let suggestions = Suggestions::read(response).ok_or_else(|| Problem::internal("a hit lacks its keys"))?;
    Ok(view.cached(Answer::ok(&suggestions)))
}

impl Suggestions {
    /// Nothing if a hit lacks what every document has.
    pub fn read(response: SearchResponse) -> Option<Self> {
        let items: Option<_> = response.hits().into_iter().map(Suggestion::read).collect();
        Some(Self { items: items? })
    }
}

impl Suggestion {
    fn read(Hit { fields, .. }: Hit) -> Option<Self> {
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
