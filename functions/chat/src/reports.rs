//! Reports about messages, people and communities: their items, and the operations on them.

pub mod create;
mod evidence;
pub mod get;
pub mod list;
mod moderated;
pub mod settle;
mod status;
mod view;

pub use evidence::Evidence;
use moderated::MODERATED;
pub use status::ReportStatus;
pub use view::ReportView;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use table::{Access, AccessPattern, EntityKey, Error, Key, Stored};
use utoipa::ToSchema;
use web::Kind;

use crate::keys::{ChatReportKey, CommunityReportKey, PlatformReportKey, ReportPlaceKey};
use crate::names::{ChatId, CommunityId, GroupChatId, ReportId, UserId};
use crate::schema::COMMUNITIES;

/// A second report of a user about one target.
pub const REPORTED: Kind = Kind::new(409, "reported", "Already reported");

pub const REPORT_SETTLED: Kind = Kind::new(409, "report-settled", "Report is settled");

/// The kind of target of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReportKind)]
pub enum TargetKind {
    Message,
    Person,
    Community,
}

/// Why something is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReportReason)]
pub enum Reason {
    Spam,
    Abuse,
    Danger,
    Other,
}

/// A measure about the message or the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Measure {
    DeleteMessage,
    /// Removes the person from the community.
    Remove,
    /// Bans the person from the community, or from the platform if the report has no community.
    Ban,
}

/// A report as the table stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Report {
    pub id: ReportId,
    pub reporter_id: UserId,
    pub kind: TargetKind,
    /// The id of the message, the user or the community.
    pub target_id: String,
    /// The chat of a message, as `groupchat/{id}` or `privatechat/{id}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_id: Option<String>,
    pub reason: Reason,
    /// At most 500 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The message as it was when it was reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    pub status: ReportStatus,
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled_by: Option<UserId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled_at: Option<String>,
    /// The measures about the person that a settled report still requires. They are taken after it is closed, so some are left if
    /// the request was stopped.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub pending_measures: BTreeSet<Measure>,
    /// Seconds since 1970.
    #[serde(rename = "expires")]
    pub expires: i64,
}

impl Report {
    /// Returns the person whom the report is about: the sender of the message, or the reported person.
    fn person(&self) -> Option<UserId> {
        match self.kind {
            TargetKind::Message => self.evidence.as_ref().map(|evidence| evidence.sender_id),
            TargetKind::Person => self.target_id.parse().ok(),
            TargetKind::Community => None,
        }
    }

    /// Returns the group chat of the message that the report is about.
    fn group_chat(&self) -> Option<GroupChatId> {
        match self.chat_id.as_ref()?.parse().ok()? {
            ChatId::Group(chat) => Some(chat),
            ChatId::Private(_) => None,
        }
    }
}

/// Where a report is, as its own item says, since its id names no community.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ReportPlace {
    /// Absent for the reports that only administrators see.
    #[serde(skip_serializing_if = "Option::is_none")]
    community_id: Option<CommunityId>,
    #[serde(rename = "expires")]
    expires: i64,
}

/// The row of a report in the list of its group chat. It has what its key says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct ChatReport {
    expires: i64,
}

/// The report of a user about a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Reported {
    pub report_id: ReportId,
    #[serde(rename = "expires")]
    expires: i64,
}

/// How long a report is kept, in seconds: 180 days.
const RETENTION_SECONDS: i64 = 180 * 24 * 3600;

/// Returns the key of a report, which has its status.
fn key(community: Option<CommunityId>, status: ReportStatus, report: ReportId) -> Key {
    let time = report.time();
    match community {
        Some(community) => CommunityReportKey { community, status, time, report }.key(),
        None => PlatformReportKey { status, time, report }.key(),
    }
}

/// Returns the key of a report in the list of its group chat.
fn chat_key(chat: GroupChatId, status: ReportStatus, report: ReportId) -> ChatReportKey {
    ChatReportKey { chat, status, time: report.time(), report }
}

/// Reads a report whose community is not known. The pattern declares `COMMUNITIES.get()` and `COMMUNITIES.batch_get()`.
pub async fn load(access: &Access, pattern: &'static AccessPattern, report: ReportId) -> Result<Option<Stored>, Error> {
    Ok(load_with_place(access, pattern, report).await?.map(|(_, stored)| stored))
}

/// Reads a report and the community whose moderators settle it. Its key has one of three statuses. A batch is not read
/// at one moment, so a report that is settled meanwhile may be missed under all of them. It is settled once, and a
/// second batch finds it.
async fn load_with_place(
    access: &Access,
    pattern: &'static AccessPattern,
    report: ReportId,
) -> Result<Option<(Option<CommunityId>, Stored)>, Error> {
    let communities = access.table(pattern, &COMMUNITIES);
    let Some(place) = communities.get_consistent(ReportPlaceKey { report }).await? else { return Ok(None) };
    let ReportPlace { community_id: community, .. } = place.read()?;
    let keys = ReportStatus::ALL.map(|status| key(community, status, report));
    for _ in 0..2 {
        if let Some(stored) = communities.batch_get_consistent(&keys).await?.into_iter().flatten().next() {
            return Ok(Some((community, stored)));
        }
    }
    Ok(None)
}
