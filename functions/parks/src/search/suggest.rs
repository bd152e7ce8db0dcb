//! Names for what has been typed so far.

use serde::Serialize;
use utoipa::ToSchema;

use super::hits::{Hit, SearchResponse};
use crate::names::Kind;

/// The most names of an answer.
pub const NAMES: usize = 10;

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
}

impl Suggestions {
    /// Nothing if a hit lacks what every document has.
    pub fn read(response: SearchResponse) -> Option<Self> {
        let items: Option<_> = response.hits.hits.into_iter().map(Suggestion::read).collect();
        Some(Self { items: items? })
    }
}

impl Suggestion {
    fn read(Hit { fields, .. }: Hit) -> Option<Self> {
        Some(Self {
            display_name: fields.name.get().unwrap_or_default(),
            entity: fields.entity.get()?.parse().ok()?,
            global_id: fields.global_id.get().unwrap_or_default(),
            pk: fields.pk.get()?,
            sk: fields.sk.get()?,
            collection_id: fields.collection_id.get(),
            item_type: fields.item_type.get(),
        })
    }
}
