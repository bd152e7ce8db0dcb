//! Private chats: starting, details, blocks, and the list of a user's chats.

use chat::keys::UserKey;
use chat::names::UserId;
use chat::schema;
use chat::users::{Ban, User};
use futures::future::join_all;
use serde_json::{Value, json};
use table::EntityKey;

use super::conversation::{change_member, ids, private_chat, react, send, sending, unreact, user_id, write_messages};
use super::stage::{Chat, Member, id, names};
use crate::harness::table::stored;
use crate::harness::{Call, sized};
use crate::tests;

tests! { chat_private_chats:
    both_people_who_start_at_once_get_one_chat,
    private_chat_with_oneself_an_unknown_or_a_banned_person_is_refused,
    private_chat_is_hidden_from_others,
    either_member_updates_name_and_description,
    blocked_member_cannot_send_or_react_until_the_block_is_removed,
    blocked_member_edits_no_message_and_deletes_own_ones,
    blocked_member_does_not_rename_the_chat,
    message_to_a_deleted_member_is_refused,
    list_has_the_newest_chat_first_with_what_is_unread,
    hidden_chat_is_left_out_of_the_list_without_a_short_page,
}

async fn both_people_who_start_at_once_get_one_chat() {
    let chat = Chat::without_stream_readers().await;
    for pair in 0..sized(5, 50) {
        let name = |side: &str| -> &'static str { Box::leak(format!("{side}{pair}x").into_boxed_str()) };
        let (one, other) = (chat.member(name("one")).await, chat.member(name("two")).await);
        let start = |from: &Member, to: &Member| from.user.post("/chat/privatechats", json!({ "userId": to.id }));
        let (first, second) = tokio::join!(start(&one, &other).into_future(), start(&other, &one).into_future());
        let mut statuses = [first.status, second.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 201], "{} {}", first.told(), second.told());
        assert_eq!(id(&first), id(&second));
        for member in [&one, &other] {
            let list = member.user.get("/chat/me/privatechats").await.is(200);
            assert_eq!(chat_ids(&list["items"]), [first.text("id")]);
        }
        start(&one, &other).await.is(200);
    }
    let items = chat.cairn.table_of(&schema::PRIVATE_CHATS).items().await;
    let chats = items.iter().filter(|item| item["pk"] == item["sk"] && item.contains_key("Name")).count();
    assert_eq!(chats, sized(5, 50));
}

/// Writes a user's item directly with this change.
async fn change_user(chat: &Chat, member: &Member, change: impl FnOnce(&mut User)) {
    let table = chat.cairn.table_of(&schema::USERS);
    let key = UserKey { user: user_id(member) }.key();
    let item = table.items().await.into_iter().find(|item| item["pk"].as_s() == Ok(&key.pk)).unwrap();
    let mut user: User = table::item::from_item(item).unwrap();
    change(&mut user);
    table.put(stored(&schema::USERS, &key, &user)).await;
}

async fn private_chat_with_oneself_an_unknown_or_a_banned_person_is_refused() {
    let chat = Chat::without_stream_readers().await;
    let start = |user: &str| chat.ann.user.post("/chat/privatechats", json!({ "userId": user }));
    start(&chat.ann.id).await.faulty(&["/userId"]);
    start("x").await.faulty(&["/userId"]);
    start(&UserId::now(&chat.cairn.clock).to_string()).await.refused(422, "unprocessable").at(&["/userId"]);
    let ban = |until: Option<&str>| {
        let until = until.map(str::to_owned);
        move |user: &mut User| {
            user.ban = Some(Ban { reason: String::new(), by: UserId::at(1), until });
        }
    };
    change_user(&chat, &chat.bob, ban(None)).await;
    start(&chat.bob.id).await.refused(422, "unprocessable").at(&["/userId"]);
    chat.bob.user.post("/chat/privatechats", json!({ "userId": chat.ann.id })).await.refused(403, "banned");
    change_user(&chat, &chat.bob, ban(Some("2026-01-01T00:00:00.000Z"))).await;
    start(&chat.bob.id).await.is(201);
    change_user(&chat, &chat.cy, |user| user.deleted_at = Some("2026-01-01T00:00:00.000Z".to_owned())).await;
    start(&chat.cy.id).await.refused(422, "unprocessable").at(&["/userId"]);
    chat.visitor.post("/chat/privatechats", json!({ "userId": chat.ann.id })).await.is(401);
}

async fn private_chat_is_hidden_from_others() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let message = format!("{path}/messages/{}", id(&send(&chat.ann.user, &path, "hi").await));
    let cy = &chat.cy.user;
    let read = json!({ "upTo": message.rsplit('/').next() });
    let calls: Vec<Call> = vec![
        cy.get(&path),
        cy.patch(&path, json!({ "name": "x" })),
        cy.call(reqwest::Method::PUT, &format!("{path}/block")),
        cy.delete(&format!("{path}/block")),
        sending(cy, &path, "hi"),
        cy.get(&format!("{path}/messages")),
        cy.get(&message),
        cy.patch(&message, json!({ "content": "x" })),
        cy.delete(&message),
        react(cy, &message, ":x:"),
        cy.delete(&format!("{message}/reactions/:x:")),
        cy.get(&format!("{message}/reactions")),
        cy.get(&format!("{message}/readers")),
        cy.get(&format!("{path}/read")),
        cy.put(&format!("{path}/read"), read),
        cy.put(&format!("{path}/preferences"), json!({ "hidden": true })),
    ];
    for call in calls {
        call.await.refused(404, "not-found");
    }
    // Nothing has changed.
    let page = chat.bob.user.get(&format!("{path}/messages")).await.is(200);
    assert_eq!((page["items"][0]["content"].as_str(), ids(&page).len()), (Some("hi"), 1));
    // An id of another kind names no chat.
    chat.ann.user.get("/chat/privatechats/x").await.refused(404, "not-found");
    for other in [path.replace("private", "group"), path[..path.len() - 1].to_owned(), "/chat/privatechats/x".into()] {
        chat.ann.user.get(&format!("{other}/messages")).await.refused(404, "not-found");
    }
}

async fn either_member_updates_name_and_description() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let first = chat.ann.user.get(&path).await.is(200);
    assert_eq!((first.text("name"), first.text("description")), ("", ""));
    let named = chat.ann.user.patch(&path, json!({ "name": "Weekend" })).if_match(&first.tag()).await.is(200);
    chat.bob.user.patch(&path, json!({ "name": "Week" })).if_match(&first.tag()).await.refused(412, "stale");
    let described = chat.bob.user.patch(&path, json!({ "description": "Plans" })).await.is(200);
    assert_eq!((described.text("name"), described.text("description")), ("Weekend", "Plans"));
    assert!(described.rev() > named.rev());
    let same = chat.ann.user.patch(&path, json!({ "name": "Weekend" })).await.is(200);
    assert_eq!(same.tag(), described.tag());
    assert_eq!(chat.bob.user.get(&path).await.is(200).body, described.body);
    chat.ann.user.patch(&path, json!({ "name": "x".repeat(81) })).await.faulty(&["/name"]);
    chat.ann.user.patch(&path, json!({ "memberIds": [] })).await.faulty(&["/memberIds"]);
}

async fn blocked_member_cannot_send_or_react_until_the_block_is_removed() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let message = format!("{path}/messages/{}", id(&send(&chat.ann.user, &path, "hi").await));
    let block = || chat.ann.user.call(reqwest::Method::PUT, &format!("{path}/block"));
    block().await.is(204);
    block().await.is(204);
    sending(&chat.bob.user, &path, "hello?").await.refused(403, "blocked");
    react(&chat.bob.user, &message, ":x:").await.refused(403, "blocked");
    send(&chat.ann.user, &path, "I can still write").await;
    // The old messages stay, and nothing but sending tells of the block.
    let page = chat.bob.user.get(&format!("{path}/messages")).await.is(200);
    assert_eq!(ids(&page).len(), 2);
    let blocked = async |member: &Member| {
        let list = member.user.get("/chat/me/privatechats").await.is(200);
        list["items"][0]["blocked"].as_bool().unwrap()
    };
    assert_eq!((blocked(&chat.ann).await, blocked(&chat.bob).await), (true, false));
    let unblock = || chat.ann.user.delete(&format!("{path}/block"));
    unblock().await.is(204);
    unblock().await.is(204);
    send(&chat.bob.user, &path, "hello?").await;
    react(&chat.bob.user, &message, ":x:").await.is(204);
}

async fn blocked_member_edits_no_message_and_deletes_own_ones() {
    let chat = Chat::new().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let of_ann = send(&chat.ann.user, &path, "hi").await.header("location").to_owned();
    let of_bob = send(&chat.bob.user, &path, "hello").await.header("location").to_owned();
    react(&chat.bob.user, &of_ann, ":x:").await.is(204);
    chat.ann.user.call(reqwest::Method::PUT, &format!("{path}/block")).await.is(204);
    let edit = |content: &str| chat.bob.user.patch(&of_bob, json!({ "content": content }));
    edit("read this instead").await.refused(403, "blocked");
    assert_eq!(chat.ann.user.get(&of_bob).await.is(200)["content"], "hello");
    // The same content is no change.
    edit("hello").await.is(200);
    chat.ann.user.patch(&of_ann, json!({ "content": "bye" })).await.is(200);
    unreact(&chat.bob.user, &of_ann, ":x:").await.is(204);
    chat.bob.user.delete(&of_bob).await.is(204);
    edit("read this instead").await.refused(409, "message-deleted");
    chat.ann.user.delete(&format!("{path}/block")).await.is(204);
    let of_bob = send(&chat.bob.user, &path, "hello").await.header("location").to_owned();
    chat.bob.user.patch(&of_bob, json!({ "content": "hello again" })).await.is(200);
}

async fn blocked_member_does_not_rename_the_chat() {
    let chat = Chat::new().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    chat.ann.user.call(reqwest::Method::PUT, &format!("{path}/block")).await.is(204);
    for update in [json!({ "name": "Read this" }), json!({ "description": "And this" })] {
        chat.bob.user.patch(&path, update).await.refused(403, "blocked");
    }
    let read = chat.ann.user.get(&path).await.is(200);
    assert_eq!((read.text("name"), read.text("description")), ("", ""));
    chat.ann.user.patch(&path, json!({ "name": "Nobody" })).await.is(200);
    chat.ann.user.delete(&format!("{path}/block")).await.is(204);
    chat.bob.user.patch(&path, json!({ "name": "Weekend" })).await.is(200);
}

async fn message_to_a_deleted_member_is_refused() {
    let chat = Chat::without_stream_readers().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    change_member(&chat, &path, &chat.bob, |bob| bob.gone_at = Some("2026-03-01T10:00:00.000Z".to_owned())).await;
    sending(&chat.ann.user, &path, "hi").await.refused(403, "gone");
    chat.ann.user.get(&format!("{path}/messages")).await.is(200);
}

fn chat_ids(items: &Value) -> Vec<&str> {
    items.as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

async fn list_has_the_newest_chat_first_with_what_is_unread() {
    let chat = Chat::without_stream_readers().await;
    let first = private_chat(&chat.ann, &chat.bob).await;
    let second = private_chat(&chat.cy, &chat.ann).await;
    let list = |query: &str| chat.ann.user.get(&format!("/chat/me/privatechats?{query}"));
    let empty = list("counts=true").await.is(200);
    for item in empty["items"].as_array().unwrap() {
        assert_eq!((&item["hasUnread"], &item["unreadCount"]), (&json!(false), &json!(0)));
        assert!(item["lastMessage"].is_null());
    }
    write_messages(&chat, &first, &chat.bob, (0..120).map(|number| chat.cairn.clock.micros() / 1000 + number)).await;
    let last = send(&chat.cy.user, &second, "hi").await;
    let both = list("counts=true&include=people").await.is(200);
    assert_eq!(chat_ids(&both["items"]), [second.rsplit('/').next().unwrap(), first.rsplit('/').next().unwrap()]);
    assert_eq!(both["items"][0]["lastMessage"]["id"], last.text("id"));
    let counts: Vec<_> = both["items"].as_array().unwrap().iter().map(|item| &item["unreadCount"]).collect();
    assert_eq!(counts, [1, 100]);
    assert_eq!(names(&both), ["bob", "usercy"]);
    assert_eq!(both["items"][0]["userId"], json!(chat.cy.id));
    // What the sender has sent is read.
    let of_cy = chat.cy.user.get("/chat/me/privatechats").await.is(200);
    assert_eq!(of_cy["items"][0]["hasUnread"], false);
    assert!(of_cy["items"][0]["unreadCount"].is_null());
    let page = list("limit=1").await.is(200);
    let rest = list(&format!("limit=1&cursor={}", page.next().unwrap())).await.is(200);
    assert_eq!(chat_ids(&page["items"]), chat_ids(&both["items"])[..1]);
    assert_eq!(chat_ids(&rest["items"]), chat_ids(&both["items"])[1..]);
    assert!(rest.next().is_none());
    list("limit=26").await.faulty(&["limit"]);
}

async fn hidden_chat_is_left_out_of_the_list_without_a_short_page() {
    let chat = Chat::without_stream_readers().await;
    let others = join_all(["dan", "eve", "fay", "gus"].map(|name| chat.member(name))).await;
    let mut paths = Vec::new();
    for other in &others {
        paths.push(private_chat(&chat.ann, other).await);
    }
    let hide =
        |path: &str, hidden: bool| chat.ann.user.put(&format!("{path}/preferences"), json!({ "hidden": hidden }));
    hide(&paths[1], true).await.is(200);
    hide(&paths[2], true).await.is(200);
    let list = async |query: &str| chat.ann.user.get(&format!("/chat/me/privatechats?{query}")).await.is(200);
    let page = list("limit=2").await;
    assert_eq!(chat_ids(&page["items"]), [&paths[3], &paths[0]].map(|path| path.rsplit('/').next().unwrap()));
    assert!(page.next().is_none());
    hide(&paths[1], false).await.is(200);
    assert_eq!(chat_ids(&list("").await["items"]).len(), 3);
}
