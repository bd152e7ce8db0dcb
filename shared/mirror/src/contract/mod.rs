//! What the mirror relies on in each engine, as one test that the real engines and the simulated ones pass alike.

mod index;
mod items;
mod real;
mod state;

use std::fmt;
use std::future::Future;

use table::Key;
use table::schema::Table;

use crate::ports::Fault;

pub use index::index;
pub use items::items;
pub use real::{objects, search, tables};
pub use state::{quarantine, state};

/// What the contract does to engines, or looks at, beside what the mirror does.
pub trait Fixture: Sync {
    /// Writes an item, given in DynamoDB JSON.
    fn put(&self, table: &'static Table, item: &str) -> impl Future<Output = Result<(), Fault>> + Send;

    fn remove(&self, table: &'static Table, key: &Key) -> impl Future<Output = Result<(), Fault>> + Send;

    /// The ids of the documents that a search of this alias finds, sorted.
    fn visible(&self, alias: &str) -> impl Future<Output = Result<Vec<String>, Fault>> + Send;

    fn kept(&self, name: &str) -> impl Future<Output = Result<String, Fault>> + Send;
}

/// The engine does something else than the mirror relies on.
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
