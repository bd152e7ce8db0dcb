//! Places at ±180: one meridian, but the two sides of the map.
//!
//! What lies on one side only never meets what lies on the other, for a map is flat. But a ring that goes on across the
//! seam has half its way on each side, and must be compared with what is on both.

use std::collections::{BTreeMap, BTreeSet};

use crate::Position;
use crate::meeting::{Way, note_ways};
use crate::plane::Plane;
use crate::sweep::Findings;

/// What the sweep met at −180, until it comes to the same latitude at 180.
#[derive(Debug, Default)]
pub(crate) struct Across {
    west: BTreeMap<u64, Halves>,
}

/// The halves of ways at a place: those to the east from south to north, then those to the west from north to south.
#[derive(Clone, Debug, Default)]
pub(crate) struct Halves {
    pub east: Vec<Way>,
    pub west: Vec<Way>,
}

impl Halves {
    fn around(&self) -> Vec<Way> {
        [self.east.as_slice(), &self.west].concat()
    }
}

impl Across {
    /// Notes the ways at a place, or keeps them until the sweep comes to the other side.
    pub(crate) fn note(&mut self, plane: &Plane, at: Position, halves: Halves, findings: &mut Findings) {
        if at[0] == -180.0 {
            self.west.insert(at[1].to_bits(), halves);
            return;
        }
        let other = if at[0] == 180.0 { self.west.remove(&at[1].to_bits()) } else { None };
        let Some(other) = other else { return note_ways(plane, at, &halves.around(), findings) };
        let (here, there) = (halves.around(), other.around());
        let across = |ways: &[Way], others: &[Way]| -> Vec<Way> {
            let others: BTreeSet<&Way> = others.iter().collect();
            ways.iter().filter(|way| others.contains(way)).copied().collect()
        };
        note_ways(plane, at, &[across(&there, &here), here.clone()].concat(), findings);
        let back = [other.east, across(&here, &there), other.west].concat();
        note_ways(plane, [-180.0, at[1]], &back, findings);
    }

    /// Notes what had nothing on the other side.
    pub(crate) fn finish(self, plane: &Plane, findings: &mut Findings) {
        for (latitude, halves) in self.west {
            note_ways(plane, [-180.0, f64::from_bits(latitude)], &halves.around(), findings);
        }
    }
}
