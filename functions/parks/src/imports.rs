//! Layers of many items in one file: announced, sent to S3, then a job that makes an item of each row or changes the
//! one with its external id. Rows that cannot be are reported and skipped.

mod announce;
mod csv;
mod faults;
mod feature_collection;
mod layer;
mod record;
mod row;
mod rows;
mod start;
mod work;
mod write;

pub use announce::{ImportLink, NewImport, create_import, is_late};
pub use faults::link as faults_link;
pub use layer::Layer;
pub use start::start_import;
pub use work::Import;

use serde::{Deserialize, Serialize};
use table::objects::Gathered;
use utoipa::ToSchema;

use rows::At;

/// Where files lie in the bucket, each under the id of its job.
pub const PREFIX: &str = "imports/";

/// The largest file: 100 MiB.
pub const LARGEST: u64 = 100 * 1024 * 1024;

/// The most rows of a file.
pub const MOST_ROWS: u64 = 50_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A FeatureCollection whose features' properties are fields, and whose geometry is boundary, path or location.
    Geojson,
    /// Columns externalId, type, longitude, latitude, and the fields of an item of the kind but its shapes; `|` between
    /// the entries of a list. An empty cell leaves a field as it is.
    Csv,
}

/// What becomes of properties and columns that items of the kind do not have: `refuse` if not said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unknown {
    /// Each is a fault.
    #[default]
    Refuse,
    /// They are left out.
    Ignore,
}

/// What an import does and how far it has come: the checkpoint of its job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Plan {
    collection: String,
    layer: Layer,
    format: Format,
    bytes: u64,
    #[serde(default)]
    unknown: Unknown,
    phase: Phase,
    /// The row with which it goes on.
    at: At,
    /// The rows still to come whose external id an earlier row has, in order, each with the number of that row.
    #[serde(default)]
    repeated: Vec<(u64, u64)>,
    faults: Gathered,
}

/// Nothing is written before the whole file was seen to hold rows, and not too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Phase {
    Counting,
    Writing,
}
