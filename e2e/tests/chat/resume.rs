//! Clients that miss events: they resume after their last number, or reload over HTTP.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use chat::keys::{FeedEntryKey, FeedHeadKey};
use chat::live::feed::Feed;
use chat::names::GroupChatId;
use chat::schema::{GROUP_CHATS, LIVE};
use local::source::given_up::GivenUp;
use local::source::stream::Stream;
use local::source::{Function, Settings};
use serde_json::{Value, json};
use table::schema::failures_bucket;
use table::{Config, Engines, EntityKey, Number, item};
use tokio::sync::watch;
use web::App;

use super::conversation::{ids, private_chat, send, sending};
use super::follower::{Follower, ask, contents, frame_of, group_chat_of, open};
use super::stage::Chat;
use crate::harness::stopper::{Moment, Stopper, TRANSACTIONS};
use crate::harness::{sized, temporary};
use crate::tests;

tests! { chat_resume:
    #[long] client_that_is_cut_twice_in_a_burst_gets_each_message_once,
    client_gets_each_message_of_a_burst_once_while_the_stream_handler_is_killed_twice,
    #[long] stream_handler_killed_at_each_write_loses_no_event,
    conflicting_writers_leave_no_hole_in_a_feed,
    client_absent_for_49_hours_reloads_and_continues_from_the_head,
    client_that_missed_more_than_1000_events_reloads,
    #[long] client_that_missed_more_than_4000_events_of_all_feeds_reloads_the_others,
    lost_head_never_repeats_a_number,
    replay_does_not_return_deleted_content,
    replay_of_private_chats_has_their_messages_as_they_are,
}

async fn client_that_is_cut_twice_in_a_burst_gets_each_message_once() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob, &chat.cy]).await;
    burst(&chat, &group).await;
}

async fn client_gets_each_message_of_a_burst_once_while_the_stream_handler_is_killed_twice() {
    // A source of this test calls the handler.
    let chat = Chat::without_stream_readers().await;
    let group = group_chat_of(&chat, &[&chat.bob, &chat.cy]).await;
    let kills =
        VecDeque::from([(*BURST * 15 / 100, Moment::BeforeItIsSent), (*BURST * 60 / 100, Moment::AfterItIsDone)]);
    let function = Arc::new(KilledFunction {
        app: chat.cairn.app("chat").await,
        engines: Arc::clone(chat.cairn.engines()),
        messages: AtomicUsize::new(0),
        kills: Mutex::new(kills),
    });
    let folder = temporary::folder();
    let (stop, stopped) = watch::channel(false);
    let stream = stream_of(&GROUP_CHATS, &chat, Arc::clone(&function)).await;
    let (_, run) = stream.start(folder.path(), stopped).unwrap();
    let reading = tokio::spawn(run);
    let bob = burst(&chat, &group).await;
    assert_eq!(function.kills.lock().unwrap().len(), 0, "a kill is left");
    assert!(bob.feed(&format!("groupchat/{group}")).repeated > 0, "no event was delivered again");
    stop.send_replace(true);
    reading.await.unwrap();
}

/// The messages of a burst.
static BURST: LazyLock<usize> = LazyLock::new(|| sized(100, 1000));

/// Ann and cy send messages while bob's connection is cut twice. Asserts that he gets each message once, and reloads
/// nothing.
async fn burst(chat: &Chat, group: &str) -> Follower {
    let (path, feed) = (format!("/chat/groupchats/{group}"), format!("groupchat/{group}"));
    let total = *BURST;
    let mut bob = Follower::new(&chat.bob, &[&feed]).await;
    let write = |user: &crate::harness::User, name: &'static str| {
        let (user, path) = (user.clone(), path.clone());
        async move {
            for number in 0..total / 2 {
                sending(&user, &path, &format!("{name} {number}")).await.is(201);
            }
        }
    };
    let reading = async {
        for cut in [total * 15 / 100, total * 60 / 100] {
            bob.until(&feed, "message.created", cut).await;
            bob.reconnect(&chat.bob).await;
        }
        bob.until(&feed, "message.created", total).await
    };
    let ((), (), events) = tokio::join!(write(&chat.ann.user, "ann"), write(&chat.cy.user, "cy"), reading);
    let told: BTreeSet<&str> = events.iter().map(|event| event["message"]["id"].as_str().unwrap()).collect();
    assert_eq!((told.len(), events.len()), (total, total));
    let mut stored = BTreeSet::new();
    let pages = chat.bob.user.pages(&format!("{path}/messages"), 100).await;
    stored.extend(pages.iter().flat_map(ids));
    assert_eq!(told, stored);
    assert_eq!(bob.resyncs, 0);
    bob
}

/// The functions of chat, of which the stream handler is killed in its first transaction once it has handled a number of
/// messages.
struct KilledFunction {
    app: Arc<App>,
    engines: Arc<Engines>,
    /// The messages whose events were added.
    messages: AtomicUsize,
    kills: Mutex<VecDeque<(usize, Moment)>>,
}

impl Function for KilledFunction {
    async fn invoke(&self, handler: &'static str, payload: Bytes, timeout: Duration) -> Result<Bytes, String> {
        let created = created_messages(&payload);
        let handled = self.messages.load(Ordering::SeqCst);
        let kill = self.kills.lock().unwrap().pop_front_if(|(after, _)| created > 0 && handled >= *after);
        if let Some((_, moment)) = kill {
            let payload = serde_json::from_slice(&payload).unwrap();
            killed(&self.engines, &payload, Some((0, moment))).await;
            return Err("killed".to_owned());
        }
        let done = Function::invoke(&*self.app, handler, payload, timeout).await?;
        self.messages.fetch_add(created, Ordering::SeqCst);
        Ok(done)
    }
}

/// Returns how many records of an event are those of new messages.
fn created_messages(payload: &[u8]) -> usize {
    let event: Value = serde_json::from_slice(payload).unwrap();
    let is_message = |record: &&Value| {
        let sk = record["dynamodb"]["Keys"]["sk"]["S"].as_str().unwrap_or_default();
        record["eventName"] == "INSERT" && sk.starts_with("MESSAGE#")
    };
    event["Records"].as_array().unwrap().iter().filter(is_message).count()
}

/// Returns the event source of a table's stream for this function.
async fn stream_of<F>(table: &table::schema::Table, chat: &Chat, function: Arc<F>) -> Stream<F> {
    let engines = chat.cairn.engines();
    let table = engines.config.table(table.name);
    Stream {
        client: local::aws::streams(&engines.config),
        stream_arn: local::aws::stream_arn(engines.dynamodb(), &table).await.unwrap(),
        table,
        function,
        handler: "live",
        filter: None,
        given_up: GivenUp {
            client: engines.s3().clone(),
            bucket: engines.config.bucket(&failures_bucket("chat")),
            function: engines.config.function("chat", "live"),
        },
        // Small batches, so that the burst needs many.
        settings: Settings { batch_records: 20, ..Settings::default() },
        arrivals: None,
        clock: engines.clock.clone(),
    }
}

async fn stream_handler_killed_at_each_write_loses_no_event() {
    // The test delivers the records itself.
    let chat = Chat::without_stream_readers().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let (path, feed) = (format!("/chat/groupchats/{group}"), format!("groupchat/{group}"));
    let mut bob = Follower::new(&chat.bob, &["user", &feed]).await;
    let table = chat.cairn.table_of(&GROUP_CHATS);
    let mut sent = Vec::new();
    let mut sequence = 0;
    let mut at = 0;
    loop {
        let mut writes = 0;
        for moment in Moment::BOTH {
            let contents: Vec<String> = (0..3).map(|number| format!("{at} {moment:?} {number} @bob")).collect();
            let mut records = Vec::new();
            for content in &contents {
                let message = send(&chat.ann.user, &path, content).await;
                let sk = format!("MESSAGE#{}#{}", message.text("createdAt"), message.text("id"));
                let item = table.get(&format!("GROUPCHAT#{group}"), &sk).await.unwrap();
                records.push(table.insert_record(&item, sequence));
                sequence += 1;
            }
            sent.extend(contents);
            let payload = json!({ "Records": records });
            writes = killed(chat.cairn.engines(), &payload, Some((at, moment))).await;
            let done = chat.cairn.event("chat", "live", &payload).await.unwrap();
            assert_eq!(done, json!({ "batchItemFailures": [] }));
        }
        at += 1;
        if writes < at {
            break;
        }
    }
    assert!(at > 3, "there were only {at} writes");
    bob.resume().await;
    let events = bob.until(&feed, "message.created", sent.len()).await;
    assert_eq!(contents(&events), sent);
    assert!(bob.feed(&feed).repeated > 0, "no event was delivered again");
    // Each mention made one notification.
    let count = chat.bob.user.get("/chat/me/notifications/count").await.is(200);
    assert_eq!(count["unread"], sent.len());
    let targets: BTreeSet<String> = chat
        .bob
        .user
        .pages("/chat/me/notifications", 100)
        .await
        .iter()
        .flat_map(|page| page.each("target").into_iter().map(Value::to_string).collect::<Vec<_>>())
        .collect();
    assert_eq!(targets.len(), sent.len());
}

/// Handles records as a worker that dies at this transaction. Returns the number of transactions.
async fn killed(engines: &Engines, payload: &Value, dies: Option<(usize, Moment)>) -> usize {
    let config = engines.config.clone();
    let stopper = Stopper::of(TRANSACTIONS, config.dynamodb.clone().unwrap(), dies).await;
    let config =
        Config { dynamodb: Some(stopper.url.clone()), socket: Some("http://127.0.0.1:1".to_owned()), ..config };
    let app = ::chat::app(Engines::new(config, engines.clock.clone())).metrics_to(|_| {});
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    tokio::select! {
        done = app.event("live", payload.to_string().into(), deadline) => drop(done.unwrap()),
        () = stopper.stopped() => {}
    }
    stopper.writes()
}

async fn conflicting_writers_leave_no_hole_in_a_feed() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let (path, feed) = (format!("/chat/groupchats/{group}"), format!("groupchat/{group}"));
    let mut bob = Follower::new(&chat.bob, &[&feed]).await;
    let conflicts = chat.cairn.conflicts(0.3);
    for number in 0..10 {
        send(&chat.ann.user, &path, &number.to_string()).await;
    }
    bob.until(&feed, "message.created", 10).await;
    assert!(conflicts.count() > 0);
}

async fn client_absent_for_49_hours_reloads_and_continues_from_the_head() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let (path, feed) = (format!("/chat/groupchats/{group}"), format!("groupchat/{group}"));
    let mut bob = Follower::new(&chat.bob, &[&feed]).await;
    let first = send(&chat.ann.user, &path, "one").await;
    bob.until(&feed, "message.created", 1).await;
    let second = send(&chat.ann.user, &path, "two").await;
    chat.cairn.caught_up().await;
    let last = bob.feed(&feed).last;
    chat.cairn.clock.advance(Duration::from_secs(49 * 3600));
    let mut socket = open(&renewed(&chat).await).await;
    let subscribe = json!({ "action": "subscribe", "id": "c1", "feeds": [{ "feed": feed, "after": last }] });
    let resync = ask(&mut socket, subscribe).await;
    assert_eq!(resync["type"], "resync", "{resync}");
    let head = resync["head"].as_u64().unwrap();
    let bob = renewed(&chat).await;
    let history = bob.user.get(&format!("{path}/messages")).await.is(200);
    assert_eq!(ids(&history), [second.text("id"), first.text("id")]);
    let ann = chat.cairn.person("ann", local::identity::Person::new("ann")).await;
    let third = send(&ann, &path, "three").await;
    let event =
        frame_of(&mut socket, |frame| frame["type"] == "events" && frame["feed"] == feed).await["events"][0].clone();
    assert_eq!((event["n"].as_u64(), &event["message"]["id"]), (Some(head + 1), &third["id"]));
}

/// Returns bob with a token of the present time.
async fn renewed(chat: &Chat) -> super::stage::Member {
    let user = chat.cairn.person("bob", local::identity::Person::new("bob")).await;
    super::stage::Member { user, id: chat.bob.id.clone() }
}

async fn client_that_missed_more_than_1000_events_reloads() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let feed = format!("groupchat/{group}");
    let bob = Follower::new(&chat.bob, &[&feed]).await;
    let head = with_copies(&chat, Feed::GroupChat(group.parse().unwrap()), bob.feed(&feed).last.unwrap(), 1001).await;
    let mut socket = open(&chat.bob).await;
    let subscribe = |after| json!({ "action": "subscribe", "id": "c1", "feeds": [{ "feed": feed, "after": after }] });
    // One event too many, and a number that was never given.
    for after in [head - 1001, head + 1] {
        let resync = ask(&mut socket, subscribe(after)).await;
        assert_eq!(resync, json!({ "type": "resync", "id": "c1", "feed": feed, "head": head }));
    }
    socket.send(&subscribe(head - 1000)).await;
    let mut replayed = Vec::new();
    loop {
        let frame = socket.next().await;
        if frame["id"] == "c1" {
            assert_eq!(frame, json!({ "type": "subscribed", "id": "c1", "feed": feed, "head": head }));
            break;
        }
        assert_eq!((&frame["feed"], &frame["replay"]), (&json!(feed), &json!(true)));
        replayed.extend(frame["events"].as_array().unwrap().iter().map(|event| event["n"].as_u64().unwrap()));
    }
    assert_eq!(replayed, (head - 999..=head).collect::<Vec<_>>());
}

async fn client_that_missed_more_than_4000_events_of_all_feeds_reloads_the_others() {
    let chat = Chat::without_search().await;
    let mut heads = Vec::new();
    for _ in 0..5 {
        let group = group_chat_of(&chat, &[&chat.bob]).await;
        let feed = format!("groupchat/{group}");
        let bob = Follower::new(&chat.bob, &[&feed]).await;
        let last = bob.feed(&feed).last.unwrap();
        heads.push((feed, with_copies(&chat, Feed::GroupChat(group.parse().unwrap()), last, 1000).await));
    }
    let mut socket = open(&chat.bob).await;
    let feeds: Vec<Value> = heads.iter().map(|(feed, head)| json!({ "feed": feed, "after": head - 1000 })).collect();
    socket.send(&json!({ "action": "subscribe", "id": "c1", "feeds": feeds })).await;
    let mut answers = Vec::new();
    while answers.len() < heads.len() {
        let frame = socket.next().await;
        if frame["id"] == "c1" {
            answers.push(frame["type"].as_str().unwrap().to_owned());
        }
    }
    answers.sort_unstable();
    assert_eq!(answers, ["resync", "subscribed", "subscribed", "subscribed", "subscribed"]);
    // The subscription that was not replayed has begun.
    for (feed, _) in &heads {
        let group = feed.strip_prefix("groupchat/").unwrap();
        send(&chat.ann.user, &format!("/chat/groupchats/{group}"), "new").await;
        frame_of(&mut socket, |frame| frame["type"] == "events" && frame["feed"] == *feed).await;
    }
}

/// Puts copies of the last event of a feed after it. Returns the new head.
async fn with_copies(chat: &Chat, feed: Feed, head: u64, copies: u64) -> u64 {
    let table = chat.cairn.table_of(&LIVE);
    let key_of = |number| item::key_item(&LIVE, &FeedEntryKey { feed, number: Number(number) }.key());
    let event = table.present(&key_of(head)).await;
    let copy = |number| event.clone().into_iter().chain(key_of(number)).collect();
    let new_head = head + copies;
    table.put_all((head + 1..=new_head).map(copy).collect()).await;
    let mut moved = table.present(&item::key_item(&LIVE, &FeedHeadKey { feed }.key())).await;
    moved.insert("N".to_owned(), item::number(new_head));
    table.put(moved).await;
    new_head
}

async fn lost_head_never_repeats_a_number() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let (path, feed) = (format!("/chat/groupchats/{group}"), format!("groupchat/{group}"));
    let mut bob = Follower::new(&chat.bob, &[&feed]).await;
    send(&chat.ann.user, &path, "one").await;
    bob.until(&feed, "message.created", 1).await;
    let last = bob.feed(&feed).last.unwrap();
    let group: GroupChatId = group.parse().unwrap();
    let head = format!("HEAD#{}", Feed::GroupChat(group));
    chat.cairn.table_of(&LIVE).delete(&head, &head).await;
    send(&chat.ann.user, &path, "two").await;
    let frame = frame_of(&mut bob.socket, |frame| frame["type"] == "events" && frame["feed"] == feed).await;
    assert!(frame["events"][0]["n"].as_u64().unwrap() > last, "{frame}");
    // What is between is known to be missing.
    bob.resume().await;
    let resync = frame_of(&mut bob.socket, |frame| frame["id"] == "resume").await;
    assert_eq!(resync["type"], "resync");
}

async fn replay_does_not_return_deleted_content() {
    let chat = Chat::without_search().await;
    let group = group_chat_of(&chat, &[&chat.bob]).await;
    let (path, feed) = (format!("/chat/groupchats/{group}"), format!("groupchat/{group}"));
    let mut bob = Follower::new(&chat.bob, &[&feed]).await;
    let deleted = send(&chat.ann.user, &path, "a secret").await;
    let edited = send(&chat.ann.user, &path, "before").await;
    chat.ann.user.delete(deleted.header("location")).await.is(204);
    chat.ann.user.patch(edited.header("location"), json!({ "content": "after" })).await.is(200);
    chat.cairn.caught_up().await;
    let items = chat.cairn.table_of(&LIVE).items().await;
    assert!(!format!("{items:?}").contains("secret"), "a feed has the content of a message");
    let mut socket = open(&chat.bob).await;
    let subscribe =
        json!({ "action": "subscribe", "id": "c1", "feeds": [{ "feed": feed, "after": bob.feed(&feed).last }] });
    socket.send(&subscribe).await;
    let replay = frame_of(&mut socket, |frame| frame["type"] == "events" && frame["feed"] == feed).await;
    assert_eq!(replay["replay"], true);
    assert!(!replay.to_string().contains("secret") && !replay.to_string().contains("before"), "{replay}");
    let events = replay["events"].as_array().unwrap();
    let of = |id: &Value, kind: &str| {
        let found = events.iter().find(|event| event["kind"] == kind && event["message"]["id"] == *id);
        found.unwrap_or_else(|| panic!("no {kind}: {replay}"))["message"].clone()
    };
    let placeholder = of(&deleted["id"], "message.created");
    assert_eq!(placeholder["content"], Value::Null);
    assert!(placeholder["deletedAt"].is_string(), "{placeholder}");
    assert_eq!(of(&edited["id"], "message.created")["content"], "after");
    assert_eq!(of(&edited["id"], "message.edited")["content"], "after");
    bob.until(&feed, "message.deleted", 1).await;
}

async fn replay_of_private_chats_has_their_messages_as_they_are() {
    let chat = Chat::without_search().await;
    let path = private_chat(&chat.ann, &chat.bob).await;
    chat.cairn.caught_up().await;
    let mut bob = Follower::new(&chat.bob, &["user"]).await;
    let started = Instant::now();
    for content in ["one", "two", "three"] {
        send(&chat.ann.user, &path, content).await;
    }
    chat.cairn.caught_up().await;
    bob.reconnect(&chat.bob).await;
    assert_eq!(contents(&bob.until("user", "message.created", 3).await), ["one", "two", "three"]);
    assert!(started.elapsed() < Duration::from_secs(30));
}
