//! What is done with the invitations of an agency: one file for each thing.

pub mod accept;
pub mod create;
pub mod decline;
pub mod list;
pub mod read;
pub mod revoke;

use serde::{Deserialize, Serialize};
use table::{Changes, Condition, item};
use utoipa::ToSchema;
use web::{Kind, Problem, Request};

use crate::address::{Address, AddressHash};
use crate::item::{Invitation, Stamp};
use crate::names::{AgencyId, InvitationStatus, Role};

pub const INVITED: Kind = Kind::new(409, "invited", "This address is invited already");
pub const INVITATION_SETTLED: Kind = Kind::new(409, "invitation-settled", "The invitation is not open any more");
pub const INVITATION_EXPIRED: Kind = Kind::new(409, "invitation-expired", "The invitation's time is over");

/// The path of an invitation.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationPath {
    #[schema(example = "01890a5d-ac96-774b-bcce-b302099a8057")]
    agency_id: String,
    /// The hash of the address.
    #[schema(example = "b6e81874b8017c9e41c6707ec59fb38e")]
    hash: String,
}

impl InvitationPath {
    /// None where the texts name nothing: that is as good as absent.
    pub fn ids(&self) -> (Option<AgencyId>, Option<AddressHash>) {
        (self.agency_id.parse().ok(), self.hash.parse().ok())
    }
}

/// An invitation as the agency's administrators see it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Invitation)]
pub struct InvitationView {
    #[schema(value_type = String)]
    pub agency_id: AgencyId,
    /// The hash of the address, which names the invitation.
    #[schema(value_type = String)]
    pub hash: AddressHash,
    pub address: String,
    pub role: Role,
    pub status: InvitationStatus,
    pub invited: String,
    pub invited_by: String,
    pub expires_at: String,
    pub modified: String,
    pub modified_by: String,
}

impl InvitationView {
    /// As it is at this time.
    pub fn at(invitation: Invitation, now: &str) -> Result<Self, Problem> {
        let hash = invitation.hash().ok_or_else(|| Problem::internal("an invitation to no address"))?;
        Ok(Self {
            status: invitation.status_at(now),
            agency_id: invitation.agency_id,
            hash,
            address: invitation.address,
            role: invitation.role,
            invited: invitation.invited,
            invited_by: invitation.invited_by,
            expires_at: invitation.expires_at,
            modified: invitation.modified,
            modified_by: invitation.modified_by,
        })
    }
}

/// The hash of the caller's own address, where the issuer has verified one.
pub fn own_address(request: &Request) -> Result<Option<AddressHash>, Problem> {
    let address = request.principal().signed_in()?.address.as_deref();
    Ok(address.and_then(|address| address.parse::<Address>().ok()).map(|address| address.hash()))
}

/// What ends an open invitation.
pub fn settled(status: InvitationStatus, stamp: &Stamp) -> Changes {
    Changes::new()
        .set("status", item::text(status.as_str()))
        .set("modified", item::text(&stamp.at))
        .set("modifiedBy", item::text(&stamp.by))
}

/// It is open, though its time may be over.
pub fn is_pending() -> Condition {
    Condition::Equals("status", item::text(InvitationStatus::Pending.as_str()))
}

pub fn already_settled() -> Problem {
    INVITATION_SETTLED.because(
        "It was accepted, declined or revoked before, or its person was removed from the agency since. \
         Ask an administrator of the agency for a new invitation.",
    )
}
