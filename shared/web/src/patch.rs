//! Fields of a JSON merge patch (RFC 7396): absent, null, or a value.

use serde::{Deserialize, Deserializer};
use utoipa::openapi::schema::{OneOfBuilder, Schema, Type};
use utoipa::openapi::{ObjectBuilder, RefOr};
use utoipa::{PartialSchema, ToSchema};

/// A field of a merge patch that may be removed. It is declared with `#[serde(default)]`; a field that may be changed but
/// not removed is an `Option` with `#[schema(nullable = false)]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Patch<T> {
    /// The patch does not contain the field.
    #[default]
    Absent,
    /// The patch removes the field with `null`.
    Remove,
    /// The patch sets the field.
    Set(T),
}

impl<T> Patch<T> {
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Returns the field after the patch.
    pub fn apply(self, stored: Option<T>) -> Option<T> {
        match self {
            Self::Absent => stored,
            Self::Remove => None,
            Self::Set(value) => Some(value),
        }
    }

    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Patch<U> {
        match self {
            Self::Absent => Patch::Absent,
            Self::Remove => Patch::Remove,
            Self::Set(value) => Patch::Set(change(value)),
        }
    }

    pub fn as_ref(&self) -> Patch<&T> {
        match self {
            Self::Absent => Patch::Absent,
            Self::Remove => Patch::Remove,
            Self::Set(value) => Patch::Set(value),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    /// Deserializes a field that is present; an absent one is the default.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Remove, Self::Set))
    }
}

impl<T: PartialSchema> PartialSchema for Patch<T> {
    fn schema() -> RefOr<Schema> {
        let null = ObjectBuilder::new().schema_type(Type::Null).build();
        OneOfBuilder::new().item(null).item(T::schema()).into()
    }
}

impl<T: ToSchema> ToSchema for Patch<T> {
    fn name() -> std::borrow::Cow<'static, str> {
        format!("Patch_{}", T::name()).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        T::schemas(schemas);
    }
}
