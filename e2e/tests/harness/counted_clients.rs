//! Clients of a socket that exist only as connections in a table. What handlers post to them is answered here and counted,
//! so that a test can have thousands.

use std::collections::HashMap;
use std::sync::Mutex;

use bytes::Bytes;

/// The clients of a platform, by the ids of their connections.
#[derive(Default)]
pub struct CountedClients(Mutex<State>);

#[derive(Default)]
struct State {
    clients: HashMap<String, Client>,
    /// The frames that any client has received, each once: thousands of clients receive the same.
    frames: Vec<Bytes>,
    numbers: HashMap<Bytes, usize>,
}

/// How a client answers posts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    Receives,
    /// The first post is answered 429.
    BusyOnce,
    /// Each post is answered 410.
    Gone,
    /// No post is answered.
    Hangs,
}

struct Client {
    manner: Manner,
    /// The numbers of its frames in the order of their arrival.
    received: Vec<usize>,
    was_busy: bool,
}

impl CountedClients {
    pub fn new(clients: impl IntoIterator<Item = (String, Manner)>) -> Self {
        let client = |manner| Client { manner, received: Vec::new(), was_busy: false };
        let clients = clients.into_iter().map(|(connection, manner)| (connection, client(manner))).collect();
        Self(Mutex::new(State { clients, ..State::default() }))
    }

    /// Returns whether posts to this connection are not answered.
    pub fn hangs(&self, connection: &str) -> bool {
        let clients = &self.0.lock().unwrap().clients;
        clients.get(connection).is_some_and(|client| client.manner == Manner::Hangs)
    }

    /// Keeps a frame for a connection. Returns the status of the response, or none if there is no such client.
    pub fn post(&self, connection: &str, frame: Bytes) -> Option<u16> {
        let state = &mut *self.0.lock().unwrap();
        let client = state.clients.get_mut(connection)?;
        match client.manner {
            Manner::Gone => return Some(410),
            Manner::BusyOnce if !std::mem::replace(&mut client.was_busy, true) => return Some(429),
            Manner::BusyOnce | Manner::Receives | Manner::Hangs => {}
        }
        let number = *state.numbers.entry(frame.clone()).or_insert_with(|| {
            state.frames.push(frame);
            state.frames.len() - 1
        });
        client.received.push(number);
        Some(200)
    }

    /// Returns the different frames that clients have received.
    pub fn frames(&self) -> Vec<Bytes> {
        self.0.lock().unwrap().frames.clone()
    }

    /// Returns the frames of a client, as their indexes among [`CountedClients::frames`].
    pub fn received(&self, connection: &str) -> Vec<usize> {
        self.0.lock().unwrap().clients[connection].received.clone()
    }
}
