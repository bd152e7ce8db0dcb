//! Finds where rings meet, and what lies beneath each: a line sweeps the map from west to east and keeps the segments
//! it meets in order (Shamos and Hoey, 1976). Segments that meet are next to each other before they do.
//!
//! Where two segments cross, the later in the document leaves the sweep, so that the order of the others stays true
//! and n segments take n log n steps however often they cross. All decisions are exact, for they compare places that
//! are in the shape; none is computed.

mod pass;

use crate::Position;
use crate::across::{Across, Halves};
use crate::meeting::{Contact, How, Meeting, crossing_place, ways};
use crate::orient::{Side, sweep_order};
use crate::plane::{NONE, Plane};
use crate::status::{Found, Slot, Status};

/// What a sweep found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub meetings: Vec<Meeting>,
    /// The ways of several rings that meet at one place.
    pub contacts: Vec<Contact>,
    /// Each ring, from west to east by where it begins, with the ring next beneath it there and whether what lies
    /// between them is inside that one.
    pub beneath: Vec<(u32, Option<(u32, bool)>)>,
    /// Segments that left the sweep: they cross or overlap another.
    pub removed: Vec<u32>,
    /// How often a position was compared with a line: the sweep's work.
    pub comparisons: u64,
}

pub(crate) fn sweep(plane: &Plane) -> Findings {
    let mut events: Vec<(Position, u32)> = (0_u32..)
        .zip(&plane.nodes)
        .filter(|(_, node)| node.into != NONE || node.out != NONE)
        .map(|(id, node)| (node.at, id))
        .collect();
    events.sort_unstable_by(|(one, id), (other, other_id)| sweep_order(one, other).then(id.cmp(other_id)));
    let mut sweep = Sweep {
        plane,
        status: Status::new(),
        slots: vec![NONE; plane.nodes.len()],
        begun: vec![false; plane.rings.len()],
        across: Across::default(),
        findings: Findings::default(),
    };
    for group in events.chunk_by(|one, other| one.0 == other.0) {
        let Some((at, node)) = group.first().copied() else { continue };
        if group.len() > 1 || !sweep.pass(at, node) {
            sweep.meet(at, group);
        }
    }
    let Sweep { status, across, mut findings, .. } = sweep;
    across.finish(plane, &mut findings);
    findings.comparisons = status.comparisons;
    findings
}

struct Sweep<'a> {
    plane: &'a Plane,
    status: Status,
    /// The slot of each segment that is in the status.
    slots: Vec<u32>,
    /// Rings that have begun.
    begun: Vec<bool>,
    across: Across,
    findings: Findings,
}

impl Sweep<'_> {
    /// The sweep at a place where anything may meet.
    fn meet(&mut self, at: Position, group: &[(Position, u32)]) {
        let (mut ending, mut starting) = (Vec::new(), Vec::new());
        for (_, node) in group {
            let node = self.plane.node(*node);
            for segment in [node.into, node.out].into_iter().filter(|segment| *segment != NONE) {
                if self.begins(segment, at) { starting.push(segment) } else { ending.push(segment) }
            }
        }
        let west = self.block(at, &ending);
        let below = match west.first().and_then(|segment| self.slot_of(*segment)) {
            Some(lowest) => lowest.below,
            None => match self.status.find(at) {
                Found::Between(below, _) => below,
                Found::On(_) => NONE,
            },
        };
        let (ended, through): (Vec<u32>, Vec<u32>) =
            west.iter().partition(|segment| self.plane.ends_in_order(**segment)[1] == at);
        for segment in ended {
            self.remove(segment);
        }
        // Of several that run through this place each crosses the others.
        let stays = through.iter().copied().min_by_key(|segment| self.plane.edge(*segment));
        for segment in through.into_iter().filter(|segment| Some(*segment) != stays) {
            self.drop(segment);
        }
        let mut east = starting;
        east.extend(stays);
        let (status, plane) = (&mut self.status, self.plane);
        east.sort_by(|one, other| {
            match status.side(at, plane.ends_in_order(*one)[1], plane.ends_in_order(*other)[1]) {
                Side::Left => std::cmp::Ordering::Less,
                Side::Right => std::cmp::Ordering::Greater,
                Side::On => plane.edge(*one).cmp(&plane.edge(*other)),
            }
        });
        self.insert_all(at, below, &east);
        let halves =
            Halves { east: ways(plane, at, east.iter().copied()), west: ways(plane, at, west.iter().rev().copied()) };
        self.across.note(plane, at, halves, &mut self.findings);
        for segment in &east {
            self.begin(*segment);
        }
        east.retain(|segment| self.slot(*segment) != NONE);
        match (east.first(), east.last()) {
            (Some(lowest), Some(highest)) => {
                self.look_around(*lowest);
                self.look_around(*highest);
            }
            _ => {
                let above = self.status.slot(below).map_or(self.status.lowest(), |below| below.above);
                self.look_between(below, above);
            }
        }
    }

    /// The segments in the status that end at a place or run through it, from south to north.
    fn block(&mut self, at: Position, ending: &[u32]) -> Vec<u32> {
        let known = ending.iter().map(|segment| self.slot(*segment)).find(|slot| *slot != NONE);
        let slot = match known {
            Some(slot) => slot,
            None => match self.status.find(at) {
                Found::On(slot) => slot,
                Found::Between(..) => return Vec::new(),
            },
        };
        let mut lowest = slot;
        while let Some(below) = self.status.slot(lowest).map(|slot| slot.below) {
            if !self.status.touches(below, at) {
                break;
            }
            lowest = below;
        }
        let mut block = Vec::new();
        let mut next = lowest;
        while let Some(Slot { segment, above, .. }) = self.status.slot(next).copied() {
            block.push(segment);
            if !self.status.touches(above, at) {
                break;
            }
            next = above;
        }
        block
    }

    /// Inserts those of the segments that are not in the status yet. Of two that overlap, the earlier stays.
    fn insert_all(&mut self, at: Position, mut below: u32, east: &[u32]) {
        let mut before: Option<u32> = None;
        for segment in east.iter().copied() {
            let same = before.is_some_and(|before| {
                let [one, other] = [before, segment].map(|segment| self.plane.ends_in_order(segment)[1]);
                self.status.side(at, one, other) == Side::On
            });
            if let Some(before) = before.filter(|_| same) {
                let (one, other) = (self.plane.edge(before), self.plane.edge(segment));
                self.findings.meetings.push(Meeting::new(How::Overlap, one, other, at));
                self.drop(segment);
                continue;
            }
            before = Some(segment);
            if self.slot(segment) == NONE {
                self.insert(below, segment);
            }
            below = self.slot(segment);
        }
    }

    /// Looks for crossings with both neighbours.
    fn look_around(&mut self, segment: u32) {
        if let Some(slot) = self.slot_of(segment) {
            self.look_between(slot.below, self.slot(segment));
        }
        if let Some(slot) = self.slot_of(segment) {
            self.look_between(self.slot(segment), slot.above);
        }
    }

    /// Looks whether two neighbours cross further east, and then whether those that become neighbours do.
    fn look_between(&mut self, mut below: u32, mut above: u32) {
        while let (Some(low), Some(high)) = (self.status.slot(below).copied(), self.status.slot(above).copied()) {
            // They cross if the one that ends first does so on the other side.
            let cross = match sweep_order(&low.right, &high.right) {
                std::cmp::Ordering::Less => self.status.side(high.left, high.right, low.right) == Side::Left,
                std::cmp::Ordering::Equal => false,
                std::cmp::Ordering::Greater => self.status.side(low.left, low.right, high.right) == Side::Right,
            };
            if !cross {
                return;
            }
            let (one, other) = (self.plane.edge(low.segment), self.plane.edge(high.segment));
            let place = crossing_place([low.left, low.right], [high.left, high.right]);
            self.findings.meetings.push(Meeting::new(How::Cross, one, other, place));
            if one < other {
                above = high.above;
                self.drop(high.segment);
            } else {
                below = low.below;
                self.drop(low.segment);
            }
        }
    }

    /// Notes what lies beneath a ring that begins with this segment, the lowest of it.
    fn begin(&mut self, segment: u32) {
        let ring = self.plane.edge(segment).ring;
        let Some(slot) = self.slot_of(segment) else { return };
        let Some(begun) = self.begun.get_mut(ring as usize) else { return };
        if std::mem::replace(begun, true) {
            return;
        }
        let beneath = self.status.slot(slot.below).map(|below| {
            let (from, _) = self.plane.ends(below.segment);
            let east = from.at == below.left;
            (from.ring, east == self.plane.ring(from.ring).counterclockwise)
        });
        self.findings.beneath.push((ring, beneath));
    }

    fn insert(&mut self, below: u32, segment: u32) -> u32 {
        let [left, right] = self.plane.ends_in_order(segment);
        let slot = self.status.insert(below, segment, left, right);
        self.set_slot(segment, slot);
        slot
    }

    fn remove(&mut self, segment: u32) {
        self.status.remove(self.slot(segment));
        self.set_slot(segment, NONE);
    }

    fn drop(&mut self, segment: u32) {
        if self.slot(segment) != NONE {
            self.remove(segment);
        }
        self.findings.removed.push(segment);
    }

    fn slot(&self, segment: u32) -> u32 {
        self.slots.get(segment as usize).copied().unwrap_or(NONE)
    }

    fn slot_of(&self, segment: u32) -> Option<Slot> {
        self.status.slot(self.slot(segment)).copied()
    }

    fn set_slot(&mut self, segment: u32, slot: u32) {
        if let Some(known) = self.slots.get_mut(segment as usize) {
            *known = slot;
        }
    }

    fn begins(&self, segment: u32, at: Position) -> bool {
        self.plane.ends_in_order(segment)[0] == at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plane::Ring;

    /// n log n grows by 10 × 4/3 and 10 × 5/4.
    fn assert_n_log_n(name: &str, shape: impl Fn(u32) -> Vec<Position>) {
        let [thousand, ten, hundred] = [1_000, 10_000, 100_000].map(|count| {
            let mut plane = Plane::default();
            plane.add(Ring { counterclockwise: true, ..Ring::default() }, shape(count));
            sweep(&plane).comparisons as f64
        });
        assert!(ten / thousand < 14.0 && hundred / ten < 14.0, "{name}: {thousand} {ten} {hundred}");
        assert!(hundred < 100_000.0 * 60.0, "{name}: {hundred}");
    }

    fn comb(count: u32) -> Vec<Position> {
        let tooth = |at: u32| [f64::from(at) * 100.0 / f64::from(count), if at.is_multiple_of(2) { 1.0 } else { 50.0 }];
        [[100.0, 0.0], [0.0, 0.0]].into_iter().chain((0..count).map(tooth)).collect()
    }

    #[test]
    fn a_comb_and_a_star_take_n_log_n_steps() {
        assert_n_log_n("comb", comb);
        assert_n_log_n("lying comb", |count| comb(count).into_iter().map(|[x, y]| [y, x / 2.0]).collect());
        assert_n_log_n("star", |count| {
            let point = |at: u32| {
                let turn = f64::from(at) / f64::from(count) * std::f64::consts::TAU;
                let radius = if at.is_multiple_of(2) { 40.0 } else { 1.0 };
                [radius * turn.cos(), radius * turn.sin()]
            };
            (0..count).map(point).collect()
        });
    }

    #[test]
    fn one_long_edge_over_many_short_ones_takes_n_log_n_steps() {
        assert_n_log_n("long edge", |count| {
            let step =
                |at: u32| [f64::from(at) * 100.0 / f64::from(count), if at.is_multiple_of(2) { 1.0 } else { 1.5 }];
            [[100.0, 2.0], [0.0, 2.0]].into_iter().chain((0..count).map(step)).collect()
        });
    }

    #[test]
    fn crossings_everywhere_take_n_log_n_steps() {
        // Each edge crosses almost each other one.
        assert_n_log_n("polygram", |count| {
            let count = count | 1;
            let point = |at: u32| {
                let steps = u64::from(at) * u64::from(count / 2) % u64::from(count);
                let turn = steps as f64 / f64::from(count) * std::f64::consts::TAU;
                [40.0 * turn.cos(), 40.0 * turn.sin()]
            };
            (0..count).map(point).collect()
        });
        // One edge crosses all others.
        assert_n_log_n("crossed comb", |count| {
            let mut ring = comb(count);
            ring[0] = [100.0, 25.0];
            ring[1] = [-1.0, 25.0];
            ring
        });
    }

    #[test]
    fn many_rings_at_one_place_take_n_log_n_steps() {
        let fans = |count: u32| {
            let mut plane = Plane::default();
            for fan in 0..count / 3 {
                let turn = |at: f64| (f64::from(fan) + at) / f64::from(count) * 3.0;
                let ring = Ring { part: fan, counterclockwise: true, ..Ring::default() };
                plane.add(ring, [[0.0, 0.0], [9.0, turn(0.1)], [9.0, turn(0.9)]]);
            }
            let findings = sweep(&plane);
            assert!(findings.meetings.is_empty());
            findings.comparisons as f64
        };
        let [ten, hundred] = [10_000, 100_000].map(fans);
        assert!(hundred / ten < 14.0, "{ten} {hundred}");
    }
}
