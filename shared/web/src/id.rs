//! Ids of items.

#[doc(hidden)]
pub use uuid::Uuid;

/// The pattern of an id in the API description.
#[doc(hidden)]
pub const PATTERN: &str = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$";

/// Declares the type of an id: a UUID v7, so that ids sort by the time of creation. It is a part of keys, of paths and of
/// JSON. The crate needs `serde`, `table` and `utoipa`.
///
/// ```
/// web::id! {
///     /// The id of an animal.
///     pub struct AnimalId
/// }
///
/// let id = AnimalId::new();
/// assert_eq!(id.to_string().parse(), Ok(id));
/// assert!(id.to_string().to_uppercase().parse::<AnimalId>().is_err());
/// ```
#[macro_export]
macro_rules! id {
    ($(#[$attribute:meta])* $visibility:vis struct $name:ident) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "String", into = "String")]
        $visibility struct $name($crate::id::Uuid);

        impl $name {
            pub fn new() -> Self {
                Self($crate::id::Uuid::now_v7())
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl std::str::FromStr for $name {
            type Err = table::part::NotAPart;

            /// Accepts one spelling only, since another would be another key.
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let id = $crate::id::Uuid::parse_str(text).ok().filter(|id| id.to_string() == text);
                id.map(Self).ok_or(table::part::NotAPart("a UUID in lower case with hyphens"))
            }
        }

        impl TryFrom<String> for $name {
            type Error = table::part::NotAPart;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.to_string()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&self.0, formatter)
            }
        }

        impl table::KeyPart for $name {}

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                let text = utoipa::openapi::ObjectBuilder::new().schema_type(utoipa::openapi::schema::Type::String);
                text.pattern(Some($crate::id::PATTERN)).into()
            }
        }

        impl utoipa::ToSchema for $name {}
    };
}
