//! Filters of searches, which give no points.

use serde_json::{Value, json};

/// Returns the filter for documents whose field has this value.
pub fn equal(field: &str, value: &str) -> Value {
    json!({ "term": { field: value } })
}

/// Returns the filters for documents whose fields have these values. A field without a value is not filtered.
pub fn all_equal<'a>(fields: impl IntoIterator<Item = (&'a str, &'a Option<String>)>) -> Vec<Value> {
    fields.into_iter().filter_map(|(field, value)| Some(equal(field, value.as_ref()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_without_a_value_is_not_filtered() {
        let (wales, none) = (Some("Wales".to_owned()), None);
        let filters = all_equal([("country", &wales), ("state", &none)]);
        assert_eq!(filters, [json!({ "term": { "country": "Wales" } })]);
    }
}
