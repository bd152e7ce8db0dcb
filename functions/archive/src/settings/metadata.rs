//! The fields of the metadata of posts, as the settings declare them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A field of the metadata of posts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MetadataField {
    /// Unique among the fields.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    #[serde(rename = "type")]
    pub kind: MetadataType,
    /// What volunteers read beside the field.
    #[serde(default)]
    #[schema(max_length = 500)]
    pub tooltip: String,
}

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum MetadataType {
    String,
    Number,
    /// A date as text, such as `1881-04-03`.
    Date,
    Boolean,
}
