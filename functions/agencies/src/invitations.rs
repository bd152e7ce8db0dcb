//! Operations on the invitations of an agency, one file each.

pub mod accept;
pub mod create;
pub mod decline;
pub mod get;
pub mod list;
pub mod revoke;

use serde::{Deserialize, Serialize};
use table::{AccessPattern, Action, Changes, Condition, item};
use utoipa::ToSchema;
use web::{Context, Kind, Problem};

use crate::address::{Address, AddressHash};
use crate::audit::Audit;
use crate::item::{Invitation, KnownAddress, Member};
use crate::keys::known_address_key;
use crate::names::{AgencyId, InvitationStatus, Role};
use crate::schema::AGENCIES;

pub const INVITED: Kind = Kind::new(409, "invited", "The address is already invited");
pub const INVITATION_SETTLED: Kind = Kind::new(409, "invitation-settled", "The invitation is no longer pending");
pub const INVITATION_EXPIRED: Kind = Kind::new(409, "invitation-expired", "The invitation has expired");

const LIST: &str = "/agencies/{agencyId}/invitations";
const ONE: &str = "/agencies/{agencyId}/invitations/{hash}";

/// The invitations and the invitation of the samples, which is to dee@example.org.
const SAMPLE_LIST: &str = "/agencies/01890a5d-ac96-774b-bcce-b302099a8057/invitations";
const SAMPLE: &str = "/agencies/01890a5d-ac96-774b-bcce-b302099a8057/invitations/b6e81874b8017c9e41c6707ec59fb38e";

/// The path of an invitation.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationPath {
    #[schema(value_type = String, example = "01890a5d-ac96-774b-bcce-b302099a8057")]
    agency_id: AgencyId,
    /// The hash of the address.
    #[schema(value_type = String, example = "b6e81874b8017c9e41c6707ec59fb38e")]
    hash: AddressHash,
}

/// An invitation in responses to administrators of the agency.
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
    /// The view at this time.
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

/// The hash of the caller's own verified address.
pub fn own_address(cx: &Context) -> Result<Option<AddressHash>, Problem> {
    let address = cx.principal().signed_in()?.address.as_deref();
    Ok(address.and_then(|address| address.parse::<Address>().ok()).map(|address| address.hash()))
}

/// The action that deletes the known address of a member. `None` if the member has none.
pub async fn forget_address(
    cx: &Context,
    pattern: &'static AccessPattern,
    member: &Member,
) -> Result<Option<Action>, Problem> {
    let Some(address) = &member.address_hash else { return Ok(None) };
    let key = known_address_key(&member.agency_id, address);
    let Some(known) = cx.access().table(pattern, &AGENCIES).get_consistent(key.clone()).await? else { return Ok(None) };
    let is_own = known.read::<KnownAddress>()?.person == member.idpid;
    Ok(is_own.then(|| Action::delete(&AGENCIES, key).if_unchanged(&known)))
}

/// The changes that settle a pending invitation.
pub fn settled(pending: &Invitation, status: InvitationStatus, audit: &Audit) -> Changes {
    Changes::new()
        .set("status", item::text(status.as_str()))
        .set("modified", item::text(audit.modified_after(&pending.modified)))
        .set("modifiedBy", item::text(&audit.by))
}

/// The condition that the stored status is `pending`; the invitation may have expired.
pub fn is_pending() -> Condition {
    Condition::Equals("status", item::text(InvitationStatus::Pending.as_str()))
}

pub fn already_settled() -> Problem {
    INVITATION_SETTLED.because(
        "It was accepted, declined or revoked, or the person was removed from the agency after it was created. \
         Ask an administrator of the agency for a new invitation.",
    )
}
