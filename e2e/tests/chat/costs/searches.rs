//! Searches, each with a page of hits.

use super::Stage;
use crate::chat::conversation::chat_of;
use crate::chat::stage::Chat;

pub async fn measure(stage: &mut Stage) {
    let Stage { chat: Chat { cairn, ann, .. }, group, measured, .. } = stage;
    cairn.caught_up().await;
    let mut search = async |what, query: &str| {
        let found = measured.of(what, ann.user.get(&format!("/chat/search/{query}")), 200).await;
        assert_eq!(found["items"].as_array().unwrap().len(), 25, "{what}");
    };
    // The newest messages are in private chats.
    search("search the messages, with 25 hits in private chats", "messages?q=mosses").await;
    let in_group = format!("messages?q=mosses&chat={}", chat_of(group));
    search("search the messages, with 25 hits in a group chat", &in_group).await;
    search("search the communities, with 25 hits", "communities?q=mosses").await;
    search("search the group chats, with 25 hits", "groupchats?q=mosses").await;
    search("search the users, with 25 hits", "users?q=many").await;
}
