//! The segments that a sweep line meets, from south to north: a splay tree, so that n operations take n log n steps
//! whatever their order (Sleator and Tarjan, 1985), threaded in that order.

use crate::Position;
use crate::orient::{Side, side};
use crate::plane::NONE;

/// A segment in the tree.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slot {
    pub segment: u32,
    /// Its ends in sweep order.
    pub left: Position,
    pub right: Position,
    /// The slots next to it.
    pub below: u32,
    pub above: u32,
    parent: u32,
    low: u32,
    high: u32,
}

/// Where a position lies among the segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Found {
    /// On the segment in this slot.
    On(u32),
    /// Between two slots, of which one or both may be missing.
    Between(u32, u32),
}

#[derive(Debug)]
pub(crate) struct Status {
    slots: Vec<Slot>,
    free: Vec<u32>,
    root: u32,
    lowest: u32,
    /// How often a position was compared with a line.
    pub comparisons: u64,
}

impl Status {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), root: NONE, lowest: NONE, comparisons: 0 }
    }

    pub(crate) fn slot(&self, slot: u32) -> Option<&Slot> {
        self.slots.get(slot as usize)
    }

    pub(crate) fn lowest(&self) -> u32 {
        self.lowest
    }

    pub(crate) fn side(&mut self, from: Position, to: Position, of: Position) -> Side {
        self.comparisons += 1;
        side(from, to, of)
    }

    /// Whether a segment in the tree runs through a position.
    pub(crate) fn touches(&mut self, slot: u32, position: Position) -> bool {
        let Some(Slot { left, right, .. }) = self.slot(slot).copied() else { return false };
        self.side(left, right, position) == Side::On
    }

    pub(crate) fn find(&mut self, position: Position) -> Found {
        let (mut at, mut below, mut above, mut last) = (self.root, NONE, NONE, NONE);
        while let Some(Slot { left, right, low, high, .. }) = self.slot(at).copied() {
            last = at;
            match self.side(left, right, position) {
                Side::On => {
                    self.splay(at);
                    return Found::On(at);
                }
                Side::Left => (below, at) = (at, high),
                Side::Right => (above, at) = (at, low),
            }
        }
        self.splay(last);
        Found::Between(below, above)
    }

    /// Puts a segment above the slot `below`, or lowest of all.
    pub(crate) fn insert(&mut self, below: u32, segment: u32, left: Position, right: Position) -> u32 {
        let above = self.slot(below).map_or(self.lowest, |slot| slot.above);
        let new = Slot { segment, left, right, below, above, parent: NONE, low: NONE, high: NONE };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.change(slot, |old| *old = new);
                slot
            }
            None => {
                self.slots.push(new);
                u32::try_from(self.slots.len()).map_or(NONE, |slots| slots - 1)
            }
        };
        // Of two neighbours one has no child on the other's side.
        let parent = if self.slot(below).is_some_and(|below| below.high == NONE) {
            self.change(below, |below| below.high = slot);
            below
        } else {
            self.change(above, |above| above.low = slot);
            above
        };
        self.change(slot, |slot| slot.parent = parent);
        self.thread(below, slot);
        self.thread(slot, above);
        self.root = if parent == NONE { slot } else { self.root };
        self.splay(slot);
        slot
    }

    /// Puts the segment that goes on from another's end in its place.
    pub(crate) fn replace(&mut self, slot: u32, segment: u32, left: Position, right: Position) {
        self.change(slot, |slot| (slot.segment, slot.left, slot.right) = (segment, left, right));
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        let Some(Slot { below, above, .. }) = self.slot(slot).copied() else { return };
        self.splay(slot);
        let Some(Slot { low, high, .. }) = self.slot(slot).copied() else { return };
        self.change(low, |low| low.parent = NONE);
        self.change(high, |high| high.parent = NONE);
        self.root = if low == NONE { high } else { low };
        if low != NONE {
            // Highest of what is lower: it has nothing above it there.
            self.splay(below);
            self.change(below, |below| below.high = high);
            self.change(high, |high| high.parent = below);
        }
        self.thread(below, above);
        self.free.push(slot);
    }

    fn thread(&mut self, below: u32, above: u32) {
        self.change(above, |slot| slot.below = below);
        if below == NONE {
            self.lowest = above;
        } else {
            self.change(below, |slot| slot.above = above);
        }
    }

    fn change(&mut self, slot: u32, change: impl FnOnce(&mut Slot)) {
        if let Some(slot) = self.slots.get_mut(slot as usize) {
            change(slot);
        }
    }

    /// Makes a slot the root, by rotations that halve the depth of what lay on the way.
    fn splay(&mut self, slot: u32) {
        while let Some(parent) = self.parent(slot) {
            if let Some(grandparent) = self.parent(parent) {
                let straight = self.is_low(parent, slot) == self.is_low(grandparent, parent);
                self.rotate(if straight { parent } else { slot });
            }
            self.rotate(slot);
        }
        if slot != NONE {
            self.root = slot;
        }
    }

    fn parent(&self, slot: u32) -> Option<u32> {
        self.slot(slot).map(|slot| slot.parent).filter(|parent| *parent != NONE)
    }

    fn is_low(&self, parent: u32, slot: u32) -> bool {
        self.slot(parent).is_some_and(|parent| parent.low == slot)
    }

    /// Lifts a slot above its parent.
    fn rotate(&mut self, slot: u32) {
        let Some(Slot { parent, low, high, .. }) = self.slot(slot).copied() else { return };
        let Some(grandparent) = self.slot(parent).map(|parent| parent.parent) else { return };
        let between = if self.is_low(parent, slot) {
            self.change(parent, |parent| parent.low = high);
            self.change(slot, |slot| slot.high = parent);
            high
        } else {
            self.change(parent, |parent| parent.high = low);
            self.change(slot, |slot| slot.low = parent);
            low
        };
        self.change(between, |between| between.parent = parent);
        let was_low = self.is_low(grandparent, parent);
        self.change(grandparent, |above| if was_low { above.low = slot } else { above.high = slot });
        self.change(parent, |parent| parent.parent = slot);
        self.change(slot, |slot| slot.parent = grandparent);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn order(status: &Status) -> Vec<u32> {
        let mut at = status.lowest();
        std::iter::from_fn(|| {
            let slot = status.slot(at)?;
            at = slot.above;
            Some(slot.segment)
        })
        .collect()
    }

    fn level(height: u32) -> (Position, Position) {
        ([0.0, f64::from(height)], [1.0, f64::from(height)])
    }

    proptest! {
        #[test]
        fn keeps_segments_in_their_order(changes in prop::collection::vec((0_u32..40, any::<bool>()), 0..200)) {
            let mut status = Status::new();
            let mut expected = std::collections::BTreeMap::new();
            for (height, remove) in changes {
                match status.find([0.5, f64::from(height)]) {
                    Found::On(slot) if remove => {
                        prop_assert_eq!(expected.remove(&height), Some(slot));
                        status.remove(slot);
                    }
                    Found::On(slot) => prop_assert_eq!(expected.get(&height), Some(&slot)),
                    Found::Between(below, above) => {
                        prop_assert_eq!(below, expected.range(..height).next_back().map_or(NONE, |(_, slot)| *slot));
                        prop_assert_eq!(above, expected.range(height..).next().map_or(NONE, |(_, slot)| *slot));
                        let (left, right) = level(height);
                        expected.insert(height, status.insert(below, height, left, right));
                    }
                }
                prop_assert_eq!(order(&status), expected.keys().copied().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn takes_n_log_n_comparisons_whatever_the_order() {
        let count = 100_000_u32;
        for stride in [1_u32, count - 1, 61_803] {
            let mut status = Status::new();
            for step in 0..count {
                let height = u32::try_from(u64::from(step) * u64::from(stride) % u64::from(count)).unwrap();
                let (left, right) = level(height);
                if let Found::Between(below, _) = status.find(left) {
                    status.insert(below, height, left, right);
                }
            }
            assert!(status.comparisons < u64::from(count) * 3 * 17, "{stride}: {}", status.comparisons);
        }
    }
}
