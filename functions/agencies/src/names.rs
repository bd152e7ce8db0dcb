//! Ids and enumerations.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_with::{DeserializeFromStr, SerializeDisplay};
use table::part::NotAPart;
use utoipa::ToSchema;
use uuid::Uuid;

/// An agency's id: 1 to 64 letters, digits, `_` or `-`. New ones are UUIDs of version 7.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, SerializeDisplay, DeserializeFromStr)]
pub struct AgencyId(String);

impl AgencyId {
    pub const EXPECTED: &str = "1 to 64 letters, digits, `_` or `-`";

    pub fn new() -> Self {
        Self(Uuid::now_v7().to_string())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for AgencyId {
    fn default() -> Self {
        Self::new()
    }
}

impl FromStr for AgencyId {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if (1..=64).contains(&text.len()) && text.bytes().all(fits) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAPart(Self::EXPECTED))
        }
    }
}

impl fmt::Display for AgencyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl table::KeyPart for AgencyId {}

/// The role of a member in an agency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// May update the agency, its members and its invitations.
    Admin,
    #[default]
    Member,
}

impl Role {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Member => "member",
        }
    }

    /// The number that a member in this role adds to the count of administrators.
    pub const fn admins(self) -> i64 {
        match self {
            Self::Admin => 1,
            Self::Member => 0,
        }
    }
}

/// The status of a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum MemberStatus {
    #[default]
    Active,
    /// Keeps the membership, but the agency is absent to this person.
    Suspended,
}

impl MemberStatus {
    pub fn is_active(&self) -> bool {
        *self == Self::Active
    }
}

/// The status of an agency. Its administrators may change it only while it is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Pending,
    Active,
    Inactive,
}

impl Status {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Active => "active",
            Self::Inactive => "inactive",
        }
    }
}

/// The status of an invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum InvitationStatus {
    Pending,
    Accepted,
    Declined,
    Revoked,
    /// A pending invitation after its end; never stored.
    Expired,
}

impl InvitationStatus {
    /// Whether the invited person can still decline the invitation.
    pub const fn is_unsettled(self) -> bool {
        matches!(self, Self::Pending | Self::Expired)
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Accepted => "accepted",
            Self::Declined => "declined",
            Self::Revoked => "revoked",
            Self::Expired => "expired",
        }
    }
}
