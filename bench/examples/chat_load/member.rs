//! A member's client, which applies each number once, and asks again for what it has missed.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{SinkExt, StreamExt};
use serde::Deserialize;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{sleep, timeout_at};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::Outcome;
use crate::platform::{GroupChat, Platform};

pub type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// The time within which clients that have lost their connections come back.
const RECONNECTING: Duration = Duration::from_secs(2);

/// A member with an open socket who follows the chat.
pub struct Member {
    platform: Arc<Platform>,
    chat: Arc<GroupChat>,
    socket: Socket,
    /// The last applied number.
    last: u64,
    /// The hashes of the keys of applied events.
    keys: HashSet<u64>,
    /// When each message arrived.
    arrivals: Vec<Option<Instant>>,
    /// Whether the client has asked for events that it has missed.
    asks: bool,
    /// The frames that run ahead of those events.
    ahead: Vec<(Instant, String)>,
    /// Turns true when the connection is lost. None if it is never lost.
    cut: Option<watch::Receiver<bool>>,
    received: Received,
}

/// What a member has received.
#[derive(Default)]
pub struct Received {
    pub number: usize,
    /// When each message arrived, by its number.
    pub arrivals: Vec<Instant>,
    /// The frames of the first member.
    pub kept: Vec<(Instant, String)>,
    pub frames: usize,
    /// The events that came again.
    pub repeated: usize,
    /// How often it asked for events that it had missed.
    pub replays: usize,
    pub was_cut: bool,
}

/// A frame, as far as it is read.
#[derive(Deserialize)]
pub struct Frame<'a> {
    #[serde(rename = "type")]
    pub frame_type: &'a str,
    #[serde(borrow)]
    feed: Option<Cow<'a, str>>,
    head: Option<u64>,
    #[serde(borrow, default)]
    events: Vec<Event<'a>>,
}

#[derive(Deserialize)]
struct Event<'a> {
    n: u64,
    #[serde(borrow)]
    key: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    message: Option<CreatedMessage<'a>>,
}

#[derive(Deserialize)]
struct CreatedMessage<'a> {
    #[serde(borrow)]
    content: Option<Cow<'a, str>>,
}

impl Member {
    /// Opens the socket of a member and follows the chat.
    pub async fn open(
        platform: Arc<Platform>,
        chat: Arc<GroupChat>,
        number: usize,
        cut: Option<watch::Receiver<bool>>,
    ) -> Outcome<Self> {
        let mut socket = connect(&platform, &chat, number).await?;
        subscribe(&mut socket, &chat, None).await?;
        let last = loop {
            if let Frame { frame_type: "subscribed", head: Some(head), .. } =
                serde_json::from_str(&text(&mut socket).await?)?
            {
                break head;
            }
        };
        let received = Received { number, was_cut: cut.is_some(), ..Received::default() };
        let (keys, arrivals) = Default::default();
        Ok(Self { platform, chat, socket, last, keys, arrivals, asks: false, ahead: Vec::new(), cut, received })
    }

    /// Receives events until each of the messages has arrived, or until a time.
    pub async fn receive(mut self, messages: u32, end: Instant) -> Outcome<Received> {
        self.arrivals.resize(usize::try_from(messages)?, None);
        let mut missing = messages;
        while missing > 0 {
            let Ok(new) = timeout_at(end.into(), self.next()).await else {
                let (number, last) = (self.received.number, self.last);
                return Err(format!("member {number} misses {missing} messages; the last number is {last}").into());
            };
            missing -= new?;
        }
        let arrivals = self.arrivals.into_iter().flatten().collect();
        Ok(Received { arrivals, ..self.received })
    }

    /// Handles the next frame, or the loss of the connection. Returns how many of the messages are new.
    async fn next(&mut self) -> Outcome<u32> {
        let frame = match &mut self.cut {
            Some(cut) => tokio::select! {
                frame = text(&mut self.socket) => Some(frame?),
                _ = cut.wait_for(|is_cut| *is_cut) => None,
            },
            None => Some(text(&mut self.socket).await?),
        };
        match frame {
            Some(frame) => self.handle(frame).await,
            None => self.reconnect().await.map(|()| 0),
        }
    }

    /// Loses the connection, and continues on another after the last number.
    async fn reconnect(&mut self) -> Outcome<()> {
        self.cut = None;
        // The connection ends without a close frame.
        self.socket.get_mut().shutdown().await?;
        sleep(RECONNECTING.mul_f64(fastrand::f64())).await;
        self.socket = connect(&self.platform, &self.chat, self.received.number).await?;
        self.ask().await
    }

    async fn ask(&mut self) -> Outcome<()> {
        self.asks = true;
        self.received.replays += 1;
        subscribe(&mut self.socket, &self.chat, Some(self.last)).await
    }

    /// Handles a frame. Returns how many of the messages are new.
    async fn handle(&mut self, text: String) -> Outcome<u32> {
        let now = Instant::now();
        let Frame { frame_type, feed, events, .. } = serde_json::from_str(&text)?;
        match frame_type {
            "events" => {}
            "subscribed" => {
                self.asks = false;
                return self.catch_up().await;
            }
            _ => return Err(format!("member {}: {text}", self.received.number).into()),
        }
        if feed.as_deref().and_then(|feed| feed.strip_prefix("groupchat/")) != Some(&self.chat.id) {
            return Ok(0);
        }
        self.received.frames += 1;
        if self.received.number == 0 {
            self.received.kept.push((now, text.clone()));
        }
        let (new, is_complete) = self.apply(events, now)?;
        if !is_complete {
            self.ahead.push((now, text));
            if !self.asks {
                self.ask().await?;
            }
        }
        Ok(new)
    }

    /// Applies the frames that ran ahead. If events before them are still missing, it asks once more.
    async fn catch_up(&mut self) -> Outcome<u32> {
        let mut all = 0;
        for (arrival, text) in std::mem::take(&mut self.ahead) {
            let (new, is_complete) = self.apply(serde_json::from_str::<Frame<'_>>(&text)?.events, arrival)?;
            all += new;
            if !is_complete {
                self.ahead.push((arrival, text));
            }
        }
        if !self.ahead.is_empty() {
            self.ask().await?;
        }
        Ok(all)
    }

    /// Applies events up to a hole. Returns how many of the messages are new, and whether there is no hole.
    fn apply(&mut self, events: Vec<Event<'_>>, now: Instant) -> Outcome<(u32, bool)> {
        let mut new = 0;
        for event in events {
            if event.n <= self.last {
                continue;
            }
            if event.n > self.last + 1 {
                return Ok((new, false));
            }
            self.last = event.n;
            if !self.keys.insert(hash(&event.key)) {
                self.received.repeated += 1;
                continue;
            }
            let Some(content) = event.message.and_then(|message| message.content) else { continue };
            let arrival = self.arrivals.get_mut(content.parse::<usize>()?).ok_or("a message was never sent")?;
            if event.kind != "message.created" || arrival.replace(now).is_some() {
                return Err(format!("member {} got message {content} twice", self.received.number).into());
            }
            new += 1;
        }
        Ok((new, true))
    }
}

async fn connect(platform: &Platform, chat: &GroupChat, number: usize) -> Outcome<Socket> {
    let user = chat.members.get(number).ok_or("there is no such member")?;
    Ok(connect_async(platform.socket(user).await?).await?.0)
}

async fn subscribe(socket: &mut Socket, chat: &GroupChat, after: Option<u64>) -> Outcome<()> {
    let feed = format!("groupchat/{}", chat.id);
    let frame = json!({ "action": "subscribe", "id": "s", "feeds": [{ "feed": feed, "after": after }] });
    Ok(socket.send(Message::text(frame.to_string())).await?)
}

/// Returns the next text.
pub async fn text(socket: &mut Socket) -> Outcome<String> {
    loop {
        match socket.next().await.ok_or("a connection has ended")?? {
            Message::Text(text) => return Ok(text.to_string()),
            Message::Close(frame) => return Err(format!("a connection was closed: {frame:?}").into()),
            _ => {}
        }
    }
}

fn hash(key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}
