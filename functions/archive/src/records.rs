//! Operations on published records, one file each. Readers know a record by its permanent id, the id of its first
//! publication.

mod address;
pub mod delete;
mod detail;
mod find;
pub mod get;
mod household;
pub mod list;
pub mod update;
mod view;

use serde::Deserialize;
use utoipa::ToSchema;
use web::{Kind, Problem};

use crate::names::RecordId;
use crate::posts::IN_TRANSIT;

pub use address::gone;
pub use find::{Found, find_public};
pub use view::{CollectionOfRecord, PostOfRecord};

const ONE: &str = "/archive/records/{recordId}";

/// The record of the samples.
const SAMPLE: &str = "/archive/records/7000000007";

pub const WITHDRAWN: Kind = Kind::new(410, "withdrawn", "The record was withdrawn");

/// The path of a record.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordPath {
    /// The permanent id.
    pub record_id: RecordId,
}

/// 409: a run reads the corrections of the published one, and would miss this change.
fn in_transit() -> Problem {
    IN_TRANSIT.because("A run or a deletion works on the post of the record. Wait until it has ended.")
}
