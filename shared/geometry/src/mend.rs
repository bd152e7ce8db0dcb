//! Makes a simpler form valid: what meets gets positions back, what was passed over is left out.

use std::collections::BTreeSet;

use crate::draft::{Draft, StandIn};
use crate::interior::holes_that_cut;
use crate::nest::{Nested, nest};
use crate::orient::is_counterclockwise;
use crate::plane::{Edge, Plane, Ring};
use crate::sweep::sweep;

/// Rounds in which a segment that meets another is split in two, and then rounds in which it gets all its positions
/// back. What still meets after them is not worth simplifying.
const SPLITTING: usize = 8;
const ROUNDS: usize = 16;

enum Mended {
    Valid,
    Changed,
    Stuck,
}

impl Draft<'_> {
    /// Mends it until it is valid, or says that it cannot be with at most so many positions.
    pub(crate) fn settle(&mut self, max_positions: usize) -> bool {
        if !self.is_areal() {
            return self.positions() <= max_positions;
        }
        for round in 0..ROUNDS {
            if self.positions() > max_positions {
                return false;
            }
            match self.mend(round < SPLITTING) {
                Mended::Valid => return true,
                Mended::Changed => {}
                Mended::Stuck => return false,
            }
        }
        false
    }

    fn mend(&mut self, splitting: bool) -> Mended {
        let (plane, rows) = self.plane();
        let findings = sweep(&plane);
        let row_of = |ring: u32| rows.get(ring as usize).copied().unwrap_or(usize::MAX);
        if !findings.meetings.is_empty() {
            let edges: BTreeSet<Edge> =
                findings.meetings.iter().flat_map(|meeting| [meeting.earlier, meeting.later]).collect();
            let edges: Vec<_> = edges.into_iter().collect();
            let mut changed = false;
            for edges in edges.chunk_by(|one, other| one.ring == other.ring) {
                changed |= edges.first().is_some_and(|edge| self.refine(row_of(edge.ring), edges, splitting));
            }
            return if changed { Mended::Changed } else { Mended::Stuck };
        }
        let nested = nest(&plane, &findings, &vec![false; plane.rings.len()]);
        if !nested.is_empty() {
            // A simpler edge has passed over it, so all of it lies within the tolerance of the ring of that edge.
            let passed_over = nested.into_iter().map(|nested| match nested {
                Nested::OutsideShell(hole) => {
                    let row = row_of(hole);
                    (row, StandIn::Row(row - plane.ring(hole).place as usize))
                }
                Nested::InHole { hole, outer } => (row_of(hole), StandIn::Row(row_of(outer))),
                Nested::Parts { inner_shell, outer, .. } => (row_of(inner_shell), StandIn::Part(outer)),
            });
            let passed_over = passed_over.collect();
            self.leave_out_all(passed_over);
            return Mended::Changed;
        }
        let holes = holes_that_cut(&plane, &findings);
        if holes.is_empty() {
            return Mended::Valid;
        }
        let parts: BTreeSet<u32> = holes.into_iter().map(|hole| plane.ring(hole).part).collect();
        let of_parts: Vec<usize> = rows.into_iter().filter(|row| self.is_in(*row, &parts)).collect();
        let restored = of_parts.into_iter().filter(|row| self.restore(*row)).count();
        if restored == 0 { Mended::Stuck } else { Mended::Changed }
    }

    /// The rings that stay, and which row each is.
    fn plane(&self) -> (Plane, Vec<usize>) {
        let mut plane = Plane::with_capacity(self.positions());
        let mut rows = Vec::new();
        for (index, row) in self.rows.iter().enumerate().filter(|(_, row)| !row.kept.is_empty()) {
            let ring = self.open_ring(index);
            let counterclockwise = is_counterclockwise(&ring);
            plane.add(Ring { part: row.part, place: row.place, counterclockwise, edges: 0 }, ring);
            rows.push(index);
        }
        (plane, rows)
    }

    fn is_in(&self, row: usize, parts: &BTreeSet<u32>) -> bool {
        self.rows.get(row).is_some_and(|row| parts.contains(&row.part))
    }
}
