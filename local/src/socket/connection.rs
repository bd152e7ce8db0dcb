//! One open connection: frames to the client, messages from it, and its end.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, sink};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::Settings;
use super::connections::{Closing, Connections, Frame, Inlet};

/// The maximum sizes of a frame and of a message in bytes ("Quotas for configuring and running a WebSocket API").
const MAX_FRAME: usize = 32 * 1024;
const MAX_MESSAGE: usize = 128 * 1024;

/// How long the client may take to answer a close frame.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// The codes of connections that end without a close frame, or with one without a code (RFC 6455, section 7.1.5).
const NO_CODE: u16 = 1005;
const ABNORMAL: u16 = 1006;

/// A connection whose client has been accepted.
#[derive(Debug)]
pub struct Open<'a> {
    pub connections: &'a Connections,
    pub key: &'a str,
    pub inlet: Inlet,
    pub settings: &'a Settings,
    /// The messages of the client. While it is full, no further message is read.
    pub messages: mpsc::Sender<String>,
}

/// Why reading from the client has ended.
enum End {
    /// The client has closed the connection, or it broke.
    OfClient(Closing),
    /// The connection is to be closed for this reason.
    Close(Closing),
    /// The management API has closed the connection. The code is that of its close frame.
    Closed(Closing),
    /// Too many frames wait for the client.
    Cut,
}

impl Open<'_> {
    /// Serves the connection until its end. Returns the code and the reason for `$disconnect`. From then on there is no
    /// such connection for the management API.
    pub async fn run<S>(self, stream: S) -> Closing
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let config = WebSocketConfig::default().max_frame_size(Some(MAX_FRAME)).max_message_size(Some(MAX_MESSAGE));
        let (outgoing, incoming) = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await.split();
        let activity = Activity::now();
        let Self { connections, key, inlet: Inlet { frames, cut }, settings, messages } = self;
        let mut writer = tokio::spawn(write(outgoing, frames, activity.clone()));
        let reader = Reader { incoming, messages, activity, cut };
        let end = reader.run(settings, &mut writer).await;
        match end {
            (End::OfClient(closing), _) => {
                connections.remove(key);
                writer.abort();
                closing
            }
            (End::Cut, _) => {
                connections.remove(key);
                writer.abort();
                Closing::new(ABNORMAL, "")
            }
            (End::Close(closing), incoming) => {
                // A writer that waits for the client cannot send the close frame either.
                connections.send(key, Frame::Close(closing.clone()));
                connections.remove(key);
                match timeout(CLOSE_TIMEOUT, &mut writer).await {
                    Ok(Ok(Some((outgoing, _)))) => drain(outgoing, incoming).await,
                    _ => writer.abort(),
                }
                closing
            }
            (End::Closed(closing), mut incoming) => {
                connections.remove(key);
                let _ = timeout(CLOSE_TIMEOUT, async { while incoming.next().await.is_some() {} }).await;
                closing
            }
        }
    }
}

struct Reader<S> {
    incoming: SplitStream<WebSocketStream<S>>,
    messages: mpsc::Sender<String>,
    activity: Activity,
    cut: watch::Receiver<bool>,
}

/// The sending half after the close frame, or none if the connection broke.
type Written<S> = Option<(SplitSink<WebSocketStream<S>, Message>, Closing)>;

impl<S: AsyncRead + AsyncWrite + Unpin> Reader<S> {
    async fn run(
        mut self,
        settings: &Settings,
        writer: &mut JoinHandle<Written<S>>,
    ) -> (End, SplitStream<WebSocketStream<S>>) {
        let latest = Instant::now() + settings.max_duration;
        let end = loop {
            let idle = self.activity.last() + settings.idle_timeout;
            tokio::select! {
                end = next(&mut self.incoming, &self.messages, &self.activity) => match end {
                    Some(end) => break end,
                    None => continue,
                },
                () = sleep_until(idle.min(latest)) => {
                    let now = Instant::now();
                    if now >= latest || now >= self.activity.last() + settings.idle_timeout {
                        break End::Close(Closing::going_away());
                    }
                }
                // A connection that the management API has closed is not known any more, so the wait fails.
                Ok(_) = self.cut.wait_for(|cut| *cut) => break End::Cut,
                written = &mut *writer => match written {
                    Ok(Some((_, closing))) => break End::Closed(closing),
                    _ => break End::OfClient(Closing::new(ABNORMAL, "")),
                },
            }
        };
        (end, self.incoming)
    }
}

/// Reads the next message and passes it on. Returns why there will be no other, if so. May be cancelled at any time.
async fn next<S: AsyncRead + AsyncWrite + Unpin>(
    incoming: &mut SplitStream<WebSocketStream<S>>,
    messages: &mpsc::Sender<String>,
    activity: &Activity,
) -> Option<End> {
    let Ok(permit) = messages.reserve().await else { return Some(End::Close(Closing::going_away())) };
    let read = incoming.next().await;
    activity.note();
    match read {
        Some(Ok(Message::Text(text))) => {
            permit.send(text.to_string());
            None
        }
        Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => None,
        // API Gateway supports no binary messages ("Working with binary media types for WebSocket APIs").
        Some(Ok(Message::Binary(_))) => Some(End::Close(Closing::new(1003, "Binary is unsupported"))),
        Some(Ok(Message::Close(frame))) => {
            let closing = frame
                .map_or(Closing::new(NO_CODE, ""), |frame| Closing::new(frame.code.into(), frame.reason.to_string()));
            // The response to the close frame is sent with the next read.
            let _ = timeout(CLOSE_TIMEOUT, async { while incoming.next().await.is_some() {} }).await;
            Some(End::OfClient(closing))
        }
        Some(Err(Error::Capacity(_))) => Some(End::Close(Closing::new(1009, "Message too big"))),
        Some(Err(Error::Utf8(_))) => Some(End::Close(Closing::new(1007, "Invalid UTF-8"))),
        Some(Err(Error::Protocol(error))) if error != ProtocolError::ResetWithoutClosingHandshake => {
            Some(End::Close(Closing::new(1002, "Protocol error")))
        }
        Some(Err(_)) | None => Some(End::OfClient(Closing::new(ABNORMAL, ""))),
    }
}

/// Sends frames to the client until a close frame.
async fn write<S: AsyncRead + AsyncWrite + Unpin>(
    mut outgoing: SplitSink<WebSocketStream<S>, Message>,
    mut frames: mpsc::Receiver<Frame>,
    activity: Activity,
) -> Written<S> {
    while let Some(frame) = frames.recv().await {
        let closing = match frame {
            Frame::Text(text) => {
                outgoing.send(Message::Text(text.into())).await.ok()?;
                activity.note();
                continue;
            }
            Frame::Close(closing) => closing,
        };
        let frame = CloseFrame { code: CloseCode::from(closing.code), reason: closing.reason.clone().into() };
        outgoing.send(Message::Close(Some(frame))).await.ok()?;
        return Some((outgoing, closing));
    }
    // The connection is no longer known, and its reader ends it.
    std::future::pending().await
}

/// Reads what the client still sends. Closing the connection with unread data would reset it, and the client might lose
/// the close frame.
async fn drain<S>(outgoing: SplitSink<WebSocketStream<S>, Message>, incoming: SplitStream<WebSocketStream<S>>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let Ok(mut stream) = outgoing.reunite(incoming) else { return };
    let rest = async {
        let mut rest = stream.get_mut().take(u64::MAX);
        tokio::io::copy(&mut rest, &mut sink()).await
    };
    let _ = timeout(CLOSE_TIMEOUT, rest).await;
}

/// The time of the last frame in either direction.
#[derive(Clone, Debug)]
struct Activity(Arc<Mutex<Instant>>);

impl Activity {
    fn now() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn last(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
