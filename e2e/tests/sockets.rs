//! Sockets and second readers of streams, with a system that exists only in tests.

mod system;

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Cairn, Setup, Socket, User, eventually};
use crate::tests;
use system::UNREADABLE;

tests! { sockets:
    refused_client_gets_the_status_of_connect,
    plain_request_to_a_socket_is_not_found,
    messages_of_a_connection_are_handled_in_order,
    posts_to_a_connection_arrive_in_order,
    #[long] slow_handler_of_one_connection_does_not_block_another,
    post_before_connect_returns_is_gone,
    post_to_a_closed_connection_is_gone,
    connection_closed_by_a_handler_ends_after_its_messages,
    client_that_closes_is_disconnected,
    client_that_is_cut_is_disconnected,
    idle_connection_is_closed,
    #[long] frames_keep_a_connection_open,
    #[long] connection_is_closed_after_its_maximum_duration,
    message_of_several_frames_is_handled_as_one,
    frame_above_32_kb_closes_the_connection,
    message_above_128_kb_closes_the_connection,
    binary_message_closes_the_connection,
    client_that_reads_too_slowly_is_cut,
    client_is_told_that_its_handler_failed,
    refused_post_is_reported_to_the_handler,
    stopping_platform_closes_its_connections,
    second_reader_gets_every_record_once,
    failing_second_reader_does_not_delay_the_mirror,
    table_without_documents_is_not_mirrored,
}

async fn with_harbour() -> Cairn {
    with_limits(local::socket::Settings::default()).await
}

async fn with_limits(sockets: local::socket::Settings) -> Cairn {
    Cairn::with(Setup { systems: vec![system::served()], sockets, ..Setup::default() }).await
}

async fn open(cairn: &Cairn) -> Socket {
    cairn.socket("harbour", "ticket=valid").await.unwrap()
}

/// Opens a socket, and returns it with the connection's id.
async fn open_with_id(cairn: &Cairn) -> (Socket, String) {
    let mut socket = open(cairn).await;
    socket.send(&json!("whoAmI")).await;
    let id = socket.next().await["connection"].as_str().unwrap().to_owned();
    (socket, id)
}

/// Posts a text to a connection, and returns the outcome.
async fn post(user: &User, id: &str, text: &str) -> String {
    let answer = user.post(&format!("/harbour/visitors/{id}"), json!({ "text": text })).await.is(200);
    answer.text("delivery").to_owned()
}

/// Waits until a visitor has this state.
async fn wait_for_state(cairn: &Cairn, id: &str, state: &str) {
    let user = cairn.visitor();
    eventually(state, async || user.get(&format!("/harbour/visitors/{id}")).await.is(200)["state"] == state).await;
}

async fn seen(user: &User, key: &str) -> Value {
    user.get(&format!("/harbour/seen/{}", key.replace('#', "%23"))).await.is(200)["seen"].clone()
}

async fn refused_client_gets_the_status_of_connect() {
    let cairn = with_harbour().await;
    for (query, status) in [("", 401), ("ticket=spent", 401), ("ticket=broken", 500)] {
        assert_eq!(cairn.socket("harbour", query).await.err(), Some(status), "{query}");
    }
    assert_eq!(cairn.socket("nowhere", "ticket=valid").await.err(), Some(404));
    open(&cairn).await.close().await;
}

async fn plain_request_to_a_socket_is_not_found() {
    let cairn = with_harbour().await;
    cairn.visitor().get("/harbour/live").await.is(404);
    let half = cairn.visitor().get("/harbour/live").header("upgrade", "websocket").header("connection", "upgrade");
    half.await.is(400);
}

async fn messages_of_a_connection_are_handled_in_order() {
    let cairn = with_harbour().await;
    let mut socket = open(&cairn).await;
    for number in 0..50 {
        socket.send(&json!({ "echo": number.to_string() })).await;
    }
    for number in 0..50 {
        assert_eq!(socket.next().await, json!({ "echo": number.to_string() }));
    }
}

async fn posts_to_a_connection_arrive_in_order() {
    let cairn = with_harbour().await;
    let ((mut one, first), (mut other, second)) = (open_with_id(&cairn).await, open_with_id(&cairn).await);
    let user = cairn.visitor();
    for number in 0..30 {
        for id in [&first, &second] {
            assert_eq!(post(&user, id, &format!("{number} {id}")).await, "Sent");
        }
    }
    for number in 0..30 {
        assert_eq!(one.next().await, json!({ "text": format!("{number} {first}") }));
        assert_eq!(other.next().await, json!({ "text": format!("{number} {second}") }));
    }
}

async fn slow_handler_of_one_connection_does_not_block_another() {
    let cairn = with_harbour().await;
    let (mut slow, mut quick) = (open(&cairn).await, open(&cairn).await);
    let started = Instant::now();
    slow.send(&json!({ "wait": 3000 })).await;
    quick.send(&json!({ "echo": "a" })).await;
    assert_eq!(quick.next().await, json!({ "echo": "a" }));
    assert!(started.elapsed() < Duration::from_secs(3), "it waited for the other connection");
    assert_eq!(slow.next().await, json!({ "waited": 3000 }));
}

async fn post_before_connect_returns_is_gone() {
    let cairn = with_harbour().await;
    let (_socket, id) = open_with_id(&cairn).await;
    let visitor = cairn.visitor().get(&format!("/harbour/visitors/{id}")).await.is(200);
    assert_eq!((visitor.text("early"), visitor.text("state")), ("Gone", "connected"));
}

async fn post_to_a_closed_connection_is_gone() {
    let cairn = with_harbour().await;
    let (socket, id) = open_with_id(&cairn).await;
    let user = cairn.visitor();
    assert_eq!(post(&user, &id, "a").await, "Sent");
    socket.close().await;
    wait_for_state(&cairn, &id, "disconnected").await;
    assert_eq!(post(&user, &id, "b").await, "Gone");
    assert_eq!(post(&user, "L0SM9cOFvHcCIhw=", "b").await, "Gone");
    let closed = user.delete(&format!("/harbour/visitors/{id}")).await.is(200);
    assert_eq!(closed["delivery"], "Gone");
}

async fn connection_closed_by_a_handler_ends_after_its_messages() {
    let cairn = with_harbour().await;
    let (mut socket, id) = open_with_id(&cairn).await;
    let user = cairn.visitor();
    assert_eq!(post(&user, &id, "last").await, "Sent");
    let closed = user.delete(&format!("/harbour/visitors/{id}")).await.is(200);
    assert_eq!(closed["delivery"], "Sent");
    assert_eq!(socket.next().await, json!({ "text": "last" }));
    assert_eq!(socket.ended().await, 1000);
    wait_for_state(&cairn, &id, "disconnected").await;
}

async fn client_that_closes_is_disconnected() {
    let cairn = with_harbour().await;
    let (socket, id) = open_with_id(&cairn).await;
    socket.close().await;
    wait_for_state(&cairn, &id, "disconnected").await;
}

async fn client_that_is_cut_is_disconnected() {
    let cairn = with_harbour().await;
    let (socket, id) = open_with_id(&cairn).await;
    socket.cut();
    wait_for_state(&cairn, &id, "disconnected").await;
    assert_eq!(post(&cairn.visitor(), &id, "a").await, "Gone");
}

async fn idle_connection_is_closed() {
    let idle_timeout = Duration::from_millis(500);
    let cairn = with_limits(local::socket::Settings { idle_timeout, ..Default::default() }).await;
    let (mut socket, id) = open_with_id(&cairn).await;
    assert_eq!(socket.ended().await, 1001);
    wait_for_state(&cairn, &id, "disconnected").await;
}

async fn frames_keep_a_connection_open() {
    // A busy machine delays frames by seconds.
    let idle_timeout = Duration::from_secs(4);
    let cairn = with_limits(local::socket::Settings { idle_timeout, ..Default::default() }).await;
    let (mut socket, id) = open_with_id(&cairn).await;
    let started = Instant::now();
    let user = cairn.visitor();
    // Frames of either direction count.
    let pause = Duration::from_millis(250);
    while started.elapsed() < idle_timeout * 3 / 2 {
        assert_eq!(socket.next_within(pause).await, None);
        socket.ping().await;
        assert_eq!(socket.next_within(pause).await, None);
        assert_eq!(post(&user, &id, "a").await, "Sent");
        assert_eq!(socket.next().await, json!({ "text": "a" }));
    }
    assert_eq!(socket.ended().await, 1001);
}

async fn connection_is_closed_after_its_maximum_duration() {
    let max_duration = Duration::from_secs(2);
    let cairn = with_limits(local::socket::Settings { max_duration, ..Default::default() }).await;
    let started = Instant::now();
    let (mut socket, id) = open_with_id(&cairn).await;
    while socket.next_within(Duration::from_millis(200)).await.is_none() && started.elapsed() < max_duration / 2 {
        socket.ping().await;
    }
    assert_eq!(socket.ended().await, 1001);
    assert!(started.elapsed() >= max_duration);
    wait_for_state(&cairn, &id, "disconnected").await;
}

async fn message_of_several_frames_is_handled_as_one() {
    let cairn = with_harbour().await;
    let mut socket = open(&cairn).await;
    let part = "x".repeat(30_000);
    socket.send_in_frames(&[r#"{"measure":""#, &part, &part, &part, r#""}"#]).await;
    assert_eq!(socket.next().await, json!({ "length": 90_000 }));
}

async fn frame_above_32_kb_closes_the_connection() {
    let cairn = with_harbour().await;
    let (mut socket, id) = open_with_id(&cairn).await;
    socket.send(&json!({ "measure": "x".repeat(32 * 1024) })).await;
    assert_eq!(socket.ended().await, 1009);
    wait_for_state(&cairn, &id, "disconnected").await;
}

async fn message_above_128_kb_closes_the_connection() {
    let cairn = with_harbour().await;
    let (mut socket, id) = open_with_id(&cairn).await;
    let part = "x".repeat(30_000);
    socket.send_in_frames(&[r#"{"measure":""#, &part, &part, &part, &part, &part, r#""}"#]).await;
    assert_eq!(socket.ended().await, 1009);
    wait_for_state(&cairn, &id, "disconnected").await;
}

async fn binary_message_closes_the_connection() {
    let cairn = with_harbour().await;
    let (mut socket, id) = open_with_id(&cairn).await;
    socket.send_binary(&[0, 1]).await;
    assert_eq!(socket.ended().await, 1003);
    wait_for_state(&cairn, &id, "disconnected").await;
}

async fn client_that_reads_too_slowly_is_cut() {
    let cairn = with_limits(local::socket::Settings { waiting_frames: 4, ..Default::default() }).await;
    let (mut socket, id) = open_with_id(&cairn).await;
    let (user, text) = (cairn.visitor(), "x".repeat(30_000));
    let mut outcome = String::new();
    // The operating system keeps some megabytes for the client.
    for _ in 0..2000 {
        outcome = post(&user, &id, &text).await;
        if outcome != "Sent" {
            break;
        }
    }
    assert_eq!(outcome, "Busy");
    assert_eq!(post(&user, &id, &text).await, "Gone");
    wait_for_state(&cairn, &id, "disconnected").await;
    assert_eq!(socket.ended().await, 1006);
}

async fn client_is_told_that_its_handler_failed() {
    let cairn = with_harbour().await;
    let (mut socket, id) = open_with_id(&cairn).await;
    for message in [json!("fail"), json!({ "unknown": 1 })] {
        socket.send(&message).await;
        let told = socket.next().await;
        assert_eq!((&told["message"], &told["connectionId"]), (&json!("Internal server error"), &json!(id)));
    }
    socket.send_text("not JSON").await;
    assert_eq!(socket.next().await["message"], "Internal server error");
    socket.send(&json!({ "echo": "a" })).await;
    assert_eq!(socket.next().await, json!({ "echo": "a" }));
}

async fn refused_post_is_reported_to_the_handler() {
    let cairn = with_harbour().await;
    let (mut socket, id) = open_with_id(&cairn).await;
    let user = cairn.visitor();
    for (status, outcome) in [(410, "Gone"), (429, "Busy"), (500, "Busy"), (503, "Busy")] {
        cairn.refuse_posts(&id, Some(status));
        assert_eq!(post(&user, &id, "lost").await, outcome, "{status}");
    }
    // A refusal that a retry would not change is an error.
    cairn.refuse_posts(&id, Some(403));
    user.post(&format!("/harbour/visitors/{id}"), json!({ "text": "lost" })).may_fail().await.is(503);
    cairn.refuse_posts(&id, None);
    assert_eq!(post(&user, &id, "a").await, "Sent");
    assert_eq!(socket.next().await, json!({ "text": "a" }));
}

async fn stopping_platform_closes_its_connections() {
    let cairn = with_harbour().await;
    let mut socket = open(&cairn).await;
    drop(cairn);
    assert_eq!(socket.ended().await, 1001);
}

async fn second_reader_gets_every_record_once() {
    let cairn = with_harbour().await;
    let user = cairn.visitor();
    for content in ["one", "two", "three"] {
        user.put("/harbour/ships/aurora", json!({ "content": content })).await.is(204);
    }
    for number in 0..150 {
        user.put(&format!("/harbour/ships/{number}"), json!({ "content": "small" })).await.is(204);
    }
    cairn.caught_up().await;
    assert_eq!(seen(&user, "SHIP#aurora").await, 3);
    for number in 0..150 {
        assert_eq!(seen(&user, &format!("SHIP#{number}")).await, 1);
    }
    // It reads the tables that are not mirrored, too.
    let (_socket, id) = open_with_id(&cairn).await;
    cairn.caught_up().await;
    assert_eq!(seen(&user, &format!("VISITOR#{id}")).await, 1);
}

async fn failing_second_reader_does_not_delay_the_mirror() {
    let cairn = with_harbour().await;
    let user = cairn.visitor();
    user.put("/harbour/ships/aurora", json!({ "content": UNREADABLE })).await.is(204);
    user.put("/harbour/ships/boreas", json!({ "content": "timber" })).await.is(204);
    let query = json!({ "query": { "match": { "content": "timber" } } });
    let alias = cairn.engines().config.search_name("harbour");
    let found = async || {
        cairn.searchable().await;
        let found = cairn.search_engine(Method::POST, &format!("/{alias}/_search"), &query).await;
        found["hits"]["hits"].as_array().unwrap().len()
    };
    assert_eq!(found().await, 1);
    assert_eq!(seen(&user, "SHIP#boreas").await, 0);
    // Its records wait for it.
    user.put("/harbour/ships/aurora", json!({ "content": "grain" })).await.is(204);
    user.put("/harbour/ships/boreas", json!({ "content": "timber and tar" })).await.is(204);
    assert_eq!(found().await, 1);
    assert_eq!(seen(&user, "SHIP#boreas").await, 0);
}

async fn table_without_documents_is_not_mirrored() {
    let cairn = with_harbour().await;
    let (_socket, _) = open_with_id(&cairn).await;
    let grants = ::mirror::grants(&system::SYSTEM);
    let granted = |table: &str| grants.iter().any(|grant| format!("{:?}", grant.resource).contains(table));
    assert!(granted("harbour-Ships") && !granted("harbour-Visitors") && !granted("harbour-Seen"));
    cairn.caught_up().await;
    assert_eq!(cairn.quarantined_of(&system::SYSTEM).await.len(), 0);
}
