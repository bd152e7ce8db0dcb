//! The frames of the socket, in both directions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::feed::Feed;
use super::feeds::Entry;
use crate::names::UserId;

/// A frame of a client.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "action", rename_all = "camelCase")]
pub enum Request {
    Subscribe {
        id: String,
        feeds: Vec<Subscription>,
    },
    Unsubscribe {
        id: String,
        feeds: Vec<String>,
    },
    Ping {
        id: String,
        /// Whether the response has the last numbers of the connection's feeds.
        #[serde(default)]
        heads: bool,
    },
}

/// Why a frame of a client cannot be read, and its id if that can.
#[derive(Debug)]
pub struct Unreadable {
    pub id: Option<String>,
    pub detail: String,
}

impl Request {
    pub fn read(frame: &[u8]) -> Result<Self, Unreadable> {
        serde_json::from_slice(frame).map_err(|error| {
            let detail = format!(
                "A frame is a JSON object with an action (subscribe, unsubscribe or ping), an id and its members: {error}."
            );
            let id = serde_json::from_slice::<Value>(frame).ok();
            Unreadable { id: id.and_then(|frame| frame.get("id")?.as_str().map(str::to_owned)), detail }
        })
    }

    pub fn id(&self) -> &str {
        match self {
            Self::Subscribe { id, .. } | Self::Unsubscribe { id, .. } | Self::Ping { id, .. } => id,
        }
    }
}

impl Unreadable {
    pub fn too_long() -> Self {
        Self { id: None, detail: "A frame has at most 4096 bytes.".to_owned() }
    }
}

/// A feed to which a client subscribes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Subscription {
    pub feed: String,
    /// The last number that the client has. Without it there is no replay.
    #[serde(default)]
    pub after: Option<u64>,
}

/// A frame for a client.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Frame<'a> {
    Subscribed {
        id: &'a str,
        feed: String,
        /// Absent for a feed without numbers.
        #[serde(skip_serializing_if = "Option::is_none")]
        head: Option<u64>,
    },
    /// The client reloads over HTTP and continues from the head.
    Resync {
        id: &'a str,
        feed: String,
        head: u64,
    },
    Unsubscribed {
        /// The id of the client's frame. Null if the server ends the subscription.
        id: Option<&'a str>,
        feed: String,
        reason: &'a str,
    },
    Pong {
        id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        heads: Option<BTreeMap<String, u64>>,
    },
    Error {
        id: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        feed: Option<&'a str>,
        code: ErrorCode,
        detail: &'a str,
    },
    Presence {
        user_id: UserId,
        online: bool,
        at: String,
    },
    Events {
        feed: String,
        replay: bool,
        events: &'a [Box<RawValue>],
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorCode {
    Forbidden,
    BadFrame,
    TooManyFeeds,
    RateLimited,
}

/// The most events of a frame.
const MAX_EVENTS: usize = 100;

/// The most bytes of the events of a frame. API Gateway's limit is 32 KB.
const MAX_BYTES: usize = 30_000;

impl Frame<'_> {
    pub fn bytes(&self) -> Vec<u8> {
        // No frame has a map with keys other than texts, which alone could not be written.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// Returns the frames with these events of a feed, in order.
pub fn of_events(feed: Feed, replay: bool, entries: &[Entry]) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let mut events: Vec<Box<RawValue>> = Vec::new();
    let mut bytes = 0;
    let close = |events: &mut Vec<Box<RawValue>>, frames: &mut Vec<Vec<u8>>| {
        if !events.is_empty() {
            frames.push(Frame::Events { feed: feed.name(), replay, events }.bytes());
            events.clear();
        }
    };
    for event in entries.iter().filter_map(|entry| to_raw_value(entry).ok()) {
        let length = event.get().len() + 1;
        if events.len() == MAX_EVENTS || bytes + length > MAX_BYTES {
            close(&mut events, &mut frames);
            bytes = 0;
        }
        bytes += length;
        events.push(event);
    }
    close(&mut events, &mut frames);
    frames
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::live::event::{Event, EventMessage};
    use crate::messages::{Message, MessageView};
    use crate::names::{ChatId, GroupChatId, MessageId};

    fn entry(n: u64, content: &str) -> Entry {
        let id = MessageId::at(1_767_225_600_000);
        let message = Message {
            id,
            sender_id: UserId::at(1),
            content: Some(content.to_owned()),
            reply_to: None,
            created_at: id.time().to_string(),
            reactions: Default::default(),
            last_reaction: None,
            editted: false,
            editted_at: None,
            deleted_at: None,
            deleted_by: None,
            mentions: Default::default(),
            member_ids: Default::default(),
        };
        let view = MessageView::new(message, None);
        let chat = ChatId::Group(GroupChatId::at(2));
        let event = Event::MessageCreated { chat, message: EventMessage::View(Box::new(view)) };
        Entry { n, key: "k@2".to_owned(), at: "2026-01-01T00:00:00.000Z".to_owned(), event }
    }

    #[test]
    fn events_are_split_by_number_and_by_bytes() {
        let feed = Feed::GroupChat(GroupChatId::at(2));
        let sizes = |entries: Vec<Entry>| {
            let frames = of_events(feed, false, &entries);
            let frames: Vec<Value> = frames
                .iter()
                .map(|frame| {
                    assert!(frame.len() < 32 * 1024, "{}", frame.len());
                    serde_json::from_slice(frame).unwrap()
                })
                .collect();
            let numbers = frames.iter().flat_map(|frame| frame["events"].as_array().unwrap());
            let numbers: Vec<u64> = numbers.map(|event| event["n"].as_u64().unwrap()).collect();
            assert_eq!(numbers, entries.iter().map(|entry| entry.n).collect::<Vec<_>>());
            frames.iter().map(|frame| frame["events"].as_array().unwrap().len()).collect::<Vec<_>>()
        };
        assert_eq!(sizes(Vec::new()), Vec::<usize>::new());
        assert_eq!(sizes((0..250).map(|n| entry(n, "")).collect::<Vec<_>>()).iter().sum::<usize>(), 250);
        // The longest messages: of four bytes a character, and of characters that JSON escapes.
        let longest = [entry(1, &"🦉".repeat(4000)), entry(2, &"\n".repeat(4000)), entry(3, &"🦉".repeat(4000))];
        assert_eq!(sizes(longest.to_vec()), [2, 1]);
    }

    #[test]
    fn event_has_number_key_time_and_kind_beside_its_own_members() {
        let frames = of_events(Feed::GroupChat(GroupChatId::at(2)), true, &[entry(7, "hi")]);
        let frame: Value = serde_json::from_slice(&frames[0]).unwrap();
        assert_eq!((&frame["type"], &frame["replay"]), (&json!("events"), &json!(true)));
        let event = &frame["events"][0];
        assert_eq!((&event["n"], &event["kind"]), (&json!(7), &json!("message.created")));
        assert_eq!((&event["key"], &event["at"]), (&json!("k@2"), &json!("2026-01-01T00:00:00.000Z")));
        assert_eq!(event["message"]["content"], "hi");
        assert_eq!(event["message"]["deletedAt"], Value::Null);
    }

    #[test]
    fn frames_of_clients_are_read() {
        let read = |frame: Value| serde_json::from_value::<Request>(frame);
        let subscribe = json!({
            "action": "subscribe", "id": "c1",
            "feeds": [{ "feed": "user", "after": 1_767_225_600_000_041_u64 }, { "feed": "groupchat/G" }]
        });
        let feeds = vec![
            Subscription { feed: "user".to_owned(), after: Some(1_767_225_600_000_041) },
            Subscription { feed: "groupchat/G".to_owned(), after: None },
        ];
        assert_eq!(read(subscribe).unwrap(), Request::Subscribe { id: "c1".to_owned(), feeds });
        let ping = json!({ "action": "ping", "id": "c3" });
        assert_eq!(read(ping).unwrap(), Request::Ping { id: "c3".to_owned(), heads: false });
        for frame in [json!({}), json!([]), json!({ "action": "send", "id": "c" }), json!({ "action": "ping" })] {
            assert!(read(frame.clone()).is_err(), "{frame}");
        }
    }

    #[test]
    fn frames_for_clients_have_the_documented_form() {
        let read = |frame: Frame<'_>| serde_json::from_slice::<Value>(&frame.bytes()).unwrap();
        let feed = || "user".to_owned();
        assert_eq!(
            read(Frame::Subscribed { id: "c1", feed: feed(), head: Some(57) }),
            json!({ "type": "subscribed", "id": "c1", "feed": "user", "head": 57 })
        );
        assert_eq!(
            read(Frame::Unsubscribed { id: None, feed: feed(), reason: "removed" }),
            json!({ "type": "unsubscribed", "id": null, "feed": "user", "reason": "removed" })
        );
        let code = ErrorCode::TooManyFeeds;
        assert_eq!(
            read(Frame::Error { id: Some("c1"), feed: None, code, detail: "x" }),
            json!({ "type": "error", "id": "c1", "code": "too-many-feeds", "detail": "x" })
        );
        let user_id = UserId::at(1);
        assert_eq!(
            read(Frame::Presence { user_id, online: true, at: "T".to_owned() }),
            json!({ "type": "presence", "userId": user_id.to_string(), "online": true, "at": "T" })
        );
    }
}
