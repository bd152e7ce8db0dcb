//! The explored world: the table with its stream, an index per generation, and the mirror's state.

use std::fmt;

use super::calls::{Answer, Body, Call, Checkpoint, Config, GENERATIONS, Operation, Stage};
use super::failures::Failure;
use super::leaf::{Change, DAY, KEYS, Leaf, Number, segment_of, subject};
use super::ports::UPDATE_OF_A_MISSING_DOCUMENT;
use crate::generation::Phase;

/// The number of segments of a scan.
const SEGMENTS: usize = 4;

/// The version of a remembered delete, which is above every writer.
const SWEPT: u64 = 1001;

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct World {
    /// The number of times that a day has passed.
    pub(super) day: u8,
    /// The writers' clock in microseconds of the day.
    pub(super) tick: u8,
    pub(super) table: [Option<Leaf>; KEYS],
    /// The records that the event source has not passed yet.
    pub(super) stream: Vec<Change>,
    pub(super) indexes: [Option<Index>; GENERATIONS],
    /// The generation of the readers' alias.
    pub(super) serving: usize,
    pub(super) config: Option<Config>,
    /// The revisions of the markers, by generation and key.
    pub(super) markers: [[Option<u64>; KEYS]; GENERATIONS],
    /// Whether each segment was scanned, by generation.
    checkpoints: [[bool; SEGMENTS]; GENERATIONS],
    /// What Lambda gave up and no redrive has deleted yet.
    pub(super) failures: Vec<Failure>,
    /// Whether the code that creates documents of poison is deployed.
    pub(super) cured: bool,
}

/// An index of one generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Index {
    pub(super) registers: [Register; KEYS],
}

/// What an index knows of one key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Register {
    pub(super) document: Option<Document>,
    /// The version of a real delete, until OpenSearch forgets it.
    pub(super) deleted: Option<u64>,
    /// The highest version that the document ever had, for the invariants only.
    pub(super) highest: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Document {
    pub(super) version: u64,
    pub(super) body: Body,
}

impl World {
    /// Returns a world in which the generation 0 serves, and nothing was ever written.
    pub(super) fn new() -> Self {
        Self {
            day: 0,
            tick: 8,
            table: [None; KEYS],
            stream: Vec::new(),
            indexes: [Some(Index::default()), None, None, None],
            serving: 0,
            config: Some(Config {
                epoch: 1,
                replaces: false,
                stages: [Stage::Written(Phase::Serving), Stage::Absent, Stage::Absent, Stage::Absent],
                last: 1,
            }),
            markers: [[None; KEYS]; GENERATIONS],
            checkpoints: [[false; SEGMENTS]; GENERATIONS],
            failures: Vec::new(),
            cured: false,
        }
    }

    /// Returns a world in which the generation 1 is filled, and the generation 0 serves but is not written any more.
    pub(super) fn replacing() -> Self {
        let world = Self::new();
        let stages = [Stage::Dropping, Stage::Written(Phase::Filling), Stage::Absent, Stage::Absent];
        Self {
            indexes: [Some(Index::default()), Some(Index::default()), None, None],
            config: world.config.map(|config| Config { replaces: true, stages, last: 2, ..config }),
            ..world
        }
    }

    /// Returns a world in which OpenSearch remembers the delete of each key's tombstone.
    pub(super) fn swept() -> Self {
        let register = Register { document: None, deleted: Some(SWEPT), highest: 0 };
        Self { indexes: [Some(Index { registers: [register; KEYS] }), None, None, None], ..Self::new() }
    }

    /// Returns a clock's time in microseconds.
    pub(super) fn time(&self, tick: u8) -> i64 {
        i64::from(self.day) * DAY + i64::from(tick)
    }

    /// Writes or removes an item, and adds a record to the stream.
    pub(super) fn put(&mut self, key: usize, new: Option<Leaf>) {
        let old = std::mem::replace(&mut self.table[key], new);
        if old != new {
            self.stream.push(Change { key, old, new });
        }
    }

    /// Whether a key is in quarantine in a generation that is written. An invocation that read an older config may set a
    /// marker in a generation that was dropped.
    pub(super) fn is_marked(&self, key: usize) -> bool {
        self.phases().any(|(generation, _)| self.markers[generation][key].is_some())
    }

    /// Returns the generations that are written, with their phases.
    pub(super) fn phases(&self) -> impl Iterator<Item = (usize, Phase)> + use<> {
        let config = self.config;
        (0..GENERATIONS).filter_map(move |number| Some((number, config?.phase(number)?)))
    }

    /// Whether a generation was scanned to the end.
    pub(super) fn is_scanned(&self, generation: usize) -> bool {
        self.checkpoints[generation] == [true; SEGMENTS]
    }

    pub(super) fn forget_deletes(&mut self) {
        for index in self.indexes.iter_mut().flatten() {
            index.registers.iter_mut().for_each(|register| register.deleted = None);
        }
    }

    /// Carries out a call. Returns an error if it breaks an invariant.
    pub(super) fn apply(&mut self, call: &Call) -> Result<Answer, String> {
        Ok(match call {
            Call::ReadConfig => Answer::Config(self.config),
            Call::Publish(config) => {
                let next = self.config.map_or(0, |present| present.epoch) + 1 == config.epoch;
                if next {
                    self.config = Some(*config);
                }
                Answer::Flag(next)
            }
            Call::Bulk { generation, operations } => self.bulk(*generation, operations, |_| true)?,
            Call::Versions { generation, keys } => {
                let version = |key: &usize| Some(self.indexes[*generation].as_ref()?.registers[*key].document?.version);
                Answer::Versions(keys.iter().map(version).collect())
            }
            Call::Read { key } => Answer::Item(self.table[*key]),
            Call::Stamp { key, seen, rev } => match self.table[*key] {
                Some(leaf) if leaf.rev == *seen => {
                    self.put(*key, Some(Leaf { rev: *rev, ..leaf }));
                    Answer::Flag(true)
                }
                _ => Answer::Flag(false),
            },
            Call::Mark { generation, key, rev } => {
                let marker = &mut self.markers[*generation][*key];
                *marker = (*marker).max(Some(*rev));
                Answer::Done
            }
            Call::Open { generation, keys } => {
                let open = keys.iter().filter_map(|key| Some((*key, self.markers[*generation][*key]?)));
                Answer::Markers(open.collect())
            }
            Call::Clear { generation, key, upto } => {
                let marker = &mut self.markers[*generation][*key];
                *marker = marker.filter(|rev| rev > upto);
                Answer::Done
            }
            Call::ClearSeen { generation, key, rev } => {
                let marker = &mut self.markers[*generation][*key];
                *marker = marker.filter(|present| present != rev);
                Answer::Done
            }
            Call::MarkersAfter { generation, key } => {
                // The order of the names is not that of the keys.
                let is_after = |number: &usize| key.is_none_or(|key| subject(*number) > subject(key));
                let mut rest: Vec<usize> = (0..KEYS).filter(is_after).collect();
                rest.sort_by_key(|number| subject(*number));
                let marked = rest.into_iter().filter_map(|key| Some((key, self.markers[*generation][key]?)));
                Answer::Markers(marked.collect())
            }
            Call::Failures { after } => {
                let rest = self.failures.iter().filter(|failure| after.is_none_or(|after| failure.number > after));
                Answer::Failures(rest.map(|failure| (failure.number, failure.since)).collect())
            }
            Call::ReadFailure { number } => {
                let found = self.failures.iter().find(|failure| failure.number == *number);
                Answer::Failure(found.map(|failure| failure.records.clone()))
            }
            Call::DeleteFailure { number } => {
                self.failures.retain(|failure| failure.number != *number);
                Answer::Done
            }
            Call::Tombstones { generation, before } => {
                let found = (0..KEYS).filter_map(|key| {
                    let document = self.indexes[*generation].as_ref()?.registers[key].document?;
                    let Body::Tombstone { day } = document.body else { return None };
                    // The clock within a day is too fine for milliseconds.
                    (i64::from(day) * DAY / 1000 <= *before).then(|| (key, document.sequence()))
                });
                Answer::Tombstones(found.collect())
            }
            Call::Create { generation } => {
                let index = &mut self.indexes[*generation];
                let created = index.is_none();
                index.get_or_insert_default();
                Answer::Flag(created)
            }
            Call::Swap { generation } => self.swap(*generation)?,
            Call::Delete { generation, serving } => match self.swap(*serving)? {
                Answer::Done => {
                    self.indexes[*generation] = None;
                    self.check_alias()?;
                    Answer::Done
                }
                failed => failed,
            },
            Call::Forget { generation } => {
                self.markers[*generation] = [None; KEYS];
                self.checkpoints[*generation] = [false; SEGMENTS];
                Answer::Done
            }
            Call::Checkpoint { generation, segment } => {
                let done = self.checkpoints[*generation][*segment as usize];
                Answer::Checkpoint(if done { Checkpoint::Done } else { Checkpoint::Start })
            }
            Call::Scan { segment, of, .. } => {
                let found = (0..KEYS).find(|key| segment_of(*key, *of) == *segment);
                Answer::Page(found.and_then(|key| Some((key, self.table[key]?))))
            }
            Call::Save { generation, segment } => {
                self.checkpoints[*generation][*segment as usize] = true;
                Answer::Done
            }
            Call::Keep | Call::Refresh | Call::Pause | Call::Wait | Call::Expired => Answer::Done,
        })
    }

    /// Lets the readers' alias name this index.
    fn swap(&mut self, generation: usize) -> Result<Answer, String> {
        if self.indexes[generation].is_none() {
            return Ok(Answer::Failed);
        }
        self.serving = generation;
        self.check_alias()?;
        Ok(Answer::Done)
    }

    /// Checks that readers search an index that exists and has every document.
    fn check_alias(&self) -> Result<(), String> {
        let config = self.config;
        let stage = config.map(|config| config.stages[self.serving]);
        let is_whole = match stage {
            Some(Stage::Written(phase)) => !matches!(phase, Phase::Published | Phase::Filling),
            // The older index is read until the newer one replaces it.
            Some(Stage::Dropping) => true,
            Some(Stage::Absent) | None => false,
        };
        if self.indexes[self.serving].is_some() && is_whole {
            Ok(())
        } else {
            Err(format!("I8: readers search an index that is {stage:?}"))
        }
    }

    /// Carries out the operations of a bulk request for whose positions `allowed` returns true. The others are
    /// answered 429.
    pub(super) fn bulk(
        &mut self,
        generation: usize,
        operations: &[Operation],
        allowed: impl Fn(usize) -> bool,
    ) -> Result<Answer, String> {
        let Some(index) = &mut self.indexes[generation] else {
            return Ok(Answer::Statuses(vec![404; operations.len()]));
        };
        let statuses = operations
            .iter()
            .enumerate()
            .map(|(place, operation)| if allowed(place) { index.carry_out(*operation) } else { Ok(429) });
        statuses.collect::<Result<_, _>>().map(Answer::Statuses)
    }
}

impl Document {
    /// Returns the number of the write that created a tombstone.
    fn sequence(self) -> u64 {
        match self.body {
            Body::Tombstone { day } => self.version | (u64::from(day) << 44),
            Body::Live { .. } | Body::Unfitting => u64::MAX,
        }
    }
}

impl Index {
    fn carry_out(&mut self, operation: Operation) -> Result<u16, String> {
        match operation {
            Operation::RequireAlias => Ok(UPDATE_OF_A_MISSING_DOCUMENT),
            Operation::Index { body: Body::Unfitting, .. } => Ok(400),
            Operation::Index { key, version, gte, body } => {
                let register = &mut self.registers[key];
                if !register.allows(version, gte) {
                    return Ok(409);
                }
                if version < register.highest {
                    let (from, to) = (Number(register.highest), Number(version));
                    return Err(format!("I2: the version of k{key} falls from {from} to {to}"));
                }
                *register = Register { document: Some(Document { version, body }), deleted: None, highest: version };
                Ok(200)
            }
            Operation::Delete { key, version, gte } => {
                let register = &mut self.registers[key];
                if !register.allows(version, gte) {
                    return Ok(409);
                }
                let existed = register.document.take().is_some();
                register.deleted = Some(version);
                register.highest = if gte { 0 } else { register.highest.max(version) };
                Ok(if existed { 200 } else { 404 })
            }
            Operation::DeleteFound { key, sequence } => {
                let register = &mut self.registers[key];
                let Some(document) = register.document.filter(|document| document.sequence() == sequence) else {
                    return Ok(409);
                };
                // After a sweep the versions may start again.
                *register = Register { document: None, deleted: Some(document.version + 1), highest: 0 };
                Ok(200)
            }
        }
    }
}

impl Register {
    /// Whether the version check allows a write.
    fn allows(&self, version: u64, gte: bool) -> bool {
        let present = self.document.map(|document| document.version).or(self.deleted);
        present.is_none_or(|present| if gte { version >= present } else { version > present })
    }
}

impl fmt::Display for World {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "table {:?}; config {:?}; markers {:?}", self.table, self.config, self.markers)?;
        self.indexes.iter().flatten().try_for_each(|index| {
            let documents = index.registers.map(|register| register.document);
            write!(formatter, "; index {documents:?}")
        })
    }
}
