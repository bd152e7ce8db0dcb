//! The history of a chat: newest first, before, after and around a message or a time.

use ::chat::keys::message_key;
use ::chat::names::UserId;
use ::chat::schema;
use aws_sdk_dynamodb::types::AttributeValue;

use super::conversation::{both_kinds, chat_of, ids, private_chat, react, send, write_messages};
use super::stage::{Chat, names};
use crate::harness::User;
use crate::harness::table::text;
use crate::tests;

tests! { chat_history:
    #[long] history_has_each_message_once_in_both_directions,
    messages_around_a_time_are_half_on_each_side,
    messages_around_a_message_include_it,
    page_before_a_message_has_older_ones_only,
    new_messages_do_not_disturb_the_pages_of_a_walk,
    history_shows_the_callers_own_reactions_and_the_names_of_people,
    page_that_names_many_people_has_all_their_names,
    place_that_is_neither_a_message_nor_a_time_is_refused,
    cursor_of_another_chat_caller_or_query_is_refused,
}

/// The time of the first message, in milliseconds.
const START: i64 = 1_772_359_200_000;

/// Writes 250 messages a second apart, five of them in one millisecond, and returns their ids, the oldest first.
async fn write_history(chat: &Chat, path: &str) -> Vec<String> {
    let times = (0..250).map(|number| START + 1000 * if (60..65).contains(&number) { 60 } else { number });
    write_messages(chat, path, &chat.ann, times).await
}

/// Reads all pages of a history.
async fn walk(user: &User, path: &str, query: &str, limit: usize) -> Vec<String> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = user.get(&format!("{path}/messages?{query}&limit={limit}{cursor}")).await.is(200);
        all.extend(ids(&page).into_iter().map(str::to_owned));
        match page.next() {
            Some(next) => {
                assert_eq!(ids(&page).len(), limit, "a page before the last is short");
                cursor = format!("&cursor={next}");
            }
            None => return all,
        }
    }
}

async fn history_has_each_message_once_in_both_directions() {
    let chat = Chat::without_stream_readers().await;
    for path in both_kinds(&chat).await {
        let written = write_history(&chat, &path).await;
        let mut newest_first = walk(&chat.bob.user, &path, "", 30).await;
        newest_first.reverse();
        assert_eq!(newest_first, written);
        let oldest_first = walk(&chat.bob.user, &path, "after=2026-03-01T09:59:59.9999Z", 7).await;
        assert_eq!(oldest_first, written);
    }
}

async fn messages_around_a_time_are_half_on_each_side() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let written = write_history(&chat, &path).await;
    // The 100th message was written at 10:01:39, the 101st at 10:01:40.
    let around = format!("{path}/messages?around=2026-03-01T10:01:39.500Z&limit=10");
    let page = chat.bob.user.get(&around).await.is(200);
    let expected: Vec<&str> = written[95..105].iter().rev().map(String::as_str).collect();
    assert_eq!(ids(&page), expected);
    let older = chat.bob.user.get(&format!("{around}&cursor={}", page.text("nextCursor"))).await.is(200);
    let expected: Vec<&str> = written[85..95].iter().rev().map(String::as_str).collect();
    assert_eq!(ids(&older), expected);
    let newer = chat.bob.user.get(&format!("{around}&cursor={}", page.text("previousCursor"))).await.is(200);
    let expected: Vec<&str> = written[105..115].iter().rev().map(String::as_str).collect();
    assert_eq!(ids(&newer), expected);
    let newer = chat.bob.user.get(&format!("{around}&cursor={}", newer.text("previousCursor"))).await.is(200);
    assert_eq!(ids(&newer).first(), Some(&written[124].as_str()));
    // A page of one message has nothing newer, but says that there is more.
    let one = chat.bob.user.get(&around.replace("limit=10", "limit=1")).await.is(200);
    assert_eq!(ids(&one), [written[99].as_str()]);
    let newer = chat.bob.user.get(&format!("{around}&cursor={}", one.text("previousCursor"))).await.is(200);
    assert_eq!(ids(&newer).last(), Some(&written[100].as_str()));
    // On both ends nothing follows.
    let end = chat.bob.user.get(&format!("{path}/messages?around=2030-01-01T00:00:00Z&limit=100")).await.is(200);
    assert_eq!((ids(&end).len(), end["previousCursor"].is_null()), (50, true));
    let end = chat.bob.user.get(&format!("{path}/messages?around=2020-01-01T00:00:00Z&limit=100")).await.is(200);
    assert_eq!((ids(&end).len(), end["nextCursor"].is_null()), (50, true));
}

async fn messages_around_a_message_include_it() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let written = write_history(&chat, &path).await;
    // One of the five in a millisecond.
    let page = chat.ann.user.get(&format!("{path}/messages?around={}&limit=6", written[62])).await.is(200);
    let expected: Vec<&str> = written[60..66].iter().rev().map(String::as_str).collect();
    assert_eq!(ids(&page), expected);
}

async fn page_before_a_message_has_older_ones_only() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let written = write_history(&chat, &path).await;
    for (place, end) in
        [(written[62].as_str(), 62), ("2026-03-01T10:01:00.000Z", 60), ("2026-03-01T10:01:00.0001Z", 65)]
    {
        let mut before = walk(&chat.ann.user, &path, &format!("before={place}"), 25).await;
        before.reverse();
        assert_eq!(before, written[..end], "{place}");
    }
    let after = walk(&chat.ann.user, &path, &format!("after={}", written[62]), 25).await;
    assert_eq!(after, written[63..]);
}

async fn new_messages_do_not_disturb_the_pages_of_a_walk() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let written = write_history(&chat, &path).await;
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = chat.bob.user.get(&format!("{path}/messages?limit=25{cursor}")).await.is(200);
        all.extend(ids(&page).into_iter().map(str::to_owned));
        send(&chat.ann.user, &path, "another one").await;
        match page.next() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    all.reverse();
    assert_eq!(all, written);
}

async fn history_shows_the_callers_own_reactions_and_the_names_of_people() {
    let chat = Chat::without_stream_readers().await;
    for path in both_kinds(&chat).await {
        let message = send(&chat.ann.user, &path, "hi @bob").await;
        send(&chat.bob.user, &path, "hi").await;
        let message = format!("{path}/messages/{}", message.text("id"));
        react(&chat.bob.user, &message, ":wave:").await.is(204);
        react(&chat.ann.user, &message, ":heart:").await.is(204);
        let list = format!("{path}/messages?include=people");
        let page = chat.bob.user.get(&list).await.is(200);
        assert_eq!(page["items"][1]["myReactions"], serde_json::json!([":wave:"]));
        assert_eq!(page["items"][1]["reactions"], serde_json::json!({ ":wave:": 1, ":heart:": 1 }));
        assert!(page["items"][0]["myReactions"].is_null());
        assert_eq!(names(&page), ["ann", "bob"]);
        let page = chat.bob.user.get(&format!("{path}/messages")).await.is(200);
        assert!(page["people"].is_null());
    }
}

/// Each may have a picture elsewhere, with a long URL.
async fn page_that_names_many_people_has_all_their_names() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let ids = write_messages(&chat, &path, &chat.ann, (0..16).map(|number| 1_767_225_600_000 + number)).await;
    let users = chat.cairn.table_of(&schema::USERS);
    let ann = users.get(&format!("USER#{}", chat.ann.id), "").await.unwrap();
    let others: Vec<UserId> = (1..=320).map(UserId::at).collect();
    let named = |(number, id): (usize, &UserId)| {
        let mut user = ann.clone();
        let attributes = [
            ("pk", format!("USER#{id}")),
            ("Id", id.to_string()),
            ("Username", format!("other{number}")),
            ("AvatarURL", format!("https://example.org/{}", "a".repeat(2000))),
        ];
        user.extend(attributes.map(|(name, value)| (name.to_owned(), text(&value))));
        user
    };
    users.put_all(others.iter().enumerate().map(named).collect()).await;
    let messages = chat.cairn.table_of(&schema::PRIVATE_CHATS);
    for (message, others) in ids.iter().zip(others.chunks(20)) {
        let key = message_key(chat_of(&path), message.parse().unwrap());
        let mut item = messages.get(&key.pk, key.sk.as_deref().unwrap()).await.unwrap();
        let others = others.iter().map(UserId::to_string).collect();
        item.insert("Mentions".to_owned(), AttributeValue::Ss(others));
        messages.put(item).await;
    }
    let page = chat.bob.user.get(&format!("{path}/messages?include=people")).await.is(200);
    let people = page["people"].as_array().unwrap();
    assert!(people.iter().all(|person| person["username"].is_string()));
    let pictures = people.iter().filter(|person| person["avatarURL"].is_string()).count();
    assert_eq!((people.len(), (200..300).contains(&pictures)), (321, true), "{pictures}");
}

async fn place_that_is_neither_a_message_nor_a_time_is_refused() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    for place in ["before", "after", "around"] {
        for text in ["yesterday", "0f0e0d0c-0b0a-4908-8706-050403020100", "1900-01-01T00:00:00Z"] {
            chat.ann.user.get(&format!("{path}/messages?{place}={text}")).await.faulty(&[place]);
        }
    }
    let two = "before=2026-03-01T10:00:00Z&after=2026-03-01T10:00:00Z";
    chat.ann.user.get(&format!("{path}/messages?{two}")).await.refused(400, "bad-request");
}

async fn cursor_of_another_chat_caller_or_query_is_refused() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let other = private_chat(&chat.ann, &chat.cy).await;
    write_history(&chat, &path).await;
    let page = chat.ann.user.get(&format!("{path}/messages?limit=2")).await.is(200);
    let cursor = page.next().unwrap();
    chat.ann.user.get(&format!("{path}/messages?limit=9&cursor={cursor}")).await.is(200);
    chat.ann.user.get(&format!("{other}/messages?cursor={cursor}")).await.faulty(&["cursor"]);
    chat.bob.user.get(&format!("{path}/messages?cursor={cursor}")).await.faulty(&["cursor"]);
    let after = "after=2026-03-01T10:00:00Z";
    chat.ann.user.get(&format!("{path}/messages?{after}&cursor={cursor}")).await.faulty(&["cursor"]);
    chat.ann.user.get(&format!("{path}/messages?cursor={cursor}x")).await.faulty(&["cursor"]);
}
