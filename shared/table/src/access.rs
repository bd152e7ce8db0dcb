//! Access patterns: named reads and writes with their exact calls. Handlers reach engines only through the patterns
//! of their route. Every call is checked against the declaration and recorded with the capacity that it consumed.

use std::sync::{Arc, Mutex, PoisonError};

use crate::Engines;

/// A named read or write of one system.
#[derive(Debug, PartialEq)]
pub struct AccessPattern {
    pub name: &'static str,
    pub calls: &'static [Call],
}

/// One kind of call to one resource. A policy grants each declared call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Call {
    /// An operation on a table. A transaction counts as its parts.
    Table { table: &'static str, action: TableAction },
    /// A `Query` of an index.
    Index { table: &'static str, index: &'static str },
    /// An operation on the objects under a prefix. A signed link counts as the operation that it allows.
    Objects { bucket: &'static str, prefix: &'static str, action: ObjectAction },
    /// `SendMessage` to a queue.
    Queue { queue: &'static str },
    /// `PutEvents` on the account's event bus, for events of this source.
    EventBus { source: &'static str },
    /// An operation on the connections of the system's socket. A system has at most one.
    Socket { action: SocketAction },
    /// `POST /{alias}/_search`.
    Search { alias: &'static str },
    /// `GetSecretValue` of a secret.
    Secret { secret: &'static str },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TableAction {
    GetItem,
    BatchGetItem,
    /// For deletes only, since `BatchWriteItem` takes no conditions.
    BatchWriteItem,
    Query,
    PutItem,
    UpdateItem,
    DeleteItem,
    ConditionCheckItem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObjectAction {
    GetObject,
    HeadObject,
    PutObject,
    DeleteObject,
    /// Lets S3 answer 404 for a missing object. Without it S3 answers 403.
    ListBucket,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SocketAction {
    PostToConnection,
    DeleteConnection,
}

/// A table in declarations of calls: `OnTable("orders").query()`.
#[derive(Clone, Copy, Debug)]
pub struct OnTable(pub &'static str);

/// The objects of a bucket under a prefix in declarations of calls.
#[derive(Clone, Copy, Debug)]
pub struct OnObjects {
    pub bucket: &'static str,
    pub prefix: &'static str,
}

/// A queue in declarations of calls: `OnQueue("orders-paid").send()`.
#[derive(Clone, Copy, Debug)]
pub struct OnQueue(pub &'static str);

/// The account's event bus in declarations of calls, with the source of the events: `OnEventBus("shop").put()`.
#[derive(Clone, Copy, Debug)]
pub struct OnEventBus(pub &'static str);

/// The connections of the system's socket in declarations of calls: `OnSocket.post()`.
#[derive(Clone, Copy, Debug)]
pub struct OnSocket;

/// A secret in declarations of calls: `OnSecret("orders-signing").read()`.
#[derive(Clone, Copy, Debug)]
pub struct OnSecret(pub &'static str);

impl AccessPattern {
    pub const fn new(name: &'static str, calls: &'static [Call]) -> Self {
        Self { name, calls }
    }
}

impl OnTable {
    pub const fn get(self) -> Call {
        self.call(TableAction::GetItem)
    }

    pub const fn batch_get(self) -> Call {
        self.call(TableAction::BatchGetItem)
    }

    pub const fn query(self) -> Call {
        self.call(TableAction::Query)
    }

    pub const fn query_index(self, index: &'static str) -> Call {
        Call::Index { table: self.0, index }
    }

    pub const fn put(self) -> Call {
        self.call(TableAction::PutItem)
    }

    pub const fn update(self) -> Call {
        self.call(TableAction::UpdateItem)
    }

    pub const fn delete(self) -> Call {
        self.call(TableAction::DeleteItem)
    }

    pub const fn batch_delete(self) -> Call {
        self.call(TableAction::BatchWriteItem)
    }

    pub const fn check(self) -> Call {
        self.call(TableAction::ConditionCheckItem)
    }

    const fn call(self, action: TableAction) -> Call {
        Call::Table { table: self.0, action }
    }
}

impl OnObjects {
    pub const fn get(self) -> Call {
        self.call(ObjectAction::GetObject)
    }

    pub const fn head(self) -> Call {
        self.call(ObjectAction::HeadObject)
    }

    pub const fn put(self) -> Call {
        self.call(ObjectAction::PutObject)
    }

    pub const fn delete(self) -> Call {
        self.call(ObjectAction::DeleteObject)
    }

    pub const fn list(self) -> Call {
        self.call(ObjectAction::ListBucket)
    }

    const fn call(self, action: ObjectAction) -> Call {
        Call::Objects { bucket: self.bucket, prefix: self.prefix, action }
    }
}

impl OnQueue {
    pub const fn send(self) -> Call {
        Call::Queue { queue: self.0 }
    }
}

impl OnEventBus {
    pub const fn put(self) -> Call {
        Call::EventBus { source: self.0 }
    }
}

impl OnSocket {
    pub const fn post(self) -> Call {
        Call::Socket { action: SocketAction::PostToConnection }
    }

    pub const fn close(self) -> Call {
        Call::Socket { action: SocketAction::DeleteConnection }
    }
}

impl OnSecret {
    pub const fn read(self) -> Call {
        Call::Secret { secret: self.0 }
    }
}

/// The calls of one kind that were made under one pattern, and their price together.
#[derive(Clone, Debug, PartialEq)]
pub struct Performed {
    pub pattern: &'static str,
    pub call: Call,
    /// The number of calls. Each part of a transaction counts as one.
    pub times: u64,
    /// Capacity units as DynamoDB reported them, 0 for other engines.
    pub read_units: f64,
    pub write_units: f64,
}

/// One request's way to the engines: only through the patterns of its route, and every call counted. What it knows of
/// them does not grow with their number: one event may make thousands.
#[derive(Clone, Debug)]
pub struct Access {
    engines: Arc<Engines>,
    granted: &'static [&'static AccessPattern],
    performed: Arc<Mutex<Vec<Performed>>>,
}

/// A call that the route does not declare. It is a bug, found by any test that makes the call.
#[derive(Debug, thiserror::Error)]
#[error("`{pattern}` does not declare {call:?}, or the route does not declare `{pattern}`")]
pub struct Undeclared {
    pub pattern: &'static str,
    pub call: Call,
}

impl Access {
    pub fn new(engines: Arc<Engines>, granted: &'static [&'static AccessPattern]) -> Self {
        Self { engines, granted, performed: Arc::default() }
    }

    pub fn engines(&self) -> &Arc<Engines> {
        &self.engines
    }

    /// Refuses a call that the route does not declare.
    pub fn permit(&self, pattern: &'static AccessPattern, call: Call) -> Result<(), Undeclared> {
        if self.granted.contains(&pattern) && pattern.calls.contains(&call) {
            Ok(())
        } else {
            Err(Undeclared { pattern: pattern.name, call })
        }
    }

    /// Records a call with the read and write units that it consumed.
    pub fn record(&self, pattern: &'static AccessPattern, call: Call, (read_units, write_units): (f64, f64)) {
        let pattern = pattern.name;
        let mut performed = self.performed.lock().unwrap_or_else(PoisonError::into_inner);
        match performed.iter_mut().find(|alike| alike.pattern == pattern && alike.call == call) {
            Some(alike) => {
                alike.times += 1;
                alike.read_units += read_units;
                alike.write_units += write_units;
            }
            None => performed.push(Performed { pattern, call, times: 1, read_units, write_units }),
        }
    }

    /// Returns all calls so far, grouped by pattern and call, in the order of each group's first call.
    pub fn performed(&self) -> Vec<Performed> {
        self.performed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
