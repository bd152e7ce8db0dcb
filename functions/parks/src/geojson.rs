//! Items as GeoJSON (RFC 7946): a Feature each, and lists of them as a FeatureCollection.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::schema::Schema;
use utoipa::openapi::{ObjectBuilder, RefOr};
use utoipa::{PartialSchema, ToSchema};

use crate::view::{Geometry, ItemView, Summary};

pub const CONTENT_TYPE: &str = "application/geo+json";

/// A GeoJSON document in a request. The handler checks it and reports each fault at its pointer.
#[derive(Debug)]
pub struct GeoJson;

impl PartialSchema for GeoJson {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().required("type").description(Some("A GeoJSON document.")).into()
    }
}

impl ToSchema for GeoJson {}

/// The `type` of a Feature.
#[derive(Debug, ToSchema)]
pub enum FeatureType {
    Feature,
}

/// The `type` of a FeatureCollection.
#[derive(Debug, ToSchema)]
pub enum CollectionType {
    FeatureCollection,
}

/// The properties of a Feature: the attributes of an item except its global id, which is the `id` of the Feature.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Properties<T> {
    members: Value,
    #[serde(skip)]
    of: PhantomData<T>,
}

/// The properties of an item, or of a summary.
pub type ItemProperties = Properties<ItemView>;

const GLOBAL_ID: &str = "globalId";

impl<T> Properties<T> {
    pub fn new(item: &impl Serialize) -> Self {
        let mut members = serde_json::to_value(item).unwrap_or_else(|error| {
            table::never!("an item is no JSON: {error}");
            Value::Null
        });
        if let Some(members) = members.as_object_mut() {
            members.remove(GLOBAL_ID);
        }
        Self { members, of: PhantomData }
    }
}

impl<T: PartialSchema> PartialSchema for Properties<T> {
    fn schema() -> RefOr<Schema> {
        let RefOr::T(Schema::Object(mut object)) = T::schema() else { return T::schema() };
        object.properties.remove(GLOBAL_ID);
        object.required.retain(|name| name != GLOBAL_ID);
        object.description = Some("The item without its global id, which is the `id` of the Feature.".to_owned());
        RefOr::T(Schema::Object(object))
    }
}

impl<T: ToSchema> ToSchema for Properties<T> {
    fn name() -> Cow<'static, str> {
        format!("{}Properties", T::name()).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        T::schemas(schemas);
    }
}

/// A GeoJSON Feature whose `id` is the item's global id and whose properties are the rest of the item.
#[derive(Debug, Serialize, ToSchema)]
pub struct Feature {
    #[serde(rename = "type")]
    #[schema(value_type = FeatureType)]
    pub feature_type: &'static str,
    pub id: String,
    /// `[west, south, east, north]`; `west > east` across 180 degrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bbox: Option<[f64; 4]>,
    /// A geometry, or null.
    #[schema(value_type = Option<Geometry>, required)]
    pub geometry: Value,
    pub properties: ItemProperties,
}

/// One of an item's shapes.
#[derive(Debug, Serialize, ToSchema)]
pub struct ShapeFeature {
    #[serde(rename = "type")]
    #[schema(value_type = FeatureType)]
    pub feature_type: &'static str,
    /// `[west, south, east, north]` of the whole shape; `west > east` across 180 degrees.
    pub bbox: [f64; 4],
    #[schema(value_type = Geometry)]
    pub geometry: Value,
    pub properties: ShapeProperties,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ShapeProperties {
    /// Of a simplified shape: the greatest distance of a position of the original, in metres.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
}

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeatureCollection {
    #[serde(rename = "type")]
    #[schema(value_type = CollectionType)]
    pub collection_type: &'static str,
    pub features: Vec<Feature>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl Feature {
    /// The Feature of an item, with its embedded boundary or path as geometry, else its location.
    pub fn of_item(mut item: ItemView) -> Self {
        let shapes = [&mut item.boundary, &mut item.path].into_iter().flatten();
        let embedded = shapes.filter_map(|shape| shape.geometry.take()).next();
        let geometry = embedded.unwrap_or_else(|| point(item.location.as_deref()));
        Self::new(item.global_id.clone(), item.envelope, geometry, &item)
    }

    /// The Feature of a summary at its location.
    pub fn of_summary(item: &Summary) -> Self {
        Self::new(item.global_id.clone(), item.envelope, point(item.location.as_deref()), item)
    }

    fn new(id: String, bbox: Option<[f64; 4]>, geometry: Value, item: &impl Serialize) -> Self {
        Self { feature_type: "Feature", id, bbox, geometry, properties: Properties::new(item) }
    }
}

impl FeatureCollection {
    pub fn new(items: &[Summary], next_cursor: Option<String>) -> Self {
        let features = items.iter().map(Feature::of_summary).collect();
        Self { collection_type: "FeatureCollection", features, next_cursor }
    }
}

fn point(location: Option<&[f64]>) -> Value {
    location.map_or(Value::Null, |position| json!({ "type": "Point", "coordinates": position }))
}
