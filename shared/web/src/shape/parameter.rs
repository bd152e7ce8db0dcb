//! The properties of an object as parameters, with the type and description of each.

use std::collections::BTreeMap;

use serde_json::Value;

use super::COMPONENTS;

/// The JSON type of a parameter's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    Text,
    Integer,
    Number,
    Boolean,
}

/// A property of an object as a parameter.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub name: String,
    pub required: bool,
    pub scalar: Scalar,
    pub list: bool,
    /// Whether its text names something: it is neither one of a few words nor a day.
    pub is_id: bool,
    pub schema: Value,
}

/// Returns the parameters of the object with this name.
pub(super) fn of(name: &str, schemas: &BTreeMap<String, Value>) -> Vec<Parameter> {
    let Some(Value::Object(root)) = schemas.get(name) else { return Vec::new() };
    let required: Vec<&str> =
        root.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = root.get("properties").and_then(Value::as_object);
    let parameter = |(name, schema): (&String, &Value)| {
        let (scalar, list) = scalar_of(schema, schemas);
        let required = required.contains(&name.as_str());
        let is_id = is_id(resolved(schema, schemas, 0));
        Parameter { name: name.clone(), required, scalar, list, is_id, schema: without_null(schema) }
    };
    properties.into_iter().flatten().map(parameter).collect()
}

/// Returns the type of a parameter of this schema, and whether it is an array of that type.
fn scalar_of(schema: &Value, components: &BTreeMap<String, Value>) -> (Scalar, bool) {
    let schema = resolved(schema, components, 0);
    if named_type(schema) == Some("array") {
        let items = schema.get("items").map(|items| resolved(items, components, 0));
        return (items.map_or(Scalar::Text, scalar), true);
    }
    (scalar(schema), false)
}

fn is_id(schema: &Value) -> bool {
    schema.get("enum").is_none() && schema.get("format").is_none_or(|format| format != "date")
}

fn scalar(schema: &Value) -> Scalar {
    match named_type(schema) {
        Some("integer") => Scalar::Integer,
        Some("number") => Scalar::Number,
        Some("boolean") => Scalar::Boolean,
        _ => Scalar::Text,
    }
}

/// Returns the first type that is not null.
fn named_type(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(name) => Some(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        _ => None,
    }
}

/// Follows references, and otherwise the first alternative that is not null.
fn resolved<'a>(schema: &'a Value, components: &'a BTreeMap<String, Value>, depth: usize) -> &'a Value {
    if depth > 8 {
        return schema;
    }
    let referred = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix(COMPONENTS));
    let form = ["oneOf", "anyOf", "allOf"].iter().find_map(|key| {
        let forms = schema.get(key)?.as_array()?;
        forms.iter().find(|form| form.get("type").is_none_or(|name| name != "null"))
    });
    match referred.and_then(|name| components.get(name)).or(form) {
        Some(next) => resolved(next, components, depth + 1),
        None => schema,
    }
}

/// Removes null from the types of optional members: a response omits a member without a value.
pub(super) fn remove_null(object: &mut Value) {
    // A flattened type is a part of the whole.
    if let Some(Value::Array(parts)) = object.get_mut("allOf") {
        parts.iter_mut().for_each(remove_null);
    }
    let required = object.get("required").and_then(Value::as_array).cloned().unwrap_or_else(Vec::new);
    let Some(Value::Object(properties)) = object.get_mut("properties") else { return };
    for (_, schema) in properties.iter_mut().filter(|(name, _)| !required.iter().any(|own| own == name.as_str())) {
        *schema = without_null(schema);
    }
}

/// Returns the schema without null, which no text of a parameter stands for.
fn without_null(schema: &Value) -> Value {
    let is_null = |form: &Value| form == "null" || form.get("type").is_some_and(|name| name == "null");
    let Value::Object(mut schema) = schema.clone() else { return schema.clone() };
    for key in ["type", "oneOf"] {
        let Some(Value::Array(forms)) = schema.get_mut(key) else { continue };
        forms.retain(|form| !is_null(form));
        if let [only] = forms.as_slice() {
            let only = only.clone();
            if key == "oneOf" {
                return only;
            }
            schema.insert(key.to_owned(), only);
        }
    }
    Value::Object(schema)
}
