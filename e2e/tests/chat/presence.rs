//! Presence: who is online, for whom.

use std::time::{Duration, Instant};

use chat::schema::{LIVE, USERS};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::conversation::private_chat;
use super::follower::{ask, follow, frame_of, frames_until_pong, group_chat_of, open};
use super::stage::{Chat, Member};
use crate::harness::table::Item;
use crate::harness::{Setup, Socket};
use crate::tests;

tests! { chat_presence:
    presence_is_told_at_the_subscription_and_at_each_change,
    last_seen_is_the_end_of_the_last_connection_however_late_it_is_handled,
    last_connection_that_ends_leaves_the_entity_tag_of_its_user,
    user_is_online_until_the_last_connection_ends,
    #[long] silent_socket_is_offline_within_eleven_minutes,
    block_ends_the_view_of_both_on_presence,
    members_who_follow_a_chat_are_listed_as_online,
    blocked_members_of_a_chat_do_not_see_each_other_online,
}

async fn told(socket: &mut Socket) -> Value {
    frame_of(socket, |frame| frame["type"] == "presence").await
}

async fn presence_is_told_at_the_subscription_and_at_each_change() {
    let chat = Chat::without_search().await;
    private_chat(&chat.ann, &chat.bob).await;
    let mut ann = open(&chat.ann).await;
    let feed = format!("presence/{}", chat.bob.id);
    ann.send(&json!({ "action": "subscribe", "id": "c1", "feeds": [{ "feed": feed }] })).await;
    let now = told(&mut ann).await;
    assert_eq!((&now["userId"], &now["online"]), (&json!(chat.bob.id), &json!(false)), "{now}");
    assert!(now["at"].is_string());
    let subscribed = frame_of(&mut ann, |frame| frame["id"] == "c1").await;
    assert_eq!(subscribed, json!({ "type": "subscribed", "id": "c1", "feed": feed }));
    let bob = open(&chat.bob).await;
    assert_eq!(told(&mut ann).await["online"], true);
    bob.close().await;
    assert_eq!(told(&mut ann).await["online"], false);
    let seen = format!("LASTSEEN#{}", chat.bob.id);
    let items = chat.cairn.table_of(&USERS).items().await;
    let item = items.into_iter().find(|item| item["pk"].as_s() == Ok(&seen)).unwrap();
    assert!(item.contains_key("LastSeenAt"), "{item:?}");
}

async fn last_seen_is_the_end_of_the_last_connection_however_late_it_is_handled() {
    let chat = Chat::without_stream_readers().await;
    let live = chat.cairn.table_of(&LIVE);
    let _socket = open(&chat.bob).await;
    let user = format!("USER#{}", chat.bob.id);
    let is_connection =
        |item: &Item| item["pk"].as_s() == Ok(&user) && item["sk"].as_s().is_ok_and(|sk| sk.starts_with("CONN#"));
    let row = live.items().await.into_iter().find(is_connection).unwrap();
    live.delete_item(&row).await;
    let mut removal = live.remove_record(&row, 0);
    let opened_at = Timestamp::from_millisecond(row["ConnectedAt"].as_n().unwrap().parse().unwrap()).unwrap();
    // DynamoDB deletes the row of an expired connection up to days later.
    let expires = Timestamp::from_second(row["expires"].as_n().unwrap().parse().unwrap()).unwrap();
    let an_hour_later = Timestamp::from_second(opened_at.as_second() + 3600).unwrap();
    let two_days_later = Timestamp::from_second(opened_at.as_second() + 2 * 86_400).unwrap();
    let key = format!("LASTSEEN#{}", chat.bob.id);
    for (removed_at, seen_at) in [(an_hour_later, an_hour_later), (two_days_later, expires)] {
        removal["dynamodb"]["ApproximateCreationDateTime"] = json!(removed_at.as_second());
        chat.cairn.event("chat", "live", &json!({ "Records": [removal] })).await.unwrap();
        let item = chat.cairn.table_of(&USERS).get(&key, "").await.unwrap();
        assert_eq!(item["LastSeenAt"].as_s().unwrap(), &format!("{seen_at:.3}"));
    }
    // Another connection expired earlier, and its row is deleted later still.
    let mut older = row;
    older.insert("expires".to_owned(), table::item::number(an_hour_later.as_second()));
    let mut removal = live.remove_record(&older, 1);
    removal["dynamodb"]["ApproximateCreationDateTime"] = json!(two_days_later.as_second() + 3600);
    chat.cairn.event("chat", "live", &json!({ "Records": [removal] })).await.unwrap();
    let item = chat.cairn.table_of(&USERS).get(&key, "").await.unwrap();
    assert_eq!(item["LastSeenAt"].as_s().unwrap(), &format!("{expires:.3}"));
}

async fn last_connection_that_ends_leaves_the_entity_tag_of_its_user() {
    let chat = Chat::without_search().await;
    private_chat(&chat.ann, &chat.bob).await;
    let mut ann = open(&chat.ann).await;
    follow(&mut ann, &format!("presence/{}", chat.bob.id)).await;
    let (path, own) = (format!("/chat/users/{}", chat.bob.id), chat.bob.user.get("/chat/me").await.is(200).tag());
    let seen = chat.cy.user.get(&path).await.is(200).tag();
    open(&chat.bob).await.close().await;
    // The function writes the time before it sends this frame.
    frame_of(&mut ann, |frame| frame["type"] == "presence" && frame["online"] == false).await;
    chat.cairn.caught_up().await;
    assert_eq!(chat.cy.user.get(&path).await.is(200).tag(), seen);
    chat.bob.user.patch("/chat/me", json!({ "bio": "Moss" })).if_match(&own).await.is(200);
}

async fn user_is_online_until_the_last_connection_ends() {
    let chat = Chat::without_search().await;
    private_chat(&chat.ann, &chat.bob).await;
    let (first, second) = (open(&chat.bob).await, open(&chat.bob).await);
    chat.cairn.caught_up().await;
    let mut ann = open(&chat.ann).await;
    follow(&mut ann, &format!("presence/{}", chat.bob.id)).await;
    first.close().await;
    let third = open(&chat.bob).await;
    second.cut();
    chat.cairn.caught_up().await;
    // A presence may be told again, but bob was never offline.
    for frame in frames_until_pong(&mut ann).await {
        assert_eq!(frame["online"], true, "{frame}");
    }
    third.cut();
    assert_eq!(told(&mut ann).await["online"], false);
}

async fn silent_socket_is_offline_within_eleven_minutes() {
    // API Gateway closes a connection after ten idle minutes, which are three seconds here. The eleventh minute is left for
    // `$disconnect` and what follows from it.
    let (idle_timeout, rest) = (Duration::from_secs(3), Duration::from_secs(60));
    let sockets = local::socket::Settings { idle_timeout, ..local::socket::Settings::default() };
    let chat = Chat::with(Setup { sockets, without: vec![::mirror::HANDLER], ..Setup::of("chat") }).await;
    private_chat(&chat.ann, &chat.bob).await;
    let mut ann = open(&chat.ann).await;
    follow(&mut ann, &format!("presence/{}", chat.bob.id)).await;
    let mut bob = open(&chat.bob).await;
    let silent_since = Instant::now();
    let mut seen = Vec::new();
    // Ann's pings keep her own connection open. No frame is skipped, since one of them says that bob is offline.
    while seen.last() != Some(&json!(false)) {
        ann.send(&json!({ "action": "ping", "id": "p" })).await;
        while let Some(frame) = ann.next_within(Duration::from_millis(200)).await {
            if frame["type"] == "presence" {
                assert_eq!(frame["userId"], chat.bob.id);
                seen.push(frame["online"].clone());
            }
        }
        assert!(silent_since.elapsed() < idle_timeout + rest, "bob is still online: {seen:?}");
    }
    bob.ended().await;
}

async fn block_ends_the_view_of_both_on_presence() {
    let chat = Chat::without_search().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let (mut ann, mut bob) = (open(&chat.ann).await, open(&chat.bob).await);
    let (of_ann, of_bob) = (format!("presence/{}", chat.ann.id), format!("presence/{}", chat.bob.id));
    follow(&mut ann, &of_bob).await;
    follow(&mut bob, &of_ann).await;
    chat.ann.puts(&format!("{path}/block")).await.is(204);
    for (socket, feed) in [(&mut ann, &of_bob), (&mut bob, &of_ann)] {
        let ended = frame_of(socket, |frame| frame["type"] == "unsubscribed").await;
        assert_eq!(ended, json!({ "type": "unsubscribed", "id": null, "feed": feed, "reason": "removed" }));
        let refused = ask(socket, json!({ "action": "subscribe", "id": "c1", "feeds": [{ "feed": feed }] })).await;
        assert_eq!(refused["code"], "forbidden", "{refused}");
    }
    chat.ann.user.delete(&format!("{path}/block")).await.is(204);
    follow(&mut bob, &of_ann).await;
}

async fn members_who_follow_a_chat_are_listed_as_online() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let path = format!("/chat/groupchats/{group}/online");
    assert_eq!(chat.ann.user.get(&path).await.is(200).body, json!({ "count": 0, "userIds": [] }));
    let feed = format!("groupchat/{group}");
    let (mut first, mut second) = (open(&chat.bob).await, open(&chat.bob).await);
    follow(&mut first, &feed).await;
    follow(&mut second, &feed).await;
    let online = json!({ "count": 1, "userIds": [chat.bob.id] });
    assert_eq!(chat.ann.user.get(&path).await.is(200).body, online);
    chat.cy.user.get(&path).await.refused(404, "not-found");
}

async fn blocked_members_of_a_chat_do_not_see_each_other_online() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob, &chat.cy]).await;
    let private = private_chat(&chat.ann, &chat.bob).await;
    private_chat(&chat.ann, &chat.cy).await;
    let (mut ann, mut bob, mut cy) = (open(&chat.ann).await, open(&chat.bob).await, open(&chat.cy).await);
    for socket in [&mut ann, &mut bob, &mut cy] {
        follow(socket, &format!("groupchat/{group}")).await;
    }
    let sees = async |member: &Member, others: &[&Member]| {
        let online = member.user.get(&format!("/chat/groupchats/{group}/online")).await.is(200);
        let mut expected: Vec<&str> = others.iter().map(|other| other.id.as_str()).collect();
        expected.sort_unstable();
        assert_eq!(online.body, json!({ "count": expected.len(), "userIds": expected }));
    };
    sees(&chat.ann, &[&chat.ann, &chat.bob, &chat.cy]).await;
    chat.bob.puts(&format!("{private}/block")).await.is(204);
    sees(&chat.ann, &[&chat.ann, &chat.cy]).await;
    sees(&chat.bob, &[&chat.bob, &chat.cy]).await;
    sees(&chat.cy, &[&chat.ann, &chat.bob, &chat.cy]).await;
    chat.bob.user.delete(&format!("{private}/block")).await.is(204);
    sees(&chat.ann, &[&chat.ann, &chat.bob, &chat.cy]).await;
}
