//! The deletion of a group chat: its contents in batches, and the chat itself last.

use ::jobs::{Counts, Step, Then, Worker};
use table::{Access, Action};
use web::Problem;

use super::group_chat_contents::Contents;
use super::{ChatJobs, Lease};
use crate::access::DELETE_GROUP_CHAT;
use crate::keys::GroupChatKey;
use crate::schema::GROUP_CHATS;

#[derive(Debug)]
pub struct DeleteGroupChat;

impl Worker<ChatJobs> for DeleteGroupChat {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let Some(chat) = lease.job.details.chat else {
            return Ok(Step::fail(&lease.job, "The job names no group chat."));
        };
        let mut contents: Contents = lease.job.checkpoint::<Option<Contents>>()?.unwrap_or_default();
        let done = lease.job.counts.done;
        if let Some(batch) = contents.next(access, &DELETE_GROUP_CHAT, chat).await? {
            let done = done + batch.items;
            return Step::new(batch.actions, &Some(contents), Counts::new(done, done), Then::Continue);
        }
        let last = vec![Action::delete(&GROUP_CHATS, GroupChatKey { chat }).or_absent()];
        Step::new(last, &Some(contents), Counts::new(done, done), Then::Succeed)
    }
}
