//! Merge patches of stored items: each field is optional, and `null` removes it if the item may lack it.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{PartialSchema, ToSchema};
use web::{Fault, Rules, integers};

use crate::checks::member_faults;

/// A JSON merge patch (RFC 7396) of the fields `F`, checked against the schema of `F`.
#[derive(Clone, Debug)]
pub struct FieldsPatch<F> {
    fields: Map<String, Value>,
    of: PhantomData<fn() -> F>,
}

impl<F> FieldsPatch<F> {
    /// Whether the patch sets or removes a field.
    pub fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// Applies the patch to a stored item. It has no fields outside `F`, so keys and shapes stay.
    pub fn apply<T: Serialize + DeserializeOwned>(&self, stored: &T) -> Result<T, serde_json::Error> {
        let mut document = serde_json::to_value(stored)?;
        if let Some(document) = document.as_object_mut() {
            for (name, value) in &self.fields {
                match value {
                    Value::Null => document.remove(name),
                    value => document.insert(name.clone(), value.clone()),
                };
            }
        }
        serde_json::from_value(document)
    }
}

impl<F> Rules for FieldsPatch<F> {
    fn faults(&self) -> Vec<Fault> {
        let location = self.fields.get("location").and_then(|location| Vec::<f64>::deserialize(location).ok());
        let text = |name: &str| self.fields.get(name).and_then(Value::as_str);
        member_faults(location.as_deref(), text("timezone"), text("externalId"))
    }
}

impl<'de, F> Deserialize<'de> for FieldsPatch<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Map::deserialize(deserializer)?;
        // An item ignores a stored value of another type, so `5.0` would remove an integer.
        fields.values_mut().for_each(integers::normalize_value);
        Ok(Self { fields, of: PhantomData })
    }
}

impl<F: PartialSchema> PartialSchema for FieldsPatch<F> {
    fn schema() -> RefOr<Schema> {
        let RefOr::T(Schema::Object(mut object)) = F::schema() else { return F::schema() };
        // Optional fields are nullable in `F` already. Required ones may be absent from a patch.
        object.required.clear();
        RefOr::T(Schema::Object(object))
    }
}

impl<F: ToSchema> ToSchema for FieldsPatch<F> {
    fn name() -> Cow<'static, str> {
        format!("{}Patch", F::name().trim_end_matches("Fields")).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        F::schemas(schemas);
    }
}
