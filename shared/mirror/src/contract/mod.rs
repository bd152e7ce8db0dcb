//! The behaviour of each engine that the mirror relies on, as a test for the real and the simulated engines.

mod failures;
mod index;
mod items;
mod real;
mod state;

use std::fmt;
use std::future::Future;

use table::Key;
use table::schema::Table;

use crate::ports::Fault;

pub use failures::failures;
pub use index::index;
pub use items::items;
pub use real::{objects, search, tables};
pub use state::{quarantine, state};

/// The calls to engines that the contract needs in addition to those of the mirror.
pub trait Fixture: Sync {
    /// Writes an item, given in DynamoDB JSON.
    fn put(&self, table: &'static Table, item: &str) -> impl Future<Output = Result<(), Fault>> + Send;

    fn remove(&self, table: &'static Table, key: &Key) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Returns the ids of the documents that a search of this alias finds, sorted.
    fn visible(&self, alias: &str) -> impl Future<Output = Result<Vec<String>, Fault>> + Send;

    fn kept(&self, name: &str) -> impl Future<Output = Result<String, Fault>> + Send;

    /// Stores an object as Lambda does with what a function gave up.
    fn give_up(&self, name: &str, body: &str) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Returns the present time in microseconds since 1970-01-01T00:00:00Z.
    fn micros(&self) -> i64;
}

/// A difference between an engine's behaviour and the contract.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Broken(String);

impl From<Fault> for Broken {
    fn from(fault: Fault) -> Self {
        Self(fault.to_string())
    }
}

fn same<T: PartialEq + fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), Broken> {
    if found == expected { Ok(()) } else { Err(Broken(format!("{what}: {found:?} instead of {expected:?}"))) }
}
