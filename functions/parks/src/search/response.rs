//! The response of a search.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use web::search::{Count, Highlights, Marks, Piece, Total};

use super::extent::INSIDE;
use super::hits::{Hit, SearchResponse};
use super::parsed_query::ParsedQuery;
use super::point::Point;
use crate::names::Kind;
use crate::view::CARD_DESCRIPTION_LENGTH;

/// A page of hits.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    pub items: Vec<FoundItem>,
    pub total: Total,
    /// Whether no item has all words, so that these have most of them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(value_type = Option<bool>)]
    pub relaxed: bool,
    /// On the first page, the counts by value of each facet. A tile of a grid is `{zoom}/{x}/{y}`, as in URLs of web maps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facets: Option<BTreeMap<String, Vec<Count>>>,
    /// If the shape is an item's boundary, the detail level of the boundary in search, as in `boundaryStatus`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape_status: Option<String>,
    /// If the shape is an item's boundary, its tolerance in metres. Absent for an envelope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape_tolerance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// An item as it is indexed.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundItem {
    pub entity: Kind,
    pub global_id: String,
    pub pk: String,
    pub sk: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collection_id: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub item_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<i64>,
    pub display_name: String,
    /// `[longitude, latitude]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<[f64; 2]>,
    /// `[west, south, east, north]` of its shapes; `west > east` across 180 degrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub envelope: Option<[f64; 4]>,
    /// The detail level of its boundary in search: `full`, `fine`, `coarse`, `envelope`, `none`, or `missing` if its object is
    /// missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boundary_status: Option<String>,
    /// The tolerance of a `fine` or `coarse` boundary, in metres.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boundary_tolerance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_tolerance: Option<f64>,
    /// The distance from `near` to its location, along the sphere, rounded to a decimetre.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance_metres: Option<f64>,
    /// Whether its boundary or its path contains `near`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(value_type = Option<bool>)]
    pub inside: bool,
    /// With `fields=card`, its first 300 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// With `fields=card`, the first of its images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_open: Option<bool>,
    /// With `fields=card`, the days of `open` on which a product is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_days: Option<Vec<String>>,
    /// The fragments by field, each in pieces whose concatenation is the text.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, Vec<Vec<Piece>>>)]
    pub highlights: Highlights,
    /// Its boundary or path as GeoJSON text, in the form that the query asks for.
    #[serde(skip)]
    pub outline: Option<String>,
}

impl Found {
    /// The page, and the sort values of its last hit. None if a hit lacks a field that every document has.
    pub fn new(
        query: &ParsedQuery,
        mut response: SearchResponse,
        marks: &Marks,
    ) -> Option<(Self, Option<Box<RawValue>>)> {
        let (total, counts) = (response.total(), response.take_counts());
        let (hits, after) = response.page(query.limit);
        let found = Self {
            items: hits.into_iter().map(|hit| FoundItem::new(hit, query, marks)).collect::<Option<_>>()?,
            total,
            relaxed: false,
            facets: (!counts.is_empty()).then_some(counts),
            shape_status: None,
            shape_tolerance: None,
            next_cursor: None,
        };
        Some((found, after))
    }
}

impl FoundItem {
    fn new(hit: Hit, query: &ParsedQuery, marks: &Marks) -> Option<Self> {
        let location = hit.fields.location();
        let sorted_by = query.ordering.distance_index().and_then(|index| hit.sorted_at(index));
        // The distance by which search has sorted: a computed one could differ in its last digit and be out of order.
        let computed = || query.near.and_then(|near| Some(near.point.distance(location?)));
        let distance = sorted_by.or_else(computed).map(|metres| (metres * 10.0).round() / 10.0);
        let envelope = hit.fields.envelope();
        let inside = hit.matches(INSIDE);
        let fields = hit.fields;
        let open = query.open.as_ref().filter(|_| !fields.open_dates.is_empty());
        let open_days = open.map(|open| fields.open_dates.into_iter().filter(|date| open.has(date)).collect());
        Some(Self {
            entity: fields.entity.get()?.parse().ok()?,
            global_id: fields.global_id.get().unwrap_or_default(),
            pk: fields.pk.get()?,
            sk: fields.sk.get()?,
            collection_id: fields.collection_id.get(),
            item_type: fields.item_type.get(),
            sub_type: fields.sub_type.get(),
            number: fields.number.get(),
            display_name: fields.name.get().unwrap_or_default(),
            location: location.map(|Point { longitude, latitude }| [longitude, latitude]),
            envelope,
            boundary_status: fields.boundary_status.get(),
            boundary_tolerance: fields.boundary_tolerance.get(),
            path_status: fields.path_status.get(),
            path_tolerance: fields.path_tolerance.get(),
            distance_metres: distance,
            inside,
            description: fields.description.get().map(|text| text.chars().take(CARD_DESCRIPTION_LENGTH).collect()),
            image_url: fields.image.get(),
            address: fields.address.get(),
            is_open: fields.is_open.get(),
            open_days,
            highlights: marks.read(&hit.highlight),
            outline: fields.boundary_outline.get().or_else(|| fields.path_outline.get()),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::hits::tests::response;
    use super::super::parsed_query::Source;
    use super::super::query::SearchQuery;
    use super::*;
    use crate::view::View;

    fn read(query: Value, hits: &Value) -> (Found, Option<Box<RawValue>>) {
        let query: SearchQuery = serde_json::from_value(query).unwrap();
        let query = ParsedQuery::new(query, None, View::Visitor, Source::Query).unwrap();
        let response = serde_json::from_str(&response(hits).to_string()).unwrap();
        Found::new(&query, response, &Marks::random()).unwrap()
    }

    fn hit(sk: &str, sort: &Value) -> Value {
        json!({
            "fields": {
                "pk": ["geozone::a"], "sk": [sk], "entity": ["geozone"], "globalId": ["g"], "name": ["Lakes"],
                "location": ["49.6, -125.5"], "number": [7]
            },
            "sort": sort
        })
    }

    #[test]
    fn distance_is_rounded_to_a_decimetre() {
        let near = json!({"near": [-125.51, 49.6]});
        let (page, _) = read(near.clone(), &json!([hit("1", &json!([0.0, 720.6789, "p", "1"]))]));
        assert_eq!(page.items[0].distance_metres, Some(720.7));
        let (page, _) =
            read(json!({"near": [-125.51, 49.6], "sort": "name"}), &json!([hit("1", &json!(["a", "p", "1"]))]));
        assert!((page.items[0].distance_metres.unwrap() - 721.0).abs() < 4.0);
        let mut nowhere = hit("1", &json!([0.0, "Infinity", "p", "1"]));
        nowhere["fields"].as_object_mut().unwrap().remove("location");
        let (page, _) = read(near, &json!([nowhere]));
        assert_eq!(page.items[0].distance_metres, None);
    }
}
