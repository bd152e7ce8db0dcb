//! Operations on readers' reports of errors in records, one file each.

pub mod create;
mod limit;
pub mod list;
pub mod update;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::names::{RecordId, ReportId, UserId};

/// A report as the table stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    #[serde(rename = "PK")]
    pub id: ReportId,
    /// The status and the id, by which the index lists it.
    #[serde(rename = "GSISK")]
    pub listed_by: String,
    /// The permanent id of the record.
    pub record_id: RecordId,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,
    pub status: ReportStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_by: Option<UserId>,
    pub created_at: String,
    pub updated_at: String,
    /// Absent for a reader whom the archive does not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<UserId>,
}

/// The status of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReportStatus {
    #[default]
    Open,
    /// The record had the error.
    Accepted,
    Declined,
}

/// A report in responses.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Report)]
pub struct ReportView {
    pub id: ReportId,
    /// The permanent id of the record.
    pub record_id: RecordId,
    pub text: String,
    /// How to reach the reader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,
    pub status: ReportStatus,
    /// What the editor says of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The editor who accepted or declined it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled_by: Option<UserId>,
    pub created_at: String,
    pub updated_at: String,
}

impl From<Report> for ReportView {
    fn from(report: Report) -> Self {
        Self {
            id: report.id,
            record_id: report.record_id,
            text: report.text,
            contact: report.contact,
            status: report.status,
            note: report.note,
            settled_by: report.settled_by,
            created_at: report.created_at,
            updated_at: report.updated_at,
        }
    }
}

impl ReportStatus {
    const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Accepted => "accepted",
            Self::Declined => "declined",
        }
    }

    /// Returns the beginning of the sort keys of this status's reports in the index.
    fn prefix(self) -> String {
        format!("{}#", self.name())
    }

    /// Returns the sort key of a report in the index. Ids are in the order of the reports.
    fn listed_by(self, report: ReportId) -> String {
        format!("{}{report}", self.prefix())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_a_status_are_listed_from_the_oldest() {
        let at = |status: ReportStatus, id: &str| status.listed_by(id.parse().unwrap());
        assert_eq!(at(ReportStatus::Open, "1000000012"), "open#1000000012");
        assert!(at(ReportStatus::Open, "1000000012") < at(ReportStatus::Open, "1000000100"));
        for status in [ReportStatus::Open, ReportStatus::Accepted, ReportStatus::Declined] {
            assert_eq!(serde_json::to_value(status).unwrap(), status.name());
            assert!(at(status, "1000000012").starts_with(&status.prefix()));
        }
    }
}
