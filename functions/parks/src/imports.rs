//! Layers of many items in one file: announced, sent to S3, then a job that makes an item of each row or changes the
//! one with its external id. Rows that cannot be are reported and skipped.

mod announce;
mod csv;
mod faults;
mod feature_collection;
mod layer;
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
    /// Columns externalId, type, displayName, description, searchTerms (`|` between them), longitude, latitude.
    Csv,
}

/// What an import does and how far it has come: the checkpoint of its job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Plan {
    collection: String,
    layer: Layer,
    format: Format,
    bytes: u64,
    phase: Phase,
    /// The row with which it goes on.
    at: At,
    faults: Gathered,
}

/// Nothing is written before the whole file was seen to hold rows, and not too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Phase {
    Counting,
    Writing,
}
