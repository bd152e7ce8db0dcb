//! The audit log: who did what to whom in a community, or on the platform, and why. Entries are written in the
//! transaction of what they tell.

pub mod list;

use serde::{Deserialize, Serialize};
use table::{Action, Clock, Error};
use utoipa::ToSchema;

use crate::keys::{CommunityAuditKey, PlatformAuditKey};
use crate::names::{AuditId, CommunityId, UserId};
use crate::schema::COMMUNITIES;

/// Where an entry is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Log {
    /// For the moderators of a community.
    Community(CommunityId),
    /// For administrators, as of private chats and people.
    Platform,
}

/// The kind of an action of a moderator or an administrator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum AuditedAction {
    RemoveMember,
    BanMember,
    UnbanMember,
    BanUser,
    UnbanUser,
    DeleteMessage,
    DeleteGroupChat,
    DeleteCommunity,
    SetModerator,
    UnsetModerator,
    HandOver,
    SetRole,
    CreatePasswordReset,
    SettleReport,
}

impl AuditedAction {
    /// Whether the target of the action is a person.
    fn is_on_person(self) -> bool {
        match self {
            Self::RemoveMember
            | Self::BanMember
            | Self::UnbanMember
            | Self::BanUser
            | Self::UnbanUser
            | Self::SetModerator
            | Self::UnsetModerator
            | Self::HandOver
            | Self::SetRole
            | Self::CreatePasswordReset => true,
            Self::DeleteMessage | Self::DeleteGroupChat | Self::DeleteCommunity | Self::SettleReport => false,
        }
    }
}

/// An entry as the table stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct AuditEntry {
    pub id: AuditId,
    pub actor_id: UserId,
    pub action: AuditedAction,
    /// The id of the person, message, chat, community or report.
    pub target_id: String,
    /// At most 200 characters.
    pub reason: String,
    pub created_at: String,
}

/// The reason of an operation whose body has none.
#[derive(Debug, Deserialize, ToSchema)]
pub struct ReasonQuery {
    /// Why, for the audit log.
    #[schema(max_length = 200)]
    reason: Option<String>,
}

impl ReasonQuery {
    /// Returns the reason, empty if none was given.
    pub fn text(&self) -> &str {
        self.reason.as_deref().unwrap_or_default()
    }
}

/// Returns the creation of an entry. Its transaction declares `COMMUNITIES.put()`.
pub fn entry(
    clock: &Clock,
    log: Log,
    actor: UserId,
    action: AuditedAction,
    target: impl ToString,
    reason: &str,
) -> Result<Action, Error> {
    let id = AuditId::now(clock);
    let time = id.time();
    let entry = AuditEntry {
        id,
        actor_id: actor,
        action,
        target_id: target.to_string(),
        reason: reason.to_owned(),
        created_at: time.to_string(),
    };
    match log {
        Log::Community(community) => {
            Action::create(&COMMUNITIES, CommunityAuditKey { community, time, entry: id }, &entry)
        }
        Log::Platform => Action::create(&COMMUNITIES, PlatformAuditKey { time, entry: id }, &entry),
    }
}
