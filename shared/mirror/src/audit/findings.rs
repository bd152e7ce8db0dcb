//! The results of an audit, per table.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How a run of an audit has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum AuditEnd {
    /// Everything was compared.
    Finished,
    /// The time was up. The next call resumes the audit.
    Stopped,
}

/// A kind of difference between a table and an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DifferenceKind {
    /// A searchable item has no document, or only a tombstone.
    Lost,
    /// A document has no item.
    Ghost,
    /// A document or a tombstone has another revision than its item, or the item has no valid revision.
    Stale,
    /// A document has the revision of its item, and other content.
    Corrupt,
    /// An item that has no document because none can be created is not in quarantine.
    Unmarked,
    /// OpenSearch refused a shape, which is indexed at a coarser detail level. The document is right otherwise.
    Degraded,
    /// The object of a shape did not exist when its document was written. The document has the shape's envelope.
    MissingShape,
    /// A marker of the quarantine whose item is gone or has a valid document.
    StaleMarker,
}

/// The differences of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// After a crash, differences that were found and not repaired yet are counted again.
    pub found: u64,
    pub repaired: u64,
    pub left: u64,
    /// Why the first repair that failed did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The ids of the first documents.
    pub examples: Vec<String>,
}

/// The audit of one table in one generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TableAudit {
    /// The table, or `?` for documents whose ids fit no table.
    pub table: String,
    /// Microseconds since 1970-01-01T00:00:00Z.
    pub started: i64,
    /// `None` while the audit is not finished.
    pub ended: Option<i64>,
    /// Whether the audit compared every table of the system.
    pub full: bool,
    /// Whether it was to repair what it found.
    pub repairs: bool,
    /// Whether it compared an index before that served.
    #[serde(default)]
    pub rebuild: bool,
    /// The number of items that may have documents.
    pub items: u64,
    /// The number of documents, without tombstones.
    pub documents: u64,
    /// The number of items that were not compared: they changed at each look, or S3 refuses one of their shapes.
    pub busy: u64,
    pub findings: BTreeMap<DifferenceKind, Finding>,
}

/// The result of an audit in one generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GenerationAudit {
    /// The generation's index.
    pub generation: String,
    pub ended: AuditEnd,
    pub tables: Vec<TableAudit>,
}

/// The table of documents whose ids fit no table.
pub(super) const NO_TABLE: &str = "?";

/// The maximum number of examples of one kind.
const MAX_EXAMPLES: usize = 5;

impl DifferenceKind {
    pub const ALL: [Self; 8] = [
        Self::Lost,
        Self::Ghost,
        Self::Stale,
        Self::Corrupt,
        Self::Unmarked,
        Self::Degraded,
        Self::MissingShape,
        Self::StaleMarker,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Ghost => "ghost",
            Self::Stale => "stale",
            Self::Corrupt => "corrupt",
            Self::Unmarked => "not in quarantine",
            Self::Degraded => "degraded",
            Self::MissingShape => "missing shape",
            Self::StaleMarker => "stale marker",
        }
    }

    /// Whether the index is wrong. A shape that OpenSearch refuses, or whose object does not exist, is indexed as well
    /// as it can be.
    pub const fn is_difference(self) -> bool {
        !matches!(self, Self::Degraded | Self::MissingShape)
    }
}

impl TableAudit {
    pub(super) fn new(table: &str, started: i64, full: bool, repairs: bool) -> Self {
        Self {
            table: table.to_owned(),
            started,
            ended: None,
            full,
            repairs,
            rebuild: false,
            items: 0,
            documents: 0,
            busy: 0,
            findings: BTreeMap::new(),
        }
    }

    pub(super) fn found(&mut self, kind: DifferenceKind, id: &str) {
        let finding = self.findings.entry(kind).or_default();
        finding.found += 1;
        if finding.examples.len() < MAX_EXAMPLES && !finding.examples.iter().any(|example| example == id) {
            finding.examples.push(id.to_owned());
        }
    }

    pub(super) fn repaired(&mut self, kind: DifferenceKind) {
        self.findings.entry(kind).or_default().repaired += 1;
    }

    /// Counts a difference that stays, with the reason if its repair has failed.
    pub(super) fn not_repaired(&mut self, kind: DifferenceKind, reason: Option<String>) {
        let finding = self.findings.entry(kind).or_default();
        finding.left += 1;
        finding.reason = finding.reason.take().or(reason);
    }

    /// Returns the number of differences that were found.
    pub fn differences(&self) -> u64 {
        self.findings.iter().filter(|(kind, _)| kind.is_difference()).map(|(_, finding)| finding.found).sum()
    }

    /// Returns the number of differences for the alarm. Of an index that did not serve yet, only those that are left count:
    /// its audit takes records that were on their way for differences, since it waits only a short time.
    pub(super) fn alarming(&self) -> u64 {
        if !self.rebuild {
            return self.differences();
        }
        self.findings.iter().filter(|(kind, _)| kind.is_difference()).map(|(_, finding)| finding.left).sum()
    }

    /// Returns the number of findings that need an operator: differences that are left, and shapes whose objects do not
    /// exist.
    pub fn left(&self) -> u64 {
        let of_kind = |(kind, finding): (&DifferenceKind, &Finding)| {
            if *kind == DifferenceKind::Degraded { 0 } else { finding.left }
        };
        self.findings.iter().map(of_kind).sum()
    }

    /// Returns the number of shapes that are still missing.
    pub fn missing_shapes(&self) -> u64 {
        self.findings.get(&DifferenceKind::MissingShape).map_or(0, |finding| finding.left)
    }
}
