//! Rules 6, 7 and 8: how the rings of a shape may lie to one another.

use std::collections::BTreeSet;

use crate::interior::holes_that_cut;
use crate::meeting::{How, Meeting};
use crate::nest::{Nested, nest};
use crate::plane::{Edge, Plane};
use crate::shape::Position;
use crate::sweep::sweep;
use crate::tangle::{holes_outside, meetings_of_removed};

/// A broken rule, and what a message says of it. Of edges there may be as many as a shape has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Violation {
    /// Rule 6, at the end of the later edge: how it meets an earlier one of its ring, and where.
    Edge(Edge, How, Position),
    /// Rule 7, at the hole.
    Hole(u32, String),
    /// Rule 8, at the later part.
    Part(u32, String),
}

impl Violation {
    pub(crate) fn detail(self) -> String {
        match self {
            Self::Edge(_, how, [x, y]) => {
                let (x, y, how) = (short(x), short(y), how.as_str());
                format!("the edge that ends here {how} an earlier one of its ring near ({x}, {y})")
            }
            Self::Hole(_, detail) | Self::Part(_, detail) => detail,
        }
    }
}

/// What breaks a rule; each place once.
pub(crate) fn violations(plane: &Plane) -> Vec<Violation> {
    let findings = sweep(plane);
    let mut judge = Judge {
        plane,
        tangled: vec![false; plane.rings.len()],
        edges: BTreeSet::new(),
        holes: BTreeSet::new(),
        parts: BTreeSet::new(),
        violations: Vec::new(),
    };
    for meeting in findings.meetings.iter().chain(&meetings_of_removed(plane, &findings)) {
        judge.meeting(meeting);
    }
    for nested in nest(plane, &findings, &judge.tangled) {
        judge.nested(nested);
    }
    for hole in holes_outside(plane, &judge.tangled) {
        judge.nested(Nested::OutsideShell(hole));
    }
    for hole in holes_that_cut(plane, &findings) {
        judge.hole(hole, || "the hole touches other rings so that the interior is cut in two".to_owned());
    }
    judge.violations
}

struct Judge<'a> {
    plane: &'a Plane,
    /// Rings that cross themselves or another: what lies inside them cannot be told.
    tangled: Vec<bool>,
    edges: BTreeSet<Edge>,
    holes: BTreeSet<u32>,
    parts: BTreeSet<u32>,
    violations: Vec<Violation>,
}

impl Judge<'_> {
    fn meeting(&mut self, meeting: &Meeting) {
        let Meeting { how, earlier, later, at: [x, y] } = *meeting;
        if how != How::Touch {
            for edge in [earlier, later] {
                if let Some(tangled) = self.tangled.get_mut(edge.ring as usize) {
                    *tangled = true;
                }
            }
        }
        let (earlier_ring, later_ring) = (self.plane.ring(earlier.ring), self.plane.ring(later.ring));
        if earlier.ring == later.ring {
            if self.edges.insert(later) {
                self.violations.push(Violation::Edge(later, how, [x, y]));
            }
            return;
        }
        let (x, y, how) = (short(x), short(y), how.as_str());
        if earlier_ring.part == later_ring.part {
            let other = if earlier_ring.place == 0 { "its shell" } else { "another hole" };
            self.hole(later.ring, || format!("the hole {how} {other} near ({x}, {y})"));
        } else {
            let other = earlier_ring.part;
            self.part(later_ring.part, || format!("the part {how} part {other} near ({x}, {y})"));
        }
    }

    fn nested(&mut self, nested: Nested) {
        match nested {
            Nested::OutsideShell(hole) => self.hole(hole, || "the hole does not lie in its shell".to_owned()),
            Nested::InHole { hole, .. } => self.hole(hole, || "the hole lies in another hole".to_owned()),
            Nested::Parts { inner, outer, .. } => {
                self.part(inner.max(outer), || format!("the part shares area with part {}", inner.min(outer)));
            }
        }
    }

    fn hole(&mut self, ring: u32, detail: impl FnOnce() -> String) {
        if self.holes.insert(ring) {
            self.violations.push(Violation::Hole(ring, detail()));
        }
    }

    fn part(&mut self, part: u32, detail: impl FnOnce() -> String) {
        if self.parts.insert(part) {
            self.violations.push(Violation::Part(part, detail()));
        }
    }
}

/// Degrees as a message shows them.
fn short(degrees: f64) -> f64 {
    (degrees * 1e7).round() / 1e7 + 0.0
}
