//! The agencies of a person, and the invitations to the person's verified address.

pub mod agencies;
pub mod invitations;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use table::{Access, AccessPattern, Error, Idpid, Key};
use utoipa::ToSchema;

use crate::item::{Agency, Invitation, Member};
use crate::keys::agency_key;
use crate::members::person_in_path;
use crate::names::{AgencyId, InvitationStatus, MemberStatus, Role, Status};
use crate::schema::AGENCIES;

/// The path of a person.
#[derive(Debug, Deserialize, ToSchema)]
pub struct PersonPath {
    /// `{issuer}:{escaped subject}`.
    #[serde(deserialize_with = "person_in_path")]
    #[schema(value_type = String, example = "local:ann")]
    idpid: Idpid,
}

/// A person's membership, with the agency's name.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Membership {
    #[schema(value_type = String)]
    pub agency_id: AgencyId,
    pub name: String,
    pub status: Status,
    /// The person's role.
    pub role: Role,
    /// Always `active` in the person's own list.
    pub member_status: MemberStatus,
    /// The time at which the person became a member.
    pub created: String,
}

/// An invitation in responses to the invited person.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MyInvitation {
    #[schema(value_type = String)]
    pub agency_id: AgencyId,
    /// The agency's name.
    pub name: String,
    /// The agency's status.
    pub agency_status: Status,
    pub role: Role,
    pub status: InvitationStatus,
    pub invited: String,
    pub expires_at: String,
}

/// The name and status of an agency.
#[derive(Clone, Debug)]
pub struct Named {
    pub name: String,
    pub status: Status,
}

impl Membership {
    pub fn new(member: Member, named: Named) -> Self {
        let Named { name, status } = named;
        Self {
            agency_id: member.agency_id,
            name,
            status,
            role: member.role,
            member_status: member.status,
            created: member.created,
        }
    }
}

impl MyInvitation {
    pub fn with_status(status: InvitationStatus, invitation: Invitation, named: Named) -> Self {
        Self {
            status,
            agency_id: invitation.agency_id,
            name: named.name,
            agency_status: named.status,
            role: invitation.role,
            invited: invitation.invited,
            expires_at: invitation.expires_at,
        }
    }
}

/// The names and statuses of these agencies, without those that are absent or being deleted.
pub async fn names(
    access: &Access,
    pattern: &'static AccessPattern,
    agencies: impl Iterator<Item = &AgencyId>,
) -> Result<HashMap<AgencyId, Named>, Error> {
    let keys: Vec<Key> = agencies.map(agency_key).collect();
    let found = access.table(pattern, &AGENCIES).batch_get(&keys).await?;
    let mut names = HashMap::new();
    for stored in found.into_iter().flatten() {
        let agency: Agency = stored.read()?;
        if !agency.is_being_deleted() {
            names.insert(agency.agency_id, Named { name: agency.name, status: agency.status });
        }
    }
    Ok(names)
}
