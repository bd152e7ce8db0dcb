//! The simulated world: the table with its stream, the index, the mirror's state, a clock that the schedule advances,
//! and the pending requests.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Map, Value, json};
use table::Key;

use super::hosts::Clock;
use super::reached::Reached;
use super::search::{Disturbance, Search};
use super::toy::Release;
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
    /// The faults of the next bulk request.
    pub(crate) disturbance: Disturbance,
    /// The size in bytes above which bulk requests are answered 413.
    pub(crate) largest_bulk: Option<usize>,
    /// Whether a bulk request was answered 400 or 413 as a whole.
    pub(crate) refused_whole: bool,
    /// Whether an invocation or a repair was stopped before it was finished.
    pub(crate) cut_short: bool,
    /// The creation time of the next records, in seconds.
    pub(crate) created: i64,
    /// Whether pauses advance the clock. In a schedule it advances by other events.
    pub(crate) pauses_take_time: bool,
    /// The number of items of a scan's page. One if it is not set.
    pub(crate) scan_page: Option<usize>,
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
    /// The clock of each invocation's host. It is right where none is given.
    pub(crate) clocks: BTreeMap<usize, Clock>,
    /// The invocations that repair documents.
    pub(crate) repairing: BTreeSet<usize>,
    /// The release that is deployed.
    pub(crate) release: Release,
    /// Whether writers also write items that only a later release can index.
    pub(crate) has_lasting_faults: bool,
    pub(crate) reached: Reached,
}

/// A stream record.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) name: &'static str,
    pub(crate) key: Key,
    pub(crate) old: Option<Attributes>,
    pub(crate) new: Option<Attributes>,
    /// When it was written, in seconds.
    pub(crate) written: i64,
}

/// A pending request of an invocation.
pub(crate) struct Request {
    pub(crate) invocation: usize,
    pub(crate) kind: Kind,
    pub(crate) call: Call,
    carry: Carry,
}

/// Carries out a request and responds to it. Returns the request again if it is carried out later.
type Carry = Box<dyn FnOnce(&mut World, Fate) -> Option<Later> + Send>;

/// Carries out a request whose invocation does not wait for it any more.
type Later = Box<dyn FnOnce(&mut World) + Send>;

/// The invocation of requests for which none waits any more.
pub(crate) const NO_INVOCATION: usize = usize::MAX;

/// A call through a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Bulk,
    DeleteTombstones,
    Tombstones,
    Versions,
    CreateIndex,
    Refresh,
    Serve,
    Swap,
    DeleteIndex,
    Documents,
    ReadDocuments,
    ReadItem,
    Stamp,
    Scan,
    ReadConfig,
    Publish,
    Mark,
    OpenMarkers,
    ClearMarker,
    MarkersAfter,
    ReadCheckpoint,
    SaveCheckpoint,
    ReadNote,
    WriteNote,
    Forget,
    Keep,
    ListFailures,
    ReadFailure,
    DeleteFailure,
    Pause,
    Wait,
    Expired,
}

impl Call {
    pub(crate) const ALL: [Self; 32] = [
        Self::Bulk,
        Self::DeleteTombstones,
        Self::Tombstones,
        Self::Versions,
        Self::CreateIndex,
        Self::Refresh,
        Self::Serve,
        Self::Swap,
        Self::DeleteIndex,
        Self::Documents,
        Self::ReadDocuments,
        Self::ReadItem,
        Self::Stamp,
        Self::Scan,
        Self::ReadConfig,
        Self::Publish,
        Self::Mark,
        Self::OpenMarkers,
        Self::ClearMarker,
        Self::MarkersAfter,
        Self::ReadCheckpoint,
        Self::SaveCheckpoint,
        Self::ReadNote,
        Self::WriteNote,
        Self::Forget,
        Self::Keep,
        Self::ListFailures,
        Self::ReadFailure,
        Self::DeleteFailure,
        Self::Pause,
        Self::Wait,
        Self::Expired,
    ];

    pub(crate) const fn kind(self) -> Kind {
        match self {
            Self::Bulk | Self::DeleteTombstones => Kind::Bulk,
            Self::Tombstones | Self::Versions | Self::Documents | Self::ReadDocuments | Self::ReadItem => Kind::Read,
            Self::Scan | Self::ReadConfig | Self::OpenMarkers | Self::MarkersAfter => Kind::Read,
            Self::ReadCheckpoint | Self::ReadNote | Self::ListFailures | Self::ReadFailure => Kind::Read,
            Self::CreateIndex | Self::Refresh | Self::Serve | Self::Swap | Self::DeleteIndex => Kind::Write,
            Self::Stamp | Self::Publish | Self::Mark | Self::ClearMarker | Self::SaveCheckpoint => Kind::Write,
            Self::WriteNote | Self::Forget | Self::Keep | Self::DeleteFailure => Kind::Write,
            Self::Pause | Self::Wait => Kind::Pause,
            Self::Expired => Kind::Expired,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Bulk => "bulk",
            Self::DeleteTombstones => "delete tombstones",
            Self::Tombstones => "find tombstones",
            Self::Versions => "read versions",
            Self::CreateIndex => "create index",
            Self::Refresh => "refresh",
            Self::Serve => "serve",
            Self::Swap => "swap",
            Self::DeleteIndex => "delete index",
            Self::Documents => "page of documents",
            Self::ReadDocuments => "read documents",
            Self::ReadItem => "read item",
            Self::Stamp => "stamp",
            Self::Scan => "scan",
            Self::ReadConfig => "read config",
            Self::Publish => "publish",
            Self::Mark => "mark",
            Self::OpenMarkers => "read markers",
            Self::ClearMarker => "clear marker",
            Self::MarkersAfter => "page of markers",
            Self::ReadCheckpoint => "read checkpoint",
            Self::SaveCheckpoint => "save checkpoint",
            Self::ReadNote => "read note",
            Self::WriteNote => "write note",
            Self::Forget => "forget generation",
            Self::Keep => "keep record",
            Self::ListFailures => "list given up",
            Self::ReadFailure => "read given up",
            Self::DeleteFailure => "delete given up",
            Self::Pause => "pause",
            Self::Wait => "wait",
            Self::Expired => "end of time",
        }
    }

    /// Whether it moves the readers' alias. Such a request has no condition.
    pub(crate) const fn moves_alias(self) -> bool {
        matches!(self, Self::Serve | Self::Swap | Self::DeleteIndex)
    }
}

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
    /// The request fails, and is carried out later.
    Late,
    /// The request is not carried out, and fails in a way for which a retry does not help.
    Denied,
    /// Some operations are carried out, and the request fails. Only for bulk requests.
    HalfApplied,
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
        call: Call,
        carry: impl FnOnce(&mut World, Fate) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let (answer, answered) = futures::channel::oneshot::channel();
        let carry = Box::new(move |world: &mut World, fate: Fate| {
            let mut later: Option<Later> = None;
            let response = match fate {
                Fate::Lost => Err(Fault::passing("simulated", "the request was lost")),
                Fate::Denied => Err(Fault::lasting("simulated", "the request was denied")),
                Fate::Late => {
                    later = Some(Box::new(|world| drop(carry(world, Fate::Answered))));
                    Err(Fault::passing("simulated", "the request has timed out"))
                }
                Fate::AnswerLost | Fate::HalfApplied => {
                    let _ = carry(world, fate);
                    Err(Fault::passing("simulated", "the answer was lost"))
                }
                Fate::Answered | Fate::Refused(_) | Fate::Short => carry(world, fate),
            };
            // The invocation may have ended.
            let _ = answer.send(response);
            later
        });
        {
            let mut world = self.world();
            let invocation = world.polled;
            world.requests.push(Request { invocation, kind: call.kind(), call, carry });
        }
        answered.await.unwrap_or_else(|_| Err(Fault::passing("simulated", "the request was dropped")))
    }

    /// Returns the invocation that is being polled.
    pub(crate) fn polled(&self) -> usize {
        self.world().polled
    }
}

impl World {
    /// Returns the time of the polled invocation's clock, in microseconds.
    pub(crate) fn clock(&self) -> i64 {
        self.clocks.get(&self.polled).map_or(self.now, |clock| clock.shows(self.now))
    }

    /// Carries out a request. Returns its invocation.
    pub(crate) fn carry(&mut self, place: usize, fate: Fate) -> usize {
        let Request { invocation, kind, call, carry } = self.requests.swap_remove(place);
        if let Some(later) = carry(self, fate) {
            let carry = Box::new(|world: &mut Self, _| {
                later(world);
                None
            });
            self.requests.push(Request { invocation: NO_INVOCATION, kind, call, carry });
        }
        invocation
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
        self.stream.push(Record { name, key: key.clone(), old, new, written: self.created });
    }

    /// Writes or removes the item without a record in the stream, as if the record were lost.
    pub(crate) fn put_silently(&mut self, key: &Key, new: Option<Attributes>) {
        self.put(key, new);
        self.stream.pop();
    }

    /// Returns Lambda's event with the records between these positions.
    pub(crate) fn event(&self, from: usize, to: usize) -> String {
        let records: Vec<_> = (from..to).map(|at| self.stream[at].json(at)).collect();
        json!({ "Records": records }).to_string()
    }

    /// Describes the records between these positions.
    pub(crate) fn brief(&self, records: std::ops::Range<usize>) -> String {
        let rev = |image: &Option<Attributes>| {
            image.as_ref().map_or("-".to_owned(), |image| json!(image.get("rev")).to_string())
        };
        let brief = |record: &Record| {
            let (name, id) = (record.name, record.key.document_id());
            format!("{name} {id} {} -> {}", rev(&record.old), rev(&record.new))
        };
        self.stream[records].iter().map(brief).collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn open_markers(&self, generation: &str) -> HashMap<String, u64> {
        let of_generation = self.markers.iter().filter(|((of, _), _)| of == generation);
        of_generation.map(|((_, subject), marker)| (subject.clone(), marker.rev)).collect()
    }
}

impl Record {
    fn json(&self, at: usize) -> Value {
        let mut dynamodb = json!({
            "ApproximateCreationDateTime": self.written,
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
        match self.invocation {
            NO_INVOCATION => write!(formatter, "{}, for which none waits", self.call.name()),
            number => write!(formatter, "{} of invocation {number}", self.call.name()),
        }
    }
}
