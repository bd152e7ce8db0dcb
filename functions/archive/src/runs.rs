//! The runs of a post: attempts to publish its file. A run's item says how far it has come and what it has found.

pub mod get;
pub mod list;
pub mod report;
pub mod unresolved;

use std::collections::BTreeSet;

use ::jobs::JobId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::item::ClosedYears;
use crate::mapping::MappedColumn;
use crate::names::{CollectionId, PlaceId, RecordId, RunNumber, UserId};
use crate::record::CorrectionsPolicy;
use crate::register::{Format, Problem};

/// A run as the table stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// The number of the run among those of its post.
    pub run: RunNumber,
    pub job: JobId,
    pub status: RunStatus,
    pub phase: Phase,
    /// The SHA-256 of the file in hex, which names it in the bucket.
    pub file: String,
    pub bytes: u64,
    pub format: Format,
    pub headers: Vec<String>,
    pub mapping: Vec<MappedColumn>,
    pub collection_id: CollectionId,
    /// The closed years of the collection when the run began, which its records have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_years: Option<ClosedYears>,
    /// The place of the collection when the run began, in which it looks for places first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place_id: Option<PlaceId>,
    pub bad_rows: BadRows,
    pub corrections: CorrectionsPolicy,
    /// Whether it only checks the file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// The run whose records it matches with its rows: the last that was published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<RunNumber>,
    pub totals: Totals,
    /// The ids of the first and the last row, once the run has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_id: Option<RecordId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_id: Option<RecordId>,
    /// The first 50 problems, errors before warnings. The report has all.
    pub problems: Vec<Problem>,
    /// Whether its report is stored, with the place texts without a place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_report: bool,
    /// The permanent ids of its records with corrections by hand.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub corrected: BTreeSet<RecordId>,
    /// Whether those corrections are in a file of the run, since its records are deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_kept_corrections: bool,
    /// The permanent ids of the records that an editor has taken down from this run or an earlier one. Their rows are left
    /// out.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub taken_down: BTreeSet<RecordId>,
    /// Why it has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub created_at: String,
    pub created_by: UserId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
}

/// The status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum RunStatus {
    Running,
    /// Its records are public.
    Published,
    /// Its records were public. A later run has taken their place, or the post was unpublished.
    Withdrawn,
    /// It has only checked the file, and found no reason to refuse it.
    Checked,
    /// The file was refused, or the run could not go on; `reason` says why.
    Failed,
    Cancelled,
}

/// What a run is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RunPhase)]
pub enum Phase {
    #[default]
    Checking,
    Matching,
    Numbering,
    Writing,
    Grouping,
    Settling,
    Switching,
    Retiring,
    Undoing,
    Ended,
}

/// What happens to a file with rows that have errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum BadRows {
    /// Nothing is published.
    #[default]
    Refuse,
    /// The other rows are published.
    Skip,
}

/// The numbers of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RunTotals)]
pub struct Totals {
    /// The data rows of the file, also those with errors.
    pub rows: u32,
    pub records: u32,
    pub households: u32,
    /// The rows that the last published run did not have.
    pub new: u32,
    /// The rows of the last published run that are in the file as they were.
    pub unchanged: u32,
    /// The rows of the last published run that are in the file with other cells.
    pub changed: u32,
    /// The rows of the last published run that the file does not have.
    pub gone: u32,
    pub errors: u64,
    pub warnings: u64,
}

impl Phase {
    /// Whether a run can still be cancelled: readers do not see it yet.
    pub fn is_cancellable(self) -> bool {
        !matches!(self, Self::Retiring | Self::Undoing | Self::Ended)
    }
}
