//! What OpenSearch answers.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::extent::Point;
use super::facets::Counted;

/// The answer to a search, which is whole: what reads it refuses parts.
#[derive(Debug, Deserialize)]
pub struct SearchResponse {
    pub hits: Hits,
    #[serde(default)]
    pub aggregations: BTreeMap<String, Counted>,
}

#[derive(Debug, Deserialize)]
pub struct Hits {
    pub total: Counting,
    pub hits: Vec<Hit>,
}

#[derive(Debug, Deserialize)]
pub struct Counting {
    pub value: u64,
    relation: String,
}

/// One hit, read from single fields of its document.
#[derive(Debug, Deserialize)]
pub struct Hit {
    #[serde(default)]
    pub fields: Fields,
    /// Fragments with marks in them, by field.
    #[serde(default)]
    pub highlight: BTreeMap<String, Vec<String>>,
    /// The values by which it was sorted, as they were sent.
    pub sort: Option<Box<RawValue>>,
}

/// Each is a list, of one value where the document has the field.
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
    pub path_status: One<String>,
}

/// The first value of a list.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct One<T>(Vec<T>);

impl Counting {
    /// Whether counting went to the end.
    pub fn is_exact(&self) -> bool {
        self.relation == "eq"
    }
}

impl Hit {
    /// The first of the values by which it was sorted, if it is a number. An item without a location has none: it
    /// comes last, at infinity.
    pub fn sorted_at(&self) -> Option<f64> {
        let values: Vec<&RawValue> = serde_json::from_str(self.sort.as_deref()?.get()).ok()?;
        values.first()?.get().parse().ok()
    }
}

impl Fields {
    /// A stored point is text: `latitude, longitude`.
    pub fn location(&self) -> Option<Point> {
        let (latitude, longitude) = self.location.0.first()?.split_once(',')?;
        Some(Point { longitude: longitude.trim().parse().ok()?, latitude: latitude.trim().parse().ok()? })
    }

    /// West, south, east, north, as the documents write them.
    pub fn envelope(&self) -> Option<[f64; 4]> {
        let degrees: Result<Vec<f64>, _> = self.envelope.0.first()?.split(',').map(str::parse).collect();
        degrees.ok()?.try_into().ok()
    }
}

impl<T> One<T> {
    pub fn get(self) -> Option<T> {
        self.0.into_iter().next()
    }
}

impl<T> Default for One<T> {
    fn default() -> Self {
        Self(Vec::new())
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
    fn places_are_read_digit_for_digit() {
        let fields = json!({"location": ["49.498, -125.58900000001"], "envelope": ["-126,49.3,-124.8,49.9"]});
        let fields: Fields = serde_json::from_value(fields).unwrap();
        assert_eq!(fields.location(), Some(Point { longitude: -125.589_000_000_01, latitude: 49.498 }));
        assert_eq!(fields.envelope(), Some([-126.0, 49.3, -124.8, 49.9]));
        assert_eq!((Fields::default().location(), Fields::default().envelope()), (None, None));
    }

    #[test]
    fn sort_values_stay_as_they_were_sent() {
        let text = r#"{"sort":[1568522.7148369243,"a","1"]}"#;
        let hit: Hit = serde_json::from_str(text).unwrap();
        assert_eq!(hit.sort.as_ref().unwrap().get(), r#"[1568522.7148369243,"a","1"]"#);
        assert_eq!(hit.sorted_at(), Some(1_568_522.714_836_924_3));
        let last: Hit = serde_json::from_str(r#"{"sort":["Infinity","a","1"]}"#).unwrap();
        assert_eq!(last.sorted_at(), None);
    }
}
