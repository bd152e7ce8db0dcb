//! The open connections of all systems' sockets, and the frames that wait for their clients.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, watch};

/// The open connections, by their keys.
#[derive(Debug, Default)]
pub struct Connections(Mutex<HashMap<String, Outlet>>);

/// A frame for a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    Text(String),
    /// The last frame.
    Close(Closing),
}

/// The code and the reason of a close frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closing {
    pub code: u16,
    pub reason: String,
}

/// The outcome of a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posted {
    Accepted,
    /// There is no such connection.
    Gone,
    /// Too many frames wait for the client. Its connection is cut.
    Full,
}

/// The sending side of a connection.
#[derive(Clone, Debug)]
struct Outlet {
    frames: mpsc::Sender<Frame>,
    cut: watch::Sender<bool>,
}

/// The receiving side of a connection, for the task that serves it.
#[derive(Debug)]
pub struct Inlet {
    pub frames: mpsc::Receiver<Frame>,
    /// Whether the connection is cut without waiting for its client.
    pub cut: watch::Receiver<bool>,
}

impl Closing {
    pub fn new(code: u16, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into() }
    }

    /// The end of a connection by API Gateway: idle for too long, open for too long, or at a shutdown.
    pub fn going_away() -> Self {
        Self::new(1001, "Going away")
    }
}

impl Connections {
    /// Returns the key of a connection of a system.
    pub fn key(system: &str, connection: &str) -> String {
        format!("{system}/{connection}")
    }

    /// Adds a connection. Up to `waiting` frames may wait for its client.
    pub fn add(&self, key: String, waiting: usize) -> Inlet {
        let (frames, waiting_frames) = mpsc::channel(waiting);
        let (cut, is_cut) = watch::channel(false);
        self.open().insert(key, Outlet { frames, cut });
        Inlet { frames: waiting_frames, cut: is_cut }
    }

    pub fn remove(&self, key: &str) {
        self.open().remove(key);
    }

    /// Appends a frame to those that wait for the client. Later frames follow it in the order of the calls.
    pub fn send(&self, key: &str, frame: Frame) -> Posted {
        let mut open = self.open();
        let Some(outlet) = open.get(key) else { return Posted::Gone };
        let is_last = matches!(frame, Frame::Close(_));
        match outlet.frames.try_send(frame) {
            Ok(()) => {
                if is_last {
                    open.remove(key);
                }
                Posted::Accepted
            }
            Err(TrySendError::Full(_)) => {
                outlet.cut.send_replace(true);
                open.remove(key);
                Posted::Full
            }
            Err(TrySendError::Closed(_)) => {
                open.remove(key);
                Posted::Gone
            }
        }
    }

    /// Closes all connections after the frames that wait.
    pub fn close_all(&self, closing: &Closing) {
        let keys: Vec<String> = self.open().keys().cloned().collect();
        for key in keys {
            self.send(&key, Frame::Close(closing.clone()));
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Outlet>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Frame {
        Frame::Text(text.to_owned())
    }

    #[tokio::test]
    async fn frames_keep_their_order_and_the_close_frame_is_the_last() {
        let connections = Connections::default();
        let mut inlet = connections.add("zoo/1".to_owned(), 8);
        let close = Frame::Close(Closing::new(1000, ""));
        for frame in [text("a"), text("b"), close.clone()] {
            assert_eq!(connections.send("zoo/1", frame), Posted::Accepted);
        }
        assert_eq!(connections.send("zoo/1", text("c")), Posted::Gone);
        let mut received = Vec::new();
        while let Some(frame) = inlet.frames.recv().await {
            received.push(frame);
        }
        assert_eq!(received, [text("a"), text("b"), close]);
    }

    #[test]
    fn connection_with_too_many_waiting_frames_is_cut() {
        let connections = Connections::default();
        let inlet = connections.add("zoo/1".to_owned(), 1);
        assert_eq!(connections.send("zoo/1", text("a")), Posted::Accepted);
        assert_eq!(connections.send("zoo/1", text("b")), Posted::Full);
        assert!(*inlet.cut.borrow());
        assert_eq!(connections.send("zoo/1", text("c")), Posted::Gone);
    }

    #[test]
    fn equal_ids_of_two_systems_are_distinct() {
        let connections = Connections::default();
        let _inlet = connections.add(Connections::key("zoo", "1"), 1);
        assert_eq!(connections.send(&Connections::key("park", "1"), text("a")), Posted::Gone);
    }
}
