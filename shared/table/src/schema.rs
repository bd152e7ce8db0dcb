//! Declarations of tables, indexes, buckets and event sources. Local engines and templates for AWS are generated from
//! them.

use std::time::Duration;

use crate::{EntityKey, Key, template};

/// One back end: the resources that are deployed together.
#[derive(Debug)]
pub struct System {
    pub name: &'static str,
    pub tables: &'static [&'static Table],
    pub buckets: &'static [Bucket],
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
    /// Whether a stream with both images feeds the mirror.
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

impl Table {
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

/// A source of events other than HTTP, and the name of the handler that it calls.
#[derive(Debug)]
pub enum EventSource {
    /// The records of every table with a stream. `filtered` drops records of keys that never have documents, which is
    /// worthwhile if most items have none.
    Streams { handler: &'static str, filtered: bool },
    /// The creation of objects under this prefix.
    Objects { bucket: &'static str, prefix: &'static str, handler: &'static str },
    /// The messages of a queue, one in an invocation. A message whose handler fails is delivered again after
    /// [`visibility_timeout`], and goes to the dead letters after [`MAX_RECEIVES`] deliveries.
    Queue { name: &'static str, handler: &'static str },
    /// A fixed interval.
    Schedule { every_minutes: u32, handler: &'static str },
    /// A deployment of the stack, each time that a custom resource is created, updated or deleted.
    Deployment { handler: &'static str },
}

impl EventSource {
    /// Returns the name of the handler.
    pub fn handler(&self) -> &'static str {
        match self {
            Self::Streams { handler, .. }
            | Self::Objects { handler, .. }
            | Self::Queue { handler, .. }
            | Self::Schedule { handler, .. }
            | Self::Deployment { handler } => handler,
        }
    }
}

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
