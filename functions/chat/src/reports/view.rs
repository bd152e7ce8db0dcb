//! Reports in responses.

use serde::Serialize;
use utoipa::ToSchema;

use super::{Evidence, Reason, Report, ReportStatus, TargetKind};
use crate::names::{CommunityId, ReportId, UserId};

/// A report. The reporter sees neither the evidence nor who has settled it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Report)]
pub struct ReportView {
    pub id: ReportId,
    kind: TargetKind,
    /// The id of the message, the user or the community.
    target_id: String,
    /// The chat of a message, as `groupchat/{id}` or `privatechat/{id}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    chat: Option<String>,
    /// The community whose moderators settle the report. Absent if administrators do.
    #[serde(skip_serializing_if = "Option::is_none")]
    community_id: Option<CommunityId>,
    reporter_id: UserId,
    reason: Reason,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<EvidenceView>,
    status: ReportStatus,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    settled_by: Option<UserId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    settled_at: Option<String>,
}

/// A message as it was when it was reported.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Evidence)]
struct EvidenceView {
    sender_id: UserId,
    /// Null if the message was deleted before.
    #[schema(required = true)]
    content: Option<String>,
    /// Whether the content was longer.
    truncated: bool,
    created_at: String,
    #[schema(required = true)]
    edited_at: Option<String>,
}

impl ReportView {
    /// Returns what a moderator or an administrator sees.
    pub fn new(community_id: Option<CommunityId>, report: Report) -> Self {
        Self {
            id: report.id,
            kind: report.kind,
            target_id: report.target_id,
            chat: report.chat_id,
            community_id,
            reporter_id: report.reporter_id,
            reason: report.reason,
            note: report.note,
            evidence: report.evidence.map(EvidenceView::from),
            status: report.status,
            created_at: report.created_at,
            settled_by: report.settled_by,
            settled_at: report.settled_at,
        }
    }

    /// Returns what the reporter sees.
    pub fn of_reporter(community_id: Option<CommunityId>, report: Report) -> Self {
        Self { evidence: None, settled_by: None, ..Self::new(community_id, report) }
    }

    /// Returns the people whom the report names.
    pub fn people(&self) -> impl Iterator<Item = UserId> + use<> {
        let target = if self.kind == TargetKind::Person { self.target_id.parse().ok() } else { None };
        let sender = self.evidence.as_ref().map(|evidence| evidence.sender_id);
        [Some(self.reporter_id), target, sender, self.settled_by].into_iter().flatten()
    }
}

impl From<Evidence> for EvidenceView {
    fn from(evidence: Evidence) -> Self {
        let Evidence { sender_id, content, truncated, created_at, edited_at } = evidence;
        Self { sender_id, content, truncated, created_at, edited_at }
    }
}
