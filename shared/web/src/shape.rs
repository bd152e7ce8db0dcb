//! The JSON shape of a type: what the API description says of it, and what requests are checked against. Both are
//! made of one schema, so they cannot differ.

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

/// A type's schema (JSON Schema 2020-12) and those that it refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    id: TypeId,
    name: fn() -> Cow<'static, str>,
    schema: fn() -> RefOr<Schema>,
    referred: fn(&mut Vec<(String, RefOr<Schema>)>),
    /// Whether objects take no members but those named, as in every request.
    closed: bool,
    rules: Option<RulesOf>,
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
            rules: None,
        }
    }

    /// The shape of something that we are sent: unknown members are refused at every depth.
    pub fn closed<T: ToSchema + 'static>() -> Self {
        Self { closed: true, ..Self::of::<T>() }
    }

    /// The same with rules, where it was made of this type.
    pub fn ruled<T: Rules + 'static>(self) -> Self {
        if self.is::<T>() { Self { rules: Some(rules::of::<T>), ..self } } else { self }
    }

    pub fn rules(&self) -> Option<RulesOf> {
        self.rules
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
        options.build(&document).map_err(|error| format!("the schema of `{}` is no valid schema: {error}", self.name()))
    }

    /// The properties of an object as parameters of a path or a query string.
    pub fn parameters(&self) -> Vec<Parameter> {
        parameter::of(&self.name(), &self.all())
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
            closed::close_all(&mut all);
        } else {
            all.values_mut().for_each(parameter::leave_out_null);
        }
        all
    }
}

fn value(schema: &RefOr<Schema>) -> Value {
    serde_json::to_value(schema).unwrap_or_default()
}

/// Scalars and lists stand where they are used; whatever has a structure or values of its own has a name.
fn is_named(schema: &Value) -> bool {
    ["properties", "enum", "oneOf", "allOf", "anyOf"].iter().any(|key| schema.get(key).is_some())
}
