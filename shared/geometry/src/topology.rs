//! Rules 6 to 8: the topology of the rings of a shape.

use std::collections::BTreeSet;

use never::never;

use crate::interior::holes_disconnecting_interior;
use crate::intersection::Intersection;
use crate::ring_nesting::{NestingFault, nesting_faults};
use crate::segment::IntersectionKind;
use crate::segment_graph::{Edge, SegmentGraph};
use crate::self_intersection::{holes_outside_shell, intersections_of_removed};
use crate::shape::Position;
use crate::sweep::sweep;

/// A violated rule. A shape may have as many as it has edges.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Violation {
    /// Rule 6, at the end of an edge that intersects an earlier edge of its ring.
    Edge(Edge, IntersectionKind, Position),
    /// Rule 7, at a hole, with the detail of the fault.
    Hole(u32, String),
    /// Rule 8, at the later of two parts, with the detail of the fault.
    Part(u32, String),
}

impl Violation {
    pub(crate) fn detail(self) -> String {
        match self {
            Self::Edge(_, kind, [x, y]) => {
                let (x, y, kind) = (rounded(x), rounded(y), kind.as_str());
                format!("the edge that ends here {kind} an earlier edge of its ring near ({x}, {y})")
            }
            Self::Hole(_, detail) | Self::Part(_, detail) => detail,
        }
    }
}

/// Returns the violations of rules 6 to 8, at most one for each edge, hole and part.
pub(crate) fn violations(graph: &SegmentGraph) -> Vec<Violation> {
    let swept = sweep(graph);
    let mut check = TopologyCheck {
        graph,
        intersecting: vec![false; graph.rings.len()],
        edges: BTreeSet::new(),
        holes: BTreeSet::new(),
        parts: BTreeSet::new(),
        violations: Vec::new(),
    };
    for intersection in swept.intersections.iter().chain(&intersections_of_removed(graph, &swept)) {
        check.intersection(intersection);
    }
    for fault in nesting_faults(graph, &swept, &check.intersecting) {
        check.nesting(fault);
    }
    for hole in holes_outside_shell(graph, &check.intersecting) {
        check.nesting(NestingFault::OutsideShell(hole));
    }
    for hole in holes_disconnecting_interior(graph, &swept) {
        check
            .hole(hole, || "the hole touches other rings so that the interior of the polygon is cut in two".to_owned());
    }
    check.violations
}

struct TopologyCheck<'a> {
    graph: &'a SegmentGraph,
    /// For each ring: it crosses or overlaps itself or another one, so its interior is undefined.
    intersecting: Vec<bool>,
    edges: BTreeSet<Edge>,
    holes: BTreeSet<u32>,
    parts: BTreeSet<u32>,
    violations: Vec<Violation>,
}

impl TopologyCheck<'_> {
    fn intersection(&mut self, intersection: &Intersection) {
        let Intersection { kind, earlier, later, at: [x, y] } = *intersection;
        if kind != IntersectionKind::Touch {
            for edge in [earlier, later] {
                match self.intersecting.get_mut(edge.ring as usize) {
                    Some(intersecting) => *intersecting = true,
                    None => never!("ring {} of {} intersects another", edge.ring, self.intersecting.len()),
                }
            }
        }
        let (earlier_ring, later_ring) = (self.graph.ring(earlier.ring), self.graph.ring(later.ring));
        if earlier.ring == later.ring {
            if self.edges.insert(later) {
                self.violations.push(Violation::Edge(later, kind, [x, y]));
            }
            return;
        }
        let (x, y, kind) = (rounded(x), rounded(y), kind.as_str());
        if earlier_ring.part == later_ring.part {
            let other = if earlier_ring.index == 0 { "its shell" } else { "another hole" };
            self.hole(later.ring, || format!("the hole {kind} {other} near ({x}, {y})"));
        } else {
            let other = earlier_ring.part;
            self.part(later_ring.part, || format!("the part {kind} part {other} near ({x}, {y})"));
        }
    }

    fn nesting(&mut self, fault: NestingFault) {
        match fault {
            NestingFault::OutsideShell(hole) => self.hole(hole, || "the hole is outside its shell".to_owned()),
            NestingFault::InHole { hole, .. } => self.hole(hole, || "the hole is inside another hole".to_owned()),
            NestingFault::Parts { inner, outer, .. } => {
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

/// Rounds degrees for a message.
fn rounded(degrees: f64) -> f64 {
    (degrees * 1e7).round() / 1e7 + 0.0
}
