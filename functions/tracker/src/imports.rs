//! Issues from a CSV file: announced, sent to S3, then work in two passes. The first looks at every record and writes
//! nothing; the second makes issues of the records, or changes those that have their numbers.

mod announce;
mod check;
mod column;
mod create;
mod faults;
mod made;
mod met;
mod record;
mod records;
mod start;
mod step;
mod write;

pub use announce::{ImportLink, NewImport, UNMAPPED_COLUMN, announce};
pub use faults::link as faults_link;
pub use start::start;
pub use step::{Ahead, step};

use serde::{Deserialize, Serialize};
use table::objects::Gathered;
use utoipa::ToSchema;

use column::Target;
use records::At;

/// Where files lie in the bucket, each under the id of its work.
const PREFIX: &str = "imports/";

/// The largest file: 200 MB.
const LARGEST: u64 = 200_000_000;

/// The most characters of a header.
const LONGEST_HEADER: usize = 200;

/// What an import does with records that have the number of an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Every record makes an issue; a number must be above all that were given.
    Create,
    /// A record with an issue's number changes that issue, in the columns that the file has.
    Upsert,
}

/// What becomes of the others when a record cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// Nothing is written.
    Stop,
    /// They are written, unless more than 100 000 records cannot be.
    Skip,
}

/// What an import does and how far it has come: the checkpoint of its work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Plan {
    bytes: u64,
    mode: Mode,
    on_error: OnError,
    /// What the client says that headers mean. A list, since DynamoDB takes no map with an empty name, and headers may be
    /// empty.
    mapping: Vec<(String, Target)>,
    /// How often its file was looked for in vain.
    #[serde(default)]
    looks: u32,
    phase: Phase,
    /// The record with which it goes on.
    at: At,
    /// The file's columns, once its header was read.
    columns: Vec<Target>,
    headers: Vec<String>,
    numbers: Numbers,
    /// Under which name the first pass has kept what it has met before this record, once that is anything.
    met: Option<String>,
    faults: Gathered,
}

/// Nothing is written before the whole file was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Phase {
    Checking,
    Writing,
}

/// The numbers that the file's issues are to have. Those without one get a block that is taken at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Numbers {
    /// The last number that the project had given when the file was looked at.
    given: u64,
    /// The least and the greatest that records name above it.
    least: Option<u64>,
    greatest: Option<u64>,
    /// How many records that can be have none.
    without: u64,
    /// What the next of those gets, once the block is taken.
    next: u64,
}
