//! Closing schemas: what a client sends has no members but those that are named.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::COMPONENTS;

/// Closes every object of these schemas that does not say what other members it takes.
pub(super) fn close_all(schemas: &mut BTreeMap<String, Value>) {
    let merged = merged_names(schemas.values());
    for (name, schema) in schemas {
        close(schema, merged.contains(name));
    }
}

/// The components that are merged into others by `allOf`: those stay open, the merged whole is closed.
fn merged_names<'a>(schemas: impl Iterator<Item = &'a Value>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for schema in schemas {
        visit(schema, &mut |map| {
            for part in map.get("allOf").and_then(Value::as_array).into_iter().flatten() {
                let name = part.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix(COMPONENTS));
                names.extend(name.map(str::to_owned));
            }
        });
    }
    names
}

fn visit(schema: &Value, see: &mut impl FnMut(&Map<String, Value>)) {
    match schema {
        Value::Object(map) => {
            see(map);
            map.values().for_each(|value| visit(value, see));
        }
        Value::Array(items) => items.iter().for_each(|item| visit(item, see)),
        _ => {}
    }
}

/// Refuses members that are not named, here and below. `open` spares this very object, not those below it.
fn close(schema: &mut Value, open: bool) {
    let Value::Object(map) = schema else { return };
    if map.contains_key("allOf") {
        if !open {
            map.entry("unevaluatedProperties").or_insert(Value::Bool(false));
        }
    } else if map.contains_key("properties") && !open {
        map.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    for (key, below) in map {
        match (key.as_str(), below) {
            ("properties", Value::Object(properties)) => properties.values_mut().for_each(|below| close(below, false)),
            ("allOf", Value::Array(parts)) => parts.iter_mut().for_each(|part| close(part, true)),
            ("oneOf" | "anyOf" | "prefixItems", Value::Array(forms)) => {
                forms.iter_mut().for_each(|form| close(form, open));
            }
            ("items" | "additionalProperties", below) => close(below, false),
            _ => {}
        }
    }
}
