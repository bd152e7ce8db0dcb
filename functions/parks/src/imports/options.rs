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

/// The treatment of features whose shape breaks the rules; `refuse` by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum InvalidShapes {
    /// The row has a fault.
    #[default]
    Refuse,
    /// The row is imported without its shape. An item keeps the shape that it has. A new item that needs a location has
    /// the first valid position of the shape.
    LeaveOut,
    /// The boundary is replaced by the area that its rings enclose. The row has a fault if this is not possible.
    Repair,
}

/// The treatment of visible items of the layer whose external ids the file does not have; `keep` by default. A layer is
/// all items of the kind in the collection that have an external id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// They stay visible.
    #[default]
    Keep,
    /// They are hidden after all rows are written.
    Hide,
}

/// The options of an import, as its job stores them. A job of an earlier release has fewer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Options {
    pub unknown: Unknown,
    pub mapping: Mapping,
    pub invalid_shapes: InvalidShapes,
    pub missing: Missing,
    /// Nothing is written but the report.
    pub dry_run: bool,
}

impl Options {
    /// Whether the import ends by hiding the items that its file does not have.
    pub fn hides(&self) -> bool {
        self.missing == Missing::Hide && !self.dry_run
    }
}
