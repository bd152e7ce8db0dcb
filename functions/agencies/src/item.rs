//! Items as the table stores them.

use jobs::JobId;
use serde::{Deserialize, Serialize};
use table::Idpid;

use crate::address::AddressHash;
use crate::audit::Audit;
use crate::keys::ADDRESS;
use crate::names::{AgencyId, InvitationStatus, MemberStatus, Role, Status};

/// The `type` of agencies.
pub const AGENCY: &str = "Agency";

/// The `type` of members.
pub const MEMBER: &str = "Member";

const INVITATION: &str = "Invitation";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Agency {
    /// [`AGENCY`], by which the index of types lists it. Absent while it is being deleted.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    pub agency_id: AgencyId,
    pub name: String,
    pub status: Status,
    pub created: String,
    pub created_by: String,
    pub modified: String,
    pub modified_by: String,
    /// The job that deletes it. To all but platform administrators it is absent from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion: Option<JobId>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    #[serde(rename = "type")]
    pub kind: String,
    pub agency_id: AgencyId,
    pub idpid: Idpid,
    pub role: Role,
    /// Absent while the member is active.
    #[serde(default, skip_serializing_if = "MemberStatus::is_active")]
    pub status: MemberStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The address of the last invitation that the person has accepted, as [`KnownAddress`] lists it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_hash: Option<AddressHash>,
    pub created: String,
    pub created_by: String,
    pub modified: String,
    pub modified_by: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Invitation {
    #[serde(rename = "type")]
    pub kind: String,
    pub agency_id: AgencyId,
    /// `address:{hash}`, its partition in the index of people.
    pub idpid: String,
    pub address: String,
    pub role: Role,
    pub status: InvitationStatus,
    pub invited: String,
    pub invited_by: String,
    pub expires_at: String,
    /// The time to live, in epoch seconds.
    pub expires: i64,
    pub modified: String,
    pub modified_by: String,
}

/// The last time at which a person was removed from an agency or left it. Earlier invitations are no longer valid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Removal {
    pub removed: String,
    pub removed_by: String,
    /// The time to live, in epoch seconds.
    #[serde(default)]
    pub expires: i64,
}

/// The member who last accepted an invitation to an address. The index of people does not list it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownAddress {
    pub person: Idpid,
}

/// The counts of an agency's members. Every change of members conditions on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    pub status: Status,
    pub members: u64,
    pub admins: u64,
    /// Present while the agency is being deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed: Option<bool>,
}

impl Agency {
    pub fn new(name: String, audit: &Audit) -> Self {
        Self {
            kind: Some(AGENCY.to_owned()),
            agency_id: AgencyId::new(),
            name,
            status: Status::Pending,
            created: audit.at.clone(),
            created_by: audit.by.clone(),
            modified: audit.at.clone(),
            modified_by: audit.by.clone(),
            deletion: None,
        }
    }

    pub fn is_being_deleted(&self) -> bool {
        self.deletion.is_some()
    }

    /// The item after an update.
    pub fn updated(self, audit: &Audit) -> Self {
        Self { modified: audit.modified_after(&self.modified), modified_by: audit.by.clone(), ..self }
    }
}

impl Member {
    pub fn is_suspended(&self) -> bool {
        self.status == MemberStatus::Suspended
    }

    /// The number that the member adds to the count of administrators, which a suspended one is not.
    pub fn admins(&self) -> i64 {
        if self.is_suspended() { 0 } else { self.role.admins() }
    }

    pub fn new(agency_id: AgencyId, idpid: Idpid, role: Role, display_name: Option<String>, audit: &Audit) -> Self {
        Self {
            kind: MEMBER.to_owned(),
            agency_id,
            idpid,
            role,
            status: MemberStatus::Active,
            display_name: display_name.filter(|name| !name.is_empty()),
            address_hash: None,
            created: audit.at.clone(),
            created_by: audit.by.clone(),
            modified: audit.at.clone(),
            modified_by: audit.by.clone(),
        }
    }

    /// The item after an update.
    pub fn updated(self, audit: &Audit) -> Self {
        Self { modified: audit.modified_after(&self.modified), modified_by: audit.by.clone(), ..self }
    }
}

impl Removal {
    /// How long a removal is kept: longer than the item of an older invitation, which is kept for up to 120 days.
    const TIME_TO_LIVE: i64 = 121 * 24 * 3600;

    /// A removal at this time, in epoch seconds, after an earlier one. A clock that is behind does not set it to an
    /// earlier time, which would make an older invitation valid again.
    pub fn after(earlier: Option<&Self>, audit: &Audit, seconds: i64) -> Self {
        let now = Self {
            removed: audit.at.clone(),
            removed_by: audit.by.clone(),
            expires: seconds.saturating_add(Self::TIME_TO_LIVE),
        };
        match earlier {
            Some(earlier) if earlier.removed > now.removed => {
                Self { removed: earlier.removed.clone(), expires: earlier.expires.max(now.expires), ..now }
            }
            _ => now,
        }
    }
}

impl Invitation {
    /// The partition of an address in the index of people.
    pub fn address_partition(address: &AddressHash) -> String {
        format!("{ADDRESS}:{address}")
    }

    /// A pending invitation.
    pub fn new(agency_id: AgencyId, address: &str, hash: &AddressHash, role: Role, term: Term, audit: &Audit) -> Self {
        Self {
            kind: INVITATION.to_owned(),
            agency_id,
            idpid: Self::address_partition(hash),
            address: address.to_owned(),
            role,
            status: InvitationStatus::Pending,
            invited: audit.at.clone(),
            invited_by: audit.by.clone(),
            expires_at: term.expires_at,
            expires: term.time_to_live,
            modified: audit.at.clone(),
            modified_by: audit.by.clone(),
        }
    }

    /// The hash of the address, from the item's place in the index of people.
    pub fn hash(&self) -> Option<AddressHash> {
        self.idpid.strip_prefix(ADDRESS)?.strip_prefix(':')?.parse().ok()
    }

    /// Whether the person was removed from the agency after the invitation was created.
    pub fn is_older_than(&self, removal: Option<&Removal>) -> bool {
        removal.is_some_and(|removal| self.invited <= removal.removed)
    }

    /// The status at this time for the invited person, whose removal revokes a pending invitation.
    pub fn status_for(&self, removal: Option<&Removal>, now: &str) -> InvitationStatus {
        match self.status {
            InvitationStatus::Pending if self.is_older_than(removal) => InvitationStatus::Revoked,
            _ => self.status_at(now),
        }
    }

    /// The status at this time: a pending invitation expires.
    pub fn status_at(&self, now: &str) -> InvitationStatus {
        match self.status {
            InvitationStatus::Pending if self.expires_at.as_str() <= now => InvitationStatus::Expired,
            status => status,
        }
    }
}

/// The end of an invitation and of its item.
#[derive(Clone, Debug)]
pub struct Term {
    pub expires_at: String,
    /// The time to live, in epoch seconds.
    pub time_to_live: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removal_is_never_before_an_earlier_one() {
        let audit = |at: &str| Audit { at: at.to_owned(), by: "idp:ann".to_owned() };
        let earlier = Removal::after(None, &audit("2026-01-01T00:00:10.000000Z"), 10);
        let behind = Removal::after(Some(&earlier), &audit("2026-01-01T00:00:09.000000Z"), 9);
        assert_eq!(behind, earlier);
        let later = Removal::after(Some(&earlier), &audit("2026-01-01T00:00:11.000000Z"), 11);
        assert_eq!((later.removed.as_str(), later.expires), ("2026-01-01T00:00:11.000000Z", earlier.expires + 1));
    }
}
