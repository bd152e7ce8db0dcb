//! Operations that end memberships and sessions: what their person follows over the socket ends before the response.

use std::time::Duration;

use ::jobs::RUN_JOBS;
use chat::keys::UserKey;
use chat::schema::{GROUP_CHATS, TELL, USERS};
use chat::users::{Ban, User as StoredUser};
use local::identity::Person;
use reqwest::Method;
use serde_json::{Value, json};
use table::{Config, Engines, EntityKey};

use super::conversation::{send, user_id};
use super::follower::{ask, follow, frame_of, group_chat_of, has_event, open};
use super::identity::platform;
use super::people::{Registered, log_in, password, refresh, register};
use super::stage::{Chat, closed_socket, id};
use crate::harness::stopper::{Moment, Stopper, WRITES};
use crate::harness::table::stored;
use crate::harness::{Answer, Cairn, Setup, Socket, User};
use crate::tests;

tests! { chat_endings:
    #[long] each_end_of_a_membership_ends_the_subscription,
    #[long] each_end_of_a_session_closes_its_connections,
    settled_reports_end_subscriptions_and_connections,
    stream_finishes_an_interrupted_end,
    subscription_of_a_member_who_has_joined_again_does_not_end,
    follower_of_a_deleted_chat_learns_of_the_deletion_before_the_stream_does,
    follower_who_comes_during_the_deletion_learns_of_it,
    #[long] end_that_stops_before_a_write_is_repeated,
}

/// Waits for the end of the subscription.
async fn ended(socket: &mut Socket, feed: &str) {
    let frame = frame_of(socket, |frame| frame["type"] == "unsubscribed").await;
    assert_eq!((&frame["feed"], &frame["id"]), (&json!(feed), &Value::Null), "{frame}");
}

async fn each_end_of_a_membership_ends_the_subscription() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let (path, feed) = (format!("/chat/groupchats/{group}"), format!("groupchat/{group}"));
    let community = chat.ann.user.get(&path).await.is(200).text("communityId").to_owned();
    let of_bob = |place: &str| format!("{place}/{}", chat.bob.id);
    let members = format!("{path}/members");
    let in_community = format!("/chat/communities/{community}/members");
    let bans = of_bob(&format!("/chat/communities/{community}/bans"));
    let mut bob = open(&chat.bob).await;
    let ends: [(&User, Method, String); 5] = [
        (&chat.bob.user, Method::DELETE, format!("{members}/me")),
        (&chat.ann.user, Method::DELETE, of_bob(&members)),
        (&chat.bob.user, Method::DELETE, format!("{in_community}/me")),
        (&chat.ann.user, Method::DELETE, of_bob(&in_community)),
        (&chat.ann.user, Method::PUT, bans),
    ];
    for (user, method, end) in ends {
        chat.bob.joins_community(&community).await;
        let joined = chat.bob.joins_group_chat(&group).await;
        assert!([200, 201].contains(&joined.status), "{}", joined.told());
        for joined in [chat.bob.joins_community(&community).await, chat.bob.joins_group_chat(&group).await] {
            assert!([200, 201].contains(&joined.status), "{}", joined.told());
        }
        follow(&mut bob, &feed).await;
        let call = user.call(method.clone(), &end);
        let call = if method == Method::PUT { call.json(&json!({ "reason": "spam" })) } else { call };
        call.await.is(204);
        ended(&mut bob, &feed).await;
        chat.cairn.caught_up().await;
    }
}

/// Opens the socket in a session.
async fn open_as(user: &User) -> Socket {
    let ticket = user.call(Method::POST, "/chat/live/tickets").await.is(201);
    Socket::open(&format!("{}?ticket={}", ticket.text("url"), ticket.text("ticket"))).await.unwrap()
}

async fn administrator(cairn: &Cairn) -> User {
    let admin = cairn.person("ada", Person { roles: &["chat-admin"], ..Person::new("ada") }).await;
    admin.get("/chat/me").await.is(200);
    admin
}

async fn each_end_of_a_session_closes_its_connections() {
    let cairn = platform().await;
    let admin = administrator(&cairn).await;
    register(&cairn, "ann").await;
    let session = async || {
        let session = log_in(&cairn, "ann").await;
        let socket = open_as(&session.user).await;
        (session, socket)
    };
    let (mut current, mut own) = session().await;
    let one = |session: &Registered| format!("/chat/me/sessions/{}", session.session);

    let (other, mut socket) = session().await;
    current.user.delete(&one(&other)).await.is(204);
    socket.ended().await;

    let (other, mut socket) = session().await;
    refresh(&cairn, &other.refresh_token).await.is(200);
    cairn.clock.advance(Duration::from_secs(21));
    refresh(&cairn, &other.refresh_token).await.refused(401, "session-ended");
    socket.ended().await;

    let (_, mut socket) = session().await;
    let change = json!({ "password": "fern on the north side", "currentPassword": password("ann") });
    current.user.put("/chat/me/password", change).await.is(204);
    socket.ended().await;
    let pong = ask(&mut own, json!({ "action": "ping", "id": "p" })).await;
    assert_eq!(pong["type"], "pong", "the current session's connection was closed");

    let code = admin.call(Method::POST, &format!("/chat/users/{}/password-resets", current.id)).await.is(201);
    let reset = json!({ "code": code["code"], "password": password("ann") });
    cairn.visitor().post("/chat/password-resets", reset).await.is(204);
    own.ended().await;

    (current, own) = session().await;
    current.user.delete("/chat/me/sessions").await.is(204);
    own.ended().await;

    (current, own) = session().await;
    let ban = format!("/chat/users/{}/ban", current.id);
    admin.put(&ban, json!({ "reason": "spam" })).await.is(204);
    own.ended().await;
    admin.delete(&ban).await.is(204);

    (current, own) = session().await;
    current.user.delete("/chat/me").await.is(202);
    own.ended().await;
}

async fn settled_reports_end_subscriptions_and_connections() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let (path, feed) = (format!("/chat/groupchats/{group}"), format!("groupchat/{group}"));
    let mut bob = open(&chat.bob).await;
    follow(&mut bob, &feed).await;
    let message = send(&chat.bob.user, &path, "spam").await;
    let about = json!({ "kind": "message", "targetId": message["id"], "chat": feed, "reason": "spam" });
    let report = chat.ann.user.post("/chat/reports", about).await.is(201);
    let settle = async |user: &User, report: &Answer, measure: &str| {
        let settlement = json!({ "status": "upheld", "measures": [measure], "reason": "spam" });
        user.post(&format!("/chat/reports/{}/settle", id(report)), settlement).await.is(200)
    };
    settle(&chat.ann.user, &report, "remove").await;
    ended(&mut bob, &feed).await;
    let about = json!({ "kind": "person", "targetId": chat.bob.id, "reason": "spam" });
    let report = chat.ann.user.post("/chat/reports", about).await.is(201);
    let admin = administrator(&chat.cairn).await;
    settle(&admin, &report, "ban").await;
    bob.ended().await;
    chat.cairn.caught_up().await;
    let told = chat.ann.user.get("/chat/me/notifications").await.is(200);
    assert_eq!(told.each("type"), ["reportSettled", "reportSettled"], "{}", told.told());
}

async fn stream_finishes_an_interrupted_end() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let feed = format!("groupchat/{group}");
    let mut bob = open(&chat.bob).await;
    follow(&mut bob, &feed).await;
    // Only the commit of a removal, and of a ban.
    let member = format!("USER#{}", chat.bob.id);
    chat.cairn.table_of(&GROUP_CHATS).delete(&format!("GROUPCHAT#{group}"), &member).await;
    ended(&mut bob, &feed).await;
    let table = chat.cairn.table_of(&USERS);
    let item = table.items().await.into_iter().find(|item| item["pk"].as_s() == Ok(&member)).unwrap();
    let user: StoredUser = table::item::from_item(item).unwrap();
    let ban = Some(Ban { reason: "spam".to_owned(), by: user_id(&chat.ann), until: None });
    let key = UserKey { user: user.id }.key();
    table.put(stored(&USERS, &key, &StoredUser { ban, ..user })).await;
    bob.ended().await;
}

async fn follower_of_a_deleted_chat_learns_of_the_deletion_before_the_stream_does() {
    // The message of the job, or the schedule that finds a job whose message was lost.
    for absent in [RUN_JOBS, "runJob"] {
        let chat = Chat::with(Setup { without: vec![TELL, absent], ..Setup::of("chat") }).await;
        let group = group_chat_of(&chat, &[&chat.bob]).await;
        let feed = format!("groupchat/{group}");
        let mut bob = open(&chat.bob).await;
        follow(&mut bob, &feed).await;
        chat.ann.user.delete(&format!("/chat/groupchats/{group}")).await.is(202);
        if absent == "runJob" {
            chat.cairn.clock.advance(Duration::from_secs(60));
            chat.cairn.event("chat", RUN_JOBS, &json!({})).await.unwrap();
        }
        let ended = frame_of(&mut bob, |frame| frame["type"] == "unsubscribed").await;
        assert_eq!((&ended["feed"], &ended["reason"]), (&json!(feed), &json!("deleted")));
    }
}

async fn follower_who_comes_during_the_deletion_learns_of_it() {
    let chat = Chat::new().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let feed = format!("groupchat/{group}");
    let (table, pk) = (chat.cairn.table_of(&GROUP_CHATS), format!("GROUPCHAT#{group}"));
    // The deletion has been marked, and its event has been delivered.
    let mut item = table.get(&pk, &pk).await.unwrap();
    item.insert("DeletingAt".to_owned(), table::item::text("2026-03-01T10:00:00.000Z"));
    table.put(item).await;
    chat.cairn.caught_up().await;
    let mut bob = open(&chat.bob).await;
    follow(&mut bob, &feed).await;
    table.delete(&pk, &format!("USER#{}", chat.bob.id)).await;
    let ended = frame_of(&mut bob, |frame| frame["type"] == "unsubscribed").await;
    assert_eq!((&ended["feed"], &ended["reason"]), (&json!(feed), &json!("deleted")));
}

/// Handles a record as a worker that dies before this write, and reaches no connection. Returns whether it dies.
async fn dies(chat: &Chat, record: &Value, write: usize) -> bool {
    let config = chat.cairn.engines().config.clone();
    let held = Some((write, Moment::BeforeItIsSent));
    let stopper = Stopper::of(WRITES, config.dynamodb.clone().unwrap(), held).await;
    let config = Config { dynamodb: Some(stopper.url.clone()), socket: closed_socket(), ..config };
    let app = ::chat::app(Engines::new(config, chat.cairn.clock.clone())).metrics_to(|_| {});
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    tokio::select! {
        done = app.event(TELL, record.to_string().into(), deadline) => drop(done.unwrap()),
        () = stopper.stopped() => return true,
    }
    false
}

async fn end_that_stops_before_a_write_is_repeated() {
    let chat = Chat::with(Setup { without: vec![TELL], ..Setup::of("chat") }).await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let (feed, table) = (format!("groupchat/{group}"), chat.cairn.table_of(&GROUP_CHATS));
    let member = table.get(&format!("GROUPCHAT#{group}"), &format!("USER#{}", chat.bob.id)).await.unwrap();
    let removal = json!({ "Records": [table.remove_record(&member, 0)] });
    let mut bob = open(&chat.bob).await;
    let mut write = 0;
    loop {
        table.put(member.clone()).await;
        follow(&mut bob, &feed).await;
        table.delete_item(&member).await;
        if !dies(&chat, &removal, write).await {
            break;
        }
        chat.cairn.event("chat", TELL, &removal).await.unwrap();
        ended(&mut bob, &feed).await;
        write += 1;
    }
    assert!(write > 2, "{write}");
}

async fn subscription_of_a_member_who_has_joined_again_does_not_end() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let (path, feed) = (format!("/chat/groupchats/{group}"), format!("groupchat/{group}"));
    chat.cairn.caught_up().await;
    let table = chat.cairn.table_of(&GROUP_CHATS);
    let member = table.get(&format!("GROUPCHAT#{group}"), &format!("USER#{}", chat.bob.id)).await.unwrap();
    let mut bob = open(&chat.bob).await;
    follow(&mut bob, &feed).await;
    // The record of an earlier removal arrives late.
    let late = json!({ "Records": [table.remove_record(&member, 0)] });
    chat.cairn.event("chat", "live", &late).await.unwrap();
    send(&chat.ann.user, &path, "hi").await;
    frame_of(&mut bob, |frame| {
        assert_ne!(frame["type"], "unsubscribed");
        has_event(frame, "message.created")
    })
    .await;
}
