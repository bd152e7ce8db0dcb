//! What is answered: hits as items.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use web::search::{Count, Highlights, Marks, Piece, Total};

use super::extent::{INSIDE, Point};
use super::hits::{Hit, SearchResponse};
use super::question::Question;
use crate::names::Kind;

/// How many characters of a description a card shows.
const DESCRIPTION: usize = 300;

/// A page of hits.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    pub items: Vec<FoundItem>,
    pub total: Total,
    /// Whether nothing has all words, and these items have most of them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(value_type = Option<bool>, nullable = false)]
    pub relaxed: bool,
    /// On the first page, counts per value by facet. A tile of a grid is `{zoom}/{x}/{y}`, as in the addresses of web maps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub facets: Option<BTreeMap<String, Vec<Count>>>,
    /// Where the shape is an item's boundary, how much of it is compared with: what search holds, as `boundaryStatus`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub shape_status: Option<String>,
    /// Where the shape is an item's boundary, how far it may be from the original, in metres; unknown of an envelope.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub shape_tolerance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub next_cursor: Option<String>,
}

/// An item as search knows it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundItem {
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
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub sub_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub number: Option<i64>,
    pub display_name: String,
    /// `[longitude, latitude]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub location: Option<[f64; 2]>,
    /// `[west, south, east, north]` of its shapes; west lies beyond east across 180 degrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub envelope: Option<[f64; 4]>,
    /// How much of its boundary search holds: `full`, `fine`, `coarse`, `envelope`, `none`, or `missing` where its object is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub boundary_status: Option<String>,
    /// How far the boundary that search holds may be from the original, in metres, where it is `fine` or `coarse`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub boundary_tolerance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path_status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path_tolerance: Option<f64>,
    /// From `near` to its location, along the sphere, to a decimetre.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub distance_metres: Option<f64>,
    /// Whether its boundary or its path holds `near`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(value_type = Option<bool>, nullable = false)]
    pub inside: bool,
    /// With `fields=card`, its first 300 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub description: Option<String>,
    /// With `fields=card`, the first of its images.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub image_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub is_open: Option<bool>,
    /// With `fields=card`, of a product those of the days asked for by `open` on which it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub open_days: Option<Vec<String>>,
    /// By field its fragments, each in pieces; joined these are the text.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, Vec<Vec<Piece>>>)]
    pub highlights: Highlights,
    /// Its boundary, else its path, as GeoJSON text.
    #[serde(skip)]
    pub outline: Option<String>,
}

impl Found {
    /// The page, and the sort values after which the next one goes on. Nothing if a hit lacks what every document has.
    pub fn read(
        question: &Question,
        mut response: SearchResponse,
        marks: &Marks,
    ) -> Option<(Self, Option<Box<RawValue>>)> {
        let (total, counts) = (response.total(), response.take_counts());
        let (hits, after) = response.page(question.limit);
        let found = Self {
            items: hits.into_iter().map(|hit| FoundItem::read(hit, question, marks)).collect::<Option<_>>()?,
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
    fn read(hit: Hit, question: &Question, marks: &Marks) -> Option<Self> {
        let location = hit.fields.location();
        let sorted_at = question.ordering.distance_at().and_then(|place| hit.sorted_at(place));
        // Sorted by distance, the distances told are those that sorted: others could be out of order in their last digit.
        let measured = || question.near.and_then(|near| Some(near.point.distance(location?)));
        let distance = sorted_at.or_else(measured).map(|metres| (metres * 10.0).round() / 10.0);
        let envelope = hit.fields.envelope();
        let inside = hit.matches(INSIDE);
        let fields = hit.fields;
        let open = question.open.as_ref().filter(|_| !fields.open_dates.is_empty());
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
            description: fields.description.get().map(|text| text.chars().take(DESCRIPTION).collect()),
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

    use super::super::form::SearchForm;
    use super::super::hits::tests::response;
    use super::super::question::Source;
    use super::*;
    use crate::view::View;

    fn read(form: Value, hits: &Value) -> (Found, Option<Box<RawValue>>) {
        let form: SearchForm = serde_json::from_value(form).unwrap();
        let question = Question::of(form, None, View::Visitor, Source::Query).unwrap();
        let response = serde_json::from_str(&response(hits).to_string()).unwrap();
        Found::read(&question, response, &Marks::random()).unwrap()
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
    fn distances_are_told_to_a_decimetre() {
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
