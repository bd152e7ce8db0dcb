//! The calls that an invocation makes through its ports, and their answers, as values that can be compared and hashed.

use std::fmt;

use serde_json::Value;

use super::leaf::{Change, DAY, Leaf, Number, number_of_id};
use crate::generation::{Generation, Generations, Phase, index_name};

/// The alias of the readers.
pub(super) const ALIAS: &str = "toy";

/// The number of generations that a world may have. A rebuild that was stopped after it had
/// created an index creates another one.
pub(super) const GENERATIONS: usize = 4;

/// A request to an engine.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Call {
    ReadConfig,
    Publish(Config),
    Bulk {
        generation: usize,
        operations: Vec<Operation>,
    },
    Versions {
        generation: usize,
        keys: Vec<usize>,
    },
    Read {
        key: usize,
    },
    /// `seen` is the number of the revision that was read, or 0.
    Stamp {
        key: usize,
        seen: u64,
        rev: u64,
    },
    Keep,
    Mark {
        generation: usize,
        key: usize,
        rev: u64,
    },
    Open {
        generation: usize,
        keys: Vec<usize>,
    },
    Clear {
        generation: usize,
        key: usize,
        upto: u64,
    },
    ClearSeen {
        generation: usize,
        key: usize,
        rev: u64,
    },
    /// Finds the tombstones that were written before this time in milliseconds.
    Tombstones {
        generation: usize,
        before: i64,
    },
    Create {
        generation: usize,
    },
    Refresh,
    /// Moves the readers' alias.
    Swap {
        generation: usize,
    },
    /// Deletes an index, and lets the readers' alias name the serving one.
    Delete {
        generation: usize,
        serving: usize,
    },
    /// Deletes the markers and checkpoints of a generation.
    Forget {
        generation: usize,
    },
    /// Waits for longer than a batch can live.
    Wait,
    Checkpoint {
        generation: usize,
        segment: u32,
    },
    Scan {
        segment: u32,
        of: u32,
        first: bool,
    },
    Save {
        generation: usize,
        segment: u32,
    },
    /// Reads the markers after the one of this key.
    MarkersAfter {
        generation: usize,
        key: Option<usize>,
    },
    /// Lists the failures after the one of this number.
    Failures {
        after: Option<u8>,
    },
    ReadFailure {
        number: u8,
    },
    DeleteFailure {
        number: u8,
    },
    Pause,
    /// The end of the invocation's time.
    Expired,
}

/// One operation of a bulk request.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Operation {
    Index {
        key: usize,
        version: u64,
        gte: bool,
        body: Body,
    },
    /// A delete with an external version, as the mirror must not send.
    Delete {
        key: usize,
        version: u64,
        gte: bool,
    },
    /// A delete of the tombstone that was found.
    DeleteFound {
        key: usize,
        sequence: u64,
    },
    /// The operation that is always answered 404, before deletes.
    RequireAlias,
}

/// The content of a document.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Body {
    Live {
        content: u8,
        rev: u64,
    },
    /// A tombstone, with the day on which it was written.
    Tombstone {
        day: u8,
    },
    /// A document that does not fit the mapping.
    Unfitting,
}

/// The answer to a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Answer {
    Done,
    /// The request failed. A retry may help.
    Failed,
    Config(Option<Config>),
    Flag(bool),
    Statuses(Vec<u16>),
    /// A bulk request was answered with this status as a whole.
    Whole(u16),
    Versions(Vec<Option<u64>>),
    Item(Option<Leaf>),
    Markers(Vec<(usize, u64)>),
    /// The key and the sequence number of each tombstone.
    Tombstones(Vec<(usize, u64)>),
    Checkpoint(Checkpoint),
    Page(Option<(usize, Leaf)>),
    /// The number and the time of each.
    Failures(Vec<(u8, i64)>),
    Failure(Option<Vec<Change>>),
}

/// The checkpoint of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Checkpoint {
    #[default]
    Start,
    Done,
}

/// The config item. The generations are numbered from 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Config {
    pub(super) epoch: u64,
    pub(super) replaces: bool,
    pub(super) stages: [Stage; GENERATIONS],
    /// The number of generations that were ever created.
    pub(super) last: u32,
}

/// The state of a generation in the config item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    Absent,
    Written(Phase),
    Dropping,
}

impl Config {
    pub(super) fn generations(self) -> Generations {
        let mut generations =
            Generations { epoch: self.epoch, replaces: self.replaces, last: self.last, ..Generations::none(ALIAS) };
        for (number, stage) in self.stages.into_iter().enumerate() {
            match stage {
                Stage::Absent => {}
                Stage::Written(phase) => generations.written.push(Generation { phase, ..generation(number) }),
                Stage::Dropping => generations.dropping.push(generation(number).index),
            }
        }
        generations
    }

    pub(super) fn of(generations: &Generations) -> Self {
        let mut stages = [Stage::Absent; GENERATIONS];
        for generation in &generations.written {
            stages[number_of_index(&generation.index)] = Stage::Written(generation.phase);
        }
        generations.dropping.iter().for_each(|index| stages[number_of_index(index)] = Stage::Dropping);
        Self { epoch: generations.epoch, replaces: generations.replaces, stages, last: generations.last }
    }

    /// Returns the phase of a generation that is written.
    pub(super) fn phase(self, number: usize) -> Option<Phase> {
        match self.stages[number] {
            Stage::Written(phase) => Some(phase),
            Stage::Absent | Stage::Dropping => None,
        }
    }
}

/// Returns a generation that is not filled yet. The first has the mapping before the code's own.
pub(super) fn generation(number: usize) -> Generation {
    let index = index_name(ALIAS, u32::try_from(number).unwrap() + 1);
    Generation { index, mapping: if number == 0 { 1 } else { 2 }, phase: Phase::Filling }
}

/// Returns the number of the generation with this index or this write alias.
pub(super) fn number_of_index(name: &str) -> usize {
    let of_name = |number: &usize| name.starts_with(&generation(*number).index);
    (0..GENERATIONS).find(of_name).expect("the mirror uses only its own indexes")
}

/// Parses the lines of a bulk request.
pub(super) fn operations(lines: &str) -> Vec<Operation> {
    let mut lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut operations = Vec::new();
    while let Some(action) = lines.next() {
        let (kind, meta) = action.as_object().unwrap().iter().next().unwrap();
        let key = || number_of_id(meta["_id"].as_str().unwrap());
        let gte = meta["version_type"] == "external_gte";
        operations.push(match (kind.as_str(), meta["if_seq_no"].as_u64()) {
            ("update", _) => {
                lines.next();
                Operation::RequireAlias
            }
            ("delete", Some(sequence)) => Operation::DeleteFound { key: key(), sequence },
            ("delete", None) => Operation::Delete { key: key(), version: meta["version"].as_u64().unwrap(), gte },
            _ => {
                let body = body(&lines.next().unwrap());
                Operation::Index { key: key(), version: meta["version"].as_u64().unwrap(), gte, body }
            }
        });
    }
    operations
}

fn body(source: &Value) -> Body {
    if source["deleted"] == true {
        let day = source["deletedAt"].as_i64().unwrap() * 1000 / DAY;
        return Body::Tombstone { day: u8::try_from(day).unwrap() };
    }
    if source["size"].is_number() {
        return Body::Unfitting;
    }
    let content = source["name"].as_str().unwrap().parse().unwrap();
    Body::Live { content, rev: source["rev"].as_u64().unwrap() }
}

pub(super) fn generation_name(number: usize) -> &'static str {
    ["N", "N+1", "N+2", "N+3"][number]
}

impl fmt::Debug for Config {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "epoch {}", self.epoch)?;
        for (number, stage) in self.stages.iter().enumerate().filter(|(_, stage)| **stage != Stage::Absent) {
            write!(formatter, " {} {stage:?}", generation_name(number))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Live { content, .. } => write!(formatter, "content {content}"),
            Self::Tombstone { .. } => formatter.write_str("tombstone"),
            Self::Unfitting => formatter.write_str("unfitting document"),
        }
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index { key, version, gte, body } => {
                let gte = if *gte { " or over an equal one" } else { "" };
                write!(formatter, "k{key} {body:?} at {}{gte}", Number(*version))
            }
            Self::Delete { key, version, .. } => write!(formatter, "k{key} deleted at {}", Number(*version)),
            Self::DeleteFound { key, .. } => write!(formatter, "k{key} tombstone that was found is deleted"),
            Self::RequireAlias => formatter.write_str("alias required"),
        }
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |generation: &usize| generation_name(*generation);
        match self {
            Self::ReadConfig => formatter.write_str("reads the config"),
            Self::Publish(config) => write!(formatter, "publishes {config:?}"),
            Self::Bulk { generation, operations } => {
                write!(formatter, "writes to {}: {operations:?}", name(generation))
            }
            Self::Versions { generation, keys } => {
                write!(formatter, "reads versions of {keys:?} in {}", name(generation))
            }
            Self::Read { key } => write!(formatter, "reads item k{key}"),
            Self::Stamp { key, seen, rev } => {
                write!(formatter, "stamps k{key}, seen at {}, with {}", Number(*seen), Number(*rev))
            }
            Self::Keep => formatter.write_str("keeps a record"),
            Self::Mark { generation, key, rev } => {
                write!(formatter, "marks k{key} at {} in {}", Number(*rev), name(generation))
            }
            Self::Open { generation, keys } => write!(formatter, "reads markers of {keys:?} in {}", name(generation)),
            Self::Clear { generation, key, upto } => {
                write!(formatter, "clears the marker of k{key} up to {} in {}", Number(*upto), name(generation))
            }
            Self::ClearSeen { generation, key, rev } => {
                write!(formatter, "clears the marker of k{key} at {} in {}", Number(*rev), name(generation))
            }
            Self::Tombstones { generation, .. } => write!(formatter, "finds old tombstones in {}", name(generation)),
            Self::Create { generation } => write!(formatter, "creates the index {}", name(generation)),
            Self::Refresh => formatter.write_str("refreshes the index"),
            Self::Swap { generation } => write!(formatter, "moves the readers' alias to {}", name(generation)),
            Self::Delete { generation, .. } => write!(formatter, "deletes the index {}", name(generation)),
            Self::Forget { generation } => write!(formatter, "deletes the state of {}", name(generation)),
            Self::Wait => formatter.write_str("waits for longer than a batch can live"),
            Self::Checkpoint { generation, segment } => {
                write!(formatter, "reads the checkpoint of segment {segment} in {}", name(generation))
            }
            Self::Scan { segment, .. } => write!(formatter, "scans segment {segment}"),
            Self::Save { generation, segment } => {
                write!(formatter, "saves the checkpoint of segment {segment} in {}", name(generation))
            }
            Self::MarkersAfter { generation, key } => {
                write!(formatter, "lists the markers in {} after {key:?}", name(generation))
            }
            Self::Failures { after } => write!(formatter, "lists failures after {after:?}"),
            Self::ReadFailure { number } => write!(formatter, "reads the failure {number}"),
            Self::DeleteFailure { number } => write!(formatter, "deletes the failure {number}"),
            Self::Pause => formatter.write_str("pauses"),
            Self::Expired => formatter.write_str("has no time left"),
        }
    }
}
