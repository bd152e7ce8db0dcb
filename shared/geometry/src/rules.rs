//! Rules 6, 7 and 8: how the rings of a shape may lie to one another.

use std::collections::BTreeSet;

use crate::Position;
use crate::fault::NAMED_FAULTS;
use crate::meeting::{How, Meeting, crossing_place};
use crate::nest::{Nested, nest};
use crate::orient::{Side, side, sweep_order};
use crate::plane::{Edge, NONE, Plane};
use crate::sweep::{Findings, sweep};

/// A broken rule, and what a message says of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Violation {
    /// Rule 6, at the end of the later edge.
    Edge(Edge, String),
    /// Rule 7, at the hole.
    Hole(u32, String),
    /// Rule 8, at the later part.
    Part(u32, String),
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
    for meeting in &findings.meetings {
        judge.meet(meeting);
    }
    judge.look_again(&findings);
    for nested in nest(plane, &findings, &judge.tangled) {
        judge.nest(nested);
    }
    judge.holes_of_tangled_shells();
    judge.interiors(&findings);
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
    fn meet(&mut self, meeting: &Meeting) {
        let Meeting { how, earlier, later, at: [x, y] } = *meeting;
        if how != How::Touch {
            for edge in [earlier, later] {
                self.tangled.get_mut(edge.ring as usize).into_iter().for_each(|tangled| *tangled = true);
            }
        }
        let (x, y) = (short(x), short(y));
        let how = how.as_str();
        let (ring, part) = (self.plane.ring(later.ring), self.plane.ring(later.ring).part);
        let earlier_ring = self.plane.ring(earlier.ring);
        if earlier.ring == later.ring {
            self.edge(later, || format!("the edge that ends here {how} an earlier one of its ring near ({x}, {y})"));
        } else if earlier_ring.part == part {
            let other = if earlier_ring.place == 0 { "its shell" } else { "another hole" };
            debug_assert!(ring.place > 0);
            self.hole(later.ring, || format!("the hole {how} {other} near ({x}, {y})"));
        } else {
            let other = earlier_ring.part;
            self.part(part, || format!("the part {how} part {other} near ({x}, {y})"));
        }
    }

    fn nest(&mut self, nested: Nested) {
        match nested {
            Nested::OutsideShell(hole) => self.hole(hole, || "the hole does not lie in its shell".to_owned()),
            Nested::InHole(hole) => self.hole(hole, || "the hole lies in another hole".to_owned()),
            Nested::Parts { inner, outer } => {
                self.part(inner.max(outer), || format!("the part shares area with part {}", inner.min(outer)));
            }
        }
    }

    /// What left the sweep was compared with its neighbours only: finds what else it meets.
    fn look_again(&mut self, findings: &Findings) {
        for removed in findings.removed.iter().take(NAMED_FAULTS) {
            let ends = segment_ends(self.plane, *removed);
            let one = self.plane.edge(*removed);
            let (south, north) = (ends[0][1].min(ends[1][1]), ends[0][1].max(ends[1][1]));
            for segment in (0_u32..).zip(&self.plane.nodes).filter(|(_, node)| node.out != NONE).map(|(id, _)| id) {
                let other_ends = segment_ends(self.plane, segment);
                let [[west, y], [east, other_y]] = other_ends;
                if east < ends[0][0] || west > ends[1][0] || y.max(other_y) < south || y.min(other_y) > north {
                    continue;
                }
                let other = self.plane.edge(segment);
                let edges = self.plane.ring(one.ring).edges;
                let apart = one.edge.abs_diff(other.edge);
                let neighbours = one.ring == other.ring && (apart <= 1 || apart + 1 == edges);
                if let Some((how, at)) = meet(ends, other_ends)
                    && match how {
                        How::Cross => true,
                        How::Overlap => one != other,
                        How::Touch => one.ring == other.ring && !neighbours,
                    }
                {
                    self.meet(&Meeting::new(how, one, other, at));
                }
            }
        }
    }

    /// Holes of shells that cross themselves are judged by counting edges, within a budget of work.
    fn holes_of_tangled_shells(&mut self) {
        let mut budget = 20_000_000_usize;
        let is_tangled = |ring: u32| self.tangled.get(ring as usize) == Some(&true);
        let mut shell = NONE;
        let mut outside = Vec::new();
        for (id, ring) in (0_u32..).zip(&self.plane.rings) {
            if ring.place == 0 {
                shell = id;
            } else if is_tangled(shell) && self.plane.ring(shell).part == ring.part {
                let Some(place) = self.nodes(id).first().map(|node| node.at) else { continue };
                budget = budget.saturating_sub(self.nodes(shell).len());
                if budget > 0 && !self.holds(shell, place) {
                    outside.push(id);
                }
            }
        }
        for hole in outside {
            self.nest(Nested::OutsideShell(hole));
        }
    }

    /// Whether a place lies on a ring, or has an odd number of its edges beneath it.
    fn holds(&self, ring: u32, place: Position) -> bool {
        let mut inside = false;
        for node in self.nodes(ring).iter().filter(|node| node.out != NONE) {
            let [from, to] = segment_ends(self.plane, node.out);
            if from[0] <= place[0] && place[0] <= to[0] {
                match side(from, to, place) {
                    Side::On if from[1].min(to[1]) <= place[1] && place[1] <= from[1].max(to[1]) => return true,
                    Side::Left if place[0] < to[0] => inside = !inside,
                    _ => {}
                }
            }
        }
        inside
    }

    fn nodes(&self, ring: u32) -> &[crate::plane::Node] {
        let nodes = &self.plane.nodes;
        let start = nodes.partition_point(|node| node.ring < ring);
        let end = nodes.partition_point(|node| node.ring <= ring);
        nodes.get(start..end).unwrap_or_default()
    }

    /// Rings that touch in a circle cut the interior of their part in two. Rings and the places where they touch are
    /// joined in the order of the document; a hole that joins what was joined already closes a circle.
    fn interiors(&mut self, findings: &Findings) {
        let mut contacts: Vec<_> =
            findings.contacts.iter().map(|(at, ring)| (self.plane.ring(*ring).part, *at, *ring)).collect();
        contacts.sort_unstable_by(|one, other| {
            one.0.cmp(&other.0).then(sweep_order(&one.1, &other.1)).then(one.2.cmp(&other.2))
        });
        contacts.dedup();
        let mut touches: Vec<(u32, usize)> = Vec::new();
        let mut place = self.plane.rings.len();
        for group in
            contacts.chunk_by(|one, other| one.0 == other.0 && one.1 == other.1).filter(|group| group.len() > 1)
        {
            touches.extend(group.iter().map(|(_, _, ring)| (*ring, place)));
            place += 1;
        }
        touches.sort_unstable();
        let mut joined = Joined { parents: (0..place).collect() };
        for (ring, place) in touches {
            if !joined.join(ring as usize, place) {
                self.hole(ring, || "the hole touches other rings so that the interior is cut in two".to_owned());
            }
        }
    }

    fn edge(&mut self, edge: Edge, detail: impl FnOnce() -> String) {
        if self.edges.insert(edge) {
            self.violations.push(Violation::Edge(edge, detail()));
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

/// Sets that grow together (union-find).
struct Joined {
    parents: Vec<usize>,
}

impl Joined {
    /// Whether they were apart before.
    fn join(&mut self, one: usize, other: usize) -> bool {
        let (one, other) = (self.root(one), self.root(other));
        self.parents.get_mut(one).into_iter().for_each(|parent| *parent = other);
        one != other
    }

    fn root(&mut self, mut of: usize) -> usize {
        while let Some(parent) = self.parents.get(of).copied().filter(|parent| *parent != of) {
            // Halves the way for the next time.
            let above = self.parents.get(parent).copied().unwrap_or(parent);
            self.parents.get_mut(of).into_iter().for_each(|parent| *parent = above);
            of = above;
        }
        of
    }
}

/// How two segments, each with its ends in sweep order, meet, and where.
fn meet(one: [Position; 2], other: [Position; 2]) -> Option<(How, Position)> {
    use Side::{Left, On, Right};
    let of_other = other.map(|end| side(one[0], one[1], end));
    let of_one = one.map(|end| side(other[0], other[1], end));
    let apart = |sides: [Side; 2]| matches!(sides, [Left, Left] | [Right, Right]);
    if apart(of_other) || apart(of_one) {
        return None;
    }
    if of_other == [On, On] {
        let start = if sweep_order(&one[0], &other[0]).is_lt() { other[0] } else { one[0] };
        let end = if sweep_order(&one[1], &other[1]).is_lt() { one[1] } else { other[1] };
        return match sweep_order(&start, &end) {
            std::cmp::Ordering::Less => Some((How::Overlap, start)),
            std::cmp::Ordering::Equal => Some((How::Touch, start)),
            std::cmp::Ordering::Greater => None,
        };
    }
    match (of_other, of_one) {
        ([On, _], _) => Some((How::Touch, other[0])),
        ([_, On], _) => Some((How::Touch, other[1])),
        (_, [On, _]) => Some((How::Touch, one[0])),
        (_, [_, On]) => Some((How::Touch, one[1])),
        _ => Some((How::Cross, crossing_place(one, other))),
    }
}

fn segment_ends(plane: &Plane, segment: u32) -> [Position; 2] {
    let (from, to) = plane.ends(segment);
    if sweep_order(&from.at, &to.at).is_lt() { [from.at, to.at] } else { [to.at, from.at] }
}

/// Degrees as a message shows them.
fn short(degrees: f64) -> f64 {
    (degrees * 1e7).round() / 1e7 + 0.0
}
