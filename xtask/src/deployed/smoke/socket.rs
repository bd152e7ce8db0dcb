//! A client of a deployed socket.

use futures::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::TIMEOUT;
use crate::failure::{Doing, Failure};

/// An open socket.
pub(crate) struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    pub async fn open(url: &str) -> Result<Self, Failure> {
        let (stream, _) =
            timeout(TIMEOUT, connect_async(url)).await.doing("opening a socket")?.doing("opening a socket")?;
        Ok(Self(stream))
    }

    /// Checks that the handshake is refused. The emulator refuses each with 403, whatever the handler returns.
    pub async fn is_refused(url: &str) -> Result<(), Failure> {
        match timeout(TIMEOUT, connect_async(url)).await.doing("opening a socket")? {
            Err(Error::Http(response)) if response.status().is_client_error() => Ok(()),
            Err(error) => Err(Failure::new(format!("expected a refusal of the handshake, not: {error}"))),
            Ok(_) => Err(Failure::new("a socket was opened that must be refused")),
        }
    }

    pub async fn send(&mut self, message: &Value) -> Result<(), Failure> {
        self.0.send(Message::text(message.to_string())).await.doing("sending a message")
    }

    /// Waits for a message whose member `type` has this value. Skips others.
    pub async fn receives(&mut self, kind: &str) -> Result<Value, Failure> {
        let received = async {
            loop {
                let message = self.0.next().await.ok_or_else(|| Failure::new("the connection has ended"))?;
                let Message::Text(text) = message.doing("receiving a message")? else { continue };
                let message: Value = serde_json::from_str(&text).doing("parsing a message")?;
                if message.get("type").and_then(Value::as_str) == Some(kind) {
                    return Ok(message);
                }
            }
        };
        timeout(TIMEOUT, received).await.doing(format!("waiting for a message of type {kind}"))?
    }

    pub async fn close(mut self) -> Result<(), Failure> {
        self.0.close(None).await.doing("closing a socket")
    }
}
