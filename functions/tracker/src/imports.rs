//! Imports of issues from a CSV file: the file is uploaded to S3, and then a job reads it in two passes. The first pass
//! validates every record and writes nothing. The second pass creates issues, or updates those with the records' numbers.

mod ahead;
pub mod announce;
mod check;
mod column;
mod create;
mod dates;
mod faults;
mod record;
mod records;
mod seen;
mod step;
mod undo;
mod write;
mod written;

pub use announce::UNMAPPED_COLUMN;
pub use faults::link as faults_link;
pub use step::Import;
pub use undo::{UndoImport, UndoParams};

use jobs::{Step, Then};
use serde::{Deserialize, Serialize};
use sheet::Format;
use table::Access;
use table::objects::Gathered;
use utoipa::ToSchema;
use web::Problem;

use crate::access::{IMPORT_ROWS, IMPORTS};
use crate::jobs::{LAG, Lease, issue_of};
use crate::names::IssueId;
use crate::project::Schema;
use crate::schema::{INDEX, TRACKER};
use crate::values::number_key;
use column::{Target, UnknownColumns};
use dates::DateOrder;
use records::FileOffset;

/// The prefix of files in the bucket. Each file has the id of its job.
const PREFIX: &str = IMPORTS.prefix;

/// Bytes of a file: 200 MB.
const MAX_FILE_BYTES: u64 = 200_000_000;

/// Characters of a header.
const MAX_HEADER: usize = 200;

/// The treatment of records that have the number of an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Every record creates an issue. Its number must be above the last number of the project.
    Create,
    /// A record with an issue's number updates that issue, in the columns of the file.
    Upsert,
}

/// The treatment of the valid records when another record is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// Nothing is written.
    Stop,
    /// The valid records are written, unless more than 100 000 records are invalid.
    Skip,
}

/// The parameters and the progress of an import: the checkpoint of its job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ImportParams {
    bytes: u64,
    mode: Mode,
    on_error: OnError,
    /// The client's meaning of headers. It is a list, since headers may be empty, and DynamoDB takes no map with an empty
    /// name.
    mapping: Vec<(String, Target)>,
    #[serde(default)]
    unknown_columns: UnknownColumns,
    #[serde(default)]
    date_order: DateOrder,
    /// After the header was read.
    #[serde(default)]
    format: Option<Format>,
    phase: Phase,
    /// The offset of the next record.
    #[serde(rename = "at")]
    offset: FileOffset,
    /// The file's columns, after its header was read.
    columns: Vec<Target>,
    headers: Vec<String>,
    numbers: Numbers,
    /// The name of the objects with what the first pass has seen before this record. None if that is nothing.
    #[serde(rename = "met")]
    seen: Option<String>,
    faults: Gathered,
    /// The last number of the project when the import last waited for the index, which has had the time to list the issues
    /// of the numbers up to it since.
    #[serde(default)]
    waited_to: u64,
}

/// The pass of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Phase {
    Checking,
    Writing,
}

/// The numbers of the file's issues. Records without a number get a block that is allocated at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Numbers {
    /// The last number of the project when the file was validated.
    given: u64,
    /// The least and the greatest number that records have above it.
    least: Option<u64>,
    greatest: Option<u64>,
    /// The number of valid records without a number.
    without: u64,
    /// The number of the next of these, after the block was allocated.
    next: u64,
}

/// The issue with a number in the index, which may lag behind the table.
async fn find(access: &Access, schema: &Schema, number: u64) -> Result<Option<IssueId>, Problem> {
    let key = number_key(number);
    let query = access.table(&IMPORT_ROWS, &TRACKER).query(schema.id.id()).index(INDEX);
    let page = query.between(key.clone(), key).page(1).await?;
    Ok(page.items.first().and_then(|entry| issue_of(&entry.key.pk)))
}

/// The step that waits for the index, and then continues from this checkpoint, because the index lists no issue with a
/// number that was allocated.
fn look_again(lease: &Lease, checkpoint: ImportParams) -> Result<Step, Problem> {
    let waited = ImportParams { waited_to: checkpoint.numbers.given, ..checkpoint };
    Step::new(Vec::new(), &waited, lease.job.counts, Then::Wait(LAG))
}
