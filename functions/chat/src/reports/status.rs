//! The status of a report, which is a part of its key.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use table::KeyPart;
use table::part::NotAPart;
use utoipa::ToSchema;

/// The status of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReportStatus {
    #[default]
    Open,
    Upheld,
    Dismissed,
}

impl ReportStatus {
    pub(super) const ALL: [Self; 3] = [Self::Open, Self::Upheld, Self::Dismissed];
}

/// As keys have it.
impl Display for ReportStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Open => "open",
            Self::Upheld => "upheld",
            Self::Dismissed => "dismissed",
        })
    }
}

impl FromStr for ReportStatus {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let status = Self::ALL.into_iter().find(|status| status.to_string() == text);
        status.ok_or(NotAPart("open, upheld or dismissed"))
    }
}

impl KeyPart for ReportStatus {}
