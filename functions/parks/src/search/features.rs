//! Hits as GeoJSON (RFC 7946), with the counts and links of OGC API Features.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use utoipa::ToSchema;
use web::Context;
use web::search::Count;

use super::parsed_query::Source;
use super::query::ShapeAs;
use super::response::{Found, FoundItem};
use crate::geojson::{CONTENT_TYPE, CollectionType, FeatureType, Properties};
use crate::view::Geometry;

/// A page of hits as a FeatureCollection.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundFeatures {
    #[serde(rename = "type")]
    #[schema(value_type = CollectionType)]
    pub collection_type: &'static str,
    pub features: Vec<FoundFeature>,
    /// Absent if counting stopped before the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number_matched: Option<u64>,
    pub number_returned: usize,
    /// Whether no item has all words, so that these have most of them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(value_type = Option<bool>)]
    pub relaxed: bool,
    /// RFC 3339.
    pub time_stamp: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facets: Option<BTreeMap<String, Vec<Count>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape_status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape_tolerance: Option<f64>,
    /// A link with the `rel` `next` if there is another page.
    pub links: Vec<Link>,
}

/// The properties of a hit.
pub type FoundItemProperties = Properties<FoundItem>;

/// A hit whose `id` is the item's global id and whose properties are the rest of the item.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundFeature {
    #[serde(rename = "type")]
    #[schema(value_type = FeatureType)]
    pub feature_type: &'static str,
    pub id: String,
    /// `[west, south, east, north]`; `west > east` across 180 degrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bbox: Option<[f64; 4]>,
    /// In the form of `shapeAs`, or null.
    #[schema(value_type = Option<Geometry>, required)]
    pub geometry: Option<Box<RawValue>>,
    pub properties: FoundItemProperties,
}

/// A link to the next page. A POST is repeated with this `body` merged into its own.
#[derive(Debug, PartialEq, Serialize, ToSchema)]
pub struct Link {
    pub rel: &'static str,
    #[serde(rename = "type")]
    pub content_type: &'static str,
    pub href: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub body: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merge: Option<bool>,
}

impl FoundFeatures {
    pub fn new(found: Found, shape_as: ShapeAs, time_stamp: String, next: Option<Link>) -> Self {
        // An item without a location and an envelope cannot be drawn.
        let placed = found.items.into_iter().filter(|item| item.location.is_some() || item.envelope.is_some());
        let features: Vec<_> = placed.map(|item| FoundFeature::new(item, shape_as)).collect();
        Self {
            collection_type: "FeatureCollection",
            number_returned: features.len(),
            relaxed: found.relaxed,
            features,
            number_matched: found.total.exact.then_some(found.total.value),
            time_stamp,
            facets: found.facets,
            shape_status: found.shape_status,
            shape_tolerance: found.shape_tolerance,
            links: next.into_iter().collect(),
        }
    }
}

impl Link {
    /// The link to the page at this cursor.
    pub fn next(cx: &Context, cursor: &str, source: Source) -> Self {
        let link = Self {
            rel: "next",
            content_type: CONTENT_TYPE,
            href: cx.raw_path().to_owned(),
            method: None,
            body: None,
            merge: None,
        };
        match source {
            Source::Query => Self { href: cx.target_from(cursor), ..link },
            Source::Body => {
                Self { method: Some("POST"), body: Some(json!({ "cursor": cursor })), merge: Some(true), ..link }
            }
        }
    }
}

impl FoundFeature {
    fn new(mut item: FoundItem, shape_as: ShapeAs) -> Self {
        let outline = item.outline.take();
        let point = item.location.map(|[x, y]| [x, y, x, y]);
        let location = item.location.map(|[x, y]| format!(r#"{{"type":"Point","coordinates":[{x},{y}]}}"#));
        let geometry = match shape_as {
            ShapeAs::Point => None,
            ShapeAs::Envelope => item.envelope.map(|[west, south, east, north]| {
                geometry::Envelope { west, south, east, north }.to_shape().canonical()
            }),
            ShapeAs::Outline | ShapeAs::Zoom(_) => outline,
        };
        let geometry = geometry.or(location);
        Self {
            feature_type: "Feature",
            bbox: item.envelope.or(point),
            geometry: geometry.and_then(|text| RawValue::from_string(text).ok()),
            properties: Properties::new(&item),
            id: item.global_id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Kind;

    fn item() -> FoundItem {
        FoundItem {
            entity: Kind::Geozone,
            global_id: "g".to_owned(),
            pk: "geozone::a".to_owned(),
            sk: "1".to_owned(),
            collection_id: None,
            item_type: None,
            sub_type: None,
            number: Some(1),
            display_name: "Fiji".to_owned(),
            location: Some([179.75, -16.75]),
            envelope: Some([179.5, -17.0, -179.8, -16.5]),
            boundary_status: Some("full".to_owned()),
            boundary_tolerance: None,
            path_status: None,
            path_tolerance: None,
            distance_metres: None,
            inside: false,
            description: None,
            image_url: None,
            address: None,
            is_open: None,
            open_days: None,
            highlights: BTreeMap::new(),
            outline: None,
        }
    }

    fn drawn(shape_as: ShapeAs) -> Value {
        json!(FoundFeature::new(item(), shape_as))
    }

    #[test]
    fn geometry_of_a_feature_follows_shape_as() {
        assert_eq!(drawn(ShapeAs::Point)["geometry"], json!({"type": "Point", "coordinates": [179.75, -16.75]}));
        assert_eq!(drawn(ShapeAs::Envelope)["geometry"]["type"], "MultiPolygon");
        assert_eq!(drawn(ShapeAs::Outline)["geometry"]["type"], "Point");
    }

    #[test]
    fn properties_of_a_feature_lack_its_id() {
        let feature = drawn(ShapeAs::Point);
        assert_eq!((&feature["id"], &feature["bbox"]), (&json!("g"), &json!([179.5, -17.0, -179.8, -16.5])));
        assert_eq!(feature["properties"]["displayName"], "Fiji");
        assert!(feature["properties"].get("globalId").is_none());
    }
}
