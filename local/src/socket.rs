//! The WebSocket APIs of the systems: they call a system's handlers with the semantics of API Gateway ("Working with
//! WebSocket APIs", Amazon API Gateway Developer Guide).

pub mod connection;
pub mod connections;
pub mod event;
pub mod handshake;
pub mod management;
pub mod sockets;

use std::time::Duration;

/// The limits of connections. The defaults are those of API Gateway ("Quotas for configuring and running a WebSocket
/// API"), which has no quota for the frames that wait for a client.
#[derive(Clone, Debug)]
pub struct Settings {
    /// A connection without a frame in either direction for this time is closed.
    pub idle_timeout: Duration,
    /// The time after which a connection is closed in any case.
    pub max_duration: Duration,
    /// The number of frames that may wait for a slow client. Another one closes its connection.
    pub waiting_frames: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { idle_timeout: Duration::from_mins(10), max_duration: Duration::from_hours(2), waiting_frames: 128 }
    }
}
