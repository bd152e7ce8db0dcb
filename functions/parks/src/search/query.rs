//! The parameters of a search: in the query string or, with a drawn shape, in the body.

use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, Type};
use web::{Limit, Order};

use super::area::Relation;
use super::facets::{ChosenValues, Field};
use crate::names::{ActivityType, FacilityType, Kind};
use crate::view::{FieldsParameter, ViewParameter};

/// The parameters of a search. An item matches if it has one of the values of each parameter.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchQuery {
    /// Words that all occur in the item; the last word may be a prefix. Matches closer to the name rank higher. If no name has
    /// the words as they are, typos are tolerated. If no item has all words, more than half suffice (`relaxed`).
    #[schema(min_length = 1, max_length = 200, example = "bedwel lak", nullable = false)]
    pub q: Option<String>,
    #[serde(default)]
    #[schema(schema_with = collection_ids)]
    pub collection_id: Vec<String>,
    #[serde(default)]
    #[schema(max_items = 20)]
    pub entity: Vec<Kind>,
    /// Types of facilities and activities.
    #[serde(default, rename = "type")]
    #[schema(schema_with = types)]
    pub types: Vec<String>,
    #[serde(default)]
    #[schema(schema_with = sub_types)]
    pub sub_type: Vec<String>,
    #[schema(nullable = false)]
    pub is_open: Option<bool>,
    #[schema(nullable = false)]
    pub show_on_map: Option<bool>,
    /// Only items that a map shows at this zoom.
    #[schema(maximum = 22, nullable = false)]
    pub map_zoom: Option<u8>,
    /// West, south, east, north in degrees: items that intersect this box. If west is greater than east, it crosses 180 degrees.
    #[serde(default)]
    #[schema(min_items = 4, max_items = 4, example = json!([-126.0, 49.3, -125.0, 49.9]))]
    pub bbox: Vec<f64>,
    /// Longitude and latitude: adds to each hit its distance and whether it contains the point. With `radius`, only items
    /// within it. Items that contain the point come first, smaller ones before larger ones, then the nearest locations.
    #[serde(default)]
    #[schema(min_items = 2, max_items = 2, example = json!([-123.12, 49.28]))]
    pub near: Vec<f64>,
    /// The distance in metres within which the boundary, the path or the location must be, with a tolerance of a thousandth.
    #[schema(exclusive_minimum = 0.0, maximum = 1000000.0, nullable = false)]
    pub radius: Option<f64>,
    /// The global id of an item whose boundary, as search has it, is the shape.
    #[schema(min_length = 1, max_length = 64, nullable = false)]
    pub shape_of: Option<String>,
    #[schema(nullable = false)]
    pub relation: Option<Relation>,
    /// The first and the last day: activities and products that are open on these days.
    #[schema(max_length = 32, example = "2025-12-24/2025-12-26", nullable = false)]
    pub open: Option<String>,
    #[schema(nullable = false)]
    pub open_match: Option<OpenMatch>,
    #[schema(nullable = false)]
    pub sort: Option<Sort>,
    #[schema(nullable = false)]
    pub order: Option<Order>,
    /// Counts per value: `entity`, `collectionId`, `type`, `subType`, or `grid:{zoom}` for counts per map tile.
    #[serde(default)]
    #[schema(schema_with = facets)]
    pub facets: Vec<String>,
    #[serde(default)]
    pub limit: Limit,
    /// The `nextCursor` of the page before.
    #[schema(max_length = 4096, nullable = false)]
    pub cursor: Option<String>,
    /// For administrators: only items that are, or are not, visible.
    #[schema(nullable = false)]
    pub visible: Option<bool>,
    /// For administrators: without deleted items (`false`, the default), only deleted items (`true`), or both (`any`).
    #[schema(nullable = false)]
    pub deleted: Option<Deleted>,
    /// In GeoJSON, the geometry of each item: its location (`point`), the box around its shapes (`envelope`), or its boundary
    /// or else its path, with at most 64 positions (`outline`) or simplified for maps at a zoom (`zoom:{zoom}`). An item
    /// without such a shape has its location.
    #[schema(schema_with = shape_as)]
    pub shape_as: Option<ShapeAs>,
    /// `card` adds the fields of a card: the start of the description, the first image, the address, whether the item is open
    /// and, with `open`, on which of the days.
    #[schema(nullable = false)]
    pub fields: Option<FieldsParameter>,
    /// The format of the response, which overrides `Accept`.
    #[schema(nullable = false)]
    pub f: Option<Format>,
    #[schema(nullable = false)]
    pub view: Option<ViewParameter>,
}

/// A search with a drawn shape.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, ToSchema)]
pub struct ShapeSearch {
    #[serde(flatten)]
    pub query: SearchQuery,
    /// GeoJSON: a Polygon or a MultiPolygon of at most 1000 positions, 100 rings and 64 KiB.
    #[schema(value_type = Option<Object>, nullable = false)]
    pub shape: Option<Value>,
}

/// The query of suggestions.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuggestQuery {
    /// The start of a name.
    #[schema(min_length = 1, max_length = 200, example = "bed")]
    pub q: String,
    #[serde(default)]
    #[schema(schema_with = collection_ids)]
    pub collection_id: Vec<String>,
    #[serde(default)]
    #[schema(max_items = 20)]
    pub entity: Vec<Kind>,
    #[schema(nullable = false)]
    pub view: Option<ViewParameter>,
}

impl SuggestQuery {
    /// The values of the filters.
    pub fn chosen(&self) -> ChosenValues {
        let mut chosen = ChosenValues::default();
        chosen.set(Field::Entity, self.entity.iter().map(Kind::to_string).collect());
        chosen.set(Field::CollectionId, self.collection_id.clone());
        chosen
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum OpenMatch {
    /// On each of the days, of which there are at most 31.
    #[default]
    All,
    /// On at least one of the days, of which there are at most 366.
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Sort {
    Relevance,
    Distance,
    Name,
    Number,
    /// For administrators.
    Updated,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Deleted {
    #[default]
    False,
    True,
    Any,
}

/// The geometry of an item in GeoJSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum ShapeAs {
    /// Its location.
    #[default]
    Point,
    /// The box around its shapes.
    Envelope,
    /// Its boundary or, if it has none, its path, with at most 64 positions.
    Outline,
    /// The same, simplified for maps at this zoom.
    Zoom(u8),
}

impl TryFrom<String> for ShapeAs {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let zoom = |text: &str| text.strip_prefix("zoom:")?.parse().ok().filter(|zoom| *zoom <= MAX_ZOOM);
        match text.as_str() {
            "point" => Ok(Self::Point),
            "envelope" => Ok(Self::Envelope),
            "outline" => Ok(Self::Outline),
            other => zoom(other).map(Self::Zoom).ok_or("must be point, envelope, outline or zoom:{0-22}"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    Json,
    Geojson,
}

/// The largest zoom of a map.
const MAX_ZOOM: u8 = 22;

/// The limit of values of a parameter.
const MAX_VALUES: usize = 20;

fn values(value: ObjectBuilder) -> Schema {
    ArrayBuilder::new().items(value.schema_type(Type::String).build()).max_items(Some(MAX_VALUES)).build().into()
}

fn collection_ids() -> Schema {
    values(ObjectBuilder::new().pattern(Some("^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$")))
}

fn types() -> Schema {
    let facilities = FacilityType::ALL.iter().map(|name| name.as_str());
    let activities = ActivityType::ALL.iter().map(|name| name.as_str());
    values(ObjectBuilder::new().enum_values(Some(facilities.chain(activities))))
}

fn sub_types() -> Schema {
    values(ObjectBuilder::new().pattern(Some("^[a-z][A-Za-z0-9]{0,31}$")))
}

fn shape_as() -> Schema {
    let shapes = ["point", "envelope", "outline"].map(str::to_owned);
    let zooms = (0..=MAX_ZOOM).map(|zoom| format!("zoom:{zoom}"));
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(shapes.into_iter().chain(zooms))).build().into()
}

fn facets() -> Schema {
    let fields = ["entity", "collectionId", "type", "subType"].map(str::to_owned);
    let grids = (0..=12).map(|zoom| format!("grid:{zoom}"));
    values(ObjectBuilder::new().enum_values(Some(fields.into_iter().chain(grids))))
}
