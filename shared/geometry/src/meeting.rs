//! How rings meet at one place: whether they cross there or only touch.

use crate::Position;
use crate::plane::{Edge, Plane};
use crate::sweep::Findings;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Cross,
    Overlap,
    /// Without crossing: within one ring that is a fault, too.
    Touch,
}

impl How {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Cross => "crosses",
            Self::Overlap => "overlaps",
            Self::Touch => "touches",
        }
    }
}

/// Two edges that meet where they must not, or of two rings that cross.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Meeting {
    pub how: How,
    /// In the order of the document.
    pub earlier: Edge,
    pub later: Edge,
    pub at: Position,
}

impl Meeting {
    pub(crate) fn new(how: How, one: Edge, other: Edge, at: Position) -> Self {
        Self { how, earlier: one.min(other), later: one.max(other), at }
    }
}

/// A ring at a place where others are, too, and it crosses none of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Contact {
    pub at: Position,
    way: Way,
}

impl Contact {
    pub(crate) fn ring(&self) -> u32 {
        self.way.ring
    }

    /// The edge within which it is.
    pub(crate) fn within_edge(&self) -> Option<(Edge, Position)> {
        let Way { ring, mark } = self.way;
        (mark % 2 == 1).then_some((Edge { ring, edge: mark / 2 }, self.at))
    }
}

/// A ring's way through a place: over a vertex, or within an edge; by the node's mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Way {
    ring: u32,
    mark: u32,
}

impl Way {
    /// The way of which a segment at the place is half.
    fn of(plane: &Plane, segment: u32, at: Position) -> Self {
        let (from, to) = plane.ends(segment);
        let mark = if from.at == at {
            from.mark
        } else if to.at == at {
            to.mark
        } else {
            from.mark | 1
        };
        Self { ring: from.ring, mark }
    }

    /// Its edges, in the order of the document.
    fn edges(self, plane: &Plane) -> [Edge; 2] {
        let edge = self.mark / 2;
        let before = if self.mark % 2 == 1 {
            edge
        } else {
            edge.checked_sub(1).unwrap_or(plane.ring(self.ring).edges.wrapping_sub(1))
        };
        let edge = |edge| Edge { ring: self.ring, edge };
        [edge(before.min(self.mark / 2)), edge(before.max(self.mark / 2))]
    }

    /// The two edges with which, in the order of the document, the ways first have met.
    fn meeting(self, other: Self, plane: &Plane, how: How, at: Position) -> Meeting {
        Meeting::new(how, self.edges(plane)[0], other.edges(plane)[0], at)
    }
}

/// Two segments that touch at a place, as a meeting of their rings' ways there.
pub(crate) fn touch(plane: &Plane, one: u32, other: u32, at: Position) -> Meeting {
    Way::of(plane, one, at).meeting(Way::of(plane, other, at), plane, How::Touch, at)
}

/// The ways of which segments at a place are halves, in the order of these.
pub(crate) fn ways(plane: &Plane, at: Position, segments: impl Iterator<Item = u32>) -> Vec<Way> {
    segments.map(|segment| Way::of(plane, segment, at)).collect()
}

/// Notes the ways that meet at a place. `around` are their halves, counterclockwise.
pub(crate) fn note_ways(plane: &Plane, at: Position, around: &[Way], findings: &mut Findings) {
    let mut ways = around.to_vec();
    ways.sort_unstable();
    ways.dedup();
    if ways.len() < 2 {
        return;
    }
    for same in ways.chunk_by(|one, other| one.ring == other.ring) {
        // The others touch the one that was there first.
        let Some(first) = same.iter().min_by_key(|way| way.edges(plane)) else { continue };
        let others = same.iter().filter(|way| *way != first);
        findings.meetings.extend(others.map(|other| first.meeting(*other, plane, How::Touch, at)));
    }
    if ways.first().map(|way| way.ring) != ways.last().map(|way| way.ring) {
        findings.contacts.extend(ways.iter().map(|way| Contact { at, way: *way }));
        note_crossings(plane, at, around, &ways, findings);
    }
}

/// Ways that do not cross are nested like brackets: one that closes has nothing open above it.
fn note_crossings(plane: &Plane, at: Position, around: &[Way], ways: &[Way], findings: &mut Findings) {
    // All pairs of a few ways; of many, enough to name them, and no more work than that.
    let mut most = 100 + ways.len();
    let mut halves = vec![0_u8; ways.len()];
    let order: Vec<_> = around.iter().filter_map(|way| ways.binary_search(way).ok()).collect();
    for way in &order {
        halves.get_mut(*way).into_iter().for_each(|halves| *halves = halves.saturating_add(1));
    }
    let mut open = OpenWays { all: vec![Open::default(); ways.len()], top: None };
    for way in order.into_iter().filter(|way| halves.get(*way) == Some(&2)) {
        if !open.is(way) {
            open.push(way);
            continue;
        }
        let mut above = open.above(way);
        while let Some(other) = above.filter(|_| most > 0) {
            let crossing = ways.get(way).zip(ways.get(other)).filter(|(way, other)| way.ring != other.ring);
            findings.meetings.extend(crossing.map(|(way, other)| way.meeting(*other, plane, How::Cross, at)));
            most -= 1;
            above = open.above(other);
        }
        open.remove(way);
    }
}

/// A stack from which also what lies deep is taken in one step.
struct OpenWays {
    all: Vec<Open>,
    top: Option<usize>,
}

#[derive(Clone, Default)]
struct Open {
    is: bool,
    below: Option<usize>,
    above: Option<usize>,
}

impl OpenWays {
    fn is(&self, way: usize) -> bool {
        self.all.get(way).is_some_and(|open| open.is)
    }

    fn above(&self, way: usize) -> Option<usize> {
        self.all.get(way).and_then(|open| open.above)
    }

    fn push(&mut self, way: usize) {
        let below = self.top.replace(way);
        self.change(Some(way), |open| *open = Open { is: true, below, above: None });
        self.change(below, |open| open.above = Some(way));
    }

    fn remove(&mut self, way: usize) {
        let Open { below, above, .. } = self.all.get(way).cloned().unwrap_or_default();
        self.change(below, |open| open.above = above);
        self.change(above, |open| open.below = below);
        if self.top == Some(way) {
            self.top = below;
        }
        self.change(Some(way), |open| open.is = false);
    }

    fn change(&mut self, way: Option<usize>, change: impl FnOnce(&mut Open)) {
        way.and_then(|way| self.all.get_mut(way)).map(change).unwrap_or_default();
    }
}

/// Where two segments that cross do so, about.
pub(crate) fn crossing_place(one: [Position; 2], other: [Position; 2]) -> Position {
    let [[x, y], [end_x, end_y]] = one;
    let [[other_x, other_y], [other_end_x, other_end_y]] = other;
    let (run, rise) = (end_x - x, end_y - y);
    let (other_run, other_rise) = (other_end_x - other_x, other_end_y - other_y);
    let part = ((other_x - x) * other_rise - (other_y - y) * other_run) / (run * other_rise - rise * other_run);
    let part = if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.5 };
    [x + run * part, y + rise * part]
}
