//! Sending, editing and deleting messages in chats of both kinds.

use std::time::Duration;

use chat::names::MessageId;
use chat::schema;
use futures::future::join_all;
use serde_json::json;

use super::conversation::{
    both_kinds, change_member, group_chat, ids, new_key, private_chat, react, send, sending, unreact, write_messages,
};
use super::stage::{Chat, id, without_stream_readers};
use crate::harness::{Call, Setup};
use crate::tests;

tests! { chat_messages:
    one_key_sent_ten_times_at_once_creates_one_message,
    key_sent_again_with_another_body_is_refused,
    message_that_is_sent_again_above_the_rate_is_answered,
    message_without_a_uuid_as_key_is_refused,
    content_comes_back_byte_for_byte,
    blank_or_long_content_and_control_characters_are_refused,
    members_are_mentioned_and_others_are_not,
    first_20_members_are_mentioned,
    reply_to_a_message_of_another_chat_is_refused,
    id_follows_all_that_the_sender_has_read,
    one_person_sending_at_once_sends_each_message,
    only_the_sender_edits_a_message,
    edit_with_stale_if_match_returns_412,
    edit_after_the_deletion_is_refused,
    deleted_message_stays_as_a_placeholder,
    moderator_deletes_the_message_of_another_with_an_audit_entry,
    message_that_does_not_exist_is_not_found,
    sender_who_left_cannot_send,
    send_survives_conflicts_with_other_writes,
    sends_edits_reactions_and_private_chats_above_their_rates_are_refused,
}

async fn one_key_sent_ten_times_at_once_creates_one_message() {
    let chat = Chat::without_stream_readers().await;
    for path in both_kinds(&chat).await {
        let key = new_key();
        let body = json!({ "content": "hi @bob" });
        let call = || chat.ann.user.post(&format!("{path}/messages"), body.clone()).once(&key);
        let answers = join_all((0..10).map(|_| call().into_future())).await;
        let again = call().await;
        let first = answers[0].clone().is(201);
        for answer in answers.into_iter().chain([again]) {
            let answer = answer.is(201);
            assert_eq!((&answer.body, answer.tag()), (&first.body, first.tag()));
            assert_eq!(answer.header("location"), first.header("location"));
        }
        assert_eq!(first["mentions"], json!([chat.bob.id]));
        let page = chat.bob.user.get(&format!("{path}/messages")).await.is(200);
        assert_eq!(ids(&page), [first.text("id")]);
        let got = chat.bob.user.get(first.header("location")).await.is(200);
        assert_eq!((&got.body, got.tag()), (&first.body, first.tag()));
        // The same key of another person or in another chat is another request.
        chat.bob.user.post(&format!("{path}/messages"), body.clone()).once(&key).await.is(201);
    }
}

async fn key_sent_again_with_another_body_is_refused() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let key = new_key();
    let post = |content: &str| chat.ann.user.post(&format!("{path}/messages"), json!({ "content": content }));
    let first = post("one").once(&key).await.is(201);
    post("two").once(&key).await.refused(422, "key-reused");
    // The response stays that to the first request, even when the message has changed.
    chat.ann.user.patch(first.header("location"), json!({ "content": "three" })).await.is(200);
    assert_eq!(post("one").once(&key.to_uppercase()).await.is(201).body, first.body);
}

async fn message_that_is_sent_again_above_the_rate_is_answered() {
    let limits = vec![("sends", 1), ("privateChats", 1)];
    let chat = Chat::with(without_stream_readers(Setup { limits, ..Setup::of("chat") })).await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let key = new_key();
    let post = |content: &str| chat.ann.user.post(&format!("{path}/messages"), json!({ "content": content }));
    let first = post("one").once(&key).await.is(201);
    let again = post("one").once(&key).await.is(201);
    assert_eq!((&again.body, again.tag()), (&first.body, first.tag()));
    assert_eq!(again.header("location"), first.header("location"));
    post("two").once(&key).await.refused(422, "key-reused");
    post("one").once(&new_key()).await.refused(429, "too-many-requests");
    let page = chat.bob.user.get(&format!("{path}/messages")).await.is(200);
    assert_eq!(ids(&page), [first.text("id")]);
}

async fn message_without_a_uuid_as_key_is_refused() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let post = || chat.ann.user.post(&format!("{path}/messages"), json!({ "content": "hi" }));
    post().await.faulty(&["idempotency-key"]);
    for key in ["1", "", "0f0e0d0c0b0a49088706050403020100", "{0f0e0d0c-0b0a-4908-8706-050403020100}"] {
        post().once(key).await.faulty(&["idempotency-key"]);
    }
    post().once("0F0E0D0C-0b0a-4908-8706-050403020100").await.is(201);
}

async fn content_comes_back_byte_for_byte() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let long = "🎉".repeat(4000);
    let contents = [" <script>alert('x')</script> ", "a\n\tb", "\u{202e}abc", "👩\u{200d}🚀", "e\u{301} \u{e9}", &long];
    for content in contents {
        let sent = send(&chat.ann.user, &path, content).await;
        assert_eq!(sent["content"], content);
        let got = chat.bob.user.get(sent.header("location")).await.is(200);
        assert_eq!(got["content"], content);
        assert_eq!((got.header("content-type"), got.header("x-content-type-options")), ("application/json", "nosniff"));
    }
}

async fn blank_or_long_content_and_control_characters_are_refused() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let message = format!("{path}/messages/{}", id(&send(&chat.ann.user, &path, "hi").await));
    let long = "é".repeat(4001);
    for content in ["", " \n\t", "\u{a0}", "\u{200b}", "a\0", "a\r\nb", "\u{1b}[1m", "\u{85}", &long] {
        sending(&chat.ann.user, &path, content).await.faulty(&["/content"]);
        chat.ann.user.patch(&message, json!({ "content": content })).await.faulty(&["/content"]);
    }
    let post = |body| chat.ann.user.post(&format!("{path}/messages"), body).once(&new_key());
    post(json!({})).await.faulty(&["/content"]);
    post(json!({ "content": "hi", "senderId": chat.bob.id })).await.faulty(&["/senderId"]);
    post(json!({ "content": "\0", "replyTo": "x" })).await.faulty(&["/content", "/replyTo"]);
}

async fn members_are_mentioned_and_others_are_not() {
    let chat = Chat::without_stream_readers().await;
    let dan = chat.member("dan").await;
    for path in both_kinds(&chat).await {
        let content = "@Bob, @bob. a@ann @dan @nobody @usercy";
        let sent = send(&chat.ann.user, &path, content).await;
        let mut expected = vec![chat.bob.id.clone()];
        if path.contains("groupchats") {
            expected.push(chat.cy.id.clone());
        }
        expected.sort();
        assert_eq!(sent["mentions"], json!(expected));
        let message = sent.header("location").to_owned();
        let edited = chat.ann.user.patch(&message, json!({ "content": "@ann" })).await.is(200);
        assert_eq!(edited["mentions"], json!([chat.ann.id]));
        let edited = chat.ann.user.patch(&message, json!({ "content": "nobody" })).await.is(200);
        assert_eq!(edited["mentions"], json!([]));
    }
    drop(dan);
}

async fn first_20_members_are_mentioned() {
    let chat = Chat::without_stream_readers().await;
    let names: Vec<&'static str> =
        (0..22).map(|number| &*Box::leak(format!("member{number}").into_boxed_str())).collect();
    let people = join_all(names.iter().map(|name| chat.member(name))).await;
    let path = group_chat(&chat, &[&chat.ann].into_iter().chain(&people).collect::<Vec<_>>()).await;
    // 110 usernames that do not exist come first.
    let unknown: String = (0..110).map(|number| format!("@unknown{number} ")).collect();
    let content = format!("{unknown}@{}", names.join(" @"));
    let sent = send(&chat.ann.user, &path, &content).await;
    let mut expected: Vec<&str> = people[..20].iter().map(|person| person.id.as_str()).collect();
    expected.sort_unstable();
    assert_eq!(sent["mentions"], json!(expected));
}

async fn reply_to_a_message_of_another_chat_is_refused() {
    let chat = Chat::without_stream_readers().await;
    for path in both_kinds(&chat).await {
        let elsewhere = private_chat(&chat.ann, &chat.cy).await;
        let other = id(&send(&chat.ann.user, &elsewhere, "hi").await);
        let first = id(&send(&chat.bob.user, &path, "hi").await);
        let reply = |to: &str| {
            let body = json!({ "content": "yes", "replyTo": to });
            chat.ann.user.post(&format!("{path}/messages"), body).once(&new_key())
        };
        let replied = reply(&first).await.is(201);
        assert_eq!(replied["replyTo"], json!(first));
        assert_eq!(chat.bob.user.get(replied.header("location")).await.is(200)["replyTo"], json!(first));
        reply(&other).await.refused(422, "unprocessable").at(&["/replyTo"]);
    }
}

async fn id_follows_all_that_the_sender_has_read() {
    let chat = Chat::without_stream_readers().await;
    for path in both_kinds(&chat).await {
        // A message by a server whose clock is a minute ahead.
        let ahead = chat.cairn.clock.micros() / 1000 + 60_000;
        let written = write_messages(&chat, &path, &chat.bob, [ahead].into_iter()).await;
        let before = id(&send(&chat.ann.user, &path, "before").await);
        assert!(before < written[0]);
        chat.ann.user.put(&format!("{path}/read"), json!({ "upTo": written[0] })).await.is(200);
        let reply = send(&chat.ann.user, &path, "reply").await;
        let time = |id: &str| id.parse::<MessageId>().unwrap().time().millis();
        assert_eq!(time(reply.text("id")), ahead + 1);
        assert_eq!(reply.text("createdAt"), reply.text("id").parse::<MessageId>().unwrap().time().to_string());
        let second = id(&send(&chat.ann.user, &path, "second").await);
        assert_eq!(time(&second), ahead + 2);
        let page = chat.bob.user.get(&format!("{path}/messages")).await.is(200);
        assert_eq!(ids(&page), [&second, reply.text("id"), &written[0], &before]);
    }
}

async fn one_person_sending_at_once_sends_each_message() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let contents: Vec<String> = (0..10).map(|number| format!("message {number}")).collect();
    let calls = contents.iter().map(|content| sending(&chat.ann.user, &path, content).into_future());
    for answer in join_all(calls).await {
        answer.is(201);
    }
    let page = chat.bob.user.get(&format!("{path}/messages")).await.is(200);
    let mut found: Vec<&str> = page.each("content").into_iter().map(|content| content.as_str().unwrap()).collect();
    found.sort_unstable();
    assert_eq!(found, contents);
    let state = chat.ann.user.get(&format!("{path}/read")).await.is(200);
    assert_eq!((state.text("lastReadId"), &state["unreadCount"]), (ids(&page)[0], &json!(0)));
}

async fn only_the_sender_edits_a_message() {
    let chat = Chat::without_stream_readers().await;
    for path in both_kinds(&chat).await {
        let sent = send(&chat.bob.user, &path, "helo").await;
        let message = sent.header("location").to_owned();
        react(&chat.ann.user, &message, ":x:").await.is(204);
        // Ann owns the group chat, which does not matter here.
        chat.ann.user.patch(&message, json!({ "content": "x" })).await.refused(403, "forbidden");
        let same = chat.bob.user.patch(&message, json!({ "content": "helo" })).await.is(200);
        assert_eq!((&same["edited"], &same["editedAt"]), (&json!(false), &json!(null)));
        let edited = chat.bob.user.patch(&message, json!({ "content": "hello" })).await.is(200);
        assert_eq!((edited.text("content"), &edited["edited"]), ("hello", &json!(true)));
        assert!(edited.text("editedAt") >= edited.text("createdAt"));
        assert_eq!(edited["reactions"], json!({ ":x:": 1 }));
        assert!(edited.rev() > sent.rev() && edited["rev"] == json!(edited.rev()));
        let got = chat.ann.user.get(&message).await.is(200);
        assert_eq!((got.text("content"), got.tag()), ("hello", edited.tag()));
    }
}

async fn edit_with_stale_if_match_returns_412() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let sent = send(&chat.ann.user, &path, "one").await;
    let edit = |content: &str| chat.ann.user.patch(sent.header("location"), json!({ "content": content }));
    edit("two").if_match(&sent.tag()).await.is(200);
    edit("three").if_match(&sent.tag()).await.refused(412, "stale");
    chat.ann.user.delete(sent.header("location")).if_match(&sent.tag()).await.refused(412, "stale");
    edit("three").await.is(200);
}

async fn edit_after_the_deletion_is_refused() {
    let chat = Chat::without_stream_readers().await;
    for path in both_kinds(&chat).await {
        let message = send(&chat.ann.user, &path, "secret plan").await.header("location").to_owned();
        chat.ann.user.delete(&message).await.is(204);
        chat.ann.user.patch(&message, json!({ "content": "x" })).await.refused(409, "message-deleted");
        // An edit and a deletion at once: the deletion wins, whichever is first.
        let message = send(&chat.ann.user, &path, "another secret plan").await.header("location").to_owned();
        let edit = chat.ann.user.patch(&message, json!({ "content": "x" }));
        let (edited, deleted) = tokio::join!(edit.into_future(), chat.ann.user.delete(&message).into_future());
        deleted.is(204);
        assert!([200, 409].contains(&edited.status), "{}", edited.told());
        assert!(chat.bob.user.get(&message).await.is(200)["content"].is_null());
        let page = chat.bob.user.get(&format!("{path}/messages")).await.is(200);
        assert!(!String::from_utf8_lossy(&page.bytes).contains("plan"));
    }
}

async fn deleted_message_stays_as_a_placeholder() {
    let chat = Chat::without_stream_readers().await;
    for path in both_kinds(&chat).await {
        let sent = send(&chat.ann.user, &path, "@bob secret").await;
        let message = sent.header("location").to_owned();
        react(&chat.bob.user, &message, ":x:").await.is(204);
        react(&chat.ann.user, &message, ":y:").await.is(204);
        for _ in 0..2 {
            chat.ann.user.delete(&message).await.is(204);
        }
        let placeholder = chat.bob.user.get(&message).await.is(200);
        assert_eq!(placeholder["content"], json!(null));
        assert_eq!((&placeholder["mentions"], &placeholder["reactions"]), (&json!([]), &json!({})));
        assert_eq!(placeholder["deletedBy"], json!(chat.ann.id));
        assert!(placeholder.text("deletedAt") >= sent.text("createdAt"));
        let page = chat.bob.user.get(&format!("{path}/messages")).await.is(200);
        assert_eq!(page["items"], json!([placeholder.body]));
        let (private, group) = (&schema::PRIVATE_CHATS, &schema::GROUP_CHATS);
        let table = if path.contains("private") { private } else { group };
        let items = chat.cairn.table_of(table).items().await;
        assert!(items.iter().all(|item| !item["sk"].as_s().unwrap().starts_with("REACTION#")));
        assert!(!format!("{items:?}").contains("secret"));
    }
}

async fn moderator_deletes_the_message_of_another_with_an_audit_entry() {
    let chat = Chat::without_stream_readers().await;
    let [private, group] = both_kinds(&chat).await;
    let message = send(&chat.bob.user, &private, "hi").await.header("location").to_owned();
    chat.ann.user.delete(&message).await.refused(403, "forbidden");
    let message = send(&chat.bob.user, &group, "hi").await.header("location").to_owned();
    chat.cy.user.delete(&message).await.refused(403, "forbidden");
    for _ in 0..2 {
        chat.ann.user.delete(&format!("{message}?reason=spam")).await.is(204);
    }
    assert_eq!(chat.bob.user.get(&message).await.is(200)["deletedBy"], json!(chat.ann.id));
    // The deletion of an own message is no business of the audit log.
    let own = send(&chat.ann.user, &group, "hi").await.header("location").to_owned();
    chat.ann.user.delete(&own).await.is(204);
    let entries = chat.cairn.table_of(&schema::COMMUNITIES).items().await;
    let text = |name: &str| entries[0][name].as_s().unwrap().as_str();
    assert_eq!(entries.len(), 1);
    assert_eq!((text("Action"), text("ActorId")), ("deleteMessage", chat.ann.id.as_str()));
    assert_eq!(text("Reason"), "spam");
    assert!(message.ends_with(text("TargetId")) && text("sk").starts_with("AUDIT#"));
}

async fn message_that_does_not_exist_is_not_found() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let elsewhere = private_chat(&chat.ann, &chat.cy).await;
    let other = id(&send(&chat.ann.user, &elsewhere, "hi").await);
    for message in [new_key(), other, "x".to_owned(), "0f0e0d0c-0b0a-4908-8706-050403020100".to_owned()] {
        let message = format!("{path}/messages/{message}");
        let ann = &chat.ann.user;
        let calls: Vec<Call> = vec![
            ann.get(&message),
            ann.patch(&message, json!({ "content": "x" })),
            ann.delete(&message),
            react(ann, &message, ":x:"),
            ann.delete(&format!("{message}/reactions/:x:")),
            ann.get(&format!("{message}/reactions")),
            ann.get(&format!("{message}/readers")),
        ];
        for call in calls {
            call.await.refused(404, "not-found");
        }
    }
    chat.ann.user.get("/chat/parks/x/messages").await.faulty(&["kind"]);
}

async fn sender_who_left_cannot_send() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    change_member(&chat, &path, &chat.ann, |ann| ann.gone_at = Some("2026-03-01T10:00:00.000Z".to_owned())).await;
    sending(&chat.ann.user, &path, "hi").await.refused(404, "not-found");
}

async fn send_survives_conflicts_with_other_writes() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let conflicts = chat.cairn.conflicts(0.4);
    for number in 0..10 {
        send(&chat.ann.user, &path, &format!("message {number}")).await;
    }
    assert!(conflicts.count() > 0);
    let page = chat.bob.user.get(&format!("{path}/messages")).await.is(200);
    let contents: Vec<_> = page.each("content").into_iter().rev().map(|content| content.as_str().unwrap()).collect();
    assert_eq!(contents, (0..10).map(|number| format!("message {number}")).collect::<Vec<_>>());
}

async fn sends_edits_reactions_and_private_chats_above_their_rates_are_refused() {
    let limits = vec![("sends", 1), ("privateChats", 1)];
    let chat = Chat::with(Setup { limits, ..Setup::of("chat") }).await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let message = send(&chat.ann.user, &path, "one").await.header("location").to_owned();
    let calls = [
        sending(&chat.ann.user, &path, "two"),
        chat.ann.user.patch(&message, json!({ "content": "two" })),
        react(&chat.ann.user, &message, ":x:"),
        unreact(&chat.ann.user, &message, ":x:"),
    ];
    for call in calls {
        let refused = call.await.refused(429, "too-many-requests");
        assert!((1..=10).contains(&refused.header("retry-after").parse().unwrap()), "{}", refused.told());
    }
    // Each person has an own rate, and it begins anew.
    send(&chat.bob.user, &path, "two").await;
    for call in [chat.ann.user.patch(&message, json!({ "content": "two" })), sending(&chat.ann.user, &path, "three")] {
        chat.cairn.clock.advance(Duration::from_secs(11));
        assert!(call.await.status < 300);
    }
    let start = |peer: &str| chat.ann.user.post("/chat/privatechats", json!({ "userId": peer }));
    start(&chat.cy.id).await.refused(429, "too-many-requests");
    start(&chat.bob.id).await.is(200);
}
