//! Pages of a list: the platform's one form of answer.

use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{Schema, Type};
use utoipa::openapi::{ObjectBuilder, RefOr};
use utoipa::{PartialSchema, ToSchema};

/// `{"items": [...], "nextCursor": "..."}`; the last page has no cursor.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(unused_qualifications, reason = "what `ToSchema` writes for a generic field")]
pub struct Page<T> {
    pub items: Vec<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub next_cursor: Option<String>,
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
