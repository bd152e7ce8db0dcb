//! Merge patches of what is stored: the fields that may be set of it, each optional and, where it may lack it, `null`.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{PartialSchema, ToSchema};

/// A JSON merge patch (RFC 7396) of the fields `F`, already checked against the schema that it is made of.
#[derive(Clone, Debug)]
pub struct Change<F> {
    fields: Map<String, Value>,
    of: PhantomData<fn() -> F>,
}

impl<F> Change<F> {
    /// What is stored after the change. Fields that `F` lacks cannot come here, so keys and shapes stay as they are.
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

impl<'de, F> Deserialize<'de> for Change<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { fields: Map::deserialize(deserializer)?, of: PhantomData })
    }
}

impl<F: PartialSchema> PartialSchema for Change<F> {
    fn schema() -> RefOr<Schema> {
        let RefOr::T(Schema::Object(mut object)) = F::schema() else { return F::schema() };
        // What the item may lack is nullable in `F` already; what it may not can be left out of a patch all the same.
        object.required.clear();
        RefOr::T(Schema::Object(object))
    }
}

impl<F: ToSchema> ToSchema for Change<F> {
    fn name() -> Cow<'static, str> {
        format!("{}Change", F::name().trim_end_matches("Fields")).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        F::schemas(schemas);
    }
}
