//! The quarantine. A record that cannot be indexed is kept with the reason, marked per generation and subject, and
//! hidden from search until a valid write of its item.

use sha2::{Digest, Sha256};
use table::Key;
use table::schema::Table;

use crate::json::{write_member, write_text};

/// The subject of a marker: an item, or a record whose item is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An item of a table.
    Item { table: String, key: Key },
    /// A record whose item is not known, by the SHA-256 of its text.
    Record(String),
}

/// An entry of the state table for a subject that is in quarantine in one generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    pub subject: Subject,
    /// The revision that could not be indexed, or 0 if there was none. A write at or above it clears the marker.
    pub rev: u64,
    pub code: Code,
    pub reason: String,
    /// The object that keeps the record, in the system's bucket.
    pub object: String,
    /// Microseconds since 1970-01-01T00:00:00Z.
    pub since: i64,
}

/// A marker without its subject and its record. The revision and the time distinguish the markers that a subject had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenMarker {
    pub rev: u64,
    pub code: Code,
    /// The time of its last write, in microseconds since 1970-01-01T00:00:00Z. Each delivery of a refused record writes
    /// the marker again.
    pub since: i64,
}

/// The reason why a subject is in quarantine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The text is not an item, an attribute does not have the type of its entity, or the document cannot be created.
    Unfit,
    /// The key does not fit any template of its table.
    UnknownKey,
    /// The key is longer than a document's id may be.
    KeyTooLong,
    /// The record cannot be read, or its event name is not known.
    UnknownRecord,
    /// DynamoDB refuses to give the item a revision, since the item has no room for it. The marker has the revision
    /// that was refused.
    Unstampable,
    /// No valid revision is left above those that were seen.
    RevisionsExhausted,
    /// OpenSearch refused the document (400).
    Refused,
    /// OpenSearch refuses a request as large as this one document (413).
    TooLarge,
}

/// The content of a quarantined record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Poison {
    pub(crate) rev: u64,
    pub(crate) code: Code,
    pub(crate) reason: String,
    /// The record or the item, as JSON text.
    pub(crate) evidence: String,
    /// Whether the content itself is at fault, so that a document at its revision is stale. A request that was refused
    /// as a whole proves nothing about a document in the index, unless it was that of a repair.
    pub(crate) of_content: bool,
}

/// The prefix of the system's bucket that keeps quarantined records.
pub const PREFIX: &str = "quarantine/";

impl Subject {
    pub(crate) fn item(table: &Table, key: &Key) -> Self {
        Self::Item { table: table.name.to_owned(), key: key.clone() }
    }

    pub(crate) fn record(text: &str) -> Self {
        Self::Record(sha256(text))
    }

    /// Returns the subject's name, which fits every limit on keys.
    pub fn name(&self) -> String {
        match self {
            Self::Item { table, key } => {
                // With their lengths, no two keys have the same text.
                let (pk, sk) = (&key.pk, key.sk.as_deref().unwrap_or_default());
                sha256(&format!("{table}\n{}\n{pk}\n{}\n{sk}", pk.len(), sk.len()))
            }
            Self::Record(hash) => hash.clone(),
        }
    }
}

impl Poison {
    /// Returns the object's name. A record that is delivered again has the same name.
    pub(crate) fn object(&self, generation: &str) -> String {
        format!("{PREFIX}{generation}/{}.json", sha256(&self.evidence))
    }

    /// Returns the object's content: the record, the reason and the code.
    pub(crate) fn body(&self, generation: &str, subject: &Subject) -> String {
        let mut body = String::with_capacity(self.evidence.len() + 512);
        body.push('{');
        let mut text = |name: &str, value: &str| {
            write_member(&mut body, name);
            write_text(&mut body, value);
        };
        text("generation", generation);
        if let Subject::Item { table, key } = subject {
            text("table", table);
            text("pk", &key.pk);
            key.sk.iter().for_each(|sk| text("sk", sk));
        }
        text("code", self.code.name());
        text("reason", &self.reason);
        write_member(&mut body, "rev");
        body.push_str(&self.rev.to_string());
        write_member(&mut body, "record");
        body.push_str(&self.evidence);
        body.push('}');
        body
    }
}

impl Marker {
    pub(crate) const fn as_open(&self) -> OpenMarker {
        OpenMarker { rev: self.rev, code: self.code, since: self.since }
    }

    /// Whether a later write of its item clears the marker.
    pub const fn is_cleared_by_writes(&self) -> bool {
        match (&self.subject, self.code) {
            (Subject::Record(_), _) | (_, Code::UnknownKey | Code::KeyTooLong | Code::RevisionsExhausted) => false,
            (Subject::Item { .. }, _) => true,
        }
    }

    /// Whether only the delete of its item clears the marker, since the key can have no document. A marker that neither a
    /// write nor a delete clears stays until an operator dismisses it.
    pub const fn is_cleared_by_delete_alone(&self) -> bool {
        matches!((&self.subject, self.code), (Subject::Item { .. }, Code::UnknownKey | Code::KeyTooLong))
    }
}

impl OpenMarker {
    /// Whether the marker keeps an item with this revision, or with none, in quarantine if its document could be
    /// created. A marker above the item is that of a state which the item has no more. It says nothing about the present
    /// state, unless it was set because the item could not get a higher revision.
    pub(crate) fn keeps_in_quarantine(&self, rev: Option<u64>) -> bool {
        Some(self.rev) == rev || Some(self.rev) > rev && self.code.is_above_its_item()
    }
}

impl Code {
    const ALL: [Self; 8] = [
        Self::Unfit,
        Self::UnknownKey,
        Self::KeyTooLong,
        Self::UnknownRecord,
        Self::Unstampable,
        Self::RevisionsExhausted,
        Self::Refused,
        Self::TooLarge,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Unfit => "unfit",
            Self::UnknownKey => "unknown-key",
            Self::KeyTooLong => "key-too-long",
            Self::UnknownRecord => "unknown-record",
            Self::Unstampable => "unstampable",
            Self::RevisionsExhausted => "revisions-exhausted",
            Self::Refused => "refused",
            Self::TooLarge => "too-large",
        }
    }

    /// Whether the marker has a revision that its item could not get.
    pub(crate) const fn is_above_its_item(self) -> bool {
        matches!(self, Self::Unstampable | Self::RevisionsExhausted)
    }

    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marker_of_a_key_that_can_have_no_document_is_cleared_by_the_delete_alone() {
        let item = Subject::Item { table: "trees".to_owned(), key: Key::new("a", "b") };
        let cleared = |subject: &Subject, code| {
            let (reason, object) = (String::new(), String::new());
            let marker = Marker { subject: subject.clone(), rev: 0, code, reason, object, since: 0 };
            (marker.is_cleared_by_writes(), marker.is_cleared_by_delete_alone())
        };
        assert_eq!(cleared(&item, Code::Unfit), (true, false));
        for code in [Code::UnknownKey, Code::KeyTooLong] {
            assert_eq!(cleared(&item, code), (false, true), "{code:?}");
        }
        assert_eq!(cleared(&item, Code::RevisionsExhausted), (false, false));
        assert_eq!(cleared(&Subject::record("{}"), Code::UnknownRecord), (false, false));
    }

    #[test]
    fn marker_above_an_item_keeps_it_in_quarantine_only_if_the_item_could_not_get_its_revision() {
        let keeps = |code, rev| OpenMarker { rev: 12, code, since: 0 }.keeps_in_quarantine(rev);
        for (rev, of_content, of_revision) in
            [(None, false, true), (Some(10), false, true), (Some(12), true, true), (Some(14), false, false)]
        {
            for code in [Code::Unfit, Code::Refused, Code::TooLarge, Code::UnknownRecord] {
                assert_eq!(keeps(code, rev), of_content, "{code:?} {rev:?}");
            }
            for code in [Code::Unstampable, Code::RevisionsExhausted] {
                assert_eq!(keeps(code, rev), of_revision, "{code:?} {rev:?}");
            }
        }
    }

    #[test]
    fn subjects_of_different_keys_have_different_names() {
        let name = |pk: &str, sk: &str| Subject::Item { table: "trees".to_owned(), key: Key::new(pk, sk) }.name();
        assert_ne!(name("a\nb", "c"), name("a", "b\nc"));
        assert_ne!(name("a\n1\nb", "c"), name("a", "1\nb\n1\nc"));
    }
}
