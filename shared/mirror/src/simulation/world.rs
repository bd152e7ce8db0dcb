//! The simulated world: the table with its stream, the index, the mirror's state, a clock that the schedule advances,
//! and the pending requests.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Map, Value, json};
use table::Key;

use super::search::Search;
use crate::generation::Generations;
use crate::ports::{Fault, Note};
use crate::quarantine::Marker;

/// An item's attributes in DynamoDB JSON.
pub(crate) type Attributes = Map<String, Value>;

#[derive(Debug, Default)]
pub(crate) struct World {
    /// Microseconds.
    pub(crate) now: i64,
    pub(crate) table: BTreeMap<Key, Attributes>,
    pub(crate) stream: Vec<Record>,
    pub(crate) search: Search,
    pub(crate) generations: Option<Generations>,
    pub(crate) markers: BTreeMap<(String, String), Marker>,
    /// The checkpoints, by generation and segment.
    pub(crate) checkpoints: BTreeMap<(String, String), Option<Key>>,
    pub(crate) kept: BTreeMap<String, String>,
    /// The notes of audits, by generation and name.
    pub(crate) notes: BTreeMap<(String, String), Note>,
    /// What Lambda gave up, by the object's name: the time and the content.
    pub(crate) failures: BTreeMap<String, (i64, String)>,
    pub(crate) requests: Vec<Request>,
    /// The positions of the operations of the next bulk request that are answered 429.
    pub(crate) busy: BTreeSet<usize>,
    /// Whether a bulk request was answered 400 or 413 as a whole.
    pub(crate) refused_whole: bool,
    /// Whether an invocation or a repair was stopped before it was finished.
    pub(crate) cut_short: bool,
    /// Whether stamps are written without their condition: a mutant.
    pub(crate) stamps_blindly: bool,
    /// The creation time of an event's records, in seconds.
    pub(crate) created: i64,
    /// Whether pauses advance the clock. In a schedule it advances by other events.
    pub(crate) pauses_take_time: bool,
    /// Items that have no room for a revision.
    pub(crate) full: BTreeSet<Key>,
    /// The number of items that were read by key.
    pub(crate) items_read: usize,
    /// The number of subjects whose markers were looked up.
    pub(crate) markers_read: usize,
    /// The highest number of concurrent writes when a record was kept, including that write.
    pub(crate) writes_at_once: usize,
    /// A write that the mirror must not make.
    pub(crate) forbidden_write: Option<String>,
    /// The invocation whose future is being polled.
    pub(crate) polled: usize,
    /// The time at which each invocation started.
    pub(crate) started: BTreeMap<usize, i64>,
    /// Whether the clock stands still for each invocation, so that its data never becomes too old: a mutant.
    pub(crate) never_ages: bool,
}

/// A stream record.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) name: &'static str,
    pub(crate) key: Key,
    pub(crate) old: Option<Attributes>,
    pub(crate) new: Option<Attributes>,
}

/// A pending request of an invocation.
pub(crate) struct Request {
    pub(crate) invocation: usize,
    pub(crate) kind: Kind,
    carry: Carry,
}

/// Carries out a request and responds to it.
type Carry = Box<dyn FnOnce(&mut World, Fate) + Send>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    Bulk,
    Pause,
    /// The end of an invocation's time.
    Expired,
}

/// The fate of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Answered,
    /// The request is not carried out, and fails.
    Lost,
    /// The request is carried out, and fails.
    AnswerLost,
    /// The request is refused with this status. Only for bulk requests.
    Refused(u16),
    /// The response has one item too few. Only for bulk requests.
    Short,
}

/// A shared reference to the world.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared(Arc<Mutex<World>>);

impl Shared {
    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap()
    }

    /// Sends a request, and waits until the schedule carries it out.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        kind: Kind,
        carry: impl FnOnce(&mut World, Fate) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let (answer, answered) = futures::channel::oneshot::channel();
        let carry = Box::new(move |world: &mut World, fate: Fate| {
            let done = match fate {
                Fate::Lost => Err(Fault::passing("simulated", "the request was lost")),
                fate => carry(world, fate),
            };
            let response = match fate {
                Fate::AnswerLost => Err(Fault::passing("simulated", "the answer was lost")),
                _ => done,
            };
            // The invocation may have ended.
            let _ = answer.send(response);
        });
        {
            let mut world = self.world();
            let invocation = world.polled;
            world.requests.push(Request { invocation, kind, carry });
        }
        answered.await.unwrap_or_else(|_| Err(Fault::passing("simulated", "the request was dropped")))
    }
}

impl World {
    /// Carries out a request. Returns its invocation.
    pub(crate) fn carry(&mut self, place: usize, fate: Fate) -> usize {
        let request = self.requests.swap_remove(place);
        (request.carry)(self, fate);
        request.invocation
    }

    /// Writes or removes the item with this key, and adds a record to the stream.
    pub(crate) fn put(&mut self, key: &Key, mut new: Option<Attributes>) {
        if let Some(new) = &mut new {
            new.insert("PK".to_owned(), json!({"S": key.pk}));
            new.insert("SK".to_owned(), json!({"S": key.sk}));
        }
        let old = match &new {
            Some(new) => self.table.insert(key.clone(), new.clone()),
            None => self.table.remove(key),
        };
        let name = match (&old, &new) {
            (None, None) => return,
            (None, Some(_)) => "INSERT",
            (Some(_), Some(_)) => "MODIFY",
            (Some(_), None) => "REMOVE",
        };
        self.stream.push(Record { name, key: key.clone(), old, new });
    }

    /// Writes or removes the item without a record in the stream, as if the record were lost.
    pub(crate) fn put_silently(&mut self, key: &Key, new: Option<Attributes>) {
        self.put(key, new);
        self.stream.pop();
    }

    /// Returns Lambda's event with the records between these positions.
    pub(crate) fn event(&self, from: usize, to: usize) -> String {
        let records: Vec<_> = (from..to).map(|at| self.stream[at].json(at, self.created)).collect();
        json!({ "Records": records }).to_string()
    }

    pub(crate) fn open_markers(&self, generation: &str) -> HashMap<String, u64> {
        let of_generation = self.markers.iter().filter(|((of, _), _)| of == generation);
        of_generation.map(|((_, subject), marker)| (subject.clone(), marker.rev)).collect()
    }
}

impl Record {
    fn json(&self, at: usize, created: i64) -> Value {
        let mut dynamodb = json!({
            "ApproximateCreationDateTime": created,
            "Keys": {"PK": {"S": self.key.pk}, "SK": {"S": self.key.sk}},
            "SequenceNumber": sequence(at),
        });
        for (side, image) in [("OldImage", &self.old), ("NewImage", &self.new)] {
            if let Some(image) = image {
                dynamodb[side] = Value::Object(image.clone());
            }
        }
        let arn = "arn:aws:dynamodb:ca-central-1:000000000000:table/trees/stream/2024";
        json!({"eventName": self.name, "eventSourceARN": arn, "dynamodb": dynamodb})
    }
}

/// Returns the sequence number of a record. The numbers grow in length, so that their text alone has the wrong order.
pub(crate) fn sequence(at: usize) -> String {
    (at * 7 + 5).to_string()
}

impl std::fmt::Debug for Request {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:?} of invocation {}", self.kind, self.invocation)
    }
}
