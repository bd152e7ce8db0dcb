//! What the mirror asks of the engines. The simulator answers the same questions as the real engines do, and one
//! contract test holds both to the same answers.

use std::collections::HashMap;
use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use table::schema::Table;
use table::{Key, Rev};

use crate::documents::Shapes;
use crate::generation::Generations;
use crate::item::Item;
use crate::lines::Tombstone;
use crate::quarantine::Marker;

/// Everything that one run of the mirror has around it.
pub trait Ports: Sync {
    type Index: Index;
    type Items: Items;
    type State: State;
    type Quarantine: Quarantine;
    type Shapes: Shapes;
    type Time: Time;

    fn index(&self) -> &Self::Index;
    fn items(&self) -> &Self::Items;
    fn state(&self) -> &Self::State;
    fn quarantine(&self) -> &Self::Quarantine;
    fn shapes(&self) -> &Self::Shapes;
    fn time(&self) -> &Self::Time;
}

/// An engine did not do what it was asked: nothing that depends on it is handled.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{engine}: {reason}")]
pub struct Fault {
    pub engine: &'static str,
    pub reason: String,
    /// Whether asking again may help.
    pub passing: bool,
    /// Whether a single record or item is at fault, and the engine serves all others: it goes to quarantine.
    pub poison: bool,
}

/// An HTTP answer, whatever its status.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub body: Bytes,
}

/// OpenSearch.
pub trait Index: Sync {
    /// `POST /{alias}/_bulk`, where each action requires an alias: an index that is missing is never made by a write. A fault means
    /// that no answer came; the request may have been carried out all the same.
    fn bulk(&self, alias: &str, lines: &str) -> impl Future<Output = Result<Reply, Fault>> + Send;

    /// The same, and what was written is found by every search that begins after the answer. Deletes alone would make an
    /// index: `WANTS_ALIAS` stands before them.
    fn forget(&self, alias: &str, lines: &str) -> impl Future<Output = Result<Reply, Fault>> + Send;

    /// The tombstones that were written before this time, in milliseconds since 1970-01-01T00:00:00Z: all that are found
    /// if there are fewer than `most`, else as many.
    fn tombstones(
        &self,
        alias: &str,
        before: i64,
        most: usize,
    ) -> impl Future<Output = Result<Vec<Tombstone>, Fault>> + Send;

    /// The present versions of documents, read in real time; none for one that is not there.
    fn versions(&self, alias: &str, ids: &[&str]) -> impl Future<Output = Result<Vec<Option<u64>>, Fault>> + Send;

    /// Makes an index with this body; false if the name is taken.
    fn create(&self, index: &str, body: &str) -> impl Future<Output = Result<bool, Fault>> + Send;

    fn refresh(&self, index: &str) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Gives the index to the readers: puts the alias on it, with a filter that hides tombstones, and takes it from what
    /// else has it, which nobody writes any more.
    fn serve(&self, alias: &str, index: &str) -> impl Future<Output = Result<(), Fault>> + Send;
}

/// The system's tables.
pub trait Items: Sync {
    /// A consistent read.
    fn read(&self, table: &'static Table, key: &Key) -> impl Future<Output = Result<Option<Item>, Fault>> + Send;

    /// Sets `rev`, and nothing else, if the item exists and its `rev` is still what was seen: an attribute value in
    /// DynamoDB JSON, or none. False where the condition failed.
    fn stamp(
        &self,
        table: &'static Table,
        key: &Key,
        seen: Option<&str>,
        rev: Rev,
    ) -> impl Future<Output = Result<bool, Fault>> + Send;

    /// One page of a segment of the table, read consistently.
    fn scan(
        &self,
        table: &'static Table,
        segment: Segment,
        after: Option<&Key>,
    ) -> impl Future<Output = Result<Page, Fault>> + Send;
}

/// A part of a table's key space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub number: u32,
    pub of: u32,
}

#[derive(Clone, Debug)]
pub struct Page {
    pub items: Vec<Item>,
    /// Where the next page begins; none after the last.
    pub next: Option<Key>,
}

/// The table `{system}-mirror`.
pub trait State: Sync {
    /// The config item, read consistently; none before the first index.
    fn generations(&self) -> impl Future<Output = Result<Option<Generations>, Fault>> + Send;

    /// Replaces the config item if its epoch is still the one before this one's; false where it is not.
    fn publish(&self, generations: &Generations) -> impl Future<Output = Result<bool, Fault>> + Send;

    /// Opens a marker, unless one with a higher revision is open.
    fn mark(&self, generation: &str, marker: &Marker) -> impl Future<Output = Result<(), Fault>> + Send;

    /// The revisions of the open markers of these subjects, given and returned by name, read consistently. It never
    /// reads the markers of other subjects, of which there may be any number. No name is given twice.
    fn open(
        &self,
        generation: &str,
        subjects: &[String],
    ) -> impl Future<Output = Result<HashMap<String, u64>, Fault>> + Send;

    /// Clears the marker of a subject if its revision is not above this one.
    fn clear(&self, generation: &str, subject: &str, upto: u64) -> impl Future<Output = Result<(), Fault>> + Send;

    /// A generation's open markers.
    fn markers(&self, generation: &str) -> impl Future<Output = Result<Vec<Marker>, Fault>> + Send;

    /// How far the scan of a segment for a generation has come.
    fn checkpoint(
        &self,
        generation: &str,
        table: &'static Table,
        segment: Segment,
    ) -> impl Future<Output = Result<Checkpoint, Fault>> + Send;

    /// Remembers that a segment has been scanned up to this key, or to its end.
    fn save(
        &self,
        generation: &str,
        table: &'static Table,
        segment: Segment,
        after: Option<&Key>,
    ) -> impl Future<Output = Result<(), Fault>> + Send;
}

/// How far a scan has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checkpoint {
    Start,
    After(Key),
    Done,
}

/// The bucket's prefix where quarantined records are kept.
pub trait Quarantine: Sync {
    /// Writes an object, over an earlier one of the same name.
    fn keep(&self, name: &str, body: String) -> impl Future<Output = Result<(), Fault>> + Send;
}

/// The clock, and how long this run may go on.
pub trait Time: Sync {
    /// Microseconds since 1970-01-01T00:00:00Z.
    fn micros(&self) -> i64;

    /// Waits a random time up to this one.
    fn pause(&self, up_to: Duration) -> impl Future<Output = ()> + Send;

    /// Ends when nothing is left of the time of this run.
    fn expired(&self) -> impl Future<Output = ()> + Send;
}

impl Fault {
    /// A fault that may pass: throttling, a timeout, a server's own trouble.
    pub fn passing(engine: &'static str, reason: impl ToString) -> Self {
        Self { engine, reason: reason.to_string(), passing: true, poison: false }
    }

    /// A fault that asking again does not cure: something is missing or forbidden.
    pub fn lasting(engine: &'static str, reason: impl ToString) -> Self {
        Self { engine, reason: reason.to_string(), passing: false, poison: false }
    }

    /// A lasting fault of a single record or item, which must not hold up any other.
    pub fn poison(engine: &'static str, reason: impl ToString) -> Self {
        Self { poison: true, ..Self::lasting(engine, reason) }
    }
}
