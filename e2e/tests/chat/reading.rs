//! Read positions, unread counts, readers, and the preferences of a member.

use chat::group_chats::ChatMember;
use chat::keys::{member_key, message_key};
use chat::messages::Message;
use chat::names::{MessageId, UserId};
use chat::schema::GROUP_CHATS;
use serde_json::json;

use super::conversation::{
    both_kinds, change_member, chat_of, group_chat, new_key, private_chat, send, user_id, write_messages,
};
use super::stage::{Chat, id, names};
use crate::harness::sized;
use crate::harness::table::stored;
use crate::tests;

tests! { chat_reading:
    position_moves_forward_only,
    own_messages_are_read,
    unread_messages_are_counted_up_to_100,
    messages_from_before_joining_are_not_unread,
    marking_a_message_from_before_joining_changes_nothing,
    marking_read_leaves_the_mentions_that_follow,
    mentions_beyond_100_unread_messages_stay_counted,
    #[long] mentions_in_more_than_1000_read_messages_stay_counted_until_few_are_unread,
    private_chat_shows_the_position_of_the_other,
    position_at_a_message_of_another_chat_is_refused,
    readers_are_the_members_at_or_past_a_message,
    #[long] few_readers_among_many_members_are_found_in_one_page,
    muted_and_hidden_chat_keeps_its_counts,
    time_of_muting_that_is_no_time_is_refused,
}

async fn position_moves_forward_only() {
    let chat = Chat::without_stream_readers().await;
    for path in both_kinds(&chat).await {
        let first = id(&send(&chat.ann.user, &path, "one").await);
        let second = id(&send(&chat.ann.user, &path, "two").await);
        send(&chat.ann.user, &path, "three").await;
        let state = || chat.bob.user.get(&format!("{path}/read"));
        let fresh = state().await.is(200);
        assert_eq!((&fresh["unreadCount"], fresh["lastReadId"].is_null()), (&json!(3), true));
        let mark = |message: &str| chat.bob.user.put(&format!("{path}/read"), json!({ "upTo": message }));
        let marked = mark(&second).await.is(200);
        assert_eq!((marked.text("lastReadId"), &marked["unreadCount"]), (second.as_str(), &json!(1)));
        let back = mark(&first).await.is(200);
        assert_eq!(back.body, marked.body);
        assert_eq!(state().await.is(200).body, marked.body);
        // Of two who mark at once, the later position stays.
        let third = id(&send(&chat.ann.user, &path, "four").await);
        let (one, other) = tokio::join!(mark(&third).into_future(), mark(&second).into_future());
        one.is(200);
        other.is(200);
        assert_eq!(state().await.is(200).text("lastReadId"), third);
    }
}

async fn own_messages_are_read() {
    let chat = Chat::without_stream_readers().await;
    for path in both_kinds(&chat).await {
        send(&chat.bob.user, &path, "one").await;
        let own = id(&send(&chat.ann.user, &path, "two").await);
        let state = chat.ann.user.get(&format!("{path}/read")).await.is(200);
        assert_eq!((state.text("lastReadId"), &state["unreadCount"]), (own.as_str(), &json!(0)));
        // A placeholder counts as a message.
        let deleted = send(&chat.bob.user, &path, "three").await.header("location").to_owned();
        chat.bob.user.delete(&deleted).await.is(204);
        assert_eq!(chat.ann.user.get(&format!("{path}/read")).await.is(200)["unreadCount"], 1);
    }
}

async fn unread_messages_are_counted_up_to_100() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let now = chat.cairn.clock.micros() / 1000;
    let written = write_messages(&chat, &path, &chat.ann, (0..130).map(|number| now + number)).await;
    let state = chat.bob.user.get(&format!("{path}/read")).await.is(200);
    assert_eq!(state["unreadCount"], 100);
    for (at, unread) in [(10, 100), (29, 100), (30, 99), (129, 0)] {
        let marked = chat.bob.user.put(&format!("{path}/read"), json!({ "upTo": written[at] })).await.is(200);
        assert_eq!(marked["unreadCount"], json!(unread), "{at}");
    }
}

async fn messages_from_before_joining_are_not_unread() {
    let chat = Chat::without_stream_readers().await;
    let path = group_chat(&chat, &[&chat.ann, &chat.bob]).await;
    let first = send(&chat.ann.user, &path, "one").await;
    let later = first.text("id").parse::<MessageId>().unwrap().time().millis() + 1;
    let joined = chat::names::Millisecond::at(later).unwrap().to_string();
    change_member(&chat, &path, &chat.bob, |bob| bob.joined_at = joined).await;
    assert_eq!(chat.bob.user.get(&format!("{path}/read")).await.is(200)["unreadCount"], 0);
    // The member can read them nevertheless.
    chat.bob.user.get(first.header("location")).await.is(200);
    write_messages(&chat, &path, &chat.ann, [later].into_iter()).await;
    assert_eq!(chat.bob.user.get(&format!("{path}/read")).await.is(200)["unreadCount"], 1);
}

async fn marking_a_message_from_before_joining_changes_nothing() {
    let chat = Chat::without_stream_readers().await;
    let path = group_chat(&chat, &[&chat.ann, &chat.bob]).await;
    let first = id(&send(&chat.ann.user, &path, "one").await);
    let before = id(&send(&chat.ann.user, &path, "two").await);
    let joined_at = before.parse::<MessageId>().unwrap().time().millis() + 1;
    let joined = chat::names::Millisecond::at(joined_at).unwrap().to_string();
    change_member(&chat, &path, &chat.bob, |bob| bob.joined_at = joined).await;
    let state = async || chat.bob.user.get(&format!("{path}/read")).await.is(200);
    let mark = async |message: &str| {
        let marked = chat.bob.user.put(&format!("{path}/read"), json!({ "upTo": message })).await.is(200);
        assert_eq!(marked.body, state().await.body);
        marked
    };
    for old in [&first, &before] {
        let marked = mark(old).await;
        assert_eq!((&marked["unreadCount"], marked["lastReadId"].is_null()), (&json!(0), true), "{}", marked.told());
    }
    // More messages than are counted follow, and one of them mentions the member.
    let written = write_messages(&chat, &path, &chat.ann, (0..130).map(|number| joined_at + number)).await;
    change_member(&chat, &path, &chat.bob, |bob| bob.mentions_unread = 1).await;
    let marked = mark(&first).await;
    assert_eq!((&marked["unreadCount"], &marked["mentionsUnread"]), (&json!(100), &json!(1)));
    assert_eq!(mark(&written[129]).await["unreadCount"], 0);
}

async fn marking_read_leaves_the_mentions_that_follow() {
    let chat = Chat::without_stream_readers().await;
    for path in both_kinds(&chat).await {
        let first = id(&send(&chat.ann.user, &path, "@bob one").await);
        send(&chat.ann.user, &path, "two").await;
        let third = id(&send(&chat.ann.user, &path, "@bob three").await);
        change_member(&chat, &path, &chat.bob, |bob| bob.mentions_unread = 2).await;
        let mark = |message: &str| chat.bob.user.put(&format!("{path}/read"), json!({ "upTo": message }));
        assert_eq!(mark(&first).await.is(200)["mentionsUnread"], 1);
        assert_eq!(mark(&third).await.is(200)["mentionsUnread"], 0);
        change_member(&chat, &path, &chat.bob, |bob| bob.mentions_unread = 1).await;
        send(&chat.bob.user, &path, "I am here").await;
        assert_eq!(chat.bob.user.get(&format!("{path}/read")).await.is(200)["mentionsUnread"], 0);
    }
}

/// Makes a message one that mentions bob, directly.
async fn mention_bob(chat: &Chat, path: &str, message: &str) {
    let message = message.parse::<MessageId>().unwrap();
    let mut item = Message::new(message, user_id(&chat.ann), "@bob".to_owned());
    item.mentions.insert(user_id(&chat.bob));
    let item = stored(&GROUP_CHATS, &message_key(chat_of(path), message), &item);
    chat.cairn.table_of(&GROUP_CHATS).put(item).await;
}

async fn mentions_beyond_100_unread_messages_stay_counted() {
    let chat = Chat::without_stream_readers().await;
    let path = group_chat(&chat, &[&chat.ann, &chat.bob]).await;
    let now = chat.cairn.clock.micros() / 1000;
    let written = write_messages(&chat, &path, &chat.ann, (0..130).map(|number| now + number)).await;
    for at in [3, 120, 125] {
        mention_bob(&chat, &path, &written[at]).await;
    }
    change_member(&chat, &path, &chat.bob, |bob| bob.mentions_unread = 3).await;
    for (at, mentions) in [(1, 3), (5, 2), (10, 2), (119, 2), (121, 1), (129, 0)] {
        let marked = chat.bob.user.put(&format!("{path}/read"), json!({ "upTo": written[at] })).await.is(200);
        assert_eq!(marked["mentionsUnread"], json!(mentions), "{at}");
    }
}

async fn mentions_in_more_than_1000_read_messages_stay_counted_until_few_are_unread() {
    let chat = Chat::without_stream_readers().await;
    let path = group_chat(&chat, &[&chat.ann, &chat.bob]).await;
    let now = chat.cairn.clock.micros() / 1000;
    let written = write_messages(&chat, &path, &chat.ann, (0..1300).map(|number| now + number)).await;
    for at in [3, 1100, 1250] {
        mention_bob(&chat, &path, &written[at]).await;
    }
    change_member(&chat, &path, &chat.bob, |bob| bob.mentions_unread = 3).await;
    for (at, mentions) in [(1150, 2), (1240, 1), (1299, 0)] {
        let marked = chat.bob.user.put(&format!("{path}/read"), json!({ "upTo": written[at] })).await.is(200);
        assert_eq!(marked["mentionsUnread"], json!(mentions), "{at}");
    }
}

async fn private_chat_shows_the_position_of_the_other() {
    let chat = Chat::without_stream_readers().await;
    let [private, group] = both_kinds(&chat).await;
    let sent = id(&send(&chat.ann.user, &private, "hi").await);
    let state = chat.ann.user.get(&format!("{private}/read")).await.is(200);
    assert_eq!(state["other"], json!({ "userId": chat.bob.id }));
    chat.bob.user.put(&format!("{private}/read"), json!({ "upTo": sent })).await.is(200);
    let state = chat.ann.user.get(&format!("{private}/read")).await.is(200);
    assert_eq!(state["other"], json!({ "userId": chat.bob.id, "lastReadId": sent }));
    assert!(chat.ann.user.get(&format!("{group}/read")).await.is(200)["other"].is_null());
}

async fn position_at_a_message_of_another_chat_is_refused() {
    let chat = Chat::without_stream_readers().await;
    for path in both_kinds(&chat).await {
        let elsewhere = private_chat(&chat.ann, &chat.cy).await;
        let other = id(&send(&chat.ann.user, &elsewhere, "hi").await);
        let mark = |message: &str| chat.ann.user.put(&format!("{path}/read"), json!({ "upTo": message }));
        mark(&other).await.refused(422, "unprocessable").at(&["/upTo"]);
        mark(&new_key()).await.refused(422, "unprocessable");
        mark("x").await.faulty(&["/upTo"]);
        let late = mark("ffffffff-ffff-7fff-bfff-ffffffffffff").await.faulty(&["/upTo"]);
        assert!(late["errors"][0]["detail"].as_str().unwrap().contains("before the year 10000"), "{}", late.told());
    }
}

async fn readers_are_the_members_at_or_past_a_message() {
    let chat = Chat::without_stream_readers().await;
    for path in both_kinds(&chat).await {
        let first = send(&chat.ann.user, &path, "one").await.header("location").to_owned();
        let second = send(&chat.ann.user, &path, "two").await.header("location").to_owned();
        let readers = async |message: &str| {
            let list = chat.ann.user.get(&format!("{message}/readers?include=people")).await.is(200);
            names(&list)
        };
        assert_eq!(readers(&first).await, ["ann"]);
        let up_to = first.rsplit('/').next().unwrap();
        chat.bob.user.put(&format!("{path}/read"), json!({ "upTo": up_to })).await.is(200);
        assert_eq!(
            (readers(&first).await, readers(&second).await),
            (vec!["ann".into(), "bob".into()], vec!["ann".into()])
        );
        let list = format!("{first}/readers?limit=1");
        let page = chat.bob.user.get(&list).await.is(200);
        let rest = chat.bob.user.get(&format!("{list}&cursor={}", page.next().unwrap())).await.is(200);
        assert_eq!((page["items"].as_array().unwrap().len(), rest["items"].as_array().unwrap().len()), (1, 1));
        assert!(rest.next().is_none());
    }
}

async fn few_readers_among_many_members_are_found_in_one_page() {
    let chat = Chat::new().await;
    let path = group_chat(&chat, &[&chat.ann, &chat.bob]).await;
    let group = chat_of(&path);
    let member = |_| {
        let user = UserId::now(&chat.cairn.clock);
        let partition = path.replace("/chat/groupchats/", "GROUPCHAT#");
        let member = ChatMember::new(partition, user, "2026-03-01T10:00:00.000Z".to_owned());
        stored(&GROUP_CHATS, &member_key(group, user), &member)
    };
    chat.cairn.table_of(&GROUP_CHATS).put_all((0..sized(1500, 10_000)).map(member).collect()).await;
    let message = send(&chat.ann.user, &path, "hi").await;
    let list = format!("{}/readers?limit=1", message.header("location"));
    let only = chat.bob.user.get(&list).await.is(200);
    assert_eq!((only.each("userId"), only.next()), (vec![&json!(chat.ann.id)], None));
    chat.bob.user.put(&format!("{path}/read"), json!({ "upTo": message["id"] })).await.is(200);
    let first = chat.bob.user.get(&list).await.is(200);
    let second = chat.bob.user.get(&format!("{list}&cursor={}", first.next().unwrap())).await.is(200);
    assert!(second.next().is_none());
    let mut readers = [first["items"][0]["userId"].clone(), second["items"][0]["userId"].clone()];
    readers.sort_by_key(ToString::to_string);
    let mut expected = [json!(chat.ann.id), json!(chat.bob.id)];
    expected.sort_by_key(ToString::to_string);
    assert_eq!(readers, expected);
}

async fn muted_and_hidden_chat_keeps_its_counts() {
    let chat = Chat::without_stream_readers().await;
    for path in both_kinds(&chat).await {
        let set = |body| chat.bob.user.put(&format!("{path}/preferences"), body);
        let until = "2100-01-01T00:00:00.0001Z";
        let wanted = set(json!({ "mutedUntil": until, "hidden": true })).await.is(200);
        assert_eq!(wanted.body, json!({ "mutedUntil": "2100-01-01T00:00:00.001Z", "hidden": true }));
        for number in 0..20 {
            send(&chat.ann.user, &path, &format!("message {number}")).await;
        }
        assert_eq!(chat.bob.user.get(&format!("{path}/read")).await.is(200)["unreadCount"], 20);
        // A mention shows the chat again.
        change_member(&chat, &path, &chat.bob, |bob| (bob.hidden, bob.mentions_unread) = (false, 1)).await;
        if path.contains("private") {
            let list = chat.bob.user.get("/chat/me/privatechats?counts=true").await.is(200);
            let item = &list["items"][0];
            assert_eq!((&item["muted"], &item["hasUnread"]), (&json!(true), &json!(true)));
            assert_eq!((&item["mentionsUnread"], &item["unreadCount"]), (&json!(1), &json!(20)));
        }
        let back = set(json!({ "mutedUntil": null })).await.is(200);
        assert_eq!(back.body, json!({ "hidden": false }));
    }
    let list = chat.bob.user.get("/chat/me/privatechats").await.is(200);
    assert_eq!(list["items"][0]["muted"], false);
}

async fn time_of_muting_that_is_no_time_is_refused() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    for until in ["tomorrow", "1900-01-01T00:00:00Z"] {
        let set = chat.ann.user.put(&format!("{path}/preferences"), json!({ "mutedUntil": until }));
        set.await.faulty(&["/mutedUntil"]);
    }
}
