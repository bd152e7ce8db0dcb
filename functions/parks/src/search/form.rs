//! What may be asked of search: the parameters of the query string, and with a shape the fields of the body.

use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, Type};
use web::{Limit, Order};

use super::facets::{Chosen, Field};
use crate::names::{ActivityType, FacilityType, Kind};
use crate::view::AskedView;

/// Any value of one parameter may fit, and every parameter must.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchForm {
    /// Words that all occur in the item, the last one as a beginning, and the closer to its name the higher it comes. Where no
    /// name has them as they are, also with typos; where nothing has all of them, more than half (`relaxed`).
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
    /// Only what a map of this zoom shows.
    #[schema(maximum = 22, nullable = false)]
    pub map_zoom: Option<u8>,
    /// West, south, east, north in degrees: what meets this box. West beyond east runs across 180 degrees.
    #[serde(default)]
    #[schema(min_items = 4, max_items = 4, example = json!([-126.0, 49.3, -125.0, 49.9]))]
    pub bbox: Vec<f64>,
    /// Longitude and latitude: hits carry their distance and whether they hold this point, and with `radius` come within it.
    /// What holds the point comes first, the smaller before the larger, then the nearer location.
    #[serde(default)]
    #[schema(min_items = 2, max_items = 2, example = json!([-123.12, 49.28]))]
    pub near: Vec<f64>,
    /// Metres within which the boundary, the path or the location comes, to a thousandth.
    #[schema(exclusive_minimum = 0.0, maximum = 1000000.0, nullable = false)]
    pub radius: Option<f64>,
    /// The global id of an item whose boundary, as search holds it, is what to compare with.
    #[schema(min_length = 1, max_length = 64, nullable = false)]
    pub shape_of: Option<String>,
    #[schema(nullable = false)]
    pub relation: Option<Relation>,
    /// Days, first and last: what is offered on them.
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
    /// Where to go on, as `nextCursor` said.
    #[schema(max_length = 4096, nullable = false)]
    pub cursor: Option<String>,
    /// For administrators: only what is, or is not, visible.
    #[schema(nullable = false)]
    pub visible: Option<bool>,
    /// For administrators: whether deleted items are left out (`false`, the default), alone (`true`) or among the
    /// others (`any`).
    #[schema(nullable = false)]
    pub deleted: Option<Deleted>,
    /// In GeoJSON, what each item is drawn as: its location where it has no such shape.
    #[schema(nullable = false)]
    pub shape_as: Option<ShapeAs>,
    /// `card` adds what a card shows: the beginning of the description, the first image, the address, whether it is open and,
    /// with `open`, on which of the days.
    #[schema(nullable = false)]
    pub fields: Option<AskedFields>,
    /// The format of the answer, whatever `Accept` says.
    #[schema(nullable = false)]
    pub f: Option<Format>,
    #[schema(nullable = false)]
    pub view: Option<AskedView>,
}

/// The same with a drawn shape.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, ToSchema)]
pub struct ShapeForm {
    #[serde(flatten)]
    pub form: SearchForm,
    /// GeoJSON: a Polygon or a MultiPolygon of at most 1000 positions, 100 rings and 64 KiB.
    #[schema(value_type = Option<Object>, nullable = false)]
    pub shape: Option<Value>,
}

/// What may be asked of suggestions.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuggestForm {
    /// What has been typed so far.
    #[schema(min_length = 1, max_length = 200, example = "bed")]
    pub q: String,
    #[serde(default)]
    #[schema(schema_with = collection_ids)]
    pub collection_id: Vec<String>,
    #[serde(default)]
    #[schema(max_items = 20)]
    pub entity: Vec<Kind>,
    #[schema(nullable = false)]
    pub view: Option<AskedView>,
}

impl SuggestForm {
    /// The values that are asked for, per field.
    pub fn chosen(&self) -> Chosen {
        let mut chosen = Chosen::default();
        chosen.choose(Field::Entity, self.entity.iter().map(Kind::to_string).collect());
        chosen.choose(Field::CollectionId, self.collection_id.clone());
        chosen
    }
}

/// How an item's extent lies to the shape that is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Relation {
    /// Any part of the extent is in the shape.
    #[default]
    Intersects,
    /// All of the extent is.
    Within,
    /// The item's boundary holds the whole shape.
    Contains,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum OpenMatch {
    /// On each of the days; at most 31.
    #[default]
    All,
    /// On one of the days or more; at most 366.
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ShapeAs {
    /// Its location.
    #[default]
    Point,
    /// The box round its shapes.
    Envelope,
    /// Its boundary, else its path, in at most 64 positions.
    Outline,
}

/// How much is told of a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum AskedFields {
    Card,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    Json,
    Geojson,
}

/// The most values of one parameter.
const VALUES: usize = 20;

fn values(value: ObjectBuilder) -> Schema {
    ArrayBuilder::new().items(value.schema_type(Type::String).build()).max_items(Some(VALUES)).build().into()
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

fn facets() -> Schema {
    let fields = ["entity", "collectionId", "type", "subType"].map(str::to_owned);
    let grids = (0..=12).map(|zoom| format!("grid:{zoom}"));
    values(ObjectBuilder::new().enum_values(Some(fields.into_iter().chain(grids))))
}
