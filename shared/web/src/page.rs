//! Pages of a list, in one form for all systems.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use table::Stored;
use utoipa::openapi::schema::{ArrayBuilder, Schema, Type};
use utoipa::openapi::{ObjectBuilder, Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

use crate::{Context, Problem};

/// `{"items": [...], "nextCursor": "..."}`; the last page has no cursor. The API description calls a page of `Animal`
/// `AnimalPage`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    pub items: Vec<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// The query of a list with one order and no filter.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct PageQuery {
    #[serde(default)]
    pub limit: Limit,
    #[schema(min_length = 1)]
    pub cursor: Option<String>,
}

impl Context {
    /// Returns the page of a query of a table, with the view of each item.
    pub fn page<T>(
        &self,
        found: table::Page,
        view: impl FnMut(Stored) -> Result<T, Problem>,
    ) -> Result<Page<T>, Problem> {
        let next_cursor = self.cursor_to(found.next)?;
        Ok(Page { items: found.items.into_iter().map(view).collect::<Result<_, _>>()?, next_cursor })
    }
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

/// The number of items of a page: 1 to 100, by default 25. It is declared with `#[serde(default)]`.
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
