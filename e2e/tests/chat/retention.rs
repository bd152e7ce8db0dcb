//! The daily run that deletes messages which are older than their community keeps them.

use std::time::Duration;

use chat::schema::{APPLY_RETENTION, COMMUNITIES, GROUP_CHATS};
use serde_json::json;
use table::{Config, Engines};
use tokio::time::Instant;

use super::conversation::{react, send, write_messages};
use super::stage::Chat;
use crate::harness::stopper::{Moment, Stopper, WRITES};
use crate::harness::{Answer, sized};
use crate::tests;

tests! { chat_retention:
    #[long] old_messages_become_placeholders_and_newer_ones_stay,
    community_without_days_keeps_its_messages,
    #[long] run_killed_at_each_write_is_finished_by_the_next,
}

const DAY: i64 = 24 * 60 * 60 * 1000;

/// Creates a community of ann, and returns its path and that of its group chat.
async fn community(chat: &Chat) -> (String, String) {
    let community = chat.ann.creates_community().await;
    let group = chat.ann.creates_group_chat(&community, json!({ "name": "Bogs" })).await;
    (format!("/chat/communities/{community}"), format!("/chat/groupchats/{group}"))
}

/// Writes messages that are this many days old.
async fn write(chat: &Chat, group: &str, days: i64, count: i64) -> Vec<String> {
    let begin = chat.cairn.clock.micros() / 1000 - days * DAY;
    write_messages(chat, group, &chat.ann, (0..count).map(|number| begin + number)).await
}

async fn set_days(chat: &Chat, community: &str, days: Option<u32>) {
    chat.ann.user.patch(community, json!({ "retentionDays": days })).await.is(200);
}

async fn apply(chat: &Chat) {
    chat.cairn.event("chat", APPLY_RETENTION, &json!({})).await.unwrap();
}

async fn get(chat: &Chat, group: &str, message: &str) -> Answer {
    chat.ann.user.get(&format!("{group}/messages/{message}")).await.is(200)
}

/// Returns the number of a table's items whose key begins so.
async fn count(chat: &Chat, table: &'static table::schema::Table, attribute: &str, begin: &str) -> usize {
    let items = chat.cairn.table_of(table).items().await;
    items.iter().filter(|item| item[attribute].as_s().unwrap().starts_with(begin)).count()
}

async fn old_messages_become_placeholders_and_newer_ones_stay() {
    let chat = Chat::new().await;
    let (community, group) = community(&chat).await;
    // More than a page of the run.
    let old = write(&chat, &group, 10, 130).await;
    let newer = write(&chat, &group, 6, 3).await;
    let reacted = format!("{group}/messages/{}", old[7]);
    react(&chat.ann.user, &reacted, ":x:").await.is(204);
    // One was deleted by its sender before.
    chat.ann.user.delete(&format!("{group}/messages/{}", old[9])).await.is(204);
    set_days(&chat, &community, Some(7)).await;
    apply(&chat).await;
    for message in [&old[0], &old[7], &old[99], &old[129]] {
        let placeholder = get(&chat, &group, message).await;
        assert_eq!((&placeholder["content"], &placeholder["reactions"]), (&json!(null), &json!({})), "{message}");
        assert!(placeholder["deletedAt"].is_string() && placeholder["deletedBy"].is_null());
    }
    assert_eq!(get(&chat, &group, &old[9]).await["deletedBy"], json!(chat.ann.id));
    assert_eq!(count(&chat, &GROUP_CHATS, "sk", "REACTION#").await, 0);
    for message in &newer {
        assert!(get(&chat, &group, message).await["content"].is_string());
    }
    // Another run changes nothing. Two days later, the others are too old as well.
    let before = get(&chat, &group, &old[0]).await.rev();
    apply(&chat).await;
    assert_eq!(get(&chat, &group, &old[0]).await.rev(), before);
    chat.cairn.caught_up().await;
    chat.cairn.clock.advance(Duration::from_secs(2 * 24 * 60 * 60));
    apply(&chat).await;
    assert!(get(&chat, &group, &newer[2]).await["content"].is_null());
    assert_eq!(get(&chat, &group, &old[0]).await.rev(), before);
}

async fn community_without_days_keeps_its_messages() {
    let chat = Chat::new().await;
    let (first, group) = community(&chat).await;
    let (_, other) = community(&chat).await;
    let old = write(&chat, &group, 4000, 3).await;
    let of_other = write(&chat, &other, 4000, 3).await;
    set_days(&chat, &first, Some(3650)).await;
    set_days(&chat, &first, None).await;
    assert_eq!(count(&chat, &COMMUNITIES, "pk", "RETENTION").await, 1);
    apply(&chat).await;
    assert_eq!(count(&chat, &COMMUNITIES, "pk", "RETENTION").await, 0);
    assert!(get(&chat, &group, &old[0]).await["content"].is_string());
    set_days(&chat, &first, Some(1)).await;
    let sent = send(&chat.ann.user, &group, "hi").await;
    apply(&chat).await;
    assert!(get(&chat, &group, &old[0]).await["content"].is_null());
    assert!(get(&chat, &group, sent.text("id")).await["content"].is_string());
    assert!(get(&chat, &other, &of_other[0]).await["content"].is_string());
    chat.ann.user.patch(&first, json!({ "retentionDays": 0 })).await.faulty(&["/retentionDays"]);
}

/// Runs the handler as a function that dies at this write. Returns the number of writes.
async fn run(chat: &Chat, dies: Option<(usize, Moment)>) -> usize {
    let config = chat.cairn.engines().config.clone();
    let stopper = Stopper::of(WRITES, config.dynamodb.clone().unwrap(), dies).await;
    let config = Config { dynamodb: Some(stopper.url.clone()), ..config };
    let app = ::chat::app(Engines::new(config, chat.cairn.clock.clone())).metrics_to(|_| {});
    let deadline = Instant::now() + Duration::from_secs(60);
    tokio::select! {
        done = app.event(APPLY_RETENTION, "{}".into(), deadline) => drop(done.unwrap()),
        () = stopper.stopped() => {}
    }
    stopper.writes()
}

async fn run_killed_at_each_write_is_finished_by_the_next() {
    let chat = Chat::new().await;
    let (community, group) = community(&chat).await;
    set_days(&chat, &community, Some(1)).await;
    // The platform's own run would do the work of the one that is killed.
    chat.cairn.engines().wind_down();
    let attempt = async |dies: Option<(usize, Moment)>| {
        // Each attempt has younger messages than the one before, since a run does not look back.
        let old = write(&chat, &group, 3, sized(2, 12)).await;
        for message in &old[..2] {
            react(&chat.ann.user, &format!("{group}/messages/{message}"), ":x:").await.is(204);
        }
        let writes = run(&chat, dies).await;
        if dies.is_some() {
            run(&chat, None).await;
        }
        for message in &old {
            assert!(get(&chat, &group, message).await["content"].is_null(), "{dies:?}");
        }
        assert_eq!(count(&chat, &GROUP_CHATS, "sk", "REACTION#").await, 0, "{dies:?}");
        writes
    };
    let writes = attempt(None).await;
    assert!(writes >= 5, "{writes}");
    for held in 0..writes {
        for moment in Moment::BOTH {
            attempt(Some((held, moment))).await;
        }
    }
}
