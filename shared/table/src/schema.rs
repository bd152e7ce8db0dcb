//! Declarations of tables, indexes, buckets, secrets and event sources. Local engines and templates for AWS are generated from
//! them.

use std::iter;
use std::time::Duration;

use crate::{EntityKey, Key, template};

/// One back end: the resources that are deployed together.
#[derive(Debug)]
pub struct System {
    pub name: &'static str,
    pub tables: &'static [&'static Table],
    pub buckets: &'static [Bucket],
    pub secrets: &'static [Secret],
    pub sources: &'static [EventSource],
}

/// A DynamoDB table, on demand, with `expires` as its TTL attribute.
#[derive(Debug)]
pub struct Table {
    /// The logical name. [`crate::Config`] adds the stack's prefix.
    pub name: &'static str,
    /// The partition key's attribute.
    pub pk: &'static str,
    /// The sort key's attribute.
    pub sk: Option<&'static str>,
    pub indexes: &'static [Index],
    pub entities: &'static [Entity],
    /// Whether the table has a stream with both images. It feeds the mirror, if an entity has documents, and the
    /// readers of [`EventSource::Records`].
    pub stream: bool,
}

/// A global secondary index. Its keys are strings. Items without them are not in the index.
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
    /// These attributes and the keys.
    Include(&'static [&'static str]),
    All,
}

/// One item type of a table.
#[derive(Debug)]
pub struct Entity {
    pub name: &'static str,
    /// Key templates such as `facility::{collection}` and `{facilityType}::{number}`.
    pub pk: &'static str,
    pub sk: Option<&'static str>,
    pub search: Search,
}

impl Entity {
    /// Declares an entity with a document for each item. Its key is declared with [`crate::key!`].
    pub const fn document<K: EntityKey>(name: &'static str) -> Self {
        Self { name, pk: K::PK, sk: K::SK, search: Search::Document }
    }

    /// Declares an entity that never has documents.
    pub const fn never<K: EntityKey>(name: &'static str) -> Self {
        Self { name, pk: K::PK, sk: K::SK, search: Search::Never }
    }

    /// Whether a key fits this entity's templates. Allocates nothing.
    pub fn owns(&self, key: &Key) -> bool {
        template::fits(self.pk, &key.pk)
            && match (self.sk, &key.sk) {
                (Some(sk), Some(text)) => template::fits(sk, text),
                (None, None) => true,
                _ => false,
            }
    }
}

impl System {
    /// Returns the tables whose stream feeds the mirror: those with an entity that has documents.
    pub fn mirrored(&self) -> impl Iterator<Item = &'static Table> + use<> {
        self.tables.iter().copied().filter(|table| table.stream && table.is_searchable())
    }

    /// Whether the system has a WebSocket API.
    pub fn has_socket(&self) -> bool {
        self.sources.iter().any(|source| matches!(source, EventSource::Socket { .. }))
    }

    /// Returns the tables with a stream.
    pub fn streams(&self) -> impl Iterator<Item = &'static Table> + use<> {
        self.tables.iter().copied().filter(|table| table.stream)
    }
}

impl Table {
    /// Whether an entity of the table has documents.
    pub fn is_searchable(&self) -> bool {
        self.entities.iter().any(|entity| entity.search == Search::Document)
    }

    /// Returns the entity of a key, including the platform's own. Returns none for a key that fits no template.
    pub fn entity_of(&self, key: &Key) -> Option<&Entity> {
        let platform = if self.sk.is_some() { &IDEMPOTENCY } else { &IDEMPOTENCY_WITHOUT_SORT_KEY };
        self.entities.iter().chain([platform]).find(|entity| entity.owns(key))
    }
}

/// The entity of answers to requests with an idempotency key, in every table.
pub static IDEMPOTENCY: Entity =
    Entity { name: "idempotency", pk: "idempotency#{hash}", sk: Some("idempotency"), search: Search::Never };

static IDEMPOTENCY_WITHOUT_SORT_KEY: Entity = Entity { sk: None, ..IDEMPOTENCY };

/// Whether items of an entity may have documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// One document per item.
    Document,
    /// Never a document, as for counters, guards and jobs.
    Never,
}

/// An S3 bucket, private and encrypted.
#[derive(Debug)]
pub struct Bucket {
    pub name: &'static str,
    /// Prefixes whose objects expire, with the number of days.
    pub expiring: &'static [(&'static str, u32)],
}

/// A secret of AWS Secrets Manager with a random value, which a deployment generates and keeps. Keys are derived from
/// it ([`crate::Secret`]).
#[derive(Debug)]
pub struct Secret {
    pub name: &'static str,
    /// What it is for, as Secrets Manager shows it.
    pub description: &'static str,
}

/// A source of events other than HTTP, and the name of the handler that it calls.
#[derive(Debug)]
pub enum EventSource {
    /// The records of every table with a stream and with an entity that has documents, for the mirror. `filtered` drops
    /// records of keys that never have documents, which is worthwhile if most items have none.
    Streams { handler: &'static str, filtered: bool },
    /// The records of every table with a stream, for a reader beside the mirror, [`RECORDS_BATCH`] at a time. It has
    /// positions of its own, so that neither delays the other. DynamoDB supports two readers of a shard. `filtered` as
    /// for the mirror.
    Records { handler: &'static str, filtered: bool },
    /// The creation of objects under this prefix.
    Objects { bucket: &'static str, prefix: &'static str, handler: &'static str },
    /// The messages of a queue, one in an invocation. A message whose handler fails is delivered again after
    /// [`visibility_timeout`], and goes to the dead letters after [`MAX_RECEIVES`] deliveries.
    Queue { name: &'static str, handler: &'static str },
    /// A fixed interval.
    Schedule { every_minutes: u32, handler: &'static str },
    /// A deployment of the stack, each time that a custom resource is created, updated or deleted.
    Deployment { handler: &'static str },
    /// The executions of a state machine of Step Functions, which an operator starts. `definition` is in the Amazon
    /// States Language, where `${Function}` stands for the ARN of the handler's function.
    StateMachine { name: &'static str, definition: &'static str, handler: &'static str },
    /// The WebSocket API of the system, which has at most one. `connect` decides whether a client may connect,
    /// `disconnect` is called after a connection has ended, as a best effort, and `receive` for each message of a
    /// client.
    Socket { connect: &'static str, disconnect: &'static str, receive: &'static str },
}

impl EventSource {
    /// Returns the names of the handlers.
    pub fn handlers(&self) -> impl Iterator<Item = &'static str> + use<> {
        let (first, others) = match *self {
            Self::Streams { handler, .. }
            | Self::Records { handler, .. }
            | Self::Objects { handler, .. }
            | Self::Queue { handler, .. }
            | Self::Schedule { handler, .. }
            | Self::Deployment { handler }
            | Self::StateMachine { handler, .. } => (handler, [None, None]),
            Self::Socket { connect, disconnect, receive } => (connect, [Some(disconnect), Some(receive)]),
        };
        iter::once(first).chain(others.into_iter().flatten())
    }

    /// Whether the source calls this handler.
    pub fn calls(&self, handler: &str) -> bool {
        self.handlers().any(|own| own == handler)
    }
}

/// The maximum number of stream records in one invocation of a reader beside the mirror.
pub const RECORDS_BATCH: u32 = 100;

/// The stage of a system's WebSocket API, which is the last segment of its URL.
pub const SOCKET_STAGE: &str = "live";

/// The number of deliveries after which a message goes to the dead letters. AWS recommends at least five, so that
/// throttling alone sends no message there ("Creating and configuring an Amazon SQS event source mapping", AWS Lambda
/// Developer Guide).
pub const MAX_RECEIVES: u32 = 5;

/// The limit of invocations at once for one queue. Further messages wait in the queue, and waiting does not count as a
/// delivery ("Configuring scaling behavior for SQS event source mappings", AWS Lambda Developer Guide).
pub const QUEUE_CONCURRENCY: u32 = 10;

/// The days for which dead letters are kept, the maximum of SQS. They count from the first sending of a message.
pub const DEAD_LETTER_DAYS: u32 = 14;

/// Returns how long a delivered message is hidden, for a handler with this timeout. AWS recommends six times the timeout
/// ("Creating and configuring an Amazon SQS event source mapping").
pub fn visibility_timeout(handler_timeout: Duration) -> Duration {
    handler_timeout.saturating_mul(6)
}

/// Returns the name of the queue that takes the dead letters of a queue.
pub fn dead_letter_queue(queue: &str) -> String {
    format!("{queue}-dead-letters")
}

/// Returns the name of the bucket that keeps what the functions of a system gave up.
pub fn failures_bucket(system: &str) -> String {
    format!("{system}-failures")
}

/// The TTL attribute of every table, in seconds since 1970. An expired item counts as absent.
pub const EXPIRES: &str = "expires";

#[cfg(test)]
mod tests {
    use super::*;

    const fn entity(name: &'static str, pk: &'static str, sk: Option<&'static str>) -> Entity {
        Entity { name, pk, sk, search: Search::Document }
    }

    const SHELVES: Table = Table {
        name: "shelves",
        pk: "pk",
        sk: Some("sk"),
        indexes: &[],
        entities: &[
            entity("shelf", "shelf", Some("{shelf}")),
            entity("book", "shelf::{shelf}", Some("{kind}::{number}")),
            entity("loan", "shelf::{shelf}", Some("loan")),
        ],
        stream: true,
    };

    #[test]
    fn key_belongs_to_the_entity_whose_templates_it_fits() {
        let name = |key: Key| SHELVES.entity_of(&key).map(|entity| entity.name);
        assert_eq!(name(Key::new("shelf", "a")), Some("shelf"));
        assert_eq!(name(Key::new("shelf::a", "atlas::1")), Some("book"));
        assert_eq!(name(Key::new("shelf::a", "loan")), Some("loan"));
        assert_eq!(name(Key::new("idempotency#0f", "idempotency")), Some("idempotency"));
        for key in [
            Key::new("shelf::a", "atlas"),
            Key::new("shelf#a", "loan"),
            Key::new("idempotency#0f", "other"),
            Key::partition("shelf"),
            Key::partition("idempotency#0f"),
        ] {
            assert_eq!(name(key.clone()), None, "{key:?}");
        }
    }

    #[test]
    fn idempotency_entity_without_sort_key_has_a_partition_key_only() {
        const VISITS: &[Entity] = &[entity("visit", "VISIT#{visitor}", None)];
        let lone = Table { sk: None, entities: VISITS, ..SHELVES };
        let name = |key: Key| lone.entity_of(&key).map(|entity| (entity.name, entity.search));
        assert_eq!(name(Key::partition("VISIT#a")), Some(("visit", Search::Document)));
        assert_eq!(name(Key::partition("idempotency#0f")), Some(("idempotency", Search::Never)));
        assert_eq!(name(Key::new("idempotency#0f", "idempotency")), None);
    }
}
