//! Generations: the indexes of a system, one of which its alias names, and the config item that lists them.

use std::ops::Index;

use crate::documents::{Documents, writes};

/// The config item. It is read consistently for every batch, after the batch was received, and never cached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Generations {
    /// The number of the version of this item, raised by one with every change.
    pub epoch: u64,
    /// The alias that readers search.
    pub alias: String,
    /// Every generation that is written, by age. A record is handled when it is handled in each of them.
    pub written: Vec<Generation>,
    /// Whether an operator has paused the rebuild that is under way. The mirror writes meanwhile.
    pub rebuild_paused: bool,
    /// Whether the rebuild that is under way replaces the old indexes, which are not written any more once the new one is.
    pub replaces: bool,
    /// The indexes that are not written any more and are to be deleted.
    pub dropping: Vec<String>,
    /// The highest number that a generation ever had.
    pub last: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generation {
    /// The name of its index, such as `{alias}-000002`. A name is never used twice.
    pub index: String,
    /// The version of the mapping with which the index was created.
    pub mapping: u32,
    pub phase: Phase,
}

/// The phase of a generation that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The index is written, and takes no images of records: an invocation from before may hold the image of an item whose
    /// delete was handled in the older index alone. The item is read instead.
    Published,
    /// No invocation from before the publication lives any more, and the index is filled from the tables.
    Filling,
    /// The index has every document, and the readers' alias is about to be moved to it.
    Audited,
    /// The readers' alias names the index.
    Serving,
    /// The index has every document, and another one serves.
    Kept,
}

/// The generations that a batch writes.
#[derive(Debug)]
pub(crate) struct Targets(Vec<Target>);

/// A generation as it is written.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) index: String,
    /// Its write alias.
    pub(crate) alias: String,
    /// The version of its mapping.
    pub(crate) mapping: u32,
    /// Whether images of records are written to it. See [`Phase::Published`].
    pub(crate) takes_images: bool,
}

/// The position of a generation among those that a batch writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TargetId(usize);

impl TargetId {
    /// The first generation. Tasks that concern only the item are done once, for this generation.
    pub(crate) const FIRST: Self = Self(0);
}

impl Targets {
    pub(crate) fn new(generations: &[Generation]) -> Self {
        let target = |generation: &Generation| Target {
            index: generation.index.clone(),
            alias: generation.write_alias(),
            mapping: generation.mapping,
            takes_images: generation.phase != Phase::Published,
        };
        Self(generations.iter().map(target).collect())
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = TargetId> + use<> {
        (0..self.0.len()).map(TargetId)
    }
}

#[expect(clippy::indexing_slicing, reason = "an id is given by `ids` alone, and a target is never removed")]
impl Index<TargetId> for Targets {
    type Output = Target;

    fn index(&self, id: TargetId) -> &Target {
        &self.0[id.0]
    }
}

impl Generations {
    /// Returns the item before the first index.
    pub(crate) fn none(alias: &str) -> Self {
        Self { alias: alias.to_owned(), ..Self::default() }
    }

    /// Returns this item with the next epoch.
    pub(crate) fn next(&self) -> Self {
        Self { epoch: self.epoch + 1, ..self.clone() }
    }

    /// Returns the generation with this phase. A phase other than [`Phase::Kept`] is that of one generation.
    pub fn of(&self, phase: Phase) -> Option<&Generation> {
        self.written.iter().find(|generation| generation.phase == phase)
    }
}

impl Phase {
    pub const ALL: [Self; 5] = [Self::Published, Self::Filling, Self::Audited, Self::Serving, Self::Kept];

    /// Returns the name in the config item.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Filling => "filling",
            Self::Audited => "audited",
            Self::Serving => "serving",
            Self::Kept => "kept",
        }
    }
}

impl Generation {
    /// Returns the alias through which the index is written, so that a bulk request can require an alias.
    pub fn write_alias(&self) -> String {
        write_alias(&self.index)
    }

    /// Whether the index was filled from the tables, so that each searchable item has a document.
    pub fn is_filled(&self) -> bool {
        !matches!(self.phase, Phase::Published | Phase::Filling)
    }

    /// Checks that the code writes documents of this version. The strict mapping of the index would refuse others.
    pub(crate) fn check_mapping(&self, documents: &impl Documents) -> Result<(), String> {
        if writes(documents, self.mapping) {
            return Ok(());
        }
        let previous = documents.previous_mapping().map(|previous| previous.version);
        Err(self.mapping_difference(previous, documents.mapping().version))
    }

    /// Returns a message that the code has other versions of the mapping, and what to do.
    pub(crate) fn mapping_difference(&self, previous: Option<u32>, own: u32) -> String {
        let Self { index, mapping, .. } = self;
        let known =
            previous.map_or_else(|| format!("version {own}"), |previous| format!("versions {previous} and {own}"));
        let remedy = if *mapping > own { "use the commit that created it" } else { "rebuild the index" };
        format!("{index} has version {mapping} of the mapping and this code has {known}: {remedy}")
    }
}

pub(crate) fn write_alias(index: &str) -> String {
    format!("{index}-write")
}

/// Returns the name of an alias's n-th generation.
pub(crate) fn index_name(alias: &str, number: u32) -> String {
    format!("{alias}-{number:06}")
}
