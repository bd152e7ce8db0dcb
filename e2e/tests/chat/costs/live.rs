//! The socket, and what the records of the streams cause.

use std::collections::BTreeMap;
use std::time::Duration;

use chat::keys::{SubscriptionKey, message_key};
use chat::live::feed::Feed;
use chat::names::UserId;
use chat::notifications::unread_key;
use chat::schema::{CHAT_REQUESTS, GROUP_CHATS, LIVE, NOTIFICATIONS, PRIVATE_CHATS};
use reqwest::Method;
use serde_json::{Value, json};
use table::{EntityKey, Escaped, Key};

use super::messages::sending_with;
use super::{Stage, notifications, text};
use crate::chat::conversation::{chat_of, user_id};
use crate::chat::follower::open;
use crate::chat::stage::{Chat, id};
use crate::harness::Cairn;
use crate::harness::measured::Measured;
use crate::harness::table::{Item, stored};

/// The follower past the first 500.
const FOLLOWERS: usize = 501;

pub async fn measure(stage: &mut Stage) {
    connection(stage).await;
    feeds(stage).await;
    notices(stage).await;
    many_followers(stage).await;
}

/// Handles an event of API Gateway about a connection.
async fn of_connection(
    measured: &mut Measured,
    cairn: &Cairn,
    what: &'static str,
    (handler, connection): (&str, &str),
    more: Value,
) {
    let (event_type, route) = match handler {
        "connect" => ("CONNECT", "$connect"),
        "disconnect" => ("DISCONNECT", "$disconnect"),
        _ => ("MESSAGE", "$default"),
    };
    let mut event = json!({
        "isBase64Encoded": false,
        "requestContext": {
            "connectionId": connection, "eventType": event_type, "routeKey": route, "messageDirection": "IN",
            "connectedAt": 1_767_225_600_000_u64, "requestTimeEpoch": 1_767_225_600_001_u64, "apiId": "a1b2c3d4e5",
            "requestId": "01890a5d-ac96-774b-bcce-b302099a8057", "extendedRequestId": "SAMPLE=", "stage": "live",
            "requestTime": "01/Jan/2026:00:00:00 +0000", "identity": { "sourceIp": "203.0.113.1" },
        },
    });
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    measured.of_event(what, cairn, ::chat::app, (handler, &event), Duration::ZERO).await;
}

/// Handles records of a stream.
async fn tell(measured: &mut Measured, cairn: &Cairn, what: &'static str, records: Vec<Value>) {
    let records = json!({ "Records": records });
    measured.of_event(what, cairn, ::chat::app, ("live", &records), Duration::ZERO).await;
}

async fn item(cairn: &Cairn, table: &'static table::schema::Table, key: &Key) -> Item {
    cairn.table_of(table).get(&key.pk, key.sk.as_deref().unwrap()).await.unwrap()
}

async fn inserted(cairn: &Cairn, table: &'static table::schema::Table, key: &Key) -> Value {
    cairn.table_of(table).insert_record(&item(cairn, table, key).await, 0)
}

/// Opens a connection, and ends it.
async fn connection(stage: &mut Stage) {
    let Stage { chat: Chat { cairn, .. }, many, measured, .. } = stage;
    let ticket = many[0].user.call(Method::POST, "/chat/live/tickets");
    let ticket = measured.of("create a ticket", ticket, 201).await;
    let query = json!({ "queryStringParameters": { "ticket": ticket["ticket"] } });
    of_connection(measured, cairn, "open a connection", ("connect", "measured="), query).await;
    let row = Key::new(format!("USER#{}", many[0].id), "CONN#measured=");
    let row = item(cairn, &LIVE, &row).await;
    of_connection(measured, cairn, "end a connection", ("disconnect", "measured="), json!({})).await;
    let ended = cairn.table_of(&LIVE).remove_record(&row, 0);
    tell(measured, cairn, "tell that the last connection of a user has ended", vec![ended]).await;
}

/// Follows feeds over a socket.
async fn feeds(stage: &mut Stage) {
    let Stage { chat: Chat { cairn, ann, .. }, group, many, measured, .. } = stage;
    let (user, chat) = (&many[0], chat_of(group));
    let feed = chat.to_string();
    let _socket = open(user).await;
    let rows = cairn.table_of(&LIVE).items().await;
    let row =
        rows.iter().find(|item| item["pk"].as_s().unwrap() == &format!("USER#{}", user.id) && is_connection(item));
    let connection = row.unwrap()["sk"].as_s().unwrap().strip_prefix("CONN#").unwrap().to_owned();
    let receive = async |measured: &mut Measured, what, frame: Value| {
        let body = json!({ "body": frame.to_string() });
        of_connection(measured, cairn, what, ("receive", &connection), body).await;
    };
    let subscribe = |feed: Value| json!({ "action": "subscribe", "id": "c1", "feeds": [feed] });
    receive(measured, "follow a group chat", subscribe(json!({ "feed": feed }))).await;
    let presence = json!({ "feed": format!("presence/{}", ann.id) });
    receive(measured, "follow whether a user is online", subscribe(presence)).await;
    measured.of("the only member of a group chat who is online", ann.user.get(&format!("{group}/online")), 200).await;
    let mut records = Vec::new();
    for _ in 0..99 {
        let sent = sending_with(&ann.user, group, json!({ "content": text(250) })).await.is(201);
        records.push(inserted(cairn, &GROUP_CHATS, &message_key(chat, sent.text("id").parse().unwrap())).await);
    }
    let first = records.pop().unwrap();
    tell(measured, cairn, "tell a follower of one message", vec![first]).await;
    records.truncate(97);
    tell(measured, cairn, "tell a follower of 97 messages", records.clone()).await;
    tell(measured, cairn, "tell a follower of 2 messages", records.split_off(95)).await;
    receive(measured, "get the last numbers of 2 feeds", json!({ "action": "ping", "id": "c2", "heads": true })).await;
    let head = item(cairn, &LIVE, &Key::new(format!("HEAD#{feed}"), format!("HEAD#{feed}"))).await;
    let head: u64 = head["N"].as_n().unwrap().parse().unwrap();
    let missed = subscribe(json!({ "feed": feed, "after": head - 100 }));
    receive(measured, "follow a group chat again, with 100 messages missed", missed).await;
    let left = json!({ "action": "unsubscribe", "id": "c3", "feeds": [feed] });
    receive(measured, "follow a group chat no longer", left).await;
}

fn is_connection(item: &Item) -> bool {
    item["sk"].as_s().unwrap().starts_with("CONN#")
}

/// Creates notifications.
async fn notices(stage: &mut Stage) {
    let asked = stage.creates_group_chat("Meadows", true).await;
    let Stage { chat, group, many, measured, .. } = stage;
    let Chat { cairn, ann, bob, cy, .. } = &*chat;
    let mention = json!({ "content": format!("@ann {}", text(245)) });
    let sent = sending_with(&many[1].user, group, mention).await.is(201);
    let record = inserted(cairn, &GROUP_CHATS, &message_key(chat_of(group), sent.text("id").parse().unwrap())).await;
    tell(measured, cairn, "tell of a message that mentions a member", vec![record]).await;

    let started = ann.user.post("/chat/privatechats", json!({ "userId": cy.id })).await.is(201);
    let private = format!("/chat/privatechats/{}", id(&started));
    let member = chat::keys::member_key(chat_of(&private), user_id(cy));
    let record = inserted(cairn, &PRIVATE_CHATS, &member).await;
    tell(measured, cairn, "tell a user of a new private chat", vec![record]).await;

    let request = bob.user.post(&format!("{asked}/requests"), json!({})).await.is(201);
    let group_chat = asked.rsplit('/').next().unwrap();
    let sk = format!("CHATREQUEST#{}#{}", request.text("createdAt"), request.text("id"));
    let record = inserted(cairn, &CHAT_REQUESTS, &Key::new(format!("GROUPCHAT#{group_chat}"), sk)).await;
    tell(measured, cairn, "tell the only moderator of a request", vec![record]).await;

    let notification = notifications::write(chat, cy, 1).await[0];
    let removed = item(cairn, &NOTIFICATIONS, &unread_key(user_id(cy), notification).key()).await;
    cy.user.delete(&format!("/chat/me/notifications/{notification}")).await.is(204);
    let record = cairn.table_of(&NOTIFICATIONS).remove_record(&removed, 0);
    tell(measured, cairn, "tell of a deleted notification", vec![record]).await;

    let key = chat::keys::member_key(chat_of(group), user_id(&many[24]));
    let removed = item(cairn, &GROUP_CHATS, &key).await;
    many[24].user.delete(&format!("{group}/members/me")).await.is(204);
    let record = cairn.table_of(&GROUP_CHATS).remove_record(&removed, 0);
    tell(measured, cairn, "tell of a member who has left a group chat", vec![record]).await;
}

/// Tells the first 500 followers of a group chat, and the one after them.
async fn many_followers(stage: &mut Stage) {
    let group = stage.creates_group_chat("Tarns", false).await;
    let Stage { chat: Chat { cairn, ann, .. }, measured, .. } = stage;
    let chat = chat_of(&group);
    let feed = Feed::GroupChat(group.rsplit('/').next().unwrap().parse().unwrap());
    let expires = BTreeMap::from([("expires", cairn.clock.seconds() + 600)]);
    let user = UserId::at(1);
    let key = |number: usize| {
        let connection = format!("LaRgEnUmBeR{number:04}=");
        cairn.refuse_posts(&connection, Some(200));
        SubscriptionKey { feed, user, connection: Escaped::new(connection).unwrap() }.key()
    };
    let first = (0..FOLLOWERS).map(|number| stored(&LIVE, &key(number), &expires)).collect();
    cairn.table_of(&LIVE).put_all(first).await;
    let sent = sending_with(&ann.user, &group, json!({ "content": text(250) })).await.is(201);
    let record = inserted(cairn, &GROUP_CHATS, &message_key(chat, sent.text("id").parse().unwrap())).await;
    tell(measured, cairn, "tell the first 500 followers of a message", vec![record]).await;
    let head = item(cairn, &LIVE, &Key::new(format!("HEAD#{chat}"), format!("HEAD#{chat}"))).await;
    let head: u64 = head["N"].as_n().unwrap().parse().unwrap();
    let Key { pk, sk } = key(499);
    let rest = json!({ "feed": chat.to_string(), "from": head, "after": { "pk": pk, "sk": sk }, "first": true });
    let message = json!({ "Records": [{ "messageId": "1", "eventSource": "aws:sqs", "body": rest.to_string() }] });
    let rest = ("fanOutRest", &message);
    measured.of_event("tell the follower after the first 500", cairn, ::chat::app, rest, Duration::ZERO).await;
}
