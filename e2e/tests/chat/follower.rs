//! A client that follows feeds over the socket, as the protocol asks for: it applies each number once, and asks again
//! for what it has missed.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};

use super::stage::{Chat, Member};
use crate::harness::Socket;

pub struct Follower {
    pub socket: Socket,
    feeds: BTreeMap<String, Followed>,
    /// The number of `resync` frames.
    pub resyncs: usize,
}

/// What a client knows of a feed.
#[derive(Default)]
pub struct Followed {
    /// The last number.
    pub last: Option<u64>,
    /// The events in the order of their numbers, without those of a known key.
    pub events: Vec<Value>,
    keys: HashSet<String>,
    /// The number of events that were delivered again under a known key.
    pub repeated: usize,
}

/// Opens the socket with a new ticket.
pub async fn open(member: &Member) -> Socket {
    let ticket = member.user.call(reqwest::Method::POST, "/chat/live/tickets").await.is(201);
    Socket::open(&format!("{}?ticket={}", ticket.text("url"), ticket.text("ticket"))).await.unwrap()
}

/// Sends a frame with these members, and returns the next frame with its id.
pub async fn ask(socket: &mut Socket, frame: Value) -> Value {
    socket.send(&frame).await;
    frame_of(socket, |next| next["id"] == frame["id"]).await
}

/// Returns the next frame of this kind. Earlier ones are skipped.
pub async fn frame_of(socket: &mut Socket, is_wanted: impl Fn(&Value) -> bool) -> Value {
    loop {
        let frame = socket.next().await;
        if is_wanted(&frame) {
            return frame;
        }
    }
}

/// Whether a frame has an event of this kind.
pub fn has_event(frame: &Value, kind: &str) -> bool {
    frame["events"].as_array().is_some_and(|events| events.iter().any(|event| event["kind"] == kind))
}

/// Asserts that no frame of a feed arrives. The platform has caught up before.
pub async fn is_silent(socket: &mut Socket, feed: &str) {
    for frame in frames_until_pong(socket).await {
        assert_ne!(frame["feed"], feed, "{frame}");
    }
}

/// Returns the frames that were sent before now: those before the answer of a ping.
pub async fn frames_until_pong(socket: &mut Socket) -> Vec<Value> {
    socket.send(&json!({ "action": "ping", "id": "until" })).await;
    let mut frames = Vec::new();
    loop {
        let frame = socket.next().await;
        if frame["type"] == "pong" && frame["id"] == "until" {
            return frames;
        }
        frames.push(frame);
    }
}

/// Follows a feed, and returns its head.
pub async fn follow(socket: &mut Socket, feed: &str) -> Value {
    let frame = json!({ "action": "subscribe", "id": feed, "feeds": [{ "feed": feed }] });
    let subscribed = ask(socket, frame).await;
    assert_eq!(subscribed["type"], "subscribed", "{subscribed}");
    subscribed["head"].clone()
}

impl Follower {
    /// Opens the socket and follows these feeds.
    pub async fn new(member: &Member, feeds: &[&str]) -> Self {
        let mut socket = open(member).await;
        let mut followed = BTreeMap::new();
        for feed in feeds {
            let last = follow(&mut socket, feed).await.as_u64();
            followed.insert((*feed).to_owned(), Followed { last, ..Followed::default() });
        }
        Self { socket, feeds: followed, resyncs: 0 }
    }

    pub fn feed(&self, feed: &str) -> &Followed {
        &self.feeds[feed]
    }

    /// Loses the connection, and continues on another after the last numbers.
    pub async fn reconnect(&mut self, member: &Member) {
        let lost = std::mem::replace(&mut self.socket, open(member).await);
        lost.cut();
        self.resume().await;
    }

    /// Asks for what is missing of each feed.
    pub async fn resume(&mut self) {
        let feeds: Vec<Value> =
            self.feeds.iter().map(|(feed, followed)| json!({ "feed": feed, "after": followed.last })).collect();
        self.socket.send(&json!({ "action": "subscribe", "id": "resume", "feeds": feeds })).await;
    }

    /// Handles the next frame, and returns it.
    pub async fn next(&mut self) -> Value {
        let frame = self.socket.next().await;
        match frame["type"].as_str().unwrap() {
            "events" => {
                let events = frame["events"].as_array().unwrap();
                let followed = self.feeds.entry(frame["feed"].as_str().unwrap().to_owned()).or_default();
                if !events.iter().all(|event| followed.apply(event)) {
                    self.resume().await;
                }
            }
            "resync" => {
                self.resyncs += 1;
                let followed = self.feeds.get_mut(frame["feed"].as_str().unwrap()).unwrap();
                followed.last = frame["head"].as_u64();
            }
            "error" => panic!("{frame}"),
            _ => {}
        }
        frame
    }

    /// Handles frames until a feed has this number of events of a kind, and returns those.
    pub async fn until(&mut self, feed: &str, kind: &str, number: usize) -> Vec<Value> {
        loop {
            let events = self.feeds.get(feed).map(|followed| followed.of(kind)).unwrap_or_default();
            if events.len() >= number {
                return events;
            }
            self.next().await;
        }
    }
}

impl Followed {
    /// Applies an event. Returns false if events before it are missing.
    fn apply(&mut self, event: &Value) -> bool {
        let n = event["n"].as_u64().unwrap();
        match self.last {
            Some(last) if n <= last => return true,
            Some(last) if n > last + 1 => return false,
            _ => {}
        }
        self.last = Some(n);
        if self.keys.insert(event["key"].as_str().unwrap().to_owned()) {
            self.events.push(event.clone());
        } else {
            self.repeated += 1;
        }
        true
    }

    /// Returns the events of a kind.
    pub fn of(&self, kind: &str) -> Vec<Value> {
        self.events.iter().filter(|event| event["kind"] == kind).cloned().collect()
    }
}

/// Returns the contents of the messages of events.
pub fn contents(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["message"]["content"].as_str().unwrap()).collect()
}

/// Creates a group chat of ann that these members have joined, and returns its id.
pub async fn group_chat_of(chat: &Chat, members: &[&Member]) -> String {
    let community = chat.ann.creates_community().await;
    let group = chat.ann.creates_group_chat(&community, json!({ "name": "Bogs" })).await;
    for member in members {
        member.joins_community(&community).await.is(201);
        member.joins_group_chat(&group).await.is(201);
    }
    // The events of joining come before those of the test.
    chat.cairn.caught_up().await;
    group
}
