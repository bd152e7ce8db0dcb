//! The jobs of chat: where they are stored, and which kinds there are.

mod delete_community;
mod delete_group_chat;
pub mod get;
mod group_chat_contents;
pub mod leave_community;
mod workers;

pub use workers::{PATTERNS, run_job};

use ::jobs::{DueIndex, JobId, JobQueue, Jobs};
use serde::{Deserialize, Serialize};
use table::AccessPattern;
use table::schema::Table;
use utoipa::ToSchema;

use crate::access::{
    BEGIN_JOB, DELETE_COMMUNITY, DELETE_GROUP_CHAT, DELETE_USER, EXPORT, LEASE, LEAVE_COMMUNITY, LIST_DUE,
};
use crate::names::{CommunityId, GroupChatId, UserId};
use crate::schema::{DUE_INDEX, LIVE, QUEUE};

#[derive(Debug)]
pub struct ChatJobs;

pub type NewJob = ::jobs::NewJob<ChatJobs>;
pub type Lease = ::jobs::Lease<ChatJobs>;

/// The kind of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JobKind)]
pub enum Kind {
    /// Finishes the leaving of a community, in all its group chats.
    LeaveCommunity,
    DeleteGroupChat,
    DeleteCommunity,
    /// Deletes what belongs to a deleted user.
    DeleteUser,
    /// Writes all that is stored about a user into a file.
    Export,
}

/// The community or the group chat of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JobDetails)]
pub struct Details {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub community: Option<CommunityId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat: Option<GroupChatId>,
}

impl Jobs for ChatJobs {
    /// The user on whose behalf the job works.
    type Group = UserId;
    type Kind = Kind;
    type Details = Details;

    const TABLE: &'static Table = &LIVE;
    const DUE: DueIndex = DueIndex { index: DUE_INDEX, partition: "due" };
    const LEASE: &'static AccessPattern = &LEASE;
    const LIST_DUE: &'static AccessPattern = &LIST_DUE;
    const QUEUE: Option<JobQueue> = Some(JobQueue { name: QUEUE, pattern: &BEGIN_JOB });

    fn href(_: &UserId, job: JobId) -> String {
        format!("/chat/me/jobs/{job}")
    }

    fn step_pattern(kind: Kind) -> &'static AccessPattern {
        match kind {
            Kind::LeaveCommunity => &LEAVE_COMMUNITY,
            Kind::DeleteGroupChat => &DELETE_GROUP_CHAT,
            Kind::DeleteCommunity => &DELETE_COMMUNITY,
            Kind::DeleteUser => &DELETE_USER,
            Kind::Export => &EXPORT,
        }
    }
}
