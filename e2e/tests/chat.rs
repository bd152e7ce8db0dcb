//! The tests of chat, one file for each theme.

mod audit_logs;
mod communities;
pub mod conversation;
mod costs;
mod deletions;
mod endings;
mod erasure;
pub mod export;
mod follower;
mod generated;
mod group_chats;
mod herd;
mod history;
mod identity;
mod issuers;
mod large_chat;
mod leaks;
mod leaving;
mod live;
mod me;
mod messages;
mod notifications;
pub mod people;
pub mod pictures;
mod presence;
mod private_chats;
mod reactions;
mod reading;
mod reports;
mod requests;
mod resume;
mod retention;
mod search;
mod sessions;
pub mod stage;

use crate::harness::Test;

pub fn tests() -> Vec<Test> {
    let themes = [
        audit_logs::tests(),
        communities::tests(),
        costs::tests(),
        deletions::tests(),
        endings::tests(),
        erasure::tests(),
        export::tests(),
        generated::tests(),
        group_chats::tests(),
        herd::tests(),
        history::tests(),
        identity::tests(),
        issuers::tests(),
        large_chat::tests(),
        leaks::tests(),
        leaving::tests(),
        live::tests(),
        me::tests(),
        messages::tests(),
        notifications::tests(),
        pictures::tests(),
        presence::tests(),
        private_chats::tests(),
        reactions::tests(),
        reading::tests(),
        reports::tests(),
        requests::tests(),
        resume::tests(),
        search::tests(),
        retention::tests(),
        sessions::tests(),
    ];
    themes.into_iter().flatten().collect()
}
