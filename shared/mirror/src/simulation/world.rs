//! Everything around the mirror in one place: the table with its stream, the index, the mirror's own state, a clock
//! that stands still until it is moved, and the requests that are on their way.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Map, Value, json};
use table::Key;

use super::search::Search;
use crate::generation::Generations;
use crate::ports::Fault;
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
    pub(crate) checkpoints: BTreeMap<String, Option<Key>>,
    pub(crate) kept: BTreeMap<String, String>,
    pub(crate) requests: Vec<Request>,
    /// Operations of the next bulk request that find the queue full, by place.
    pub(crate) busy: BTreeSet<usize>,
    /// Whether a bulk request was answered 400 or 413 as a whole.
    pub(crate) refused_whole: bool,
    /// Whether an invocation or a repair ended before it had done all of its work.
    pub(crate) cut_short: bool,
    /// Whether stamps are written without their condition: a mutant.
    pub(crate) stamps_blindly: bool,
    /// When the records of an event were made, as it says, in seconds.
    pub(crate) created: i64,
    /// Whether the clock goes on during pauses. In a schedule it goes on by itself.
    pub(crate) pauses_take_time: bool,
    /// Items that have no room for a revision.
    pub(crate) full: BTreeSet<Key>,
    /// How many items were read by key.
    pub(crate) items_read: usize,
    /// How many subjects' markers were looked up.
    pub(crate) markers_read: usize,
    /// The most writes that were under way when a record was kept, that one included.
    pub(crate) writes_at_once: usize,
    /// The mirror wrote what it must not.
    pub(crate) trespass: Option<String>,
    /// Whose future is being polled.
    pub(crate) polled: usize,
    /// When each invocation began.
    pub(crate) begun: BTreeMap<usize, i64>,
    /// Whether no time passes for an invocation, so that nothing that it has read grows old: a mutant.
    pub(crate) ageless: bool,
}

/// A stream record.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) name: &'static str,
    pub(crate) key: Key,
    pub(crate) old: Option<Attributes>,
    pub(crate) new: Option<Attributes>,
}

/// What somebody waits for.
pub(crate) struct Request {
    pub(crate) invocation: usize,
    pub(crate) kind: Kind,
    carry: Carry,
}

/// Carries a request out and answers it.
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

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Answered,
    /// It is not carried out, and fails.
    Lost,
    /// It is carried out, and fails.
    AnswerLost,
    /// It is refused with this status; only for bulk requests.
    Refused(u16),
    /// It is answered with one item too few; only for bulk requests.
    Short,
}

/// A hold on the world.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared(Arc<Mutex<World>>);

impl Shared {
    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap()
    }

    /// Sends a request and waits until the schedule lets it be carried out.
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
            let told = match fate {
                Fate::AnswerLost => Err(Fault::passing("simulated", "the answer was lost")),
                _ => done,
            };
            // Whoever asked may be gone.
            let _ = answer.send(told);
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
    /// Carries out a request; returns whose it was.
    pub(crate) fn carry(&mut self, place: usize, fate: Fate) -> usize {
        let request = self.requests.swap_remove(place);
        (request.carry)(self, fate);
        request.invocation
    }

    /// Writes an item with this key, or removes it; the stream gets a record.
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

    /// The records from here to there as Lambda would hand them over.
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

/// Sequence numbers grow in length, so that comparing their text alone would be wrong.
pub(crate) fn sequence(at: usize) -> String {
    (at * 7 + 5).to_string()
}

impl std::fmt::Debug for Request {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:?} of invocation {}", self.kind, self.invocation)
    }
}
