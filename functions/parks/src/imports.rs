//! Imports of files with many items. The client uploads the file to S3; then a job creates an item from each row or updates
//! the one with its external id. Rows with faults are reported and skipped.

mod announce;
mod csv;
mod faults;
mod feature_collection;
mod hide;
mod identity;
mod layer;
mod mapping;
mod options;
mod parser;
mod record;
mod refused_shape;
mod row;
mod rows;
mod step;
mod write;

pub use announce::route;
pub use faults::link as faults_link;
pub use layer::Layer;
pub use step::Import;

use serde::{Deserialize, Serialize};
use table::objects::Gathered;
use utoipa::ToSchema;
use web::Problem;

use crate::access::IMPORTS;
use crate::jobs::{Job, JobKind};
use crate::names::CollectionId;
use options::Options;
use rows::FilePosition;

/// The prefix of the files in the bucket, each under the id of its job.
pub const PREFIX: &str = IMPORTS.prefix;

/// The limit of a file: 100 MiB.
pub const LARGEST: u64 = 100 * 1024 * 1024;

/// The limit of rows in a file.
pub const MAX_ROWS: u64 = 50_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A FeatureCollection whose features' properties are fields, and whose geometry is boundary, path or location.
    Geojson,
    /// Columns externalId, type, longitude, latitude, and the fields of an item of the kind except its shapes. `|` separates
    /// the entries of a list. An empty cell does not change a field. The cells are separated by commas, semicolons or
    /// tabs, by what the header has most often, in UTF-8, UTF-16 (with a byte-order mark) or Windows-1252.
    Csv,
}

impl Format {
    /// The name of what the file is read by.
    fn counted(self) -> &'static str {
        match self {
            Self::Geojson => "feature",
            Self::Csv => "row",
        }
    }
}

/// The parameters and the progress of an import: the checkpoint of its job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Plan {
    collection: String,
    layer: Layer,
    format: Format,
    bytes: u64,
    #[serde(flatten)]
    options: Options,
    phase: Phase,
    /// The row at which it resumes.
    at: FilePosition,
    /// The remaining rows whose external id an earlier row has, in order, each with the number of that row.
    #[serde(default)]
    repeated: Vec<(u64, u64)>,
    /// The entries of the report: faults, refused shapes and hidden items.
    faults: Gathered,
    /// The number of rows that were imported although their shape was refused.
    #[serde(default)]
    refused_shapes: u64,
    /// The number of items that were hidden.
    #[serde(default)]
    hidden: u64,
    /// The sort key of the last guard of an external id that was compared with the file.
    #[serde(default)]
    compared: Option<String>,
}

/// Items are written only after the whole file has been read and its rows counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Phase {
    Counting,
    Writing,
    /// Hides the items that the file does not have.
    Hiding,
}

/// Whether a job is an import that writes nothing.
pub fn is_dry_run(job: &Job) -> bool {
    job.kind == JobKind::Import && job.checkpoint::<Plan>().is_ok_and(|plan| plan.options.dry_run)
}

/// The collection of an import.
pub fn collection(job: &Job) -> Result<CollectionId, Problem> {
    job.checkpoint::<Plan>()?.collection.parse().map_err(Problem::internal)
}
