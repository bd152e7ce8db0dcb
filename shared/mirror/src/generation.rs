//! Generations: the concrete indexes behind a system's alias, and the config item that lists them.

use std::ops::Index;

/// The config item. It is read consistently for every batch, after the batch was received, and never cached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generations {
    /// Grows by one with every change.
    pub epoch: u64,
    /// The alias that readers search.
    pub alias: String,
    /// Every generation that is written: a record is handled when all of them have handled it.
    pub written: Vec<Generation>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generation {
    /// Its index: `{alias}-000002`. A name is never used twice.
    pub index: String,
    /// The version of the mapping that it was made with.
    pub mapping: u32,
    /// Whether it has been scanned and stood behind the alias.
    pub filled: bool,
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
}

/// The place of a generation among those that a batch writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TargetId(usize);

impl TargetId {
    /// The first generation. Tasks that concern the item alone are done once, with it.
    pub(crate) const FIRST: Self = Self(0);
}

impl Targets {
    pub(crate) fn new(generations: &[Generation]) -> Self {
        let target =
            |generation: &Generation| Target { index: generation.index.clone(), alias: generation.write_alias() };
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

impl Generation {
    /// The alias through which it is written, so that a bulk request can demand one.
    pub fn write_alias(&self) -> String {
        write_alias(&self.index)
    }

    /// Says that code which knows this version of the mapping cannot write the index, and what to do.
    pub(crate) fn unknown_mapping(&self, known: u32) -> String {
        let Self { index, mapping, .. } = self;
        let remedy = if *mapping > known { "deploy the code that made it" } else { "rebuild the index" };
        format!("{index} has mapping {mapping} and this code knows {known}: {remedy}")
    }
}

pub(crate) fn write_alias(index: &str) -> String {
    format!("{index}-write")
}

/// The name of an alias's n-th generation.
pub(crate) fn index_name(alias: &str, number: u32) -> String {
    format!("{alias}-{number:06}")
}
