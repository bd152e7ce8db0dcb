//! The JSON shape of a type: what the API description says of it, and what requests are checked against. Both are
//! made of one schema, so they cannot differ.

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use jsonschema::{Draft, Validator};
use serde_json::{Map, Value, json};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{PartialSchema, ToSchema};

use crate::format::{self, Format};

/// A type's schema (JSON Schema 2020-12) and those that it refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    id: TypeId,
    name: fn() -> Cow<'static, str>,
    schema: fn() -> RefOr<Schema>,
    referred: fn(&mut Vec<(String, RefOr<Schema>)>),
    /// Whether objects take no members but those named, as in every request.
    closed: bool,
}

/// What a parameter's text is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    Text,
    Integer,
    Number,
    Boolean,
}

/// A property of an object that comes as a parameter.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub name: String,
    pub required: bool,
    pub scalar: Scalar,
    pub list: bool,
    pub schema: Value,
}

const COMPONENTS: &str = "#/components/schemas/";

impl Shape {
    /// The shape of something that we answer.
    pub fn of<T: ToSchema + 'static>() -> Self {
        Self {
            id: TypeId::of::<T>(),
            name: <T as ToSchema>::name,
            schema: <T as PartialSchema>::schema,
            referred: <T as ToSchema>::schemas,
            closed: false,
        }
    }

    /// The shape of something that we are sent: unknown members are refused at every depth.
    pub fn closed<T: ToSchema + 'static>() -> Self {
        Self { closed: true, ..Self::of::<T>() }
    }

    /// Whether it was made of this type.
    pub fn is<T: 'static>(&self) -> bool {
        self.id == TypeId::of::<T>()
    }

    pub fn is_closed(&self) -> bool {
        self.closed
    }

    pub fn name(&self) -> String {
        (self.name)().into_owned()
    }

    /// A reference to it among the components; a list or a scalar stands where it is used.
    pub fn reference(&self) -> Value {
        let schema = self.schema();
        if is_named(&schema) { json!({ "$ref": format!("{COMPONENTS}{}", self.name()) }) } else { schema }
    }

    /// The schemas that stand among the components of the API description, by name.
    pub fn components(&self) -> BTreeMap<String, Value> {
        let mut components = self.all();
        if !is_named(&self.schema()) {
            components.remove(&self.name());
        }
        components
    }

    pub fn validator(&self, formats: &[Format]) -> Result<Validator, String> {
        let document = json!({
            "$ref": format!("{COMPONENTS}{}", self.name()),
            "components": { "schemas": self.all() },
        });
        let mut options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true).offline();
        for format in format::PLATFORM.iter().chain(formats) {
            options = options.with_format(format.name, format.check);
        }
        options.build(&document).map_err(|error| format!("the schema of `{}` is no valid schema: {error}", self.name()))
    }

    /// The properties of an object as parameters of a path or a query string.
    pub fn parameters(&self) -> Vec<Parameter> {
        let components = self.all();
        let Some(Value::Object(root)) = components.get(&self.name()) else { return Vec::new() };
        let required: Vec<&str> =
            root.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let properties = root.get("properties").and_then(Value::as_object);
        let parameter = |(name, schema): (&String, &Value)| {
            let (scalar, list) = read_as(schema, &components);
            Parameter {
                name: name.clone(),
                required: required.contains(&&**name),
                scalar,
                list,
                schema: without_null(schema),
            }
        };
        properties.into_iter().flatten().map(parameter).collect()
    }

    fn schema(&self) -> Value {
        value(&(self.schema)())
    }

    /// Its own schema and all that it refers to, by name.
    fn all(&self) -> BTreeMap<String, Value> {
        let mut referred = Vec::new();
        (self.referred)(&mut referred);
        let mut all: BTreeMap<String, Value> =
            referred.iter().map(|(name, schema)| (name.clone(), value(schema))).collect();
        all.insert(self.name(), self.schema());
        if self.closed {
            let merged = merged_names(all.values());
            for (name, schema) in &mut all {
                close(schema, merged.contains(name));
            }
        }
        all
    }
}

fn value(schema: &RefOr<Schema>) -> Value {
    serde_json::to_value(schema).unwrap_or_default()
}

/// A parameter is there or it is not; no text of it is null.
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

/// Scalars and lists stand where they are used; whatever has a structure or values of its own has a name.
fn is_named(schema: &Value) -> bool {
    ["properties", "enum", "oneOf", "allOf", "anyOf", "pattern", "format"].iter().any(|key| schema.get(key).is_some())
}

/// What a parameter of this schema is read as, and whether it is a list of such.
fn read_as(schema: &Value, components: &BTreeMap<String, Value>) -> (Scalar, bool) {
    let schema = resolved(schema, components, 0);
    if named_type(schema) == Some("array") {
        let items = schema.get("items").map(|items| resolved(items, components, 0));
        return (items.map_or(Scalar::Text, scalar), true);
    }
    (scalar(schema), false)
}

fn scalar(schema: &Value) -> Scalar {
    match named_type(schema) {
        Some("integer") => Scalar::Integer,
        Some("number") => Scalar::Number,
        Some("boolean") => Scalar::Boolean,
        _ => Scalar::Text,
    }
}

/// The first type that is not null.
fn named_type(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(name) => Some(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        _ => None,
    }
}

/// Follows references and steps into the first form that is not null.
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
