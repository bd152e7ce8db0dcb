//! The items of the explored world, and the code that maps them to documents.

use std::fmt::{self, Write as _};
use std::sync::LazyLock;

use table::Key;
use table::schema::{Entity, System};

use crate::document::{Document, Found};
use crate::documents::{Documents, Mapping};
use crate::image::{Image, Unfit};
use crate::quarantine::Subject;
use crate::simulation::toy::{Leaves, TOY, TREES};

/// The number of keys that a world may have.
pub(super) const KEYS: usize = 2;

/// An item of the table.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Leaf {
    /// The number of its `rev`, or 0 if it has none. An odd number is invalid.
    pub(super) rev: u64,
    pub(super) content: u8,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Shown,
    Hidden,
    /// The code cannot create its document, until it is cured.
    Poison,
    /// OpenSearch refuses its document.
    Refused,
}

static IDS: LazyLock<Vec<String>> = LazyLock::new(|| (0..KEYS).map(|number| key(number).document_id()).collect());

static SUBJECTS: LazyLock<Vec<String>> =
    LazyLock::new(|| (0..KEYS).map(|number| Subject::item(&TREES, &key(number)).name()).collect());

/// Returns a key by its number. The keys are in different segments of a scan.
pub(super) fn key(number: usize) -> Key {
    Key::new(["TREE#a", "TREE#bb"][number], "LEAF#1")
}

/// Returns the segment of a key.
pub(super) fn segment_of(number: usize, segments: u32) -> u32 {
    u32::try_from(key(number).pk.len()).unwrap() % segments
}

pub(super) fn number_of_key(key: &Key) -> usize {
    number_of_id(&key.document_id())
}

pub(super) fn number_of_id(id: &str) -> usize {
    IDS.iter().position(|known| known == id).expect("the mirror writes only the ids of its keys")
}

pub(super) fn subject(number: usize) -> &'static str {
    &SUBJECTS[number]
}

pub(super) fn number_of_subject(name: &str) -> usize {
    SUBJECTS.iter().position(|known| known == name).expect("the mirror marks only its keys")
}

impl Leaf {
    pub(super) fn valid_rev(self) -> Option<u64> {
        (self.rev > 0 && self.rev.is_multiple_of(2)).then_some(self.rev)
    }

    /// Returns the value of `rev` in DynamoDB JSON.
    pub(super) fn rev_json(self) -> Option<String> {
        (self.rev > 0).then(|| format!(r#"{{"N":"{}"}}"#, self.rev))
    }

    /// Returns the item in DynamoDB JSON.
    pub(super) fn json(self, number: usize) -> String {
        let mut json = keys_json(number);
        json.pop();
        let _ = write!(json, r#","name":{{"S":"{}"}}"#, self.content);
        match self.kind {
            Kind::Shown => {}
            Kind::Hidden => json.push_str(r#","hidden":{"BOOL":true}"#),
            Kind::Poison => json.push_str(r#","poison":{"S":"x"}"#),
            Kind::Refused => json.push_str(r#","size":{"N":"3000000000"}"#),
        }
        if let Some(rev) = self.rev_json() {
            let _ = write!(json, r#","rev":{rev}"#);
        }
        json.push('}');
        json
    }
}

/// Returns the key attributes in DynamoDB JSON.
pub(super) fn keys_json(number: usize) -> String {
    let key = key(number);
    format!(r#"{{"PK":{{"S":"{}"}},"SK":{{"S":"{}"}}}}"#, key.pk, key.sk.unwrap_or_default())
}

impl fmt::Debug for Leaf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rev {
            0 => formatter.write_str("no rev")?,
            rev => write!(formatter, "rev {}", Number(rev))?,
        }
        write!(formatter, " content {}", self.content)?;
        if self.kind == Kind::Shown { Ok(()) } else { write!(formatter, " {:?}", self.kind) }
    }
}

/// A revision or version, displayed as its day and the rest.
pub(super) struct Number(pub(super) u64);

/// The time in microseconds by which "a day passes" advances the clocks: more than the retention of tombstones.
pub(super) const DAY: i64 = 26 * 3_600_000_000;

impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let day = 2 * DAY.unsigned_abs();
        if self.0 < day {
            write!(formatter, "{}", self.0)
        } else {
            write!(formatter, "{}d+{}", self.0 / day, self.0 % day)
        }
    }
}

/// One release of the code. A cured release creates documents also of poison.
#[derive(Clone, Copy, Debug)]
pub(super) struct Release {
    pub(super) cured: bool,
}

impl Documents for Release {
    fn tables(&self) -> &'static System {
        &TOY
    }

    fn mapping(&self) -> Mapping {
        Mapping { version: 2, ..Leaves.mapping() }
    }

    fn previous_mapping(&self) -> Option<Mapping> {
        Some(Leaves.mapping())
    }

    fn document(&self, entity: &'static Entity, image: &Image<'_>) -> Result<Found, Unfit> {
        if image.has("hidden") || !image.has("poison") {
            return Leaves.document(entity, image);
        }
        if !self.cured {
            image.number("poison")?;
        }
        let mut document = Document::new();
        document.text("name", &*image.text("name")?);
        Ok(Found::Document(document))
    }
}

/// A stream record.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Change {
    pub(super) key: usize,
    pub(super) old: Option<Leaf>,
    pub(super) new: Option<Leaf>,
}

impl fmt::Debug for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |leaf: Option<Leaf>| leaf.map_or("nothing".to_owned(), |leaf| format!("{leaf:?}"));
        write!(formatter, "k{}: {} -> {}", self.key, side(self.old), side(self.new))
    }
}
