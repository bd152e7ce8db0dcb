//! The groups of a batch: the records of each key are folded into one group.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::{Index, IndexMut};
use std::time::Duration;

use table::Key;
use table::schema::{Search, Table};

use crate::fold::{Change, Fold, fold};
use crate::lines::Identity;
use crate::quarantine::Subject;
use crate::record::{Record, RecordError, Side, Tables};
use crate::report::{Outcome, RepairOutcome, Unhandled};

/// A unit that is handled as a whole or not at all: the records of one key, one record without a readable key, or one
/// item of a scanned page.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    /// Its position among the groups of its batch.
    pub(crate) id: GroupId,
    pub(crate) key: GroupKey,
    /// The text that the quarantine keeps: a record or the item.
    pub(crate) evidence: Cow<'a, str>,
    pub(crate) fold: Option<Fold>,
    /// The last image.
    pub(crate) image: Option<Side<'a>>,
    /// The reason why one of its records cannot be applied.
    pub(crate) record_error: Option<RecordError>,
    /// Whether the item was read from the table, so that no stream record of it is expected.
    pub(crate) scanned: bool,
    pub(crate) places: Unhandled,
    pub(crate) outcome: Outcome,
    /// The number of its unfinished tasks.
    pub(crate) open: usize,
    /// The first reason why the group cannot be handled now. Its records are reported.
    pub(crate) failed: Option<String>,
    /// The time until which a shape that S3 refuses is retried, in microseconds since 1970-01-01T00:00:00Z. `None` for
    /// a repair, whose caller receives the refusal.
    pub(crate) refusal_deadline: Option<i64>,
    /// The number of times that it was settled.
    pub(crate) rounds: usize,
    /// The result of a repair so far. `None` if this is not a repair.
    pub(crate) repaired: Option<RepairOutcome>,
}

/// The position of a group among those of its batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupId(usize);

impl GroupId {
    /// Returns the position of its chunk, as of `Groups::chunks_mut`.
    pub(crate) const fn chunk(self, number: usize) -> usize {
        self.0 / number
    }
}

/// The groups of a batch.
#[derive(Debug, Default)]
pub(crate) struct Groups<'a>(Vec<Group<'a>>);

/// The item of a group.
#[derive(Debug)]
pub(crate) enum GroupKey {
    /// An item that may have a document.
    Item { table: &'static Table, identity: Identity },
    /// A key that does not fit any template of its table.
    Unknown { table: &'static Table, key: Key },
    /// A single record whose key cannot be read.
    Record,
}

/// The groups of a batch, and the group of each record. A record whose key is never searchable has none.
#[derive(Debug)]
pub(crate) struct Gathered<'a> {
    pub(crate) groups: Groups<'a>,
    pub(crate) group_of: Vec<Option<GroupId>>,
}

impl<'a> Groups<'a> {
    pub(crate) fn push(&mut self, group: Group<'a>) -> GroupId {
        let id = GroupId(self.0.len());
        self.0.push(Group { id, ..group });
        id
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Group<'a>> {
        self.0.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Group<'a>> {
        self.0.iter_mut()
    }

    /// Returns the groups in chunks of this number.
    pub(crate) fn chunks_mut(&mut self, number: usize) -> impl Iterator<Item = &mut [Group<'a>]> {
        self.0.chunks_mut(number)
    }

    /// Marks every group as failed.
    pub(crate) fn fail_all(&mut self, reason: &str) {
        self.iter_mut().for_each(|group| group.fail(reason));
    }
}

impl<'a> FromIterator<Group<'a>> for Groups<'a> {
    fn from_iter<I: IntoIterator<Item = Group<'a>>>(iter: I) -> Self {
        let mut groups = Self::default();
        for group in iter {
            groups.push(group);
        }
        groups
    }
}

#[expect(clippy::indexing_slicing, reason = "an id is given by `push` alone, and a group is never removed")]
impl<'a> Index<GroupId> for Groups<'a> {
    type Output = Group<'a>;

    fn index(&self, id: GroupId) -> &Group<'a> {
        &self.0[id.0]
    }
}

#[expect(clippy::indexing_slicing, reason = "an id is given by `push` alone, and a group is never removed")]
impl<'a> IndexMut<GroupId> for Groups<'a> {
    fn index_mut(&mut self, id: GroupId) -> &mut Group<'a> {
        &mut self.0[id.0]
    }
}

/// The age at which a record whose shape S3 refuses goes to quarantine. A change of a policy takes effect much sooner.
/// A mistake in a policy raises the alarm on the age of the mirror's records.
const REFUSAL_TIMEOUT: Duration = Duration::from_mins(15);

impl<'a> Group<'a> {
    pub(crate) fn new(key: GroupKey, evidence: impl Into<Cow<'a, str>>, place: usize) -> Self {
        Self {
            id: GroupId::default(),
            key,
            evidence: evidence.into(),
            fold: None,
            image: None,
            record_error: None,
            scanned: false,
            places: Unhandled { first: place, last: place },
            outcome: Outcome::Applied,
            open: 0,
            failed: None,
            refusal_deadline: None,
            rounds: 0,
            repaired: None,
        }
    }

    pub(crate) const fn handled(&self) -> bool {
        self.open == 0 && self.failed.is_none()
    }

    pub(crate) fn fail(&mut self, reason: &str) {
        self.failed.get_or_insert_with(|| reason.to_owned());
    }

    pub(crate) const fn identity(&self) -> Option<&Identity> {
        match &self.key {
            GroupKey::Item { identity, .. } => Some(identity),
            GroupKey::Unknown { .. } | GroupKey::Record => None,
        }
    }

    /// Returns the table and the key of its item, if they are known.
    pub(crate) const fn item(&self) -> Option<(&'static Table, &Key)> {
        match &self.key {
            GroupKey::Item { table, identity } => Some((*table, &identity.key)),
            GroupKey::Unknown { table, key } => Some((*table, key)),
            GroupKey::Record => None,
        }
    }

    pub(crate) fn subject(&self) -> Subject {
        match self.item() {
            Some((table, key)) => Subject::item(table, key),
            None => Subject::record(&self.evidence),
        }
    }

    /// Returns the highest revision of its images, or 0 if they have none.
    pub(crate) fn highest(&self) -> u64 {
        let highest = self.fold.and_then(|fold| fold.top.max(fold.last.number()));
        // A removal counts as one more than the revision that was removed.
        highest.unwrap_or_default() & !1
    }

    /// Adds the next record.
    fn add(&mut self, place: usize, record: &Record<'a>) {
        let change = record.change();
        let [old, new] = record.images();
        self.fold = Some(fold(self.fold, Change { old, new }));
        self.image = record.new;
        self.places.last = place;
        // The first record sets the deadline. Later records do not extend it.
        let created = record.created.unwrap_or_default().saturating_mul(1_000_000);
        self.refusal_deadline.get_or_insert(after(created, REFUSAL_TIMEOUT));
        if self.record_error.is_none() {
            self.record_error = change.err();
            self.evidence = Cow::Borrowed(record.text);
        }
    }
}

/// Adds a duration to a time in microseconds.
pub(crate) fn after(micros: i64, time: Duration) -> i64 {
    micros.saturating_add(i64::try_from(time.as_micros()).unwrap_or(i64::MAX))
}

/// Matches a key with the templates of its table. Returns `None` if the key is never searchable.
pub(crate) fn group_key(table: &'static Table, key: Key) -> Option<GroupKey> {
    match table.entity_of(&key) {
        Some(entity) if entity.search == Search::Never => None,
        Some(entity) => {
            let id = key.document_id();
            Some(GroupKey::Item { table, identity: Identity { entity, key, id } })
        }
        None => Some(GroupKey::Unknown { table, key }),
    }
}

/// Groups records, which must be in the order of their sequence numbers. Key templates are checked before the event's
/// name.
pub(crate) fn gather<'a>(records: &[Record<'a>], tables: &Tables) -> Gathered<'a> {
    let mut groups = Groups::default();
    let mut group_of = Vec::with_capacity(records.len());
    let mut known: HashMap<(*const Table, Key), Option<GroupId>> = HashMap::with_capacity(records.len());
    let mut before = None;
    for (at, record) in records.iter().enumerate() {
        let keyed = record.table(tables, before).and_then(|table| Ok((table, record.key(table)?)));
        group_of.push(match keyed {
            Ok((table, key)) => {
                before = Some((record, table));
                let group = match known.entry((std::ptr::from_ref(table), key)) {
                    Entry::Occupied(entry) => *entry.get(),
                    Entry::Vacant(entry) => {
                        let key = group_key(table, entry.key().1.clone());
                        *entry.insert(key.map(|key| groups.push(Group::new(key, record.text, at))))
                    }
                };
                if let Some(group) = group {
                    groups[group].add(at, record);
                }
                group
            }
            Err(error) => {
                Some(groups.push(Group { record_error: Some(error), ..Group::new(GroupKey::Record, record.text, at) }))
            }
        });
    }
    Gathered { groups, group_of }
}
