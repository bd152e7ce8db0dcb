//! Requests to join private group chats: their items, and the operations on them.

pub mod approve;
pub mod create;
pub mod deny;
pub mod get;
pub mod list;
mod load;
pub mod mark_seen;
pub mod settling;
pub mod withdraw;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use web::{Kind, Problem};

use crate::names::{GroupChatId, Millisecond, RequestId, UserId};

const OF_CHAT: &str = "/chat/groupchats/{chatId}/requests";
const ONE: &str = "/chat/groupchats/{chatId}/requests/{requestId}";
const OF_ME: &str = "/chat/me/requests";
const MY_REQUEST: &str = "/chat/me/requests/{requestId}";

const SAMPLE_OF_CHAT: &str = "/chat/groupchats/019b76da-a800-7000-8000-000000000021/requests";
const SAMPLE: &str =
    "/chat/groupchats/019b76da-a800-7000-8000-000000000021/requests/019b76da-a800-7000-8000-000000000051";
const SAMPLE_MINE: &str = "/chat/me/requests/019b76da-a800-7000-8000-000000000051";

pub const MEMBER: Kind = Kind::new(409, "member", "Member already");
pub const NOT_PRIVATE: Kind = Kind::new(409, "not-private", "Group chat is not private");
pub const REQUEST_PENDING: Kind = Kind::new(409, "request-pending", "Request is pending");
pub const REQUEST_SETTLED: Kind = Kind::new(409, "request-settled", "Request is settled");
pub const TOO_SOON: Kind = Kind::new(409, "too-soon", "Too soon to ask again");

/// The path of a request at a chat.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatRequestPath {
    #[schema(value_type = String, example = "019b76da-a800-7000-8000-000000000021")]
    pub chat_id: GroupChatId,
    #[schema(value_type = String, example = "019b76da-a800-7000-8000-000000000051")]
    pub request_id: RequestId,
}

/// The path of a request of the caller.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestPath {
    #[schema(value_type = String, example = "019b76da-a800-7000-8000-000000000051")]
    pub request_id: RequestId,
}

/// A request in responses.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ChatRequest)]
pub struct RequestView {
    pub id: RequestId,
    pub user_id: UserId,
    pub chat_id: GroupChatId,
    pub status: RequestStatus,
    /// Whether a moderator has seen the request.
    pub seen: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled_by: Option<UserId>,
}

impl From<ChatRequest> for RequestView {
    fn from(request: ChatRequest) -> Self {
        Self {
            id: request.id,
            user_id: request.user_id,
            chat_id: request.chat_id,
            status: request.status,
            seen: request.seen,
            note: request.note,
            created_at: request.created_at,
            settled_at: request.settled_at,
            settled_by: request.settled_by,
        }
    }
}

/// How a request ends: with which status, by whom and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settlement {
    pub status: RequestStatus,
    pub by: UserId,
    pub at: Millisecond,
}

fn settled(status: RequestStatus) -> Problem {
    REQUEST_SETTLED.because(format!("The request is {}.", status.as_str())).with("requestStatus", status.as_str())
}

/// The status of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum RequestStatus {
    Pending,
    Approved,
    Denied,
    Withdrawn,
}

impl RequestStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// A request as the table stores it, twice alike: in the partition of its user and in that of its chat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ChatRequest {
    pub id: RequestId,
    pub user_id: UserId,
    pub chat_id: GroupChatId,
    pub status: RequestStatus,
    /// The id again, while the request is pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_id: Option<RequestId>,
    pub seen: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled_by: Option<UserId>,
}

impl ChatRequest {
    /// Returns the request after its settlement.
    pub fn settled(self, settlement: Settlement) -> Self {
        let Settlement { status, by, at } = settlement;
        Self { status, pending_id: None, settled_at: Some(at.to_string()), settled_by: Some(by), ..self }
    }
}

/// The guard of a user's requests at a chat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct RequestGuard {
    pub request_id: RequestId,
    /// When the user may ask again, after a denial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before: Option<String>,
}
