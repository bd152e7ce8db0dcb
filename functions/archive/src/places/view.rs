//! Places in requests and responses.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::{ArrayBuilder, Schema, Type};
use utoipa::openapi::{ObjectBuilder, RefOr};
use web::Fault;
use web::visible::name_fault;

use super::item::{MAX_ALTERNATIVE, MAX_ALTERNATIVES, Place, PlaceType, Source};
use crate::names::{PlaceId, PlaceWord};

/// The path of a place.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlacePath {
    pub place_id: PlaceId,
}

/// A place in responses.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Place)]
pub struct PlaceView {
    pub id: PlaceId,
    pub name: String,
    /// Its name and those of the places around it: `Bala, Wales, United Kingdom`.
    pub full_name: String,
    pub alt_names: Vec<String>,
    #[serde(rename = "type")]
    pub kind: PlaceType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<PlaceId>,
    /// The ids of the places around it, the country first, and its own.
    pub path: Vec<PlaceId>,
    /// The number of ids in `path`.
    pub level: usize,
    /// The country's code in ISO 3166-1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lat: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lon: Option<f64>,
    /// The number of inhabitants.
    pub weight: u64,
    /// The number of places directly inside.
    pub child_count: u64,
    pub source: Source,
    pub created_at: String,
    pub updated_at: String,
}

impl From<Place> for PlaceView {
    fn from(place: Place) -> Self {
        let degrees = |text: Option<String>| text.and_then(|text| text.parse().ok());
        Self {
            id: place.id,
            name: place.name,
            full_name: place.full_name,
            alt_names: place.alt_names,
            kind: place.kind,
            parent_id: place.parent_id,
            path: place.path,
            level: place.level,
            country: place.country,
            lat: degrees(place.lat),
            lon: degrees(place.lon),
            weight: place.weight,
            child_count: place.child_count,
            source: place.source,
            created_at: place.created_at,
            updated_at: place.updated_at,
        }
    }
}

/// Returns the schema of alternative names.
pub fn alternatives() -> RefOr<Schema> {
    let name = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(MAX_ALTERNATIVE));
    ArrayBuilder::new().items(name).max_items(Some(MAX_ALTERNATIVES)).into()
}

/// Returns what is wrong with the names of a place.
pub fn name_faults(name: Option<&String>, alternatives: Option<&Vec<String>>) -> Vec<Fault> {
    let fault = |at: String, name: &str| {
        let unfit =
            || PlaceWord::of(name).err().map(|_| Fault::pointer(&at, "must have a letter or digit, and fit a key"));
        name_fault(&at, name).or_else(unfit)
    };
    let own = name.and_then(|name| fault("/name".to_owned(), name));
    let alternatives = alternatives.into_iter().flatten().enumerate();
    own.into_iter().chain(alternatives.filter_map(|(index, name)| fault(format!("/altNames/{index}"), name))).collect()
}
