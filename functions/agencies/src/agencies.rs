//! Operations on agencies, one file each.

pub mod create;
pub mod delete;
pub mod get;
pub mod list;
pub mod set_status;
pub mod update;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use web::{EntityTag, Tagged};

use crate::authorization::AgencyAccess;
use crate::item::Agency;
use crate::names::{AgencyId, Role, Status};

pub const LIST: &str = "/agencies";
pub const ONE: &str = "/agencies/{agencyId}";

/// The agency of the samples.
const SAMPLE: &str = "/agencies/01890a5d-ac96-774b-bcce-b302099a8057";

/// The path of an agency.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgencyPath {
    #[schema(value_type = String, example = "01890a5d-ac96-774b-bcce-b302099a8057")]
    pub agency_id: AgencyId,
}

/// An agency in responses.
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
    /// The caller's own role. A list of all agencies, or a search among all of them, does not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// The number of members; only for administrators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub members: Option<u64>,
    /// The number of active members with the role `admin`; only for administrators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admins: Option<u64>,
}

impl AgencyView {
    /// The view of the caller of `access`.
    pub fn seen_by(access: &AgencyAccess, agency: Agency) -> Self {
        Self { role: access.role(), ..agency.into() }
    }

    /// The response with this view.
    pub fn tagged(access: &AgencyAccess, agency: Agency, tag: impl Into<EntityTag>) -> Tagged<Self> {
        Tagged::new(&Self::seen_by(access, agency), tag)
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
