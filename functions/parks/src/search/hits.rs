//! The fields of a document that a hit has.

use serde::Deserialize;
use web::search::One;

use super::point::Point;

pub type SearchResponse = web::search::SearchResponse<Fields>;
pub type Hit = web::search::Hit<Fields>;

/// The fields of a hit. Search returns each as a list, which has one value if the document has the field.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Fields {
    pub pk: One<String>,
    pub sk: One<String>,
    pub entity: One<String>,
    pub global_id: One<String>,
    pub collection_id: One<String>,
    #[serde(rename = "type")]
    pub item_type: One<String>,
    pub sub_type: One<String>,
    pub number: One<i64>,
    pub name: One<String>,
    location: One<String>,
    envelope: One<String>,
    pub boundary_outline: One<String>,
    pub path_outline: One<String>,
    pub boundary_status: One<String>,
    pub boundary_tolerance: One<f64>,
    pub path_status: One<String>,
    pub path_tolerance: One<f64>,
    pub description: One<String>,
    pub address: One<String>,
    pub image: One<String>,
    pub is_open: One<bool>,
    pub open_dates: Vec<String>,
}

impl Fields {
    /// The location, which search returns as a text: `latitude, longitude`.
    pub fn location(&self) -> Option<Point> {
        let (latitude, longitude) = self.location.peek()?.split_once(',')?;
        Some(Point { longitude: longitude.trim().parse().ok()?, latitude: latitude.trim().parse().ok()? })
    }

    /// West, south, east and north, which documents store as a text.
    pub fn envelope(&self) -> Option<[f64; 4]> {
        let degrees: Result<Vec<f64>, _> = self.envelope.peek()?.split(',').map(str::parse).collect();
        degrees.ok()?.try_into().ok()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{Value, json};

    use super::*;

    pub fn response(hits: &Value) -> Value {
        json!({"hits": {"total": {"value": 2, "relation": "eq"}, "max_score": null, "hits": hits}})
    }

    #[test]
    fn location_and_envelope_are_read_without_rounding() {
        let fields = json!({"location": ["49.498, -125.58900000001"], "envelope": ["-126,49.3,-124.8,49.9"]});
        let fields: Fields = serde_json::from_value(fields).unwrap();
        assert_eq!(fields.location(), Some(Point { longitude: -125.589_000_000_01, latitude: 49.498 }));
        assert_eq!(fields.envelope(), Some([-126.0, 49.3, -124.8, 49.9]));
        assert_eq!((Fields::default().location(), Fields::default().envelope()), (None, None));
    }
}
