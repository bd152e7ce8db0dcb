//! A group chat with thousands of connected members.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use ::chat::keys::{ConnectionKey, FeedHeadKey, SubscriptionKey, UserConnectionKey};
use ::chat::live::feed::Feed;
use ::chat::names::UserId;
use ::chat::schema::{FAN_OUT_REST, GROUP_CHATS, LIVE, TELL};
use serde_json::{Value, json};
use table::{Config, Engines, EntityKey, Escaped, item};
use tokio::time::{Instant, sleep, sleep_until};

use super::conversation::send;
use super::follower::{Follower, contents, group_chat_of, open};
use super::stage::Chat;
use crate::harness::counted_clients::{CountedClients, Manner};
use crate::harness::stopper::{Moment, Stopper, WRITES};
use crate::harness::table::{Item, stored};
use crate::harness::{eventually, sized};
use crate::tests;

tests! { chat_large_chat:
    #[long] each_of_many_members_gets_each_message_in_few_frames,
    overlapping_batches_leave_no_follower_of_a_large_chat_without_an_event,
    presence_reaches_more_than_500_followers,
    clients_that_cannot_be_reached_do_not_stop_the_stream,
    subscriptions_end_in_time_though_no_client_answers,
}

/// The followers that get each event at once.
const FIRST: usize = 500;

/// How long the test waits for the last delivery.
const LIMIT: Duration = Duration::from_secs(480);

/// A member with a connection that only the table has.
struct Follows {
    user: UserId,
    connection: String,
    manner: Manner,
}

impl Follows {
    fn at(number: usize) -> Self {
        let manner = match number % 100 {
            7 => Manner::Gone,
            rest if rest % 20 == 3 => Manner::BusyOnce,
            _ => Manner::Receives,
        };
        // These users sort before those who are created now.
        Self { user: UserId::at(1 + number as i64), connection: format!("c{number}="), manner }
    }

    /// Returns its items: the connection, the subscription and, for a connection that is gone, the item among those of its
    /// user. The others need no such item, which would only make thousands of people come online.
    fn items(&self, feed: Feed, expires: i64) -> Vec<Item> {
        let connection = Escaped::new(&*self.connection).unwrap();
        let user = self.user;
        let of_user = json!({ "UserId": user, "ConnectedAt": 0, "expires": expires });
        let mut own = of_user.clone();
        own[feed.to_string()] = json!(true);
        let mut items = vec![
            stored(&LIVE, &ConnectionKey { connection: connection.clone() }.key(), &own),
            stored(
                &LIVE,
                &SubscriptionKey { feed, user, connection: connection.clone() }.key(),
                &json!({ "expires": expires }),
            ),
        ];
        if self.manner == Manner::Gone {
            items.push(stored(&LIVE, &UserConnectionKey { user, connection }.key(), &of_user));
        }
        items
    }
}

async fn each_of_many_members_gets_each_message_in_few_frames() {
    let (members, messages, period) =
        (sized(700, 10_000), sized(10, 100), sized(Duration::from_secs(1), Duration::from_secs(10)));
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let pair = group_chat_of(&chat, &[&chat.cy]).await;
    let feed = Feed::GroupChat(group.parse().unwrap());
    let follow: Vec<Follows> = (0..members).map(Follows::at).collect();
    let clients = connected(&chat, feed, &follow).await;
    chat.cairn.caught_up().await;
    let (gone, live): (Vec<&Follows>, Vec<&Follows>) = follow.iter().partition(|member| member.manner == Manner::Gone);
    let connections: HashSet<&str> = gone.iter().map(|member| member.connection.as_str()).collect();
    let left = async || {
        let items = chat.cairn.table_of(&LIVE).items().await;
        let names =
            |item: &Item| ["pk", "sk"].map(|name| item[name].as_s().unwrap().rsplit('#').next().unwrap().to_owned());
        items.iter().filter(|item| names(item).iter().any(|name| connections.contains(name.as_str()))).count()
    };
    assert_eq!(left().await, 3 * gone.len());
    // Bob's real connection is the last of all.
    let mut bob = Follower::new(&chat.bob, &[&feed.to_string()]).await;
    let beside = format!("groupchat/{pair}");
    let mut cy = Follower::new(&chat.cy, &[&beside]).await;

    let began = Instant::now();
    let path = format!("/chat/groupchats/{group}");
    let writing = async {
        for number in 0..messages {
            sleep_until(began + period.mul_f64(f64::from(number) / f64::from(messages))).await;
            send(&chat.ann.user, &path, &number.to_string()).await;
        }
        began.elapsed()
    };
    let path = format!("/chat/groupchats/{pair}");
    let beside = async {
        let mut delays = Vec::new();
        for number in 1..=5 {
            sleep(period / 6).await;
            send(&chat.ann.user, &path, "aside").await;
            let sent = Instant::now();
            cy.until(&beside, "message.created", number).await;
            delays.push(sent.elapsed());
        }
        delays
    };
    let (wrote_for, mut delays) = tokio::join!(writing, beside);
    let all: BTreeSet<String> = (0..messages).map(|number| number.to_string()).collect();
    let told = bob.until(&feed.to_string(), "message.created", all.len()).await;
    assert_eq!(contents(&told).into_iter().map(str::to_owned).collect::<BTreeSet<_>>(), all);

    let until = began + LIMIT;
    loop {
        let missing = missing(&clients, &live, (1 << messages) - 1);
        if missing == 0 {
            break;
        }
        assert!(Instant::now() < until, "{missing} members miss messages");
        sleep(Duration::from_millis(100)).await;
    }
    // Members move up when others before them are gone.
    let later = live.iter().skip(FIRST + gone.len());
    let most = later.map(|member| clients.received(&member.connection).len()).max().unwrap();
    let allowed = wrote_for.as_secs() as usize + 2;
    assert!(most <= allowed, "a member got {most} frames, and {allowed} are enough");
    while left().await > 0 {
        assert!(Instant::now() < until, "{} items of connections that are gone are left", left().await);
        sleep(Duration::from_millis(100)).await;
    }
    delays.sort_unstable();
    let median = delays[delays.len() / 2];
    // A run shares its cores with other tests. Behind the large chat they would wait for its last frame.
    assert!(median < Duration::from_secs(20), "the members of a chat of two waited {delays:?}");
}

/// Returns members who receive all that is posted to them.
fn receiving(number: usize) -> Vec<Follows> {
    all_of(Manner::Receives, number)
}

fn all_of(manner: Manner, number: usize) -> Vec<Follows> {
    (0..number).map(|number| Follows { manner, ..Follows::at(number) }).collect()
}

/// Stores the connections of members who follow a feed, and answers what is posted to them.
async fn connected(chat: &Chat, feed: Feed, follow: &[Follows]) -> Arc<CountedClients> {
    let clients = follow.iter().map(|member| (member.connection.clone(), member.manner));
    let clients = Arc::new(CountedClients::new(clients));
    chat.cairn.count_posts(&clients);
    let expires = chat.cairn.clock.seconds() + 3600;
    let items = follow.iter().flat_map(|member| member.items(feed, expires)).collect();
    chat.cairn.table_of(&LIVE).put_all(items).await;
    clients
}

async fn overlapping_batches_leave_no_follower_of_a_large_chat_without_an_event() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[]).await;
    let feed = Feed::GroupChat(group.parse().unwrap());
    let path = format!("/chat/groupchats/{group}");
    let follow = receiving(FIRST + 60);
    let clients = connected(&chat, feed, &follow).await;
    let received = |member: &Follows| {
        let frames = clients.frames();
        clients.received(&member.connection).iter().fold(0, |all, number| all | messages_of(&frames[*number]))
    };
    let (first, others) = follow.split_at(FIRST);
    send(&chat.ann.user, &path, "0").await;
    eventually("the others get the message", async || others.iter().all(|member| received(member) == 0b01)).await;
    chat.cairn.caught_up().await;
    let live = chat.cairn.table_of(&LIVE);
    let head = async || live.present(&item::key_item(&LIVE, &FeedHeadKey { feed }.key())).await;
    let number = |item: &Item, name: &str| item[name].as_n().unwrap().parse::<u64>().unwrap();
    let of = |number: usize| {
        let Follows { user, connection, .. } = &follow[number];
        SubscriptionKey { feed, user: *user, connection: Escaped::new(&**connection).unwrap() }.key()
    };

    // A batch with later events, which ended first, has queued the followers after another one.
    let mut due = head().await;
    let before = number(&due, "N");
    let later = before + 5;
    let after = of(FIRST + 40);
    due.extend([
        ("FanoutDue".to_owned(), item::number(chat.cairn.clock.micros() / 1000 + 60_000)),
        ("FanoutFrom".to_owned(), item::number(later)),
        ("FanoutAfter".to_owned(), item::text(after.sk.clone().unwrap())),
    ]);
    live.put(due).await;
    send(&chat.ann.user, &path, "1").await;
    chat.cairn.caught_up().await;
    let merged = head().await;
    assert_eq!(number(&merged, "FanoutFrom"), before + 1);
    assert_eq!(merged["FanoutAfter"].as_s().ok(), of(FIRST - 1).sk.as_ref());
    assert!(first.iter().all(|member| received(member) == 0b11));
    assert!(others.iter().all(|member| received(member) == 0b01), "no other message was queued");

    let rest =
        json!({ "feed": feed.to_string(), "from": later, "after": { "pk": after.pk, "sk": after.sk }, "first": true });
    let message = json!({ "Records": [{ "messageId": "1", "eventSource": "aws:sqs", "body": rest.to_string() }] });
    // The function stops after its first write, and SQS delivers the message again.
    begins_and_stops(&chat, &message).await;
    assert_eq!(number(&head().await, "FanoutDue"), 0);
    assert!(others.iter().all(|member| received(member) == 0b01));
    chat.cairn.event("chat", FAN_OUT_REST, &message).await.unwrap();
    assert!(others.iter().all(|member| received(member) == 0b11));
    let mut done = head().await;
    assert!(["FanoutFrom", "BegunFrom"].iter().all(|name| !done.contains_key(*name)), "{done:?}");

    // The events that a fan-out long ago has not delivered have expired. They do not keep others from being delivered.
    done.extend([
        ("BegunFrom".to_owned(), item::number(1)),
        ("BegunAfter".to_owned(), item::text(of(FIRST - 1).sk.unwrap())),
    ]);
    live.put(done).await;
    send(&chat.ann.user, &path, "2").await;
    eventually("the others get the last message", async || others.iter().all(|member| received(member) == 0b111)).await;
    eventually("the head forgets them", async || !head().await.contains_key("BegunFrom")).await;
}

/// Handles a message for the followers past the first in a function that stops after its first write.
async fn begins_and_stops(chat: &Chat, message: &Value) {
    let config = chat.cairn.engines().config.clone();
    let begun = Some((0, Moment::AfterItIsDone));
    let stopper = Stopper::of(WRITES, config.dynamodb.clone().unwrap(), begun).await;
    let config = Config { dynamodb: Some(stopper.url.clone()), ..config };
    let app = ::chat::app(Engines::new(config, chat.cairn.clock.clone())).metrics_to(|_| {});
    let deadline = Instant::now() + Duration::from_secs(60);
    tokio::select! {
        done = app.event(FAN_OUT_REST, message.to_string().into(), deadline) => panic!("{done:?}"),
        () = stopper.stopped() => {}
    }
}

async fn presence_reaches_more_than_500_followers() {
    let chat = Chat::without_search().await;
    let feed = Feed::Presence(chat.bob.id.parse().unwrap());
    let follow = receiving(2 * FIRST + 1);
    let clients = connected(&chat, feed, &follow).await;
    let _bob = open(&chat.bob).await;
    chat.cairn.caught_up().await;
    let told = |member: &&Follows| !clients.received(&member.connection).is_empty();
    assert_eq!(follow.iter().filter(told).count(), follow.len());
    let frame: Value = serde_json::from_slice(&clients.frames()[0]).unwrap();
    assert_eq!((&frame["type"], &frame["online"]), (&json!("presence"), &json!(true)), "{frame}");
}

async fn clients_that_cannot_be_reached_do_not_stop_the_stream() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[]).await;
    let feed = Feed::GroupChat(group.parse().unwrap());
    send(&chat.ann.user, &format!("/chat/groupchats/{group}"), "hello").await;
    chat.cairn.caught_up().await;
    let chats = chat.cairn.table_of(&GROUP_CHATS);
    let items = chats.items().await;
    let message = items.iter().find(|item| item["sk"].as_s().unwrap().starts_with("MESSAGE#")).unwrap();
    let record = chats.insert_record(message, 7);
    connected(&chat, feed, &all_of(Manner::Hangs, FIRST)).await;
    // All attempts together take 15 s and their pauses.
    let limit = Duration::from_secs(17);
    let answer = chat.cairn.event_within(limit, "chat", TELL, &json!({ "Records": [record] })).await;
    assert_eq!(answer.unwrap(), json!({ "batchItemFailures": [] }));
}

async fn subscriptions_end_in_time_though_no_client_answers() {
    let chat = Chat::without_stream_readers().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let feed = Feed::GroupChat(group.parse().unwrap());
    let chats = chat.cairn.table_of(&GROUP_CHATS);
    let member = chats.get(&format!("GROUPCHAT#{group}"), &format!("USER#{}", chat.bob.id)).await.unwrap();
    chats.delete_item(&member).await;
    // More connections of bob than can be told within the time: 25 at once, each for a second.
    let user: UserId = chat.bob.id.parse().unwrap();
    let follow: Vec<Follows> =
        all_of(Manner::Hangs, FIRST).into_iter().map(|follows| Follows { user, ..follows }).collect();
    connected(&chat, feed, &follow).await;
    let record = json!({ "Records": [chats.remove_record(&member, 7)] });
    let answer = chat.cairn.event_within(Duration::from_secs(17), "chat", TELL, &record).await;
    assert_eq!(answer.unwrap(), json!({ "batchItemFailures": [] }));
    let items = chat.cairn.table_of(&LIVE).items().await;
    let follows = |item: &Item| item["pk"].as_s().unwrap().starts_with("SUB#") || item.contains_key(&feed.to_string());
    assert_eq!(items.iter().filter(|item| follows(item)).count(), 0);
}

/// Returns the number of members who miss one of these messages.
fn missing(clients: &CountedClients, members: &[&Follows], all: u128) -> usize {
    // Read before the frames, so that each number is that of a frame.
    let received: Vec<Vec<usize>> = members.iter().map(|member| clients.received(&member.connection)).collect();
    let frames: Vec<u128> = clients.frames().iter().map(|frame| messages_of(frame)).collect();
    let messages = |numbers: &Vec<usize>| numbers.iter().fold(0, |received, number| received | frames[*number]);
    received.iter().filter(|numbers| messages(numbers) != all).count()
}

/// Returns the messages that a frame tells of, one bit for each: their contents are their numbers.
fn messages_of(frame: &[u8]) -> u128 {
    let frame: Value = serde_json::from_slice(frame).unwrap();
    let events = frame["events"].as_array().into_iter().flatten();
    let numbers = events.filter_map(|event| event["message"]["content"].as_str()?.parse::<u32>().ok());
    numbers.fold(0, |messages, number| messages | 1 << number)
}
