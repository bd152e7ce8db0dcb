//! The sweep line: finds where rings intersect, and which ring is below each.
//!
//! A vertical line sweeps the map from west to east and keeps the segments that it meets in order, the sweep status
//! (Shamos and Hoey, 1976). Segments that intersect are neighbours in the status before the line reaches the
//! intersection.
//!
//! Of two segments that cross, the later one in the document leaves the sweep. This keeps the order of the others
//! correct, and n segments take O(n log n) steps however often they cross. All decisions are exact, because they
//! compare positions of the shape and no computed ones.

mod simple_vertex;
mod status;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use never::never;

use crate::Position;
use crate::intersection::{Contact, EdgeStar, Intersection, IntersectionCollector, Intersections};
use crate::orientation::{Side, sweep_order};
use crate::segment::{IntersectionKind, crossing_point};
use crate::segment_graph::{NONE, SegmentGraph};
use status::{Location, Slot, SweepStatus};

#[derive(Debug, Default)]
pub(crate) struct SweepResult {
    pub intersections: Vec<Intersection>,
    /// The passages of several rings through one point.
    pub contacts: Vec<Contact>,
    /// Each ring, in the sweep order of their first positions, with the ring directly below it there and whether the
    /// space between them is inside that ring.
    pub below: Vec<(u32, Option<(u32, bool)>)>,
    /// The segments that left the sweep because they cross or overlap another one.
    pub removed: Vec<u32>,
}

pub(crate) fn sweep(graph: &SegmentGraph) -> SweepResult {
    sweep_and_count(graph).0
}

/// Sweeps, and returns also the number of orientation tests, which measures the work.
fn sweep_and_count(graph: &SegmentGraph) -> (SweepResult, u64) {
    let mut events: Vec<(Position, u32)> = (0_u32..)
        .zip(&graph.nodes)
        .filter(|(_, node)| node.incoming != NONE || node.outgoing != NONE)
        .map(|(id, node)| (node.at, id))
        .collect();
    events.sort_unstable_by(|(one, id), (other, other_id)| sweep_order(one, other).then(id.cmp(other_id)));
    let mut sweep = Sweep {
        graph,
        status: SweepStatus::new(),
        slots: vec![NONE; graph.nodes.len()],
        reached: vec![false; graph.rings.len()],
        collector: IntersectionCollector::default(),
        below: Vec::with_capacity(graph.rings.len()),
        removed: Vec::new(),
    };
    for group in events.chunk_by(|one, other| one.0 == other.0) {
        let Some((at, node)) = group.first().copied() else { continue };
        if group.len() > 1 || !sweep.handle_simple_vertex(at, node) {
            sweep.handle_event(at, group);
        }
    }
    let Sweep { status, collector, below, removed, .. } = sweep;
    let Intersections { intersections, contacts } = collector.finish(graph);
    (SweepResult { intersections, contacts, below, removed }, status.orientation_tests)
}

struct Sweep<'a> {
    graph: &'a SegmentGraph,
    status: SweepStatus,
    /// The slot of each segment that is in the status.
    slots: Vec<u32>,
    /// For each ring: the sweep line has reached it.
    reached: Vec<bool>,
    collector: IntersectionCollector,
    below: Vec<(u32, Option<(u32, bool)>)>,
    removed: Vec<u32>,
}

impl Sweep<'_> {
    /// Handles all nodes at one point, where any segments may meet.
    fn handle_event(&mut self, at: Position, group: &[(Position, u32)]) {
        let (mut ending, mut starting) = (Vec::new(), Vec::new());
        for (_, node) in group {
            let node = self.graph.node(*node);
            for segment in [node.incoming, node.outgoing].into_iter().filter(|segment| *segment != NONE) {
                if self.starts_at(segment, at) { starting.push(segment) } else { ending.push(segment) }
            }
        }
        let west = self.segments_through(at, &ending);
        let below = match west.first().and_then(|segment| self.slot_of(*segment)) {
            Some(lowest) => lowest.below,
            None => match self.status.locate(at) {
                Location::Between(below, _) => below,
                Location::On(_) => {
                    never!("the status finds a segment at {at:?}, and then another one");
                    NONE
                }
            },
        };
        let (ended, through): (Vec<u32>, Vec<u32>) =
            west.iter().partition(|segment| self.graph.sweep_endpoints(**segment)[1] == at);
        for segment in ended {
            self.remove(segment);
        }
        // Segments that run through one point cross one another there.
        let stays = through.iter().copied().min_by_key(|segment| self.graph.edge(*segment));
        for segment in through.into_iter().filter(|segment| Some(*segment) != stays) {
            self.withdraw(segment);
        }
        let mut east = starting;
        east.extend(stays);
        let (status, graph) = (&mut self.status, self.graph);
        east.sort_by(|one, other| {
            match status.side(at, graph.sweep_endpoints(*one)[1], graph.sweep_endpoints(*other)[1]) {
                Side::Left => Ordering::Less,
                Side::Right => Ordering::Greater,
                Side::On => graph.edge(*one).cmp(&graph.edge(*other)),
            }
        });
        self.insert_all(at, below, &east);
        self.collector.add_star(graph, at, EdgeStar::new(graph, at, &east, &west));
        for segment in &east {
            self.record_below(*segment);
        }
        east.retain(|segment| self.slot(*segment) != NONE);
        match (east.first(), east.last()) {
            (Some(lowest), Some(highest)) => {
                self.check_neighbours(*lowest);
                self.check_neighbours(*highest);
            }
            _ => {
                let above = self.status.slot(below).map_or(self.status.lowest(), |below| below.above);
                self.check_pair(below, above);
            }
        }
    }

    /// Returns the segments in the status that end at a point or run through it, from south to north.
    fn segments_through(&mut self, at: Position, ending: &[u32]) -> Vec<u32> {
        let known = ending.iter().map(|segment| self.slot(*segment)).find(|slot| *slot != NONE);
        let slot = match known {
            Some(slot) => slot,
            None => match self.status.locate(at) {
                Location::On(slot) => slot,
                Location::Between(..) => return Vec::new(),
            },
        };
        let mut lowest = slot;
        while let Some(below) = self.status.slot(lowest).map(|slot| slot.below) {
            if !self.status.contains(below, at) {
                break;
            }
            lowest = below;
        }
        let mut segments = Vec::new();
        let mut next = lowest;
        while let Some(Slot { segment, above, .. }) = self.status.slot(next).copied() {
            segments.push(segment);
            if !self.status.contains(above, at) {
                break;
            }
            next = above;
        }
        segments
    }

    /// Inserts the segments that are not in the status yet. Of two that overlap, the earlier one stays.
    fn insert_all(&mut self, at: Position, mut below: u32, east: &[u32]) {
        let mut before: Option<u32> = None;
        for segment in east.iter().copied() {
            let overlaps = before.is_some_and(|before| {
                let [one, other] = [before, segment].map(|segment| self.graph.sweep_endpoints(segment)[1]);
                self.status.side(at, one, other) == Side::On
            });
            if let Some(before) = before.filter(|_| overlaps) {
                let (one, other) = (self.graph.edge(before), self.graph.edge(segment));
                self.collector.add(Intersection::new(IntersectionKind::Overlap, one, other, at));
                self.withdraw(segment);
                continue;
            }
            before = Some(segment);
            if self.slot(segment) == NONE {
                self.insert(below, segment);
            }
            below = self.slot(segment);
        }
    }

    /// Checks a segment for crossings with both of its neighbours.
    fn check_neighbours(&mut self, segment: u32) {
        if let Some(slot) = self.slot_of(segment) {
            self.check_pair(slot.below, self.slot(segment));
        }
        if let Some(slot) = self.slot_of(segment) {
            self.check_pair(self.slot(segment), slot.above);
        }
    }

    /// Checks whether two neighbours cross further east. If so, one leaves and the new neighbours are checked.
    fn check_pair(&mut self, mut below: u32, mut above: u32) {
        while let (Some(low), Some(high)) = (self.status.slot(below).copied(), self.status.slot(above).copied()) {
            // They cross if the one that ends first ends on the other side of the other one.
            let cross = match sweep_order(&low.end, &high.end) {
                Ordering::Less => self.status.side(high.start, high.end, low.end) == Side::Left,
                Ordering::Equal => false,
                Ordering::Greater => self.status.side(low.start, low.end, high.end) == Side::Right,
            };
            if !cross {
                return;
            }
            let (one, other) = (self.graph.edge(low.segment), self.graph.edge(high.segment));
            let point = crossing_point([low.start, low.end], [high.start, high.end]);
            self.collector.add(Intersection::new(IntersectionKind::Cross, one, other, point));
            if one < other {
                above = high.above;
                self.withdraw(high.segment);
            } else {
                below = low.below;
                self.withdraw(low.segment);
            }
        }
    }

    /// Records the ring below a ring that starts with this segment, its lowest one.
    fn record_below(&mut self, segment: u32) {
        let ring = self.graph.edge(segment).ring;
        let Some(slot) = self.slot_of(segment) else { return };
        let Some(reached) = self.reached.get_mut(ring as usize) else {
            never!("ring {ring} of {} is swept", self.reached.len());
            return;
        };
        if std::mem::replace(reached, true) {
            return;
        }
        let below = self.status.slot(slot.below).map(|below| {
            let (from, _) = self.graph.endpoints(below.segment);
            let runs_east = from.at == below.start;
            (from.ring, runs_east == self.graph.ring(from.ring).counterclockwise)
        });
        self.below.push((ring, below));
    }

    fn insert(&mut self, below: u32, segment: u32) -> u32 {
        let [start, end] = self.graph.sweep_endpoints(segment);
        let slot = self.status.insert(below, segment, start, end);
        self.set_slot(segment, slot);
        slot
    }

    fn remove(&mut self, segment: u32) {
        self.status.remove(self.slot(segment));
        self.set_slot(segment, NONE);
    }

    /// Takes a segment that intersects another one out of the sweep.
    fn withdraw(&mut self, segment: u32) {
        if self.slot(segment) != NONE {
            self.remove(segment);
        }
        self.removed.push(segment);
    }

    /// Returns the slot of a segment, or [`NONE`] if it is not in the status.
    fn slot(&self, segment: u32) -> u32 {
        self.slots.get(segment as usize).copied().unwrap_or_else(|| {
            never!("segment {segment} of {} is swept", self.slots.len());
            NONE
        })
    }

    fn slot_of(&self, segment: u32) -> Option<Slot> {
        self.status.slot(self.slot(segment)).copied()
    }

    fn set_slot(&mut self, segment: u32, slot: u32) {
        match self.slots.get_mut(segment as usize) {
            Some(known) => *known = slot,
            None => never!("segment {segment} of {} is swept", self.slots.len()),
        }
    }

    fn starts_at(&self, segment: u32, at: Position) -> bool {
        self.graph.sweep_endpoints(segment)[0] == at
    }
}
