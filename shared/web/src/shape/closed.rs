//! Closed schemas, which refuse unknown members in requests.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::COMPONENTS;

/// Closes every object of these schemas that does not declare its additional members.
pub(super) fn close_all(schemas: &mut BTreeMap<String, Value>) {
    let merged = merged_names(schemas.values());
    for (name, schema) in schemas {
        close(schema, merged.contains(name));
    }
}

/// Returns the components that others merge by `allOf`. They stay open, and the merged schema is closed.
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

/// Adds the members of its parts to each merged schema. A part that fails evaluates none of its members, so without this a
/// fault of one member would make the others unknown.
pub(super) fn name_members(schemas: &mut BTreeMap<String, Value>) {
    let parts = schemas.clone();
    schemas.values_mut().for_each(|schema| name_members_of(schema, &parts));
}

fn name_members_of(schema: &mut Value, parts: &BTreeMap<String, Value>) {
    if let Value::Object(map) = schema
        && map.contains_key("unevaluatedProperties")
    {
        let mut names = BTreeSet::new();
        collect_members(&Value::Object(map.clone()), parts, &mut names);
        if let Some(properties) = map.entry("properties").or_insert_with(|| Map::new().into()).as_object_mut() {
            for name in names {
                properties.entry(name).or_insert(Value::Bool(true));
            }
        }
    }
    match schema {
        Value::Object(map) => map.values_mut().for_each(|below| name_members_of(below, parts)),
        Value::Array(items) => items.iter_mut().for_each(|item| name_members_of(item, parts)),
        _ => {}
    }
}

/// Collects the members that are known for every value, without those of alternatives.
fn collect_members(schema: &Value, parts: &BTreeMap<String, Value>, names: &mut BTreeSet<String>) {
    names.extend(schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()));
    let referred = schema["$ref"].as_str().and_then(|path| parts.get(path.strip_prefix(COMPONENTS)?));
    for part in referred.into_iter().chain(schema["allOf"].as_array().into_iter().flatten()) {
        collect_members(part, parts, names);
    }
}

/// Closes an object and those inside it. With `open`, only those inside.
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
