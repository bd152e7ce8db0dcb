//! A client of a system's socket.

use std::sync::LazyLock;
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::frame::{CloseFrame, Frame};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::leaks;
use super::tier::sized;

/// An open socket.
pub struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

/// How long a test waits for a frame. At full size a frame may be one of very many.
static LIMIT: LazyLock<Duration> = LazyLock::new(|| Duration::from_secs(sized(20, 120)));

/// The code of a connection that ended without a close frame.
const ABNORMAL: u16 = 1006;

impl Socket {
    /// Opens a socket at this URL. The error is the status of the response to the handshake.
    pub async fn open(url: &str) -> Result<Self, u16> {
        match timeout(*LIMIT, connect_async(url)).await.expect("the handshake is not answered") {
            Ok((stream, _)) => Ok(Self(stream)),
            Err(Error::Http(response)) => Err(response.status().as_u16()),
            Err(error) => panic!("{url}: {error}"),
        }
    }

    pub async fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string()).await;
    }

    pub async fn send_text(&mut self, text: &str) {
        self.0.send(Message::text(text)).await.unwrap();
    }

    pub async fn send_binary(&mut self, bytes: &[u8]) {
        self.0.send(Message::binary(bytes.to_vec())).await.unwrap();
    }

    pub async fn ping(&mut self) {
        self.0.send(Message::Ping(Vec::new().into())).await.unwrap();
    }

    /// Sends one message in these frames.
    pub async fn send_in_frames(&mut self, parts: &[&str]) {
        for (at, part) in parts.iter().enumerate() {
            let kind = if at == 0 { Data::Text } else { Data::Continue };
            let frame = Frame::message(part.as_bytes().to_vec(), OpCode::Data(kind), at + 1 == parts.len());
            // The server may close the connection before the last frame.
            if self.0.send(Message::Frame(frame)).await.is_err() {
                return;
            }
        }
    }

    /// Waits for the next message.
    pub async fn next(&mut self) -> Value {
        self.next_within(*LIMIT).await.expect("there is no message")
    }

    /// Waits for the next message. Returns none if there is none in this time.
    pub async fn next_within(&mut self, limit: Duration) -> Option<Value> {
        let next = async {
            loop {
                match self.0.next().await.expect("the connection has ended").unwrap() {
                    Message::Text(text) => {
                        leaks::check_frame(&text);
                        return serde_json::from_str(&text).unwrap();
                    }
                    Message::Ping(_) | Message::Pong(_) => {}
                    other => panic!("{other:?}"),
                }
            }
        };
        timeout(limit, next).await.ok()
    }

    /// Waits for the end of the connection, and returns its code. Earlier messages are skipped.
    pub async fn ended(&mut self) -> u16 {
        let end = async {
            let mut code = ABNORMAL;
            while let Some(Ok(message)) = self.0.next().await {
                if let Message::Close(frame) = message {
                    code = frame.map_or(1005, |frame| frame.code.into());
                }
            }
            code
        };
        timeout(*LIMIT, end).await.expect("the connection does not end")
    }

    /// Closes the connection, and waits for the server's close frame.
    pub async fn close(mut self) {
        let frame = CloseFrame { code: CloseCode::Normal, reason: "".into() };
        self.0.close(Some(frame)).await.unwrap();
        self.ended().await;
    }

    /// Cuts the connection without a close frame, as a machine does that loses its network.
    pub fn cut(self) {
        drop(self);
    }
}
