//! The body with which a generation's index is made.

use serde_json::{Value, json};

use crate::documents::Mapping;
use crate::ports::Fault;

/// The system's settings and mapping, made strict, with the fields that the mirror writes into every document and the
/// alias through which the generation is written.
pub(crate) fn index_body(mapping: Mapping, write_alias: &str) -> Result<String, Fault> {
    let unusable = |reason: &str| Fault::lasting("mirror", format_args!("the system's mapping {reason}"));
    let mut body: Value = serde_json::from_str(mapping.body).map_err(|error| unusable(&error.to_string()))?;
    let mappings = member(&mut body, "mappings").ok_or_else(|| unusable("is no object"))?;
    let properties = member(mappings, "properties").ok_or_else(|| unusable("has no `properties` object"))?;
    if let (Value::Object(properties), Value::Object(own)) = (properties, own_fields()) {
        properties.extend(own);
    }
    if let Value::Object(mappings) = mappings {
        mappings.insert("dynamic".to_owned(), json!("strict"));
    }
    if let Some(Value::Object(aliases)) = member(&mut body, "aliases") {
        aliases.insert(write_alias.to_owned(), json!({ "is_write_index": true }));
    }
    Ok(body.to_string())
}

/// What every document and tombstone has.
fn own_fields() -> Value {
    json!({
        "pk": { "type": "keyword" },
        "sk": { "type": "keyword" },
        "entity": { "type": "keyword" },
        "rev": { "type": "long" },
        "deleted": { "type": "boolean" },
        "deletedAt": { "type": "date", "format": "epoch_millis" },
    })
}

/// An object's member that is an object, made empty where there is none.
fn member<'v>(value: &'v mut Value, name: &str) -> Option<&'v mut Value> {
    let member = value.as_object_mut()?.entry(name).or_insert_with(|| json!({}));
    member.is_object().then_some(member)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_s_own_fields_are_added_and_the_mapping_is_strict() {
        let mapping = Mapping {
            version: 1,
            body: r#"{"settings":{"number_of_shards":1},"mappings":{"properties":{"name":{"type":"text"}}}}"#,
        };
        let body: Value = serde_json::from_str(&index_body(mapping, "toy-000001-write").unwrap()).unwrap();
        assert_eq!(body["settings"], json!({"number_of_shards": 1}));
        assert_eq!(body["mappings"]["dynamic"], "strict");
        assert_eq!(body["mappings"]["properties"]["name"], json!({"type": "text"}));
        assert_eq!(body["mappings"]["properties"]["rev"], json!({"type": "long"}));
        assert_eq!(body["aliases"], json!({"toy-000001-write": {"is_write_index": true}}));
    }

    #[test]
    fn a_mapping_that_is_none_is_refused() {
        for body in ["", "[]", r#"{"mappings":7}"#] {
            assert!(index_body(Mapping { version: 1, body }, "x").is_err(), "{body}");
        }
    }
}
