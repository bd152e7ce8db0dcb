//! Reactions: counts, kinds, repetition, and who reacted.

use ::chat::schema::{GROUP_CHATS, PRIVATE_CHATS};
use futures::future::join_all;
use reqwest::Method;
use serde_json::json;

use super::conversation::{both_kinds, group_chat, private_chat, react, send, unreact};
use super::stage::{Chat, Member, id, names};
use crate::harness::{User, sized};
use crate::tests;

tests! { chat_reactions:
    members_who_react_at_once_are_all_counted,
    repeated_reaction_counts_once_and_repeated_removal_changes_nothing,
    reactions_and_removals_at_once_end_with_the_right_count,
    message_has_at_most_20_kinds,
    deleted_message_takes_no_reactions,
    reactions_are_deleted_after_the_deletion_of_their_message_was_stopped,
    emoji_in_two_spellings_is_one_kind,
    text_that_is_no_kind_is_refused,
    list_of_reactions_has_each_person_once,
}

/// Sends a message, and returns its path.
async fn message(user: &User, chat: &str) -> String {
    format!("{chat}/messages/{}", id(&send(user, chat, "hi").await))
}

/// Creates people, and returns them.
async fn people(chat: &Chat, count: usize) -> Vec<Member> {
    let names = (0..count).map(|number| &*Box::leak(format!("person{number}").into_boxed_str()));
    join_all(names.map(|name| chat.member(name))).await
}

async fn members_who_react_at_once_are_all_counted() {
    let chat = Chat::without_stream_readers().await;
    let people = people(&chat, sized(20, 100)).await;
    let members: Vec<&Member> = [&chat.ann].into_iter().chain(&people).collect();
    let path = group_chat(&chat, &members).await;
    let message = message(&chat.ann.user, &path).await;
    let answers = join_all(people.iter().map(|person| react(&person.user, &message, "👍").into_future())).await;
    for answer in answers {
        answer.is(204);
    }
    let read = chat.ann.user.get(&message).await.is(200);
    assert_eq!(read["reactions"], json!({ "👍": people.len() }));
    let answers = join_all(people.iter().map(|person| unreact(&person.user, &message, "👍").into_future())).await;
    for answer in answers {
        answer.is(204);
    }
    assert_eq!(chat.ann.user.get(&message).await.is(200)["reactions"], json!({}));
}

async fn repeated_reaction_counts_once_and_repeated_removal_changes_nothing() {
    let chat = Chat::without_stream_readers().await;
    for path in both_kinds(&chat).await {
        let message = message(&chat.ann.user, &path).await;
        unreact(&chat.bob.user, &message, ":wave:").await.is(204);
        for _ in 0..2 {
            react(&chat.bob.user, &message, ":wave:").await.is(204);
            react(&chat.bob.user, &message, "👍").await.is(204);
        }
        react(&chat.ann.user, &message, "👍").await.is(204);
        let reacted = chat.bob.user.get(&message).await.is(200);
        assert_eq!(reacted["reactions"], json!({ ":wave:": 1, "👍": 2 }));
        assert_eq!(reacted["myReactions"], json!([":wave:", "👍"]));
        assert_eq!(reacted["edited"], false);
        for _ in 0..2 {
            unreact(&chat.bob.user, &message, "👍").await.is(204);
        }
        let read = chat.bob.user.get(&message).await.is(200);
        assert_eq!((&read["reactions"], &read["myReactions"]), (&json!({ ":wave:": 1, "👍": 1 }), &json!([":wave:"])));
        unreact(&chat.bob.user, &message, ":wave:").await.is(204);
        unreact(&chat.ann.user, &message, "👍").await.is(204);
        let read = chat.bob.user.get(&message).await.is(200);
        assert_eq!((&read["reactions"], read["myReactions"].is_null()), (&json!({}), true));
    }
}

async fn reactions_and_removals_at_once_end_with_the_right_count() {
    let chat = Chat::without_stream_readers().await;
    let people = people(&chat, sized(6, 20)).await;
    let members: Vec<&Member> = [&chat.ann].into_iter().chain(&people).collect();
    let path = group_chat(&chat, &members).await;
    let message = message(&chat.ann.user, &path).await;
    // Each person ends with a reaction if the person's number is even.
    let calls = people.iter().enumerate().map(|(number, person)| {
        let message = &message;
        async move {
            for _ in 0..3 {
                react(&person.user, message, ":x:").await.is(204);
                unreact(&person.user, message, ":x:").await.is(204);
            }
            if number % 2 == 0 {
                react(&person.user, message, ":x:").await.is(204);
            }
        }
    });
    join_all(calls).await;
    let read = chat.ann.user.get(&message).await.is(200);
    assert_eq!(read["reactions"], json!({ ":x:": people.len().div_ceil(2) }));
}

async fn message_has_at_most_20_kinds() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let message = message(&chat.ann.user, &path).await;
    for number in 0..19 {
        react(&chat.bob.user, &message, &format!(":k{number}:")).await.is(204);
    }
    // Two new kinds at once: one is the last.
    let (one, other) = tokio::join!(
        react(&chat.bob.user, &message, ":last1:").into_future(),
        react(&chat.ann.user, &message, ":last2:").into_future()
    );
    let refused = if one.status == 204 { other } else { one };
    refused.refused(409, "too-many-kinds");
    react(&chat.ann.user, &message, ":k0:").await.is(204);
    unreact(&chat.bob.user, &message, ":k1:").await.is(204);
    react(&chat.bob.user, &message, ":another:").await.is(204);
    assert_eq!(chat.ann.user.get(&message).await.is(200)["reactions"].as_object().unwrap().len(), 20);
}

async fn deleted_message_takes_no_reactions() {
    let chat = Chat::without_stream_readers().await;
    for path in both_kinds(&chat).await {
        let message = message(&chat.ann.user, &path).await;
        react(&chat.bob.user, &message, ":x:").await.is(204);
        chat.ann.user.delete(&message).await.is(204);
        react(&chat.bob.user, &message, ":x:").await.refused(409, "message-deleted");
        unreact(&chat.bob.user, &message, ":x:").await.is(204);
        let list = chat.bob.user.get(&format!("{message}/reactions")).await.is(200);
        assert_eq!(list["items"], json!([]));
        let absent = message.replace(message.rsplit('/').next().unwrap(), &chat.bob.id);
        react(&chat.bob.user, &absent, ":x:").await.refused(404, "not-found");
    }
}

async fn reactions_are_deleted_after_the_deletion_of_their_message_was_stopped() {
    let chat = Chat::without_search().await;
    for path in both_kinds(&chat).await {
        let message = message(&chat.ann.user, &path).await;
        react(&chat.bob.user, &message, "👍").await.is(204);
        let (_stopper, deletion) = chat.held(&["BatchWriteItem"], Method::DELETE, &message, None).await;
        deletion.abort();
        assert_eq!(chat.bob.user.get(&format!("{message}/reactions")).await.is(200)["items"], json!([]));
    }
    chat.cairn.caught_up().await;
    for table in [&GROUP_CHATS, &PRIVATE_CHATS] {
        let items = chat.cairn.table_of(table).items().await;
        assert!(!items.iter().any(|item| item["sk"].as_s().unwrap().starts_with("REACTION#")), "{items:?}");
    }
}

async fn emoji_in_two_spellings_is_one_kind() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let message = message(&chat.ann.user, &path).await;
    react(&chat.ann.user, &message, "\u{2764}").await.is(204);
    react(&chat.bob.user, &message, "\u{2764}\u{fe0f}").await.is(204);
    assert_eq!(chat.ann.user.get(&message).await.is(200)["reactions"], json!({ "\u{2764}\u{fe0f}": 2 }));
}

async fn text_that_is_no_kind_is_refused() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let message = message(&chat.ann.user, &path).await;
    for kind in ["a", "👍👍", ":A:", "#", "👩🏽‍❤️‍💋‍👨🏿"] {
        react(&chat.bob.user, &message, kind).await.faulty(&["reaction"]);
        unreact(&chat.bob.user, &message, kind).await.faulty(&["reaction"]);
    }
}

async fn list_of_reactions_has_each_person_once() {
    let chat = Chat::without_stream_readers().await;
    for path in both_kinds(&chat).await {
        let message = message(&chat.ann.user, &path).await;
        let other = self::message(&chat.ann.user, &path).await;
        for kind in [":x:", ":y:"] {
            react(&chat.bob.user, &message, kind).await.is(204);
        }
        react(&chat.ann.user, &message, ":x:").await.is(204);
        react(&chat.ann.user, &other, ":z:").await.is(204);
        // The list is in the order of the ids.
        let mut people = [(&chat.ann.id, "ann", json!([":x:"])), (&chat.bob.id, "bob", json!([":x:", ":y:"]))];
        people.sort_by_key(|(id, _, _)| (*id).clone());
        let list = format!("{message}/reactions?limit=1&include=people");
        let first = chat.ann.user.get(&list).await.is(200);
        let [(id, name, kinds), (later, _, later_kinds)] = &people;
        assert_eq!((&first["items"][0]["userId"], &first["items"][0]["kinds"]), (&json!(id), kinds));
        assert_eq!(names(&first), [*name]);
        let list = list.replace("&include=people", "");
        let first = chat.ann.user.get(&list).await.is(200);
        let second = chat.ann.user.get(&format!("{list}&cursor={}", first.next().unwrap())).await.is(200);
        assert_eq!(second["items"], json!([{ "userId": later, "kinds": later_kinds }]));
        assert!(second.next().is_none());
    }
}
