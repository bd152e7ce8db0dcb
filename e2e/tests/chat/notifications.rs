//! Notifications: what makes them, their two groups, and their count.

use std::time::Duration;

use chat::schema::{GROUP_CHATS, NOTIFICATIONS};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::conversation::{private_chat, send, write_messages};
use super::follower::{Follower, group_chat_of};
use super::stage::{Chat, Member, names};
use crate::harness::{Answer, eventually};
use crate::tests;

tests! { chat_notifications:
    #[long] unread_notifications_come_first_at_any_page_size,
    #[long] notifications_that_arrive_during_read_all_stay_unread,
    notification_marked_by_two_at_once_is_moved_once,
    notification_that_is_moved_while_it_is_read_is_found,
    notifications_are_listed_with_the_names_of_their_actors,
    marks_cannot_be_set_back,
    deleted_notification_is_gone_and_no_longer_counted,
    notification_of_another_user_is_not_found,
    changes_of_notifications_reach_the_user,
    mention_in_a_muted_and_hidden_chat_shows_the_chat_again,
    mention_in_a_private_chat_is_counted,
    #[long] mention_that_is_deleted_or_edited_away_is_counted_no_more,
    mention_that_an_edit_adds_is_counted_and_not_notified,
    read_all_stops_before_its_time_is_up,
    repeated_record_makes_no_second_notification,
    joining_and_moderating_a_group_chat_are_notified,
}

const LIST: &str = "/chat/me/notifications";

/// Waits until the streams are read, and returns a user's notifications of a type.
async fn of_type(chat: &Chat, member: &Member, kind: &str) -> Vec<Value> {
    chat.cairn.caught_up().await;
    let all = items(&member.user.pages(LIST, 100).await);
    all.into_iter().filter(|item| item["type"] == kind).collect()
}

fn items(pages: &[Answer]) -> Vec<Value> {
    pages.iter().flat_map(|page| page["items"].as_array().unwrap().clone()).collect()
}

async fn count(member: &Member) -> u64 {
    member.user.get("/chat/me/notifications/count").await.is(200)["unread"].as_u64().unwrap()
}

/// Mentions bob in a number of messages, and waits for the notifications.
async fn mention_bob(chat: &Chat, path: &str, number: usize) {
    for number in 0..number {
        send(&chat.ann.user, path, &format!("{number} @bob")).await;
    }
    chat.cairn.caught_up().await;
}

async fn unread_notifications_come_first_at_any_page_size() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    mention_bob(&chat, &format!("/chat/groupchats/{group}"), 30).await;
    let all = items(&chat.bob.user.pages(LIST, 100).await);
    assert_eq!((all.len(), count(&chat.bob).await), (30, 30));
    // Every third one is read.
    for notification in all.iter().step_by(3) {
        let path = format!("{LIST}/{}", notification["id"].as_str().unwrap());
        let read = chat.bob.user.patch(&path, json!({ "read": true })).await.is(200);
        assert_eq!((&read["read"], &read["seen"], &read["id"]), (&json!(true), &json!(true), &notification["id"]));
        assert_eq!(read["createdAt"], notification["createdAt"]);
        assert!(read["rev"].as_u64() > notification["rev"].as_u64());
    }
    assert_eq!(count(&chat.bob).await, 20);
    let ids = |items: &[Value]| items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    let (read, unread): (Vec<_>, Vec<_>) = all.iter().cloned().enumerate().partition(|(at, _)| at % 3 == 0);
    let expected: Vec<String> =
        unread.into_iter().chain(read).map(|(_, item)| item["id"].as_str().unwrap().to_owned()).collect();
    for limit in [1, 7, 10, 20, 30, 100] {
        let mut listed = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = chat.bob.user.get(&format!("{LIST}?limit={limit}{cursor}")).await.is(200);
            listed.extend(page["items"].as_array().unwrap().clone());
            let Some(next) = page.next() else { break };
            assert_eq!(page["items"].as_array().unwrap().len(), limit, "a short page");
            cursor = format!("&cursor={next}");
        }
        assert_eq!(ids(&listed), expected, "{limit}");
    }
    let first = &all[1];
    assert_eq!(first["type"], "mention");
    assert_eq!(first["actorId"], chat.ann.id);
    let target = first["target"].as_str().unwrap();
    chat.bob.user.get(target).await.is(200);
}

async fn notifications_that_arrive_during_read_all_stay_unread() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let path = format!("/chat/groupchats/{group}");
    // More than one transaction.
    mention_bob(&chat, &path, 60).await;
    let read_all = || chat.bob.user.call(reqwest::Method::POST, "/chat/me/notifications/read-all");
    chat.cairn.clock.advance(Duration::from_millis(5));
    let (read, ()) = tokio::join!(read_all().into_future(), async {
        // The request has begun.
        eventually("a notification is read", async || count(&chat.bob).await < 60).await;
        mention_bob(&chat, &path, 5).await;
    });
    assert_eq!(read.is(200)["read"], 60);
    assert_eq!(count(&chat.bob).await, 5);
    let all = items(&chat.bob.user.pages(LIST, 100).await);
    assert_eq!(all.iter().filter(|item| item["read"] == false).count(), 5);
    assert_eq!(all.len(), 65);
    assert_eq!(read_all().await.is(200)["read"], 5);
    assert_eq!(read_all().await.is(200)["read"], 0);
    assert_eq!(count(&chat.bob).await, 0);
}

async fn notification_marked_by_two_at_once_is_moved_once() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    mention_bob(&chat, &format!("/chat/groupchats/{group}"), 3).await;
    for notification in items(&chat.bob.user.pages(LIST, 100).await) {
        let path = format!("{LIST}/{}", notification["id"].as_str().unwrap());
        let mark = || chat.bob.user.patch(&path, json!({ "read": true })).into_future();
        let (one, other) = tokio::join!(mark(), mark());
        assert_eq!(one.is(200).body, other.is(200).body);
    }
    assert_eq!(count(&chat.bob).await, 0);
    let table = chat.cairn.table_of(&NOTIFICATIONS).items().await;
    let read = table.iter().filter(|item| item["sk"].as_s().unwrap().starts_with("NOTIFICATIONREAD#"));
    assert_eq!(read.count(), 3);
}

async fn notification_that_is_moved_while_it_is_read_is_found() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    mention_bob(&chat, &format!("/chat/groupchats/{group}"), 1).await;
    let listed = chat.bob.user.get(LIST).await.is(200);
    let path = format!("{LIST}/{}", listed["items"][0]["id"].as_str().unwrap());
    let mark = Some(json!({ "read": true }));
    assert_eq!(chat.missing_the_first_batch("bob", reqwest::Method::PATCH, &path, mark).await, 200);
    assert_eq!(chat.missing_the_first_batch("bob", reqwest::Method::DELETE, &path, None).await, 204);
    chat.bob.user.delete(&path).await.refused(404, "not-found");
}

async fn notifications_are_listed_with_the_names_of_their_actors() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    mention_bob(&chat, &format!("/chat/groupchats/{group}"), 2).await;
    private_chat(&chat.cy, &chat.bob).await;
    chat.cairn.caught_up().await;
    let listed = chat.bob.user.get(&format!("{LIST}?include=people")).await.is(200);
    assert_eq!((listed.each("id").len(), names(&listed)), (3, vec!["ann".to_owned(), "usercy".to_owned()]));
    assert!(chat.bob.user.get(LIST).await.is(200)["people"].is_null());
}

async fn marks_cannot_be_set_back() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    mention_bob(&chat, &format!("/chat/groupchats/{group}"), 1).await;
    let listed = chat.bob.user.get(LIST).await.is(200);
    let path = format!("{LIST}/{}", listed["items"][0]["id"].as_str().unwrap());
    let patch = |patch: Value| chat.bob.user.patch(&path, patch);
    let unchanged = patch(json!({ "seen": false, "read": false })).await.is(200);
    let seen = patch(json!({ "seen": true })).await.is(200);
    assert_eq!((&seen["seen"], &seen["read"]), (&json!(true), &json!(false)));
    assert!(seen.rev() > unchanged.rev());
    patch(json!({ "read": true })).if_match(&unchanged.tag()).await.refused(412, "stale");
    patch(json!({ "seen": false })).await.refused(422, "unprocessable").at(&["/seen"]);
    let read = patch(json!({ "read": true, "seen": true })).if_match(&seen.tag()).await.is(200);
    patch(json!({ "read": false, "seen": false })).await.refused(422, "unprocessable").at(&["/read", "/seen"]);
    assert_eq!(patch(json!({ "read": true })).await.is(200).tag(), read.tag());
    patch(json!({ "message": "x" })).await.faulty(&["/message"]);
}

async fn deleted_notification_is_gone_and_no_longer_counted() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    mention_bob(&chat, &format!("/chat/groupchats/{group}"), 2).await;
    let listed = items(&chat.bob.user.pages(LIST, 100).await);
    let path = |at: usize| format!("{LIST}/{}", listed[at]["id"].as_str().unwrap());
    chat.bob.user.patch(&path(0), json!({ "read": true })).await.is(200);
    chat.bob.user.delete(&path(0)).await.is(204);
    assert_eq!(count(&chat.bob).await, 1);
    chat.bob.user.delete(&path(1)).await.is(204);
    assert_eq!(count(&chat.bob).await, 0);
    chat.bob.user.delete(&path(1)).await.refused(404, "not-found");
    chat.bob.user.patch(&path(1), json!({ "read": true })).await.refused(404, "not-found");
    assert_eq!(items(&chat.bob.user.pages(LIST, 100).await), Vec::<Value>::new());
}

async fn notification_of_another_user_is_not_found() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    mention_bob(&chat, &format!("/chat/groupchats/{group}"), 1).await;
    let listed = chat.bob.user.get(LIST).await.is(200);
    let path = format!("{LIST}/{}", listed["items"][0]["id"].as_str().unwrap());
    chat.cy.user.patch(&path, json!({ "read": true })).await.refused(404, "not-found");
    chat.cy.user.delete(&path).await.refused(404, "not-found");
    chat.cy.user.delete(&format!("{LIST}/x")).await.refused(404, "not-found");
    chat.visitor.get(LIST).await.is(401);
    assert_eq!(count(&chat.bob).await, 1);
}

async fn changes_of_notifications_reach_the_user() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let mut bob = Follower::new(&chat.bob, &["user"]).await;
    mention_bob(&chat, &format!("/chat/groupchats/{group}"), 1).await;
    let created = bob.until("user", "notification", 1).await[0]["notification"].clone();
    assert_eq!(created, chat.bob.user.get(LIST).await.is(200)["items"][0]);
    let path = format!("{LIST}/{}", created["id"].as_str().unwrap());
    let seen = chat.bob.user.patch(&path, json!({ "seen": true })).await.is(200);
    assert_eq!(bob.until("user", "notification", 2).await[1]["notification"], seen.body);
    let read = chat.bob.user.patch(&path, json!({ "read": true })).await.is(200);
    assert_eq!(bob.until("user", "notification", 3).await[2]["notification"], read.body);
    chat.bob.user.delete(&path).await.is(204);
    let deleted = bob.until("user", "notification.deleted", 1).await;
    assert_eq!(deleted[0]["notificationId"], created["id"]);
    assert_eq!(bob.feed("user").of("notification").len(), 3);
}

async fn mention_in_a_muted_and_hidden_chat_shows_the_chat_again() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let path = format!("/chat/groupchats/{group}");
    let preferences = json!({ "mutedUntil": "2099-01-01T00:00:00.000Z", "hidden": true });
    chat.bob.user.put(&format!("{path}/preferences"), preferences).await.is(200);
    for number in 0..20 {
        send(&chat.ann.user, &path, &number.to_string()).await;
    }
    chat.cairn.caught_up().await;
    let list = || async { chat.bob.user.get("/chat/me/groupchats").await.is(200) };
    assert_eq!(list().await["items"], json!([]));
    assert_eq!(count(&chat.bob).await, 0);
    mention_bob(&chat, &path, 1).await;
    assert_eq!(count(&chat.bob).await, 1);
    let listed = list().await;
    let chats = listed["items"].as_array().unwrap();
    assert_eq!(chats.len(), 1, "{}", listed.told());
    assert_eq!((&chats[0]["hasUnread"], &chats[0]["mentionsUnread"]), (&json!(true), &json!(1)), "{}", listed.told());
    assert_eq!(chats[0]["muted"], true);
}

async fn mention_in_a_private_chat_is_counted() {
    let chat = Chat::without_search().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    mention_bob(&chat, &path, 1).await;
    assert_eq!(of_type(&chat, &chat.bob, "mention").await.len(), 1);
    let listed = chat.bob.user.get("/chat/me/privatechats").await.is(200);
    assert_eq!(listed["items"][0]["mentionsUnread"], 1, "{}", listed.told());
    let started = of_type(&chat, &chat.bob, "privateChatStarted").await;
    assert_eq!((started.len(), &started[0]["target"]), (1, &json!(path)));
    assert_eq!(of_type(&chat, &chat.ann, "privateChatStarted").await, Vec::<Value>::new());
}

async fn mention_that_is_deleted_or_edited_away_is_counted_no_more() {
    let chat = Chat::without_search().await;
    let path = format!("/chat/groupchats/{}", group_chat_of(&chat, &[&chat.bob]).await);
    let unread = || async {
        chat.cairn.caught_up().await;
        chat.bob.user.get(&format!("{path}/read")).await.is(200)["mentionsUnread"].clone()
    };
    // The rest of the unread messages is looked at, or there are too many of them.
    for later in [0, 110] {
        let deleted = send(&chat.ann.user, &path, "@bob one").await.header("location").to_owned();
        let edited = send(&chat.ann.user, &path, "@bob two").await.header("location").to_owned();
        for number in 0..later {
            send(&chat.ann.user, &path, &format!("message {number}")).await;
        }
        send(&chat.ann.user, &path, "@bob three").await;
        assert_eq!(unread().await, 3);
        chat.ann.user.delete(&deleted).await.is(204);
        assert_eq!(unread().await, 2);
        chat.ann.user.patch(&edited, json!({ "content": "two" })).await.is(200);
        assert_eq!(unread().await, 1);
        // What the reader has read is not subtracted again.
        let read = send(&chat.ann.user, &path, "@bob four").await;
        chat.cairn.caught_up().await;
        chat.bob.user.put(&format!("{path}/read"), json!({ "upTo": read["id"] })).await.is(200);
        chat.ann.user.delete(read.header("location")).await.is(204);
        assert_eq!(unread().await, 0);
    }
}

async fn mention_that_an_edit_adds_is_counted_and_not_notified() {
    let chat = Chat::without_search().await;
    let path = format!("/chat/groupchats/{}", group_chat_of(&chat, &[&chat.bob]).await);
    let unread = || async {
        chat.cairn.caught_up().await;
        chat.bob.user.get(&format!("{path}/read")).await.is(200)["mentionsUnread"].clone()
    };
    for number in [1, 2] {
        let edited = send(&chat.ann.user, &path, "one").await;
        let edit = |content: &str| chat.ann.user.patch(edited.header("location"), json!({ "content": content }));
        send(&chat.ann.user, &path, "@bob two").await;
        if number == 2 {
            // There are too many unread messages to look at all of them.
            let now = chat.cairn.clock.micros() / 1000;
            write_messages(&chat, &path, &chat.ann, (1..=110).map(|later| now + later)).await;
        }
        assert_eq!(unread().await, 1);
        edit("@bob one").await.is(200);
        assert_eq!(unread().await, 2);
        edit("one").await.is(200);
        assert_eq!(unread().await, 1);
        assert_eq!(of_type(&chat, &chat.bob, "mention").await.len(), number);
        let last = chat.bob.user.get(&format!("{path}/messages?limit=1")).await.is(200);
        let last = json!({ "upTo": last["items"][0]["id"] });
        assert_eq!(chat.bob.user.put(&format!("{path}/read"), last).await.is(200)["mentionsUnread"], 0);
    }
}

async fn read_all_stops_before_its_time_is_up() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    // More than one transaction.
    mention_bob(&chat, &format!("/chat/groupchats/{group}"), 60).await;
    chat.cairn.clock.advance(Duration::from_millis(5));
    let bearer = format!("Bearer {}", chat.cairn.token("bob", &[]).await);
    let read_all = async |time: Duration| {
        let request = http::Request::post("/chat/me/notifications/read-all").header("authorization", &bearer);
        let request = request.extension(web::Deadline(Instant::now() + time)).body(Vec::new().into()).unwrap();
        let answer = chat.cairn.app("chat").await.handle(request).await;
        serde_json::from_slice::<Value>(answer.body()).unwrap()
    };
    assert_eq!(read_all(Duration::from_secs(3)).await, json!({ "read": 49, "more": true }));
    assert_eq!(count(&chat.bob).await, 11);
    assert_eq!(read_all(Duration::from_secs(60)).await, json!({ "read": 11 }));
}

async fn repeated_record_makes_no_second_notification() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let path = format!("/chat/groupchats/{group}");
    let sent = send(&chat.ann.user, &path, "@bob").await;
    chat.cairn.caught_up().await;
    let table = chat.cairn.table_of(&GROUP_CHATS);
    let sk = format!("MESSAGE#{}#{}", sent.text("createdAt"), sent.text("id"));
    let item = table.get(&format!("GROUPCHAT#{group}"), &sk).await.unwrap();
    let payload = json!({ "Records": [table.insert_record(&item, 0)] });
    let [notification] = of_type(&chat, &chat.bob, "mention").await.try_into().unwrap();
    chat.bob.user.delete(&format!("{LIST}/{}", notification["id"].as_str().unwrap())).await.is(204);
    let handled = chat.cairn.event("chat", "live", &payload).await.unwrap();
    assert_eq!(handled, json!({ "batchItemFailures": [] }));
    assert_eq!(of_type(&chat, &chat.bob, "mention").await, Vec::<Value>::new());
    assert_eq!(count(&chat.bob).await, 0);
}

async fn joining_and_moderating_a_group_chat_are_notified() {
    let chat = Chat::without_search().await;
    let community = chat.ann.creates_community().await;
    let group = chat.ann.creates_group_chat(&community, json!({ "name": "Bogs", "private": true })).await;
    let path = format!("/chat/groupchats/{group}");
    for member in [&chat.bob, &chat.cy] {
        member.joins_community(&community).await.is(201);
    }
    let ask = |member: &Member| member.user.post(&format!("{path}/requests"), json!({})).into_future();
    let of_bob = ask(&chat.bob).await.is(201);
    let received = of_type(&chat, &chat.ann, "requestReceived").await;
    assert_eq!((received.len(), &received[0]["actorId"]), (1, &json!(chat.bob.id)));
    chat.ann.user.get(received[0]["target"].as_str().unwrap()).await.is(200);
    let settle = |request: &Answer, how: &str| {
        let path = format!("{path}/requests/{}/{how}", request.text("id"));
        chat.ann.user.call(reqwest::Method::POST, &path).into_future()
    };
    settle(&of_bob, "approve").await.is(200);
    let approved = of_type(&chat, &chat.bob, "requestApproved").await;
    assert_eq!((approved.len(), &approved[0]["target"]), (1, &json!(path)));
    let of_cy = ask(&chat.cy).await.is(201);
    settle(&of_cy, "deny").await.is(200);
    let denied = of_type(&chat, &chat.cy, "requestDenied").await;
    assert_eq!((denied.len(), &denied[0]["actorId"]), (1, &json!(chat.ann.id)));
    chat.cy.user.get(denied[0]["target"].as_str().unwrap()).await.is(200);
    chat.ann.puts(&format!("{path}/members/{}", chat.cy.id)).await.is(201);
    assert_eq!(of_type(&chat, &chat.cy, "added").await.len(), 1);
    assert_eq!(of_type(&chat, &chat.bob, "added").await, Vec::<Value>::new());
    chat.ann.puts(&format!("{path}/moderators/{}", chat.bob.id)).await.is(204);
    chat.ann.puts(&format!("/chat/communities/{community}/moderators/{}", chat.bob.id)).await.is(204);
    let targets: Vec<Value> =
        of_type(&chat, &chat.bob, "madeModerator").await.iter().map(|item| item["target"].clone()).collect();
    assert_eq!(targets, [json!(format!("/chat/communities/{community}")), json!(path)]);
}
