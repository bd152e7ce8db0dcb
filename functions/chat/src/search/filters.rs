//! Filters of searches, which give no points.

use serde_json::{Value, json};

use crate::locations::normalized;

/// Returns the filter for documents whose field has this value.
pub fn equal(field: &str, value: &str) -> Value {
    json!({ "term": { field: value } })
}

/// Returns the filter for documents whose field has this name of a place. Stored names are normalized in the same way.
pub fn named(field: &str, name: &str) -> Value {
    equal(field, &normalized(name))
}

/// Returns the filters for documents whose fields have these names. A field without a name is not filtered.
pub fn all_named<'a>(fields: impl IntoIterator<Item = (&'a str, &'a Option<String>)>) -> Vec<Value> {
    fields.into_iter().filter_map(|(field, value)| Some(named(field, value.as_ref()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_normalized_and_a_field_without_one_is_not_filtered() {
        let (wales, none) = (Some(" Wales ".to_owned()), None);
        let filters = all_named([("country", &wales), ("state", &none)]);
        assert_eq!(filters, [json!({ "term": { "country": "Wales" } })]);
    }
}
