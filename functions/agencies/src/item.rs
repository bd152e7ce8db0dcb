//! Items as the table stores them.

use serde::{Deserialize, Serialize};
use table::Idpid;

use crate::address::AddressHash;
use crate::keys::ADDRESS;
use crate::names::{AgencyId, InvitationStatus, Role, Status};

/// The `type` of agencies, by which they are listed.
pub const AGENCY: &str = "Agency";

/// The `type` of an agency whose deletion has begun: it leaves the list, and stands among the deletions to finish.
pub const DELETING: &str = "Deleting";

/// The `type` of members.
pub const MEMBER: &str = "Member";

const INVITATION: &str = "Invitation";

/// Who did what, and when, in one write.
#[derive(Clone, Debug)]
pub struct Stamp {
    /// RFC 3339 with six fraction digits.
    pub at: String,
    pub by: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Agency {
    #[serde(rename = "type")]
    pub kind: String,
    pub agency_id: AgencyId,
    pub name: String,
    pub status: Status,
    pub created: String,
    pub created_by: String,
    pub modified: String,
    pub modified_by: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    #[serde(rename = "type")]
    pub kind: String,
    pub agency_id: AgencyId,
    pub idpid: Idpid,
    pub role: Role,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
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
    /// `address:{hash}`: where the index of people lists it.
    pub idpid: String,
    pub address: String,
    pub role: Role,
    pub status: InvitationStatus,
    pub invited: String,
    pub invited_by: String,
    pub expires_at: String,
    /// When it is forgotten, in epoch seconds.
    pub expires: i64,
    pub modified: String,
    pub modified_by: String,
}

/// When a person was last removed from an agency, or left it. Invitations from before do not bring the person back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Removal {
    pub removed: String,
    pub removed_by: String,
}

/// By whom an invitation to an address was last accepted. The index of people lists no such item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownAddress {
    pub person: Idpid,
}

/// Counts an agency's members, and knows whether others may join.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    pub status: Status,
    pub members: u64,
    pub admins: u64,
    /// Present once the agency's deletion has begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed: Option<bool>,
}

impl Agency {
    pub fn new(name: String, stamp: &Stamp) -> Self {
        Self {
            kind: AGENCY.to_owned(),
            agency_id: AgencyId::new(),
            name,
            status: Status::Pending,
            created: stamp.at.clone(),
            created_by: stamp.by.clone(),
            modified: stamp.at.clone(),
            modified_by: stamp.by.clone(),
        }
    }

    pub fn is_being_deleted(&self) -> bool {
        self.kind != AGENCY
    }

    /// After a change.
    pub fn stamped(self, stamp: &Stamp) -> Self {
        Self { modified: stamp.at.clone(), modified_by: stamp.by.clone(), ..self }
    }
}

impl Member {
    pub fn new(agency_id: AgencyId, idpid: Idpid, role: Role, display_name: Option<String>, stamp: &Stamp) -> Self {
        Self {
            kind: MEMBER.to_owned(),
            agency_id,
            idpid,
            role,
            display_name: display_name.filter(|name| !name.is_empty()),
            created: stamp.at.clone(),
            created_by: stamp.by.clone(),
            modified: stamp.at.clone(),
            modified_by: stamp.by.clone(),
        }
    }

    /// After a change.
    pub fn stamped(self, stamp: &Stamp) -> Self {
        Self { modified: stamp.at.clone(), modified_by: stamp.by.clone(), ..self }
    }
}

impl Invitation {
    /// The partition of the index of people in which an address's invitations are.
    pub fn listed_under(address: &AddressHash) -> String {
        format!("{ADDRESS}:{address}")
    }

    /// A pending one, until `expires_at`.
    pub fn new(agency_id: AgencyId, address: &str, hash: &AddressHash, role: Role, term: Term, stamp: &Stamp) -> Self {
        Self {
            kind: INVITATION.to_owned(),
            agency_id,
            idpid: Self::listed_under(hash),
            address: address.to_owned(),
            role,
            status: InvitationStatus::Pending,
            invited: stamp.at.clone(),
            invited_by: stamp.by.clone(),
            expires_at: term.expires_at,
            expires: term.forgotten,
            modified: stamp.at.clone(),
            modified_by: stamp.by.clone(),
        }
    }

    /// The part of its key that stands for the address; none if it is not where invitations are listed.
    pub fn hash(&self) -> Option<AddressHash> {
        self.idpid.strip_prefix(ADDRESS)?.strip_prefix(':')?.parse().ok()
    }

    /// Whether its person was removed from the agency since.
    pub fn is_older_than(&self, removal: Option<&Removal>) -> bool {
        removal.is_some_and(|removal| self.invited <= removal.removed)
    }

    /// Its status at this time for the person that it invites. The person's removal revokes a pending one.
    pub fn status_for(&self, removal: Option<&Removal>, now: &str) -> InvitationStatus {
        match self.status {
            InvitationStatus::Pending if self.is_older_than(removal) => InvitationStatus::Revoked,
            _ => self.status_at(now),
        }
    }

    /// What has become of it by now.
    pub fn status_at(&self, now: &str) -> InvitationStatus {
        match self.status {
            InvitationStatus::Pending if self.expires_at.as_str() <= now => InvitationStatus::Expired,
            status => status,
        }
    }
}

/// How long an invitation stands.
#[derive(Clone, Debug)]
pub struct Term {
    pub expires_at: String,
    /// When it is forgotten, in epoch seconds.
    pub forgotten: i64,
}
