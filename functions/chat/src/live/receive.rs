//! `$default`: a frame of a client.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use table::access::OnSocket;
use table::item::number;
use table::{AccessPattern, Action, Changes, Condition, Error, Escaped};
use web::{Event, EventFailure, EventHandler, SocketEvent, socket};

use super::connections::{self, CONNECTION, CONNECTIONS, Connection, FORGET};
use super::fan_out::{FAN_OUT, FanOut};
use super::feed::Feed;
use super::feeds::{self, FOLLOW, HEADS, REPLAY};
use super::frame::{ErrorCode, Frame, Request, Unreadable};
use super::replay::MESSAGES;
use super::subscribe::{STILL_SUBSCRIBED, SUBSCRIBE, Subscriber};
use super::unsubscribe::{UNSUBSCRIBE, unsubscribe};
use crate::access::LIVE as ON_LIVE;
use crate::keys::RateKey;
use crate::schema::{LIVE, RECEIVE};

/// The number of frames of a connection.
const COUNT_FRAMES: AccessPattern = AccessPattern::new("countFrames", &[ON_LIVE.update()]);

/// The end of a connection whose items are gone.
const CLOSE_UNKNOWN: AccessPattern = AccessPattern::new("closeUnknown", &[OnSocket.close()]);

/// The most bytes of a frame, as [`Unreadable::too_long`] says.
const MAX_BYTES: usize = 4096;

/// The most frames of a connection in a period, also bad ones, without pings that read nothing.
const MAX_FRAMES: u32 = 20;
const PERIOD_SECONDS: i64 = 10;

/// The last part of an invocation's time, in which no frame begins to be sent, which takes a second at most. The handler
/// is stopped half a second before the end.
const MARGIN: Duration = Duration::from_millis(1500);

pub fn handler() -> EventHandler {
    let handler = EventHandler::new(RECEIVE, receive).patterns(&[
        &CONNECTION,
        &CONNECTIONS,
        &COUNT_FRAMES,
        &CLOSE_UNKNOWN,
        &SUBSCRIBE,
        &STILL_SUBSCRIBED,
        &UNSUBSCRIBE,
        &FOLLOW,
        &HEADS,
        &REPLAY,
        &MESSAGES,
        &FAN_OUT,
        &FORGET,
    ]);
    // API Gateway waits no longer.
    handler.timeout(Duration::from_secs(29))
}

async fn receive(event: Event) -> Result<Bytes, EventFailure> {
    let received = SocketEvent::parse(&event.payload)?;
    if let Ok(id) = Escaped::new(&*received.connection) {
        answer(&event, &id, &received.body).await.map_err(EventFailure::new)?;
    }
    Ok(socket::respond(StatusCode::OK))
}

async fn answer(event: &Event, connection: &Escaped, body: &[u8]) -> Result<(), Error> {
    let access = event.access();
    let fan_out = FanOut::new(access, event.deadline, MARGIN);
    let send = async |frame: Frame<'_>| {
        fan_out.send(connection, &[frame.bytes()]).await;
        Ok(())
    };
    let refuse = async |id: Option<&str>, code, detail: &str| send(Frame::Error { id, feed: None, code, detail }).await;
    let request = if body.len() <= MAX_BYTES { Request::read(body) } else { Err(Unreadable::too_long()) };
    let id = match &request {
        // Such a ping only keeps the connection open, and reads nothing.
        Ok(Request::Ping { id, heads: false }) => return send(Frame::Pong { id, heads: None }).await,
        Ok(request) => Some(request.id()),
        Err(unreadable) => unreadable.id.as_deref(),
    };
    if !count(event, connection).await? {
        let detail = "A connection may send 20 frames in 10 seconds, pings without heads aside.";
        return refuse(id, ErrorCode::RateLimited, detail).await;
    }
    let request = match &request {
        Ok(request) => request,
        Err(unreadable) => return refuse(id, ErrorCode::BadFrame, &unreadable.detail).await,
    };
    let id = request.id();
    let Some(connection) = connections::load(access, &CONNECTION, connection).await? else {
        // It has expired, or it was closed and API Gateway does not know yet.
        return access.close(&CLOSE_UNKNOWN, connection.text()).await.map(|_| ());
    };
    match request {
        Request::Subscribe { feeds, .. } => {
            let subscriber = Subscriber { access, fan_out: &fan_out, connection: &connection, id };
            subscriber.subscribe(feeds).await
        }
        Request::Unsubscribe { feeds, .. } => unsubscribe(access, &fan_out, &connection, id, feeds).await,
        Request::Ping { .. } => {
            let heads = Some(heads(event, &connection).await?);
            send(Frame::Pong { id, heads }).await
        }
    }
}

/// Counts a frame. Returns false if there were too many in this period.
async fn count(event: &Event, connection: &Escaped) -> Result<bool, Error> {
    let period = event.engines().clock.seconds().div_euclid(PERIOD_SECONDS);
    let part = |text: String| Escaped::new(text).map_err(|error| Error::Misfit(error.to_string()));
    let key = RateKey { what: part("frames".to_owned())?, who: part(format!("{} {period}", connection.text()))? };
    let changes = Changes::new().add("Num", 1).set("expires", number((period + 2) * PERIOD_SECONDS));
    let room = Condition::AtMost("Num", number(MAX_FRAMES - 1));
    match event.access().write(&COUNT_FRAMES, Action::update(&LIVE, key, changes).when(room).or_absent()).await {
        Ok(_) => Ok(true),
        Err(Error::ConditionFailed(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the last numbers of the feeds that a connection follows, by which its client finds a lost last event.
async fn heads(event: &Event, connection: &Connection) -> Result<BTreeMap<String, u64>, Error> {
    let followed = connection.feeds.iter().copied().filter(|feed| !matches!(feed, Feed::Presence(_)));
    let feeds: Vec<Feed> = [Feed::User(connection.user)].into_iter().chain(followed).collect();
    let heads = feeds::heads(event.access(), &feeds).await?;
    Ok(feeds.into_iter().zip(heads).filter_map(|(feed, head)| Some((feed.name(), head?))).collect())
}
