//! The socket: tickets, connections, subscriptions, and the events that followers get.

use std::time::{Duration, Instant};

use chat::live::feed::Feed;
use chat::names::GroupChatId;
use chat::schema::{GROUP_CHATS, LIVE, RECEIVE};
use reqwest::Method;
use serde_json::{Value, json};
use table::item::{flag, number};
use table::{Config, Engines};

use super::conversation::{both_kinds, private_chat, react, send, sending};
use super::follower::{
    Follower, ask, contents, follow, frame_of, frames_until_pong, group_chat_of, has_event, is_silent, open,
};
use super::identity::platform;
use super::people::{log_in, register};
use super::stage::Chat;
use crate::harness::stopper::{Moment, Stopper, TRANSACTIONS};
use crate::harness::table::Item;
use crate::harness::{Socket, sized};
use crate::tests;

tests! { chat_live:
    ticket_opens_one_connection_within_a_minute,
    ticket_of_an_ended_session_opens_nothing,
    outsider_cannot_follow_a_chat,
    events_of_a_group_chat_reach_its_followers,
    events_of_a_private_chat_reach_both_members_unasked,
    read_position_reaches_the_reader_or_both_members_of_a_private_chat,
    membership_of_a_community_reaches_the_user,
    deleted_chat_ends_the_subscriptions_to_it,
    stamp_makes_no_event,
    unsubscribed_client_gets_no_more_events,
    removed_member_gets_nothing_that_is_sent_after_the_removal,
    ping_is_answered_with_the_last_numbers_on_request,
    invalid_frames_are_refused,
    too_many_frames_and_feeds_are_refused,
    pings_with_heads_and_bad_frames_count_as_frames,
    connection_follows_at_most_200_feeds,
    connection_whose_frames_are_handled_at_once_follows_at_most_200_feeds,
    frame_is_answered_by_an_invocation_with_little_time,
    eleventh_connection_closes_the_oldest,
    connections_close_with_their_session,
    banned_user_is_disconnected_and_cannot_connect,
    connection_that_is_gone_is_forgotten,
    connection_that_is_gone_when_it_is_answered_is_forgotten,
    connection_that_is_busy_misses_frames_and_asks_for_them,
    connection_without_items_is_closed,
    message_sent_ten_times_with_one_key_has_one_event_key,
    approved_user_learns_of_the_membership,
    subscription_that_races_a_removal_is_refused_or_ends,
}

async fn ticket_opens_one_connection_within_a_minute() {
    let chat = Chat::new().await;
    let create = || async { chat.ann.user.call(Method::POST, "/chat/live/tickets").await.is(201) };
    chat.visitor.call(Method::POST, "/chat/live/tickets").await.is(401);
    let ticket = create().await;
    assert!(ticket.text("url").starts_with("ws"), "{}", ticket.told());
    let url = |ticket: &str| format!("ws{}/chat/live?ticket={ticket}", chat.cairn.url().trim_start_matches("http"));
    let mut socket = Socket::open(&url(ticket.text("ticket"))).await.unwrap();
    let pong = ask(&mut socket, json!({ "action": "ping", "id": "c1" })).await;
    assert_eq!(pong, json!({ "type": "pong", "id": "c1" }));
    // A spent, an altered and an expired ticket.
    assert_eq!(Socket::open(&url(ticket.text("ticket"))).await.err(), Some(401));
    assert_eq!(Socket::open(&url("x")).await.err(), Some(401));
    assert_eq!(Socket::open(&url("")).await.err(), Some(401));
    let late = create().await;
    chat.cairn.clock.advance(Duration::from_secs(61));
    assert_eq!(Socket::open(&url(late.text("ticket"))).await.err(), Some(401));
    let items = chat.cairn.table_of(&LIVE).items().await;
    assert!(!format!("{items:?}").contains(ticket.text("ticket")), "a ticket is stored");
}

async fn ticket_of_an_ended_session_opens_nothing() {
    let cairn = platform().await;
    let ann = register(&cairn, "ann").await;
    let ticket = ann.user.call(Method::POST, "/chat/live/tickets").await.is(201);
    ann.user.delete("/chat/me/sessions/current").await.is(204);
    assert_eq!(cairn.socket("chat", &format!("ticket={}", ticket.text("ticket"))).await.err(), Some(401));
}

async fn outsider_cannot_follow_a_chat() {
    let chat = Chat::new().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    private_chat(&chat.ann, &chat.bob).await;
    let mut cy = open(&chat.cy).await;
    for feed in [
        format!("groupchat/{group}"),
        format!("presence/{}", chat.ann.id),
        format!("presence/{}", chat.cy.id),
        format!("user/{}", chat.ann.id),
        "everything".to_owned(),
    ] {
        let refused =
            ask(&mut cy, json!({ "action": "subscribe", "id": "c1", "feeds": [{ "feed": feed, "after": 1 }] })).await;
        assert_eq!((&refused["type"], &refused["code"]), (&json!("error"), &json!("forbidden")), "{refused}");
        assert_eq!((&refused["id"], &refused["feed"]), (&json!("c1"), &json!(feed)));
    }
    // A forbidden feed does not keep the others of its frame from being followed.
    let feeds = json!([{ "feed": format!("groupchat/{group}") }, { "feed": "user" }]);
    cy.send(&json!({ "action": "subscribe", "id": "c2", "feeds": feeds })).await;
    frame_of(&mut cy, |frame| frame["code"] == "forbidden").await;
    let subscribed = frame_of(&mut cy, |frame| frame["type"] == "subscribed").await;
    assert_eq!(subscribed["feed"], "user");
    send(&chat.ann.user, &format!("/chat/groupchats/{group}"), "hi").await;
    chat.cairn.caught_up().await;
    is_silent(&mut cy, &format!("groupchat/{group}")).await;
}

async fn events_of_a_group_chat_reach_its_followers() {
    let chat = Chat::new().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let (path, feed) = (format!("/chat/groupchats/{group}"), format!("groupchat/{group}"));
    let mut bob = Follower::new(&chat.bob, &[&feed]).await;
    let sent = send(&chat.ann.user, &path, "hi").await;
    let message = sent.header("location").to_owned();
    let edited = chat.ann.user.patch(&message, json!({ "content": "ho" })).await.is(200);
    react(&chat.bob.user, &message, "👍").await.is(204);
    chat.ann.user.delete(&message).await.is(204);
    chat.ann.user.patch(&path, json!({ "name": "Fens" })).await.is(200);
    chat.cy.joins_community(chat.ann.user.get(&path).await.is(200).text("communityId")).await.is(201);
    chat.cy.joins_group_chat(&group).await.is(201);
    bob.until(&feed, "membership", 1).await;
    let events = &bob.feed(&feed).events;
    let kinds: Vec<&str> = events.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    let mut sorted = kinds.clone();
    sorted.sort_unstable();
    let expected = ["chat.changed", "membership", "message.created", "message.deleted", "message.edited", "reaction"];
    assert_eq!(sorted, expected);
    // The changes of one item keep their order.
    let of_message: Vec<&str> =
        kinds.into_iter().filter(|kind| !kind.starts_with("chat") && *kind != "membership").collect();
    assert_eq!(of_message, ["message.created", "message.edited", "reaction", "message.deleted"]);
    let of = |kind| bob.feed(&feed).of(kind)[0].clone();
    let created = of("message.created");
    let numbers: Vec<u64> = events.iter().map(|event| event["n"].as_u64().unwrap()).collect();
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{numbers:?}");
    assert_eq!(created["chat"], feed);
    assert_eq!(created["message"], sent.body);
    let time = sent.text("createdAt");
    let key = format!("GROUPCHAT#{group}#MESSAGE#{time}#{}@{}", sent.text("id"), sent["rev"]);
    assert_eq!(created["key"], key);
    assert_eq!(of("message.edited")["message"], edited.body);
    let (reaction, deleted) = (of("reaction"), of("message.deleted"));
    assert_eq!((&reaction["userId"], &reaction["reaction"]), (&json!(chat.bob.id), &json!("👍")));
    assert_eq!((&reaction["on"], &reaction["reactions"]), (&json!(true), &json!({ "👍": 1 })));
    assert_eq!((&deleted["messageId"], &deleted["deletedBy"]), (&sent["id"], &json!(chat.ann.id)));
    assert!(deleted["rev"].as_u64() > created["message"]["rev"].as_u64(), "{deleted}");
    let membership = of("membership");
    assert_eq!((&membership["userId"], &membership["state"]), (&json!(chat.cy.id), &json!("joined")));
    assert_eq!((&membership["chat"], &membership["community"]), (&json!(feed), &Value::Null));
    let details = json!({
        "name": "Fens", "description": "", "capacity": 100, "private": false, "ownerId": chat.ann.id,
        "moderatorIds": [],
    });
    assert_eq!(of("chat.changed")["details"], details);
}

async fn events_of_a_private_chat_reach_both_members_unasked() {
    let chat = Chat::new().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    let (mut ann, mut bob) = (Follower::new(&chat.ann, &["user"]).await, open(&chat.bob).await);
    let mut cy = open(&chat.cy).await;
    let sent = send(&chat.ann.user, &path, "hi").await;
    assert_eq!(ann.until("user", "message.created", 1).await[0]["message"], sent.body);
    let frame = frame_of(&mut bob, |frame| has_event(frame, "message.created")).await;
    let events = frame["events"].as_array().unwrap();
    assert!(events.iter().any(|event| event["message"] == sent.body), "{frame}");
    chat.bob.user.patch(&path, json!({ "name": "Two" })).await.is(200);
    let changed = ann.until("user", "chat.changed", 1).await;
    assert_eq!(changed[0]["details"], json!({ "name": "Two", "description": "" }));
    chat.cairn.caught_up().await;
    is_silent(&mut cy, "user").await;
}

async fn read_position_reaches_the_reader_or_both_members_of_a_private_chat() {
    let chat = Chat::new().await;
    let (mut ann, mut bob) = (Follower::new(&chat.ann, &["user"]).await, Follower::new(&chat.bob, &["user"]).await);
    let [private, group] = both_kinds(&chat).await;
    let mut read = Vec::new();
    for path in [&private, &group] {
        let sent = send(&chat.ann.user, path, "hi").await;
        chat.bob.user.put(&format!("{path}/read"), json!({ "upTo": sent["id"] })).await.is(200);
        read.push((sent["id"].clone(), chat.bob.id.clone()));
    }
    let told = |events: Vec<Value>| -> Vec<(Value, String)> {
        events.iter().map(|event| (event["upTo"].clone(), event["userId"].as_str().unwrap().to_owned())).collect()
    };
    let mut by_bob = told(bob.until("user", "read", 2).await);
    by_bob.sort_by_key(|(id, _)| read.iter().position(|(other, _)| other == id));
    assert_eq!(by_bob, read);
    assert_eq!(told(ann.until("user", "read", 1).await), read[..1]);
    chat.cairn.caught_up().await;
    // Ann is not told of her own position, which sending has moved.
    ann.socket.send(&json!({ "action": "ping", "id": "p", "heads": true })).await;
    let pong = loop {
        let frame = ann.next().await;
        if frame["type"] == "pong" {
            break frame;
        }
    };
    assert_eq!(pong["heads"]["user"], json!(ann.feed("user").last));
    assert_eq!(ann.feed("user").of("read").len(), 1);
}

async fn membership_of_a_community_reaches_the_user() {
    let chat = Chat::new().await;
    let mut bob = Follower::new(&chat.bob, &["user"]).await;
    let community = chat.ann.creates_community().await;
    chat.bob.joins_community(&community).await.is(201);
    let joined = bob.until("user", "membership", 1).await;
    assert_eq!((&joined[0]["community"], &joined[0]["state"]), (&json!(community), &json!("joined")));
    chat.bob.user.delete(&format!("/chat/communities/{community}/members/me")).await.is(204);
    let left = bob.until("user", "membership", 2).await;
    assert_eq!((&left[1]["community"], &left[1]["state"]), (&json!(community), &json!("left")));
}

async fn deleted_chat_ends_the_subscriptions_to_it() {
    let chat = Chat::new().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let feed = format!("groupchat/{group}");
    let mut bob = Follower::new(&chat.bob, &[&feed]).await;
    chat.ann.user.delete(&format!("/chat/groupchats/{group}")).await.is(202);
    // The job that deletes the members may come before the event `chat.deleted`.
    let ended = frame_of(&mut bob.socket, |frame| frame["type"] == "unsubscribed").await;
    assert_eq!(ended, json!({ "type": "unsubscribed", "id": null, "feed": feed, "reason": "deleted" }));
}

async fn stamp_makes_no_event() {
    let chat = Chat::new().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let (path, feed) = (format!("/chat/groupchats/{group}"), format!("groupchat/{group}"));
    let mut bob = Follower::new(&chat.bob, &[&feed]).await;
    let sent = send(&chat.ann.user, &path, "hi").await;
    bob.until(&feed, "message.created", 1).await;
    let table = chat.cairn.table_of(&GROUP_CHATS);
    for mut item in table.items().await {
        let rev: u64 = item["rev"].as_n().unwrap().parse().unwrap();
        item.insert("rev".to_owned(), number(rev + 2));
        table.put(item).await;
    }
    chat.cairn.caught_up().await;
    let pong = ask(&mut bob.socket, json!({ "action": "ping", "id": "p", "heads": true })).await;
    assert_eq!(pong["heads"][&feed], json!(bob.feed(&feed).last), "{pong}");
    assert_eq!(bob.feed(&feed).of("message.created")[0]["message"]["id"], sent["id"]);
}

async fn unsubscribed_client_gets_no_more_events() {
    let chat = Chat::new().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let feed = format!("groupchat/{group}");
    let mut bob = open(&chat.bob).await;
    follow(&mut bob, &feed).await;
    let ended = ask(&mut bob, json!({ "action": "unsubscribe", "id": "c2", "feeds": [&feed] })).await;
    assert_eq!(ended, json!({ "type": "unsubscribed", "id": "c2", "feed": feed, "reason": "asked" }));
    let own = ask(&mut bob, json!({ "action": "unsubscribe", "id": "c3", "feeds": ["user"] })).await;
    assert_eq!((&own["type"], &own["code"]), (&json!("error"), &json!("forbidden")), "{own}");
    send(&chat.ann.user, &format!("/chat/groupchats/{group}"), "hi").await;
    chat.cairn.caught_up().await;
    is_silent(&mut bob, &feed).await;
}

async fn removed_member_gets_nothing_that_is_sent_after_the_removal() {
    let chat = Chat::new().await;
    let mut people = Vec::new();
    for number in 0..sized(4, 20) {
        people.push(chat.member(Box::leak(format!("writer{number:02}").into_boxed_str())).await);
    }
    let mut members: Vec<_> = people.iter().collect();
    members.push(&chat.bob);
    let group = group_chat_of(&chat, &members).await;
    let (path, feed) = (format!("/chat/groupchats/{group}"), format!("groupchat/{group}"));
    let mut bob = Follower::new(&chat.bob, &[&feed]).await;
    let writing = futures::future::join_all(people.iter().map(|person| async {
        for number in 0..8 {
            sending(&person.user, &path, &format!("early {number}")).await.is(201);
        }
    }));
    let (arrived, first) = tokio::sync::oneshot::channel();
    let removing = async {
        // While they write.
        first.await.unwrap();
        chat.ann.user.delete(&format!("{path}/members/{}", chat.bob.id)).await.is(204);
        // Committed after the response.
        for number in 0..5 {
            send(&chat.ann.user, &path, &format!("late {number}")).await;
        }
    };
    // Bob keeps asking for what he misses, and must not get it.
    let asking = async {
        let (mut seen, mut arrived) = (Vec::new(), Some(arrived));
        let ended = loop {
            let frame = bob.socket.next().await;
            seen.extend(frame["events"].as_array().into_iter().flatten().cloned());
            if let Some(arrived) = arrived.take_if(|_| !seen.is_empty()) {
                arrived.send(()).unwrap();
            }
            if frame["type"] == "unsubscribed" {
                break frame;
            }
        };
        (ended, seen)
    };
    let ((), (ended, mut seen), _) = tokio::join!(removing, asking, writing);
    assert_eq!(ended, json!({ "type": "unsubscribed", "id": null, "feed": feed, "reason": "removed" }));
    chat.cairn.caught_up().await;
    let refused =
        ask(&mut bob.socket, json!({ "action": "subscribe", "id": "c1", "feeds": [{ "feed": feed, "after": 1 }] }))
            .await;
    assert_eq!(refused["code"], "forbidden", "{refused}");
    for frame in frames_until_pong(&mut bob.socket).await {
        seen.extend(frame["events"].as_array().into_iter().flatten().cloned());
    }
    let late =
        seen.iter().filter(|event| event["message"]["content"].as_str().is_some_and(|text| text.contains("late")));
    assert_eq!(late.count(), 0);
    chat.bob.user.get(&format!("{path}/messages")).await.refused(404, "not-found");
    let rows = chat.cairn.table_of(&LIVE).partitions().await;
    let subscriptions = format!("SUB#{}", Feed::GroupChat(group.parse().unwrap()));
    assert!(!rows.contains(&subscriptions), "a subscription is left");
}

async fn ping_is_answered_with_the_last_numbers_on_request() {
    let chat = Chat::new().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let feed = format!("groupchat/{group}");
    let mut bob = Follower::new(&chat.bob, &["user", &feed]).await;
    send(&chat.ann.user, &format!("/chat/groupchats/{group}"), "hi").await;
    bob.until(&feed, "message.created", 1).await;
    let pong = ask(&mut bob.socket, json!({ "action": "ping", "id": "c3", "heads": true })).await;
    let heads = json!({ "user": bob.feed("user").last, &feed: bob.feed(&feed).last });
    assert_eq!(pong, json!({ "type": "pong", "id": "c3", "heads": heads }));
}

async fn invalid_frames_are_refused() {
    let chat = Chat::new().await;
    let mut ann = open(&chat.ann).await;
    let long = "x".repeat(4096);
    for frame in ["", "hi", "{}", "[]", r#"{"action":"send","id":"c1"}"#, r#"{"action":"subscribe","id":"c1"}"#, &long]
    {
        ann.send_text(frame).await;
        let refused = ann.next().await;
        assert_eq!((&refused["type"], &refused["code"]), (&json!("error"), &json!("bad-frame")), "{frame}: {refused}");
        assert_eq!(refused["id"], if frame.contains("c1") { json!("c1") } else { json!(null) });
        assert!(!refused["detail"].as_str().unwrap().is_empty());
    }
}

async fn too_many_frames_and_feeds_are_refused() {
    let chat = Chat::new().await;
    let mut ann = open(&chat.ann).await;
    let feeds: Vec<Value> = (0..41).map(|_| json!({ "feed": "user" })).collect();
    let refused = ask(&mut ann, json!({ "action": "subscribe", "id": "c1", "feeds": feeds })).await;
    assert_eq!(refused["code"], "too-many-feeds", "{refused}");
    let feeds = vec!["presence/x"; 41];
    let refused = ask(&mut ann, json!({ "action": "unsubscribe", "id": "c2", "feeds": feeds })).await;
    assert_eq!((&refused["code"], refused.get("feed")), (&json!("too-many-feeds"), None), "{refused}");
    let subscribe = json!({ "action": "subscribe", "id": "c3", "feeds": [{ "feed": "user" }] }).to_string();
    assert_eq!(frames_until_refused(&chat, &mut ann, &subscribe).await, 20);
    for number in 0..21 {
        let pong = ask(&mut ann, json!({ "action": "ping", "id": format!("p{number}") })).await;
        assert_eq!(pong["type"], "pong");
    }
}

async fn pings_with_heads_and_bad_frames_count_as_frames() {
    let chat = Chat::new().await;
    for frame in [r#"{"action":"ping","id":"h","heads":true}"#, "hi", &"x".repeat(4097)] {
        let mut ann = open(&chat.ann).await;
        assert_eq!(frames_until_refused(&chat, &mut ann, frame).await, 20, "{frame}");
    }
}

/// Sends this frame until it is refused as one too many. Returns how many were answered before, all in one period.
async fn frames_until_refused(chat: &Chat, socket: &mut Socket, frame: &str) -> usize {
    const PERIOD: i64 = 10;
    let clock = &chat.cairn.clock;
    loop {
        // The next period begins, in which no frame was sent.
        clock.advance(Duration::from_secs((PERIOD - clock.seconds().rem_euclid(PERIOD)) as u64));
        let period = clock.seconds().div_euclid(PERIOD);
        let mut answered = 0;
        loop {
            socket.send_text(frame).await;
            let is_answer = |answer: &Value| ["pong", "subscribed", "error"].iter().any(|kind| answer["type"] == *kind);
            if frame_of(socket, is_answer).await["code"] == "rate-limited" {
                break;
            }
            answered += 1;
        }
        // On a busy machine the period may have ended meanwhile.
        if clock.seconds().div_euclid(PERIOD) == period {
            return answered;
        }
    }
}

async fn connection_follows_at_most_200_feeds() {
    let chat = Chat::new().await;
    let feed = format!("groupchat/{}", group_chat_of(&chat, &[]).await);
    let mut ann = open(&chat.ann).await;
    let table = chat.cairn.table_of(&LIVE);
    let is_connection = |item: &Item| item["pk"].as_s().unwrap().starts_with("CONN#");
    let mut connection = table.items().await.into_iter().find(is_connection).unwrap();
    let others: Vec<String> = (1..=200).map(|chat| Feed::GroupChat(GroupChatId::at(chat)).to_string()).collect();
    connection.extend(others.iter().map(|other| (other.clone(), flag(true))));
    table.put(connection.clone()).await;
    let subscribe = json!({ "action": "subscribe", "id": "c1", "feeds": [{ "feed": feed }] });
    let refused = ask(&mut ann, subscribe.clone()).await;
    assert_eq!((&refused["type"], &refused["code"]), (&json!("error"), &json!("too-many-feeds")), "{refused}");
    connection.remove(&others[0]);
    table.put(connection).await;
    assert_eq!(ask(&mut ann, subscribe).await["type"], "subscribed");
}

/// Returns the event of a frame of a connection.
fn frame_event(connection: &str, frame: &Value) -> Value {
    json!({
        "requestContext": {
            "routeKey": "$default", "eventType": "MESSAGE", "connectionId": connection, "connectedAt": 0,
            "requestTimeEpoch": 0, "identity": { "sourceIp": "203.0.113.1" },
        },
        "body": frame.to_string(), "isBase64Encoded": false,
    })
}

async fn connection_whose_frames_are_handled_at_once_follows_at_most_200_feeds() {
    let chat = Chat::without_search().await;
    let mut feeds = Vec::new();
    for _ in 0..2 {
        feeds.push(format!("groupchat/{}", group_chat_of(&chat, &[]).await));
    }
    let mut ann = open(&chat.ann).await;
    let [id] = connections(&chat, &chat.ann.id).await.try_into().unwrap();
    let table = chat.cairn.table_of(&LIVE);
    let is_connection = |item: &Item| item["pk"].as_s().unwrap().starts_with("CONN#");
    let connection = async || table.items().await.into_iter().find(is_connection).unwrap();
    let mut full = connection().await;
    full.extend((1..200).map(|chat| (Feed::GroupChat(GroupChatId::at(chat)).to_string(), flag(true))));
    table.put(full).await;
    // A function has found room for one feed, and is about to store it when another one does so.
    let config = chat.cairn.engines().config.clone();
    let held = Some((0, Moment::BeforeItIsSent));
    let stopper = Stopper::of(TRANSACTIONS, config.dynamodb.clone().unwrap(), held).await;
    let socket = chat.cairn.app("chat").await.engines().config.socket.clone();
    let config = Config { dynamodb: Some(stopper.url.clone()), socket, ..config };
    let app = ::chat::app(Engines::new(config, chat.cairn.clock.clone())).metrics_to(|_| {});
    let first = frame_event(&id, &json!({ "action": "subscribe", "id": "c1", "feeds": [{ "feed": feeds[0] }] }));
    let deadline = tokio::time::Instant::now() + Duration::from_secs(29);
    let first = tokio::spawn(async move { app.event(RECEIVE, first.to_string().into(), deadline).await });
    stopper.stopped().await;
    let second = json!({ "action": "subscribe", "id": "c2", "feeds": [{ "feed": feeds[1] }] });
    assert_eq!(ask(&mut ann, second).await["type"], "subscribed");
    stopper.resume();
    first.await.unwrap().unwrap();
    let refused = frame_of(&mut ann, |frame| frame["id"] == "c1").await;
    assert_eq!((&refused["type"], &refused["code"]), (&json!("error"), &json!("too-many-feeds")), "{refused}");
    let followed = connection().await;
    let number = followed.keys().filter(|name| name.parse::<Feed>().is_ok()).count();
    assert_eq!(number, 200);
}

async fn frame_is_answered_by_an_invocation_with_little_time() {
    let chat = Chat::without_search().await;
    let mut ann = open(&chat.ann).await;
    let [id] = connections(&chat, &chat.ann.id).await.try_into().unwrap();
    let ping = frame_event(&id, &json!({ "action": "ping", "id": "p" }));
    chat.cairn.event_within(Duration::from_secs(10), "chat", RECEIVE, &ping).await.unwrap();
    assert_eq!(frame_of(&mut ann, |frame| frame["id"] == "p").await["type"], "pong");
}

async fn eleventh_connection_closes_the_oldest() {
    let chat = Chat::new().await;
    let mut oldest = open(&chat.ann).await;
    let mut others = Vec::new();
    for _ in 0..10 {
        others.push(open(&chat.ann).await);
    }
    oldest.ended().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    send(&chat.bob.user, &path, "hi").await;
    for socket in &mut others {
        frame_of(socket, |frame| has_event(frame, "message.created")).await;
    }
}

async fn connections_close_with_their_session() {
    let cairn = platform().await;
    let ann = register(&cairn, "ann").await;
    let open = |user: &crate::harness::User| {
        let user = user.clone();
        async move {
            let ticket = user.call(Method::POST, "/chat/live/tickets").await.is(201);
            Socket::open(&format!("{}?ticket={}", ticket.text("url"), ticket.text("ticket"))).await.unwrap()
        }
    };
    let mut first = open(&ann.user).await;
    let again = log_in(&cairn, "ann").await;
    let mut second = open(&again.user).await;
    again.user.delete("/chat/me/sessions/current").await.is(204);
    second.ended().await;
    let pong = ask(&mut first, json!({ "action": "ping", "id": "c1" })).await;
    assert_eq!(pong["type"], "pong");
    ann.user.delete("/chat/me/sessions").await.is(204);
    first.ended().await;
}

async fn banned_user_is_disconnected_and_cannot_connect() {
    let chat = Chat::new().await;
    let mut bob = open(&chat.bob).await;
    let ticket = chat.bob.user.call(Method::POST, "/chat/live/tickets").await.is(201);
    let token = chat.cairn.token("ada", &["chat-admin"]).await;
    let admin = chat.cairn.user("admin", &format!("Bearer {token}"));
    admin.get("/chat/me").await.is(200);
    admin.put(&format!("/chat/users/{}/ban", chat.bob.id), json!({ "reason": "spam" })).await.is(204);
    bob.ended().await;
    assert_eq!(chat.cairn.socket("chat", &format!("ticket={}", ticket.text("ticket"))).await.err(), Some(401));
}

/// Returns the ids of a user's connections.
async fn connections(chat: &Chat, user: &str) -> Vec<String> {
    let items = chat.cairn.table_of(&LIVE).items().await;
    let of_user = items.iter().filter(|item| item["pk"].as_s().unwrap() == &format!("USER#{user}"));
    of_user.filter_map(|item| Some(item["sk"].as_s().unwrap().strip_prefix("CONN#")?.to_owned())).collect()
}

async fn connection_that_is_gone_is_forgotten() {
    let chat = Chat::new().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let mut bob = open(&chat.bob).await;
    follow(&mut bob, &format!("groupchat/{group}")).await;
    let [id] = connections(&chat, &chat.bob.id).await.try_into().unwrap();
    chat.cairn.refuse_posts(&id, Some(410));
    // A connection that was just opened may not be ready yet. One that has subscribed is.
    send(&chat.ann.user, &format!("/chat/groupchats/{group}"), "hi").await;
    chat.cairn.caught_up().await;
    assert_eq!(connections(&chat, &chat.bob.id).await, Vec::<String>::new());
    let rows = chat.cairn.table_of(&LIVE).partitions().await;
    assert!(!rows.iter().any(|pk| pk.starts_with("SUB#") || pk.starts_with("CONN#")), "{rows:?}");
}

async fn connection_that_is_gone_when_it_is_answered_is_forgotten() {
    let chat = Chat::new().await;
    let mut bob = open(&chat.bob).await;
    let [id] = connections(&chat, &chat.bob.id).await.try_into().unwrap();
    chat.cairn.refuse_posts(&id, Some(410));
    bob.send(&json!({ "action": "ping", "id": "c1" })).await;
    let until = Instant::now() + Duration::from_secs(20);
    while !connections(&chat, &chat.bob.id).await.is_empty() {
        assert!(Instant::now() < until, "the connection is not forgotten");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn connection_that_is_busy_misses_frames_and_asks_for_them() {
    let chat = Chat::new().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let (path, feed) = (format!("/chat/groupchats/{group}"), format!("groupchat/{group}"));
    let mut bob = Follower::new(&chat.bob, &[&feed]).await;
    let [connection] = connections(&chat, &chat.bob.id).await.try_into().unwrap();
    chat.cairn.refuse_posts(&connection, Some(429));
    send(&chat.ann.user, &path, "one").await;
    chat.cairn.caught_up().await;
    assert_eq!(connections(&chat, &chat.bob.id).await, std::slice::from_ref(&connection));
    chat.cairn.refuse_posts(&connection, None);
    send(&chat.ann.user, &path, "two").await;
    assert_eq!(contents(&bob.until(&feed, "message.created", 2).await), ["one", "two"]);
}

async fn connection_without_items_is_closed() {
    let chat = Chat::new().await;
    let mut ann = open(&chat.ann).await;
    let table = chat.cairn.table_of(&LIVE);
    for item in table.items().await {
        if item["pk"].as_s().unwrap().starts_with("CONN#") {
            table.delete_item(&item).await;
        }
    }
    ann.send(&json!({ "action": "ping", "id": "c1", "heads": true })).await;
    ann.ended().await;
}

async fn message_sent_ten_times_with_one_key_has_one_event_key() {
    let chat = Chat::new().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let (path, feed) = (format!("/chat/groupchats/{group}"), format!("groupchat/{group}"));
    let mut bob = Follower::new(&chat.bob, &[&feed]).await;
    let key = uuid::Uuid::new_v4().to_string();
    let repeat =
        || chat.ann.user.post(&format!("{path}/messages"), json!({ "content": "hi" })).once(&key).into_future();
    for answer in futures::future::join_all((0..10).map(|_| repeat())).await {
        answer.is(201);
    }
    send(&chat.ann.user, &path, "the last").await;
    let events = bob.until(&feed, "message.created", 2).await;
    assert_eq!(contents(&events), ["hi", "the last"]);
}

async fn approved_user_learns_of_the_membership() {
    let chat = Chat::new().await;
    let community = chat.ann.creates_community().await;
    let group = chat.ann.creates_group_chat(&community, json!({ "name": "Fens", "private": true })).await;
    chat.bob.joins_community(&community).await.is(201);
    chat.cairn.caught_up().await;
    let mut bob = Follower::new(&chat.bob, &["user"]).await;
    let requests = format!("/chat/groupchats/{group}/requests");
    let request = chat.bob.user.post(&requests, json!({})).await.is(201).text("id").to_owned();
    chat.ann.user.call(Method::POST, &format!("{requests}/{request}/approve")).await.is(200);
    let joined = bob.until("user", "membership", 1).await;
    assert_eq!((&joined[0]["chat"], &joined[0]["state"]), (&json!(format!("groupchat/{group}")), &json!("joined")));
}

async fn subscription_that_races_a_removal_is_refused_or_ends() {
    let chat = Chat::new().await;
    let group = group_chat_of(&chat, &[]).await;
    let community =
        chat.ann.user.get(&format!("/chat/groupchats/{group}")).await.is(200).text("communityId").to_owned();
    chat.bob.joins_community(&community).await.is(201);
    let feed = format!("groupchat/{group}");
    let member = format!("/chat/groupchats/{group}/members/{}", chat.bob.id);
    let subscribe = json!({ "action": "subscribe", "id": "race", "feeds": [{ "feed": feed }] });
    for _ in 0..sized(5, 100) {
        // A user gets only so many tickets a minute.
        chat.cairn.clock.advance(Duration::from_secs(3));
        chat.bob.joins_group_chat(&group).await.is(201);
        let mut bob = open(&chat.bob).await;
        let remove = chat.ann.user.delete(&member).into_future();
        let subscribing = async {
            bob.send(&subscribe).await;
            // A subscription that ends before it is confirmed is not confirmed.
            frame_of(&mut bob, |frame| frame["type"] != "events" && frame["feed"] == feed.as_str()).await
        };
        let (mut answer, removed) = tokio::join!(subscribing, remove);
        removed.is(204);
        if answer["type"] == "subscribed" {
            answer = frame_of(&mut bob, |frame| frame["type"] == "unsubscribed").await;
        }
        if answer["type"] == "unsubscribed" {
            assert_eq!(answer["reason"], "removed");
        } else {
            assert_eq!(answer["code"], "forbidden", "{answer}");
        }
        send(&chat.ann.user, &format!("/chat/groupchats/{group}"), "late").await;
        chat.cairn.caught_up().await;
        // What was committed before the removal may still arrive.
        for frame in frames_until_pong(&mut bob).await {
            assert!(!has_event(&frame, "message.created"), "{frame}");
        }
    }
}
