//! Pages of a list: the platform's one form of answer.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{ArrayBuilder, Schema, Type};
use utoipa::openapi::{ObjectBuilder, Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

/// `{"items": [...], "nextCursor": "..."}`; the last page has no cursor. The API description calls a page of `Animal`
/// `AnimalPage`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    pub items: Vec<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl<T: ToSchema> PartialSchema for Page<T> {
    fn schema() -> RefOr<Schema> {
        let items = ArrayBuilder::new().items(Ref::from_schema_name(T::name()));
        let cursor = ObjectBuilder::new().schema_type(Type::String);
        ObjectBuilder::new().property("items", items).required("items").property("nextCursor", cursor).into()
    }
}

impl<T: ToSchema> ToSchema for Page<T> {
    fn name() -> Cow<'static, str> {
        format!("{}Page", T::name()).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(schemas);
    }
}

/// How many items a page has: 1 to 100, 25 unless said otherwise. Declare it with `#[serde(default)]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Limit(pub u32);

impl Default for Limit {
    fn default() -> Self {
        Self(25)
    }
}

impl PartialSchema for Limit {
    fn schema() -> RefOr<Schema> {
        let numbers = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).maximum(Some(100));
        numbers.default(Some(Self::default().0.into())).into()
    }
}

impl ToSchema for Limit {}
