//! The smoke test of chat.

use reqwest::Method;
use serde_json::{Value, json};

use super::socket::Socket;
use super::{User, text};
use crate::failure::Failure;
use crate::rehearsal::Stage;

/// Reads the caller's user, receives an event by the socket, and sends requests that must be refused.
pub async fn run(stage: &Stage<'_>, _stranger: &str) -> Result<(), Failure> {
    let user = User(stage);
    user.sends(Method::GET, "/chat/me", None, 200).await?;
    user.hears().await?;
    user.refuses(&[(Method::GET, "/chat/me", None, &[], 401)], &Value::Null).await
}

impl User<'_> {
    /// Opens the socket with a ticket, which works once, and receives the event of a community that the caller creates.
    async fn hears(&self) -> Result<(), Failure> {
        let ticket = self.sends(Method::POST, "/chat/live/tickets", None, 201).await?;
        let url = format!("{}?ticket={}", text(&ticket, "/url")?, text(&ticket, "/ticket")?);
        let mut socket = Socket::open(&url).await?;
        Socket::is_refused(&url).await?;
        socket.send(&json!({ "action": "ping", "id": "1" })).await?;
        self.has(&socket.receives("pong").await?, "/id", "1")?;
        socket.send(&json!({ "action": "subscribe", "id": "2", "feeds": [{ "feed": "user" }] })).await?;
        socket.receives("subscribed").await?;
        let new = json!({ "name": "Smoke", "description": "Smoke", "topic": "smoke" });
        self.sends(Method::POST, "/chat/communities", Some(&new), 201).await?;
        self.has(&socket.receives("events").await?, "/feed", "user")?;
        socket.close().await
    }
}
