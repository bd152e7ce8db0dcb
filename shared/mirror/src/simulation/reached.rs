//! What schedules have reached, and what a run of them must reach. It is counted from the records, the calls and the
//! answers that the simulated world sees.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::world::{Call, Kind, Record};
use super::{NIGHTLY, ORDINARY};
use crate::classify::{Answer, Class, classify};
use crate::fold::{Change, Decision, Fold, Presence, decide, fold};
use crate::item::presence;
use crate::settle::Resolution;

/// The numbers of times that something was reached, by its kind and its name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reached {
    counts: BTreeMap<(&'static str, &'static str), u64>,
    /// The document's version that each invocation has read last, by its id.
    versions: HashMap<(usize, String), Option<u64>>,
}

/// How often a run must reach everything.
const LEAST: u64 = if ORDINARY { 3 } else { 10 };

const FOLDS: [&str; 9] = [
    "deleted",
    "deleted, without a revision",
    "new",
    "risen",
    "equal",
    "without a revision",
    "below",
    "revision lost",
    "several records",
];

const SETTLED: [&str; 8] = [
    "absent, no document",
    "absent, document",
    "no revision, no document",
    "no revision, document",
    "below the document",
    "equal to the document",
    "above the document",
    "present, no document",
];

const ANSWERS: [&str; 12] = [
    "done",
    "conflict",
    "retry",
    "quarantine",
    "report",
    "whole 400",
    "whole 403",
    "whole 413",
    "whole 429",
    "whole 503",
    "too few",
    "half applied",
];

const EVENTS: [&str; 8] = [
    "zombie",
    "answer of a batch lost",
    "given up",
    "a day",
    "cured",
    "mapping raised",
    "rebuild paused",
    "frozen host",
];

const ORDERS: [&str; 6] = ["serve", "serve after an audit", "replace", "finish", "roll back", "cancel"];

/// The calls of audits, whose faults only a nightly run reaches often.
const OF_AUDITS: [Call; 4] = [Call::Documents, Call::ReadDocuments, Call::ReadNote, Call::WriteNote];

/// The calls of batches, whose time may be up, and after which their hosts may be frozen.
const OF_BATCHES: [Call; 10] = [
    Call::Bulk,
    Call::Versions,
    Call::ReadItem,
    Call::Stamp,
    Call::ReadConfig,
    Call::Mark,
    Call::OpenMarkers,
    Call::ClearMarker,
    Call::Keep,
    Call::Pause,
];

/// The name of settle or repair, and its function.
pub(super) type Rule = (&'static str, fn(Option<u64>, Presence) -> Resolution);

impl Reached {
    pub(crate) fn count(&mut self, kind: &'static str, name: &'static str) {
        *self.counts.entry((kind, name)).or_default() += 1;
    }

    pub(crate) fn of(&self, of: (&'static str, &'static str)) -> u64 {
        self.counts.get(&of).copied().unwrap_or_default()
    }

    /// Adds the counts of another schedule.
    pub(crate) fn add(&mut self, other: &Self) {
        for (of, count) in &other.counts {
            *self.counts.entry(*of).or_default() += count;
        }
    }

    /// Counts the rows of the fold for the records of a batch.
    pub(crate) fn count_folds(&mut self, records: &[Record]) {
        let mut folds = BTreeMap::<_, Fold>::new();
        for record in records.iter().filter(|record| record.key.pk != "COUNTER") {
            let image = |image: &Option<_>| image.as_ref().map_or(Presence::Absent, presence_of);
            let change = Change { old: image(&record.old), new: image(&record.new) };
            let before = folds.get(&record.key).copied();
            if before.is_some() {
                self.count("fold", "several records");
            }
            folds.insert(&record.key, fold(before, change));
        }
        for fold in folds.into_values() {
            let row = match (decide(fold), fold.last, fold.top) {
                (Decision::Tombstone(_), ..) => "deleted",
                (Decision::Settle, ..) => "deleted, without a revision",
                (Decision::Index(_), _, None) => "new",
                (Decision::Index(_), _, Some(_)) => "risen",
                (Decision::Stamp { above: Some(_) }, ..) => "equal",
                (Decision::Stamp { above: None }, ..) => "without a revision",
                (Decision::TombstoneAndStamp { .. }, Presence::At(_), _) => "below",
                (Decision::TombstoneAndStamp { .. }, ..) => "revision lost",
            };
            self.count("fold", row);
        }
    }

    pub(crate) fn version_read(&mut self, invocation: usize, id: &str, version: Option<u64>) {
        self.versions.insert((invocation, id.to_owned()), version);
    }

    /// Counts a case of settle or of repair, whose item was read after the version.
    pub(crate) fn item_read(
        &mut self,
        invocation: usize,
        id: String,
        item: Option<&super::world::Attributes>,
        (name, decides): Rule,
    ) {
        let Some(version) = self.versions.remove(&(invocation, id)) else { return };
        let item = item.map_or(Presence::Absent, presence_of);
        let case = match (item, version, decides(version, item)) {
            (Presence::Absent, None, _) => "absent, no document",
            (Presence::Absent, Some(_), _) => "absent, document",
            (Presence::Unrevised, None, _) => "no revision, no document",
            (Presence::Unrevised, Some(_), _) => "no revision, document",
            (Presence::At(_), None, _) => "present, no document",
            (Presence::At(_), Some(_), Resolution::Stamp { .. }) => "below the document",
            (Presence::At(rev), Some(version), _) if rev.number() == version => "equal to the document",
            (Presence::At(_), Some(_), _) => "above the document",
        };
        self.count(name, case);
    }

    /// Counts the answers to a bulk request.
    pub(crate) fn count_answers(&mut self, status: u16, body: &Value) {
        let whole = match status {
            400 => "whole 400",
            403 => "whole 403",
            413 => "whole 413",
            429 => "whole 429",
            503 => "whole 503",
            _ => return self.count_items(body),
        };
        self.count("answer", whole);
    }

    fn count_items(&mut self, body: &Value) {
        for item in body["items"].as_array().into_iter().flatten() {
            let status = item["index"]["status"].as_u64().and_then(|status| u16::try_from(status).ok()).unwrap();
            self.count(
                "answer",
                match classify(&Answer { status, error: None }) {
                    Class::Done => "done",
                    Class::Conflict => "conflict",
                    Class::Retry => "retry",
                    Class::Quarantine => "quarantine",
                    Class::Report => "report",
                },
            );
        }
    }

    /// Returns what was reached too rarely, with its counts.
    pub(crate) fn missing(&self) -> Vec<String> {
        let all =
            |kind: &'static str, names: &[&'static str]| names.iter().map(|name| (kind, *name)).collect::<Vec<_>>();
        let faults = Call::ALL.iter().filter(|call| NIGHTLY || !OF_AUDITS.contains(call)).flat_map(|call| {
            let faults: &[&str] = match call.kind() {
                Kind::Bulk | Kind::Write if call.moves_alias() => &["lost", "answer lost", "denied", "crash"],
                Kind::Bulk | Kind::Write => &["lost", "answer lost", "late", "denied", "crash"],
                Kind::Read => &["lost", "denied", "crash"],
                Kind::Pause => &["crash"],
                Kind::Expired => &[],
            };
            let of_batches: &[&str] = if OF_BATCHES.contains(call) { &["time up", "old"] } else { &[] };
            faults.iter().chain(of_batches).map(|fault| (*fault, call.name()))
        });
        let wanted = [
            all("fold", &FOLDS),
            all("settle", &SETTLED),
            all("repair", &SETTLED),
            all("answer", &ANSWERS),
            all("event", &EVENTS),
            all("order", &ORDERS),
        ];
        let wanted = wanted.into_iter().flatten().chain(faults);
        let rare = wanted.filter(|of| self.of(*of) < LEAST);
        rare.map(|of| format!("{}, {}: {}", of.0, of.1, self.of(of))).collect()
    }
}

impl std::fmt::Display for Reached {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut kind = "";
        for ((of, name), count) in &self.counts {
            let start = if *of == kind { ", " } else { "\n" };
            let of_kind = if *of == kind { String::new() } else { format!("{of}: ") };
            write!(formatter, "{start}{of_kind}{name} {count}")?;
            kind = of;
        }
        Ok(())
    }
}

fn presence_of(item: &super::world::Attributes) -> Presence {
    presence(item.get("rev").map(Value::to_string).as_deref())
}
