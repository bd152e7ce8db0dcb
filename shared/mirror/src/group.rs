//! Gathering a batch: the records of each key, folded into one group.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

use table::Key;
use table::schema::{Search, Table};

use crate::fold::{Change, Fold};
use crate::lines::Identity;
use crate::quarantine::Subject;
use crate::record::{Record, Side, Strange, Tables};
use crate::repair::RepairOutcome;
use crate::report::{Outcome, Unhandled};
use crate::rules::Rules;

/// What is handled, or not, as a whole: the records of one key, one record of no known key, or one scanned item.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    pub(crate) whose: Whose,
    /// What quarantine would keep: a record, or the item.
    pub(crate) evidence: Cow<'a, str>,
    pub(crate) fold: Option<Fold>,
    /// The last image.
    pub(crate) image: Option<Side<'a>>,
    /// Why its records cannot be followed.
    pub(crate) strange: Option<Strange>,
    /// Whether it was read from the table: then no record of its own is on the way.
    pub(crate) scanned: bool,
    pub(crate) places: Unhandled,
    pub(crate) outcome: Outcome,
    /// Tasks that are not done yet.
    pub(crate) open: usize,
    pub(crate) failed: bool,
    /// Until when a refusal of its shape may pass, in microseconds since 1970-01-01T00:00:00Z. None where whoever asks is told
    /// of it, and nothing else waits.
    pub(crate) refusable_until: Option<i64>,
    /// How often it was settled.
    pub(crate) rounds: usize,
    /// What a repair has done so far; none where this is no repair.
    pub(crate) repaired: Option<RepairOutcome>,
}

#[derive(Debug)]
pub(crate) enum Whose {
    /// An item that may have a document.
    Item { table: &'static Table, identity: Identity },
    /// A key that fits no template.
    Unplaced { table: &'static Table, key: Key },
    /// Nobody's: not even the key is understood.
    Record,
}

/// The groups of a batch, and which of them each record is in: none for a key that is never searchable.
#[derive(Debug)]
pub(crate) struct Gathered<'a> {
    pub(crate) groups: Vec<Group<'a>>,
    pub(crate) group_of: Vec<Option<usize>>,
}

/// How old a record may grow whose shape S3 refuses: a change of policy is known everywhere long before, and whoever has
/// made a mistake in one is told by the age of the mirror's records.
const REFUSABLE: Duration = Duration::from_mins(15);

impl<'a> Group<'a> {
    pub(crate) fn new(whose: Whose, evidence: impl Into<Cow<'a, str>>, place: usize) -> Self {
        Self {
            whose,
            evidence: evidence.into(),
            fold: None,
            image: None,
            strange: None,
            scanned: false,
            places: Unhandled { first: place, last: place },
            outcome: Outcome::Applied,
            open: 0,
            failed: false,
            refusable_until: None,
            rounds: 0,
            repaired: None,
        }
    }

    pub(crate) const fn handled(&self) -> bool {
        self.open == 0 && !self.failed
    }

    pub(crate) const fn identity(&self) -> Option<&Identity> {
        match &self.whose {
            Whose::Item { identity, .. } => Some(identity),
            Whose::Unplaced { .. } | Whose::Record => None,
        }
    }

    /// Where its item is, if it has one.
    pub(crate) const fn item(&self) -> Option<(&'static Table, &Key)> {
        match &self.whose {
            Whose::Item { table, identity } => Some((*table, &identity.key)),
            Whose::Unplaced { table, key } => Some((*table, key)),
            Whose::Record => None,
        }
    }

    pub(crate) fn subject(&self) -> Subject {
        match self.item() {
            Some((table, key)) => Subject::item(table, key),
            None => Subject::record(&self.evidence),
        }
    }

    /// The highest revision that its images have; 0 where none has one.
    pub(crate) fn highest(&self) -> u64 {
        let highest = self.fold.and_then(|fold| fold.top.max(fold.last.number()));
        // A removal counts as one more than the revision that was removed.
        highest.unwrap_or_default() & !1
    }

    /// Folds the next record in.
    fn take<R: Rules>(&mut self, place: usize, record: &Record<'a>) {
        let change = record.change();
        let [old, new] = record.images();
        self.fold = Some(R::fold(self.fold, Change { old, new }));
        self.image = record.new;
        self.places.last = place;
        // Of its first record: the others do not make it wait longer.
        let created = record.created.unwrap_or_default().saturating_mul(1_000_000);
        self.refusable_until.get_or_insert(after(created, REFUSABLE));
        if self.strange.is_none() {
            self.strange = change.err();
            self.evidence = Cow::Borrowed(record.text);
        }
    }
}

/// Microseconds, so much later.
pub(crate) fn after(micros: i64, time: Duration) -> i64 {
    micros.saturating_add(i64::try_from(time.as_micros()).unwrap_or(i64::MAX))
}

/// Tests a key against the templates of its table. None where it is never searchable.
pub(crate) fn place(table: &'static Table, key: Key) -> Option<Whose> {
    match table.entity_of(&key) {
        Some(entity) if entity.search == Search::Never => None,
        Some(entity) => {
            let id = key.document_id();
            Some(Whose::Item { table, identity: Identity { entity, key, id } })
        }
        None => Some(Whose::Unplaced { table, key }),
    }
}

/// Gathers records, which are in order of sequence number. Key templates are tested before the event's name.
pub(crate) fn gather<'a, R: Rules>(records: &[Record<'a>], tables: &Tables) -> Gathered<'a> {
    let mut groups: Vec<Group<'a>> = Vec::with_capacity(records.len());
    let mut group_of = Vec::with_capacity(records.len());
    let mut known: HashMap<(*const Table, Key), Option<usize>> = HashMap::with_capacity(records.len());
    let mut before = None;
    for (at, record) in records.iter().enumerate() {
        let keyed = record.table(tables, before).and_then(|table| Ok((table, record.key(table)?)));
        group_of.push(match keyed {
            Ok((table, key)) => {
                before = Some((record, table));
                let group = match known.entry((std::ptr::from_ref(table), key)) {
                    Entry::Occupied(entry) => *entry.get(),
                    Entry::Vacant(entry) => {
                        let whose = place(table, entry.key().1.clone());
                        let added = whose.map(|whose| add(&mut groups, Group::new(whose, record.text, at)));
                        *entry.insert(added)
                    }
                };
                if let Some(group) = group.and_then(|group| groups.get_mut(group)) {
                    group.take::<R>(at, record);
                }
                group
            }
            Err(strange) => {
                let group = Group { strange: Some(strange), ..Group::new(Whose::Record, record.text, at) };
                Some(add(&mut groups, group))
            }
        });
    }
    Gathered { groups, group_of }
}

fn add<'a>(groups: &mut Vec<Group<'a>>, group: Group<'a>) -> usize {
    groups.push(group);
    groups.len() - 1
}
