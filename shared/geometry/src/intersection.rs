//! The rings that pass through one point: whether they cross there or only touch.
//!
//! A ring's passage through a point has two half-edges there. Sorted by angle, the half-edges of passages that do not
//! cross are nested like brackets.

use std::collections::{BTreeMap, BTreeSet};

use never::never;

use crate::Position;
use crate::segment::IntersectionKind;
use crate::segment_graph::{Edge, SegmentGraph};

/// Two edges that intersect: of one ring in any way, of two rings by crossing or overlapping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Intersection {
    pub kind: IntersectionKind,
    /// In the order of the document.
    pub earlier: Edge,
    pub later: Edge,
    pub at: Position,
}

impl Intersection {
    pub(crate) fn new(kind: IntersectionKind, one: Edge, other: Edge, at: Position) -> Self {
        Self { kind, earlier: one.min(other), later: one.max(other), at }
    }
}

/// The passage of a ring through a point where other rings pass, too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Contact {
    pub at: Position,
    passage: Passage,
}

impl Contact {
    pub(crate) fn ring(&self) -> u32 {
        self.passage.ring
    }

    /// Returns the edge in whose interior the point lies, unless it is a vertex of the ring.
    pub(crate) fn edge_interior(&self) -> Option<(Edge, Position)> {
        let Passage { ring, location } = self.passage;
        (location % 2 == 1).then_some((Edge { ring, edge: location / 2 }, self.at))
    }
}

/// All intersections and contacts that were found.
#[derive(Debug, Default)]
pub(crate) struct Intersections {
    pub intersections: Vec<Intersection>,
    /// The passages of several rings through one point.
    pub contacts: Vec<Contact>,
}

/// A ring's passage through a point, by the point's location on the ring: a vertex or the interior of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Passage {
    ring: u32,
    /// Defined as for [`Node`](crate::segment_graph::Node).
    location: u32,
}

impl Passage {
    /// The passage that has a segment at the point as one of its half-edges.
    fn of(graph: &SegmentGraph, segment: u32, at: Position) -> Self {
        let (from, to) = graph.endpoints(segment);
        let location = if from.at == at {
            from.location
        } else if to.at == at {
            to.location
        } else {
            from.location | 1
        };
        Self { ring: from.ring, location }
    }

    /// Its edges, in the order of the document. They are equal in the interior of an edge.
    fn edges(self, graph: &SegmentGraph) -> [Edge; 2] {
        let edge = self.location / 2;
        let before = if self.location % 2 == 1 {
            edge
        } else {
            edge.checked_sub(1).unwrap_or(graph.ring(self.ring).edges.wrapping_sub(1))
        };
        [before.min(edge), before.max(edge)].map(|edge| Edge { ring: self.ring, edge })
    }

    /// The intersection of the earliest edges of two passages.
    fn intersection(self, other: Self, graph: &SegmentGraph, kind: IntersectionKind, at: Position) -> Intersection {
        Intersection::new(kind, self.edges(graph)[0], other.edges(graph)[0], at)
    }
}

/// Returns the intersection of two segments that touch at a point.
pub(crate) fn touch(graph: &SegmentGraph, one: u32, other: u32, at: Position) -> Intersection {
    Passage::of(graph, one, at).intersection(Passage::of(graph, other, at), graph, IntersectionKind::Touch, at)
}

/// The half-edges around a point, each as its passage.
#[derive(Clone, Debug, Default)]
pub(crate) struct EdgeStar {
    /// To the east, from south to north.
    east: Vec<Passage>,
    /// To the west, from north to south.
    west: Vec<Passage>,
}

impl EdgeStar {
    /// The star of a point, from its segments to the east and to the west. Both come from south to north.
    pub(crate) fn new(graph: &SegmentGraph, at: Position, east: &[u32], west: &[u32]) -> Self {
        let passage = |segment: &u32| Passage::of(graph, *segment, at);
        Self { east: east.iter().map(passage).collect(), west: west.iter().rev().map(passage).collect() }
    }

    fn counterclockwise(&self) -> Vec<Passage> {
        [self.east.as_slice(), &self.west].concat()
    }
}

/// Collects the intersections at each point that the sweep line reaches.
///
/// A point of the antimeridian is two points of the map. A ring on one side of the map never intersects a ring on the
/// other side, because a map is flat. But a ring that crosses the antimeridian has one half-edge on each side, so it
/// is compared with the rings on both sides.
#[derive(Debug, Default)]
pub(crate) struct IntersectionCollector {
    found: Intersections,
    /// The stars at −180 by the bits of their latitude, until the sweep line reaches the same latitude at 180.
    at_west_end: BTreeMap<u64, EdgeStar>,
}

impl IntersectionCollector {
    /// Adds an intersection that the sweep found between neighbours.
    pub(crate) fn add(&mut self, intersection: Intersection) {
        self.found.intersections.push(intersection);
    }

    /// Adds the intersections of the passages through a point.
    pub(crate) fn add_star(&mut self, graph: &SegmentGraph, at: Position, star: EdgeStar) {
        if at[0] == -180.0 {
            self.at_west_end.insert(at[1].to_bits(), star);
            return;
        }
        let west_end = if at[0] == 180.0 { self.at_west_end.remove(&at[1].to_bits()) } else { None };
        let Some(west_end) = west_end else { return self.add_passages(graph, at, &star.counterclockwise()) };
        let (here, there) = (star.counterclockwise(), west_end.counterclockwise());
        let shared = |passages: &[Passage], others: &[Passage]| -> Vec<Passage> {
            let others: BTreeSet<&Passage> = others.iter().collect();
            passages.iter().filter(|passage| others.contains(passage)).copied().collect()
        };
        self.add_passages(graph, at, &[shared(&there, &here), here.clone()].concat());
        let around_west_end = [west_end.east, shared(&here, &there), west_end.west].concat();
        self.add_passages(graph, [-180.0, at[1]], &around_west_end);
    }

    /// Adds the stars at −180 that have no counterpart at 180, and returns what was found.
    pub(crate) fn finish(mut self, graph: &SegmentGraph) -> Intersections {
        for (latitude, star) in std::mem::take(&mut self.at_west_end) {
            self.add_passages(graph, [-180.0, f64::from_bits(latitude)], &star.counterclockwise());
        }
        self.found
    }

    /// Adds the intersections of the passages whose half-edges are `around` a point, counterclockwise.
    fn add_passages(&mut self, graph: &SegmentGraph, at: Position, around: &[Passage]) {
        let mut passages = around.to_vec();
        passages.sort_unstable();
        passages.dedup();
        if passages.len() < 2 {
            return;
        }
        for same in passages.chunk_by(|one, other| one.ring == other.ring) {
            // The later passages of a ring touch its earliest one.
            let Some(first) = same.iter().min_by_key(|passage| passage.edges(graph)) else { continue };
            let others = same.iter().filter(|passage| *passage != first);
            let touches = others.map(|other| first.intersection(*other, graph, IntersectionKind::Touch, at));
            self.found.intersections.extend(touches);
        }
        if passages.first().map(|passage| passage.ring) != passages.last().map(|passage| passage.ring) {
            self.found.contacts.extend(passages.iter().map(|passage| Contact { at, passage: *passage }));
            self.add_crossings(graph, at, around, &passages);
        }
    }

    /// Adds the crossings of different rings at a point. A passage crosses each one that was opened after it and is
    /// still open when it closes.
    fn add_crossings(&mut self, graph: &SegmentGraph, at: Position, around: &[Passage], passages: &[Passage]) {
        // All pairs of a few passages. Of many, enough to name them, in linear time.
        let mut budget = 100 + passages.len();
        let mut half_edges = vec![0_u8; passages.len()];
        let order: Vec<usize> = around.iter().filter_map(|passage| passages.binary_search(passage).ok()).collect();
        for passage in &order {
            half_edges.get_mut(*passage).into_iter().for_each(|count| *count = count.saturating_add(1));
        }
        let mut open = OpenPassages { entries: vec![StackEntry::default(); passages.len()], top: None };
        for passage in order.into_iter().filter(|passage| half_edges.get(*passage) == Some(&2)) {
            if !open.contains(passage) {
                open.push(passage);
                continue;
            }
            let mut above = open.above(passage);
            while let Some(other) = above.filter(|_| budget > 0) {
                let rings =
                    passages.get(passage).zip(passages.get(other)).filter(|(one, other)| one.ring != other.ring);
                let crossing = rings.map(|(one, other)| one.intersection(*other, graph, IntersectionKind::Cross, at));
                self.found.intersections.extend(crossing);
                budget -= 1;
                above = open.above(other);
            }
            open.remove(passage);
        }
    }
}

/// A stack, as a linked list, from which any entry can be removed in constant time.
struct OpenPassages {
    entries: Vec<StackEntry>,
    top: Option<usize>,
}

#[derive(Clone, Default)]
struct StackEntry {
    is_open: bool,
    below: Option<usize>,
    above: Option<usize>,
}

impl OpenPassages {
    fn contains(&self, passage: usize) -> bool {
        self.entries.get(passage).is_some_and(|entry| entry.is_open)
    }

    fn above(&self, passage: usize) -> Option<usize> {
        self.entries.get(passage).and_then(|entry| entry.above)
    }

    fn push(&mut self, passage: usize) {
        let below = self.top.replace(passage);
        self.change(Some(passage), |entry| *entry = StackEntry { is_open: true, below, above: None });
        self.change(below, |entry| entry.above = Some(passage));
    }

    fn remove(&mut self, passage: usize) {
        let Some(StackEntry { below, above, .. }) = self.entries.get(passage).cloned() else {
            never!("passage {passage} of {} is removed from the stack", self.entries.len());
            return;
        };
        self.change(below, |entry| entry.above = above);
        self.change(above, |entry| entry.below = below);
        if self.top == Some(passage) {
            self.top = below;
        }
        self.change(Some(passage), |entry| entry.is_open = false);
    }

    fn change(&mut self, passage: Option<usize>, change: impl FnOnce(&mut StackEntry)) {
        if let Some(entry) = passage.and_then(|passage| self.entries.get_mut(passage)) {
            change(entry);
        }
    }
}
