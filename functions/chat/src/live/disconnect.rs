//! `$disconnect`: a connection has ended. API Gateway calls it as a best effort, so the items also expire.

use bytes::Bytes;
use http::StatusCode;
use table::Escaped;
use web::{Event, EventFailure, EventHandler, SocketEvent, socket};

use super::connections::{FORGET, forget};
use crate::schema::DISCONNECT;

pub fn handler() -> EventHandler {
    EventHandler::new(DISCONNECT, disconnect).patterns(&[&FORGET])
}

async fn disconnect(event: Event) -> Result<Bytes, EventFailure> {
    let ended = SocketEvent::parse(&event.payload)?;
    if let Ok(connection) = Escaped::new(ended.connection) {
        forget(event.access(), &connection, None).await.map_err(EventFailure::new)?;
    }
    Ok(socket::respond(StatusCode::OK))
}
