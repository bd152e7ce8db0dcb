//! What is done with agencies: one file for each thing.

pub mod change;
pub mod create;
pub mod delete;
pub mod deletion;
pub mod list;
pub mod read;
pub mod status;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::item::Agency;
use crate::names::{AgencyId, Role, Status};
use crate::standing::Standing;

/// The path of an agency.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgencyPath {
    #[schema(example = "01890a5d-ac96-774b-bcce-b302099a8057")]
    agency_id: String,
}

impl AgencyPath {
    /// None where the text is the id of no agency: that is as good as absent.
    pub fn id(&self) -> Option<AgencyId> {
        self.agency_id.parse().ok()
    }
}

/// What an agency may be called.
#[derive(Debug, Deserialize, ToSchema)]
pub struct Renamed {
    /// Not blank.
    #[schema(min_length = 1, max_length = 200, nullable = false, pattern = "\\S")]
    pub name: Option<String>,
}

/// An agency as it is answered.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Agency)]
pub struct AgencyView {
    #[schema(value_type = String)]
    pub agency_id: AgencyId,
    pub name: String,
    pub status: Status,
    pub created: String,
    pub created_by: String,
    pub modified: String,
    pub modified_by: String,
    /// The caller's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub role: Option<Role>,
    /// How many there are; for administrators.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub members: Option<u64>,
    /// How many of them administer the agency; for administrators.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub admins: Option<u64>,
}

impl AgencyView {
    /// As the caller sees it who stands so in it.
    pub fn seen_by(standing: &Standing, agency: Agency) -> Self {
        Self { role: standing.role(), ..agency.into() }
    }
}

impl From<Agency> for AgencyView {
    fn from(agency: Agency) -> Self {
        Self {
            agency_id: agency.agency_id,
            name: agency.name,
            status: agency.status,
            created: agency.created,
            created_by: agency.created_by,
            modified: agency.modified,
            modified_by: agency.modified_by,
            role: None,
            members: None,
            admins: None,
        }
    }
}
