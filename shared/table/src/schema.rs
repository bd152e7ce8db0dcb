//! Tables, indexes, buckets and event sources declared as data: the local engines are made from it, and templates
//! are printed from it.

/// One back end: everything that is deployed together.
#[derive(Debug)]
pub struct System {
    pub name: &'static str,
    pub tables: &'static [Table],
    pub buckets: &'static [Bucket],
    pub sources: &'static [EventSource],
}

/// A DynamoDB table, on demand, with `expires` as its TTL attribute.
#[derive(Debug)]
pub struct Table {
    /// Its name in the specification; [`crate::Config`] puts the stack's prefix before it.
    pub name: &'static str,
    /// The partition key's attribute.
    pub pk: &'static str,
    /// The sort key's attribute.
    pub sk: Option<&'static str>,
    pub indexes: &'static [Index],
    pub entities: &'static [Entity],
    /// Whether a stream with both images feeds the mirror.
    pub stream: bool,
}

/// A global secondary index. Index keys are strings; an item without them is not in the index.
#[derive(Debug)]
pub struct Index {
    pub name: &'static str,
    pub pk: &'static str,
    pub sk: Option<&'static str>,
    pub projection: Projection,
}

#[derive(Debug)]
pub enum Projection {
    KeysOnly,
    /// These attributes beside the keys.
    Include(&'static [&'static str]),
    All,
}

/// One item type of a table, as in a row of the seed.
#[derive(Debug)]
pub struct Entity {
    pub name: &'static str,
    /// Key templates such as `facility::{collection}` and `{facilityType}::{number}`.
    pub pk: &'static str,
    pub sk: Option<&'static str>,
    pub search: Search,
}

/// Whether items of an entity may have documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// One document per item.
    Document,
    /// Counters, guards, jobs: no document, ever.
    Never,
}

/// An S3 bucket, private and encrypted.
#[derive(Debug)]
pub struct Bucket {
    pub name: &'static str,
    /// Prefixes whose objects expire by themselves, with the days they live.
    pub expiring: &'static [(&'static str, u32)],
}

/// What calls a system besides HTTP, and the name of the handler that it calls.
#[derive(Debug)]
pub enum EventSource {
    /// Records of every table with a stream.
    Streams { handler: &'static str },
    /// An object was created under this prefix.
    Objects { bucket: &'static str, prefix: &'static str, handler: &'static str },
    /// A fixed interval.
    Schedule { every_minutes: u32, handler: &'static str },
}

/// The TTL attribute of every table, in epoch seconds. An expired item counts as absent.
pub const EXPIRES: &str = "expires";
