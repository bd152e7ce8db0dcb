//! The interface between the mirror and the engines. The real and the simulated engines implement it, and both must
//! pass one contract test.

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
use crate::quarantine::{Marker, OpenMarker};

/// The engines and the clock of one run of the mirror.
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

/// A request to an engine that failed. Records that depend on it are not handled.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{engine}: {reason}")]
pub struct Fault {
    pub engine: &'static str,
    pub reason: String,
    /// Whether a retry may help.
    pub passing: bool,
    /// Whether only a single record or item is at fault, which then goes to quarantine.
    pub poison: bool,
    /// Whether an order was refused until an operator has removed the cause.
    pub refused: bool,
}

/// An HTTP response with any status.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub body: Bytes,
}

/// OpenSearch.
pub trait Index: Sync {
    /// Sends `POST /{alias}/_bulk`. Each action must require an alias, so that a write never creates a missing index.
    /// Deletes must follow `REQUIRE_ALIAS`, since they alone would create one all the same. After a fault, the request
    /// may still have been carried out.
    fn bulk(&self, alias: &str, lines: &str) -> impl Future<Output = Result<Reply, Fault>> + Send;

    /// Finds at most `limit` tombstones that were written before this time, in milliseconds since
    /// 1970-01-01T00:00:00Z.
    fn tombstones(
        &self,
        alias: &str,
        before: i64,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Tombstone>, Fault>> + Send;

    /// Reads the present versions of documents in real time. `None` stands for a document that does not exist.
    fn versions(&self, alias: &str, ids: &[&str]) -> impl Future<Output = Result<Vec<Option<u64>>, Fault>> + Send;

    /// Creates an index with this body. Returns false if the name exists already.
    fn create(&self, index: &str, body: &str) -> impl Future<Output = Result<bool, Fault>> + Send;

    /// Whether an index exists.
    fn exists(&self, index: &str) -> impl Future<Output = Result<bool, Fault>> + Send;

    fn refresh(&self, index: &str) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Moves the readers' alias to the index, with a filter that hides tombstones, and removes it from other indexes.
    fn serve(&self, alias: &str, index: &str) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Moves the readers' alias as [`Index::serve`] does, in one step, so that each search reads a single index. The
    /// path of the request names no index, so no policy can limit it to the indexes of a system.
    fn swap(&self, alias: &str, index: &str) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Deletes an index, which may be missing, and lets the readers' alias name the serving one in the same step, so
    /// that no search fails. Does nothing if both are missing.
    fn delete(&self, alias: &str, serving: &str, index: &str) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Reads a page of all documents and tombstones of an index, in the order of their keys, as of its last refresh. A
    /// document that exists throughout is on exactly one page, even if it is written meanwhile.
    fn documents(
        &self,
        alias: &str,
        after: Option<&str>,
        limit: usize,
    ) -> impl Future<Output = Result<DocumentPage, Fault>> + Send;

    /// Reads documents and tombstones in real time, in the order of the ids.
    fn read_documents(
        &self,
        alias: &str,
        ids: &[&str],
    ) -> impl Future<Output = Result<Vec<Option<StoredDocument>>, Fault>> + Send;
}

/// A document or a tombstone as the index has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDocument {
    pub id: String,
    pub version: u64,
    /// The JSON text that was indexed. An engine may order its members anew.
    pub source: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentPage {
    pub documents: Vec<StoredDocument>,
    /// Where the next page starts, for the same engine only. `None` after the last page.
    pub next: Option<String>,
}

/// The system's tables.
pub trait Items: Sync {
    /// Reads an item consistently.
    fn read(&self, table: &'static Table, key: &Key) -> impl Future<Output = Result<Option<Item>, Fault>> + Send;

    /// Sets only `rev`, if the item exists and its `rev` still has the value that was seen: an attribute value in
    /// DynamoDB JSON, or none. Returns false if the condition failed.
    fn stamp(
        &self,
        table: &'static Table,
        key: &Key,
        seen: Option<&str>,
        rev: Rev,
    ) -> impl Future<Output = Result<bool, Fault>> + Send;

    /// Reads one page of a segment of the table consistently.
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
    /// The key after which the next page starts. `None` after the last page.
    pub next: Option<Key>,
}

/// The table `{system}-mirror`.
pub trait State: Sync {
    /// Reads the config item consistently. Returns `None` before the first index.
    fn generations(&self) -> impl Future<Output = Result<Option<Generations>, Fault>> + Send;

    /// Replaces the config item if its epoch precedes the new one. Returns false if the condition failed.
    fn publish(&self, generations: &Generations) -> impl Future<Output = Result<bool, Fault>> + Send;

    /// Opens a marker, unless one with a higher revision is open.
    fn mark(&self, generation: &str, marker: &Marker) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Reads the open markers of these subjects consistently. Subjects are identified by name, and no name may occur
    /// twice. The number of other markers must not matter.
    fn open(
        &self,
        generation: &str,
        subjects: &[String],
    ) -> impl Future<Output = Result<HashMap<String, OpenMarker>, Fault>> + Send;

    /// Clears the marker of a subject if its revision is not above this one.
    fn clear(&self, generation: &str, subject: &str, upto: u64) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Clears the marker of a subject if it has not been written since it was read. A later one may have the same
    /// revision although it belongs to a later state of the item. Returns false if a later one is open.
    fn clear_seen(
        &self,
        generation: &str,
        subject: &str,
        seen: OpenMarker,
    ) -> impl Future<Output = Result<bool, Fault>> + Send;

    /// Reads the checkpoint of a segment's scan for a generation.
    fn checkpoint(
        &self,
        generation: &str,
        table: &'static Table,
        segment: Segment,
    ) -> impl Future<Output = Result<Checkpoint, Fault>> + Send;

    /// Saves that a segment was scanned up to this key, or to its end.
    fn save(
        &self,
        generation: &str,
        table: &'static Table,
        segment: Segment,
        after: Option<&Key>,
    ) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Reads one page of a generation's open markers: those after the subject with this name, in the order of the names.
    /// Only the page after the last marker is empty.
    fn markers_after(
        &self,
        generation: &str,
        after: Option<&str>,
    ) -> impl Future<Output = Result<Vec<Marker>, Fault>> + Send;

    /// Deletes the markers, the checkpoints and the notes of a generation.
    fn forget(&self, generation: &str) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Reads a note of a generation's audit consistently.
    fn note(&self, generation: &str, name: &str) -> impl Future<Output = Result<Option<Note>, Fault>> + Send;

    /// Writes a note of a generation's audit, if the present one has the preceding epoch. The first epoch is 1. Returns
    /// false if the condition failed.
    fn write_note(&self, generation: &str, name: &str, note: &Note)
    -> impl Future<Output = Result<bool, Fault>> + Send;
}

/// A text that an audit keeps in the state table: its progress or a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The number of times that it was written.
    pub epoch: u64,
    /// At most 380 KB, so that the item fits DynamoDB's limit.
    pub text: String,
}

/// The checkpoint of a scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checkpoint {
    Start,
    After(Key),
    Done,
}

/// The prefix of the bucket that keeps quarantined records.
pub trait Quarantine: Sync {
    /// Writes an object, and replaces an earlier one of the same name.
    fn keep(&self, name: &str, body: String) -> impl Future<Output = Result<(), Fault>> + Send;
}

/// The bucket that keeps what the system's functions gave up.
pub trait Failures: Sync {
    /// Lists at most `limit` objects after this name, in the order of their names.
    fn list(&self, after: Option<&str>, limit: usize) -> impl Future<Output = Result<Vec<GivenUp>, Fault>> + Send;

    /// Reads an object. Returns `None` if it does not exist.
    fn read(&self, name: &str) -> impl Future<Output = Result<Option<Bytes>, Fault>> + Send;

    /// Deletes an object, if it exists.
    fn delete(&self, name: &str) -> impl Future<Output = Result<(), Fault>> + Send;
}

/// An object with records that a function gave up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenUp {
    pub name: String,
    /// When the object was stored, in microseconds since 1970-01-01T00:00:00Z.
    pub since: i64,
}

/// The clock and the time limit of a run.
pub trait Time: Sync {
    /// Returns the present time in microseconds since 1970-01-01T00:00:00Z.
    fn micros(&self) -> i64;

    /// Waits for a random time of at most this duration.
    fn pause(&self, up_to: Duration) -> impl Future<Output = ()> + Send;

    /// Completes when the time of this run is up.
    fn expired(&self) -> impl Future<Output = ()> + Send;

    /// Waits for this duration, by a clock that never jumps.
    fn wait(&self, exactly: Duration) -> impl Future<Output = ()> + Send;
}

impl Fault {
    /// Creates a fault that may be temporary: throttling, a timeout, a server error.
    pub fn passing(engine: &'static str, reason: impl ToString) -> Self {
        Self { passing: true, ..Self::lasting(engine, reason) }
    }

    /// Creates a fault for which a retry does not help: something is missing or forbidden.
    pub fn lasting(engine: &'static str, reason: impl ToString) -> Self {
        Self { engine, reason: reason.to_string(), passing: false, poison: false, refused: false }
    }

    /// Creates the fault of an order that the mirror does not carry out until an operator has removed the cause.
    pub fn refused(reason: impl ToString) -> Self {
        Self { refused: true, ..Self::lasting("mirror", reason) }
    }

    /// Creates a lasting fault of a single record or item, which must not delay any other.
    pub fn poison(engine: &'static str, reason: impl ToString) -> Self {
        Self { poison: true, ..Self::lasting(engine, reason) }
    }
}
