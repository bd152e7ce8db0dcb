//! Access patterns: named reads and writes with their exact calls. Handlers reach engines only through patterns
//! that their route declares; every call is checked against the declaration and counted with what it consumed.

use std::sync::{Arc, Mutex, PoisonError};

use crate::Engines;

/// A named read or write of one system.
#[derive(Debug, PartialEq)]
pub struct AccessPattern {
    pub name: &'static str,
    pub calls: &'static [Call],
}

/// One kind of call to one resource: what a policy has to grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Call {
    /// An operation on a table; a transaction counts as its parts.
    Table { table: &'static str, action: TableAction },
    /// A `Query` of an index.
    Index { table: &'static str, index: &'static str },
    /// An operation on the objects under a prefix; a signed link counts as what it allows.
    Objects { bucket: &'static str, prefix: &'static str, action: ObjectAction },
    /// `POST /{alias}/_search`.
    Search { alias: &'static str },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TableAction {
    GetItem,
    BatchGetItem,
    /// Deletes only: it takes no conditions.
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
    /// To be told that an object is missing: without it S3 answers 403, and nobody knows.
    ListBucket,
}

/// A table in declarations of calls: `OnTable("zoo").query()`.
#[derive(Clone, Copy, Debug)]
pub struct OnTable(pub &'static str);

/// The objects of a bucket under a prefix in declarations of calls.
#[derive(Clone, Copy, Debug)]
pub struct OnObjects {
    pub bucket: &'static str,
    pub prefix: &'static str,
}

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

/// The calls of one kind that were made under one pattern, and their price together.
#[derive(Clone, Debug, PartialEq)]
pub struct Performed {
    pub pattern: &'static str,
    pub call: Call,
    /// How many there were. Each part of a transaction is one.
    pub times: u64,
    /// Capacity units as DynamoDB reported them; 0 for other engines.
    pub read_units: f64,
    pub write_units: f64,
}

/// What an access pattern consumes in one use, in DynamoDB's capacity units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// The use: what is asked for, and of which size.
    pub of: &'static str,
    pub pattern: &'static AccessPattern,
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

/// A call outside the declaration: a fault of ours, found by any test that makes it.
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

    /// Refuses a call that the route's declaration does not name.
    pub fn permit(&self, pattern: &'static AccessPattern, call: Call) -> Result<(), Undeclared> {
        if self.granted.contains(&pattern) && pattern.calls.contains(&call) {
            Ok(())
        } else {
            Err(Undeclared { pattern: pattern.name, call })
        }
    }

    /// Counts a call that was made, with the capacity units that it consumed.
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

    /// All calls so far, those that are alike together, in the order of the first of them.
    pub fn performed(&self) -> Vec<Performed> {
        self.performed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
