//! The choice of the one place that a text means.

use std::collections::{BTreeMap, BTreeSet};

use super::place_text::{PlaceText, Units};
use crate::names::{PlaceId, PlaceWord};

/// The most places that are compared for a text.
pub const MAX_CANDIDATES: usize = 300;

/// The places with each word that was looked up.
pub type PlacesByWord = BTreeMap<PlaceWord, BTreeSet<PlaceId>>;

/// A place that a text may mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    pub id: PlaceId,
    /// The ids of its ancestors, the country first, and its own.
    pub path: Vec<PlaceId>,
    /// The word of its own name.
    pub word: Option<PlaceWord>,
    pub weight: u64,
}

/// The place that a text means.
#[derive(Clone, Debug, PartialEq)]
pub struct Meaning<'a> {
    pub place: &'a Candidate,
    /// The parts of the text that name neither the place nor one of its ancestors.
    pub unused: Vec<String>,
}

/// Returns the places to compare, those with the rarest words first.
pub fn candidates(found: &PlacesByWord) -> Vec<PlaceId> {
    let mut sets: Vec<&BTreeSet<PlaceId>> = found.values().collect();
    sets.sort_by_key(|set| set.len());
    let mut chosen = Vec::new();
    let mut seen = BTreeSet::new();
    for place in sets.into_iter().flatten() {
        if chosen.len() < MAX_CANDIDATES && seen.insert(place) {
            chosen.push(*place);
        }
    }
    chosen
}

/// Returns the candidate that uses most of the text together with its ancestors. Of equal ones, that inside `within`
/// is better, then that of its own name rather than of an alternative one, then the one with the greater weight.
pub fn resolve<'a>(
    text: &PlaceText,
    found: &PlacesByWord,
    candidates: &'a [Candidate],
    within: Option<&PlaceId>,
) -> Option<Meaning<'a>> {
    let ranked = candidates.iter().filter_map(|place| {
        let (used, is_own) = most_used(text, found, place)?;
        let is_within = within.is_some_and(|within| place.path.contains(within));
        let rank = (used.count_ones(), is_within, is_own, place.weight, std::cmp::Reverse(&place.id));
        Some((rank, used, place))
    });
    let (_, used, place) = ranked.max_by(|(one, ..), (other, ..)| one.cmp(other))?;
    Some(Meaning { place, unused: text.without(used) })
}

/// Returns the most units that a place and its ancestors use, each place one run, and whether the place's own name is
/// among them. Returns none if no run names the place itself.
fn most_used(text: &PlaceText, found: &PlacesByWord, place: &Candidate) -> Option<(Units, bool)> {
    let has = |word: &PlaceWord, id: &PlaceId| found.get(word).is_some_and(|places| places.contains(id));
    let mut used: BTreeSet<(Units, bool)> = BTreeSet::new();
    for run in text.runs() {
        let is_own = run.words.iter().any(|word| place.word.as_ref() == Some(word) && has(word, &place.id));
        if is_own || run.words.iter().any(|word| has(word, &place.id)) {
            used.insert((run.units, is_own));
        }
    }
    for ancestor in place.path.iter().rev().skip_while(|id| **id == place.id) {
        let runs = text.runs().iter().filter(|run| run.words.iter().any(|word| has(word, ancestor)));
        let runs: Vec<Units> = runs.map(|run| run.units).collect();
        let more: Vec<(Units, bool)> = used
            .iter()
            .flat_map(|(units, is_own)| {
                runs.iter().filter(move |run| **run & units == 0).map(move |run| (units | run, *is_own))
            })
            .collect();
        used.extend(more);
    }
    used.into_iter().max_by_key(|(units, is_own)| (units.count_ones(), *is_own))
}

#[cfg(test)]
mod tests;
