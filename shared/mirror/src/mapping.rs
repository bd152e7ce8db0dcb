//! The body of the request that creates a generation's index.

use serde_json::{Value, json};

use crate::documents::Mapping;
use crate::ports::Fault;

/// Returns the system's settings and mapping with three changes: the mapping is strict, it has the mirror's own fields,
/// and the index has the generation's write alias.
pub(crate) fn index_body(mapping: Mapping, write_alias: &str) -> Result<String, Fault> {
    let unusable = |reason: &str| Fault::lasting("mirror", format_args!("the system's mapping {reason}"));
    let mut body: Value = serde_json::from_str(mapping.body).map_err(|error| unusable(&error.to_string()))?;
    let mappings = member(&mut body, "mappings").ok_or_else(|| unusable("is not an object"))?;
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

/// Returns the fields of every document and tombstone.
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

/// Returns a member that is an object, after creating an empty one if it is absent.
fn member<'v>(value: &'v mut Value, name: &str) -> Option<&'v mut Value> {
    let member = value.as_object_mut()?.entry(name).or_insert_with(|| json!({}));
    member.is_object().then_some(member)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_body_has_the_mirrors_own_fields_and_a_strict_mapping() {
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
    fn mapping_that_is_not_an_object_is_refused() {
        for body in ["", "[]", r#"{"mappings":7}"#] {
            assert!(index_body(Mapping { version: 1, body }, "x").is_err(), "{body}");
        }
    }
}
