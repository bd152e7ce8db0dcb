//! The JSON schema of a type, for the API description and the checks of requests, which therefore cannot differ.

mod closed;
mod parameter;

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::BTreeMap;

use jsonschema::{Draft, Validator};
use serde_json::{Value, json};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{PartialSchema, ToSchema};

use crate::format::{self, Format};
use crate::rules::{self, Rules, RulesOf};

pub(crate) use parameter::{Parameter, Scalar};

/// A type's schema (JSON Schema 2020-12) and the schemas that it refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    id: TypeId,
    name: fn() -> Cow<'static, str>,
    schema: fn() -> RefOr<Schema>,
    referred: fn(&mut Vec<(String, RefOr<Schema>)>),
    /// Whether objects refuse unknown members, as in every request.
    closed: bool,
    rules: Option<RulesOf>,
}

const COMPONENTS: &str = "#/components/schemas/";

impl Shape {
    /// Returns the shape of a type in a response.
    pub fn of<T: ToSchema + 'static>() -> Self {
        Self {
            id: TypeId::of::<T>(),
            name: <T as ToSchema>::name,
            schema: <T as PartialSchema>::schema,
            referred: <T as ToSchema>::schemas,
            closed: false,
            rules: None,
        }
    }

    /// Returns the shape of a type in a request, which refuses unknown members at every depth.
    pub fn closed<T: ToSchema + 'static>() -> Self {
        Self { closed: true, ..Self::of::<T>() }
    }

    /// Adds the rules of a type if the shape is of this type.
    pub fn with_rules<T: Rules + 'static>(self) -> Self {
        if self.is::<T>() { Self { rules: Some(rules::of::<T>), ..self } } else { self }
    }

    pub fn rules(&self) -> Option<RulesOf> {
        self.rules
    }

    /// Returns whether the shape is of this type.
    pub fn is<T: 'static>(&self) -> bool {
        self.id == TypeId::of::<T>()
    }

    pub fn is_closed(&self) -> bool {
        self.closed
    }

    pub fn name(&self) -> String {
        (self.name)().into_owned()
    }

    /// Returns a reference to the schema among the components, or the schema itself if it is an array or a scalar.
    pub fn reference(&self) -> Value {
        let schema = self.schema();
        if is_named(&schema) { json!({ "$ref": format!("{COMPONENTS}{}", self.name()) }) } else { schema }
    }

    /// Returns the schemas for the components of the API description, by name.
    pub fn components(&self) -> BTreeMap<String, Value> {
        let mut components = self.all();
        if !is_named(&self.schema()) {
            components.remove(&self.name());
        }
        components
    }

    pub fn validator(&self, formats: &[Format]) -> Result<Validator, String> {
        let mut schemas = self.all();
        if self.closed {
            closed::name_members(&mut schemas);
        }
        let document = json!({
            "$ref": format!("{COMPONENTS}{}", self.name()),
            "components": { "schemas": schemas },
        });
        let mut options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true).offline();
        for format in format::PLATFORM.iter().chain(formats) {
            options = options.with_format(format.name, format.check);
        }
        options.build(&document).map_err(|error| format!("the schema of `{}` is not valid: {error}", self.name()))
    }

    /// Returns the properties of an object as parameters of a path or a query string.
    pub fn parameters(&self) -> Vec<Parameter> {
        parameter::of(&self.name(), &self.all())
    }

    fn schema(&self) -> Value {
        value(&(self.schema)())
    }

    /// Returns the schema and all that it refers to, by name.
    fn all(&self) -> BTreeMap<String, Value> {
        let mut referred = Vec::new();
        (self.referred)(&mut referred);
        let mut all: BTreeMap<String, Value> =
            referred.iter().map(|(name, schema)| (name.clone(), value(schema))).collect();
        all.insert(self.name(), self.schema());
        if self.closed {
            closed::close_all(&mut all);
        } else {
            all.values_mut().for_each(parameter::remove_null);
        }
        all
    }
}

fn value(schema: &RefOr<Schema>) -> Value {
    serde_json::to_value(schema).unwrap_or_else(|error| {
        table::never!("a schema that is not JSON: {error}");
        Value::Null
    })
}

/// Returns whether a schema is a component: objects and enumerations are, scalars and arrays are not.
fn is_named(schema: &Value) -> bool {
    ["properties", "enum", "oneOf", "allOf", "anyOf"].iter().any(|key| schema.get(key).is_some())
}
