//! The workers of jobs, one for each kind.

use ::jobs::{AnyWorker, Workers, run_message};
use bytes::Bytes;
use table::AccessPattern;
use web::{Event, EventFailure};

use super::delete_community::DeleteCommunity;
use super::delete_group_chat::DeleteGroupChat;
use super::leave_community::LeaveCommunity;
use super::{ChatJobs, Kind};
use crate::access::{
    BEGIN_JOB, DELETE_COMMUNITY, DELETE_GROUP_CHAT, DELETE_USER, EXPORT, LEASE, LEAVE_COMMUNITY, LIST_DUE,
};
use crate::erasure::DeleteUser;
use crate::exports::{Export, REMOVE_EXPORT, SENT_MESSAGES};
use crate::live::end::{CLOSE_CONNECTIONS, END_SUBSCRIPTIONS};
use crate::pictures::{REMOVE_PICTURES, REMOVE_UPLOADS};
use crate::sessions::end::END_SESSIONS;

impl Workers for ChatJobs {
    const PATTERNS: &'static [&'static AccessPattern] = &[
        &LIST_DUE,
        &LEASE,
        &LEAVE_COMMUNITY,
        &DELETE_GROUP_CHAT,
        &DELETE_COMMUNITY,
        &DELETE_USER,
        &REMOVE_PICTURES,
        &REMOVE_UPLOADS,
        &REMOVE_EXPORT,
        &EXPORT,
        &SENT_MESSAGES,
        &END_SESSIONS,
        &END_SUBSCRIPTIONS,
        &CLOSE_CONNECTIONS,
    ];

    fn worker(kind: Kind) -> Box<dyn AnyWorker<Self>> {
        match kind {
            Kind::LeaveCommunity => Box::new(LeaveCommunity),
            Kind::DeleteGroupChat => Box::new(DeleteGroupChat),
            Kind::DeleteCommunity => Box::new(DeleteCommunity),
            Kind::DeleteUser => Box::new(DeleteUser),
            Kind::Export => Box::new(Export::default()),
        }
    }
}

/// The access patterns of the handler `runJob`: those of the scheduled run without the list of due jobs, and the message
/// that continues a job at once.
pub const PATTERNS: &[&AccessPattern] = &[
    &LEASE,
    &BEGIN_JOB,
    &DELETE_GROUP_CHAT,
    &DELETE_COMMUNITY,
    &DELETE_USER,
    &REMOVE_PICTURES,
    &REMOVE_UPLOADS,
    &REMOVE_EXPORT,
    &EXPORT,
    &SENT_MESSAGES,
    &END_SESSIONS,
    &END_SUBSCRIPTIONS,
    &CLOSE_CONNECTIONS,
];

/// The handler `runJob`: works on the job of a message.
pub async fn run_job(event: Event) -> Result<Bytes, EventFailure> {
    run_message::<ChatJobs>(event).await
}
