//! The options of an import: what the request says beside the file's place and format.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::mapping::Mapping;

/// The treatment of properties and columns that items of the kind do not have; `refuse` by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unknown {
    /// Each is a fault.
    #[default]
    Refuse,
    /// They are ignored.
    Ignore,
}

/// The options of an import, as its job stores them. A job of an earlier release has fewer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Options {
    pub unknown: Unknown,
    pub mapping: Mapping,
    /// Nothing is written but the report.
    pub dry_run: bool,
}
