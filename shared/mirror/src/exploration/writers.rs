//! The writers of the table: the platform with wrong clocks, and other programs that ignore the rules of revisions.

use super::explorer::Explorer;
use super::leaf::{Kind, Leaf};
use super::state::{Budget, State};

/// The number of microseconds by which a slow clock is behind. A writer advances the clock by one.
const SLOWNESS: u8 = 3;

/// A writer's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hand {
    Right,
    Slow,
    /// It shows the same microsecond as at the last write.
    Frozen,
}

impl Explorer {
    pub(super) fn write(&mut self, state: &State) {
        if state.left.writes > 0 {
            for key in 0..self.scenario.keys {
                match state.world.table[key] {
                    None => self.create(state, key),
                    Some(leaf) => {
                        self.update(state, key, leaf);
                        self.overwrite(state, key, leaf);
                        self.put(state, key, "delete", None, |_| ());
                    }
                }
            }
        }
    }

    fn create(&mut self, state: &State, key: usize) {
        let shown = |rev| Some(Leaf { rev, content: state.left.writes, kind: Kind::Shown });
        for hand in hands(state.left) {
            self.put(state, key, "create", shown(revision(state, hand, None)), pay(hand));
        }
        if state.left.unrevised > 0 {
            self.put(state, key, "create without rev", shown(0), |left| left.unrevised -= 1);
        }
        let of_kind = |kind| Some(Leaf { kind, ..shown(revision(state, Hand::Right, None))? });
        if state.left.poison > 0 {
            self.put(state, key, "create poison", of_kind(Kind::Poison), |left| left.poison -= 1);
        }
        if state.left.refused > 0 {
            self.put(state, key, "create refused", of_kind(Kind::Refused), |left| left.refused -= 1);
        }
    }

    /// Updates the item as the platform does: the revision grows.
    fn update(&mut self, state: &State, key: usize, old: Leaf) {
        let content = state.left.writes;
        let kind = if old.kind == Kind::Hidden { Kind::Hidden } else { Kind::Shown };
        for hand in hands(state.left).filter(|hand| *hand != Hand::Frozen) {
            let rev = revision(state, hand, Some(old));
            self.put(state, key, "update", Some(Leaf { rev, content, kind }), pay(hand));
        }
        let of_kind = |kind| Some(Leaf { rev: revision(state, Hand::Right, Some(old)), content, kind });
        if state.left.hide > 0 {
            let kind = if old.kind == Kind::Hidden { Kind::Shown } else { Kind::Hidden };
            self.put(state, key, "hide or show", of_kind(kind), |left| left.hide -= 1);
        }
        if state.left.poison > 0 {
            self.put(state, key, "poison", of_kind(Kind::Poison), |left| left.poison -= 1);
        }
        if state.left.refused > 0 {
            self.put(state, key, "refused", of_kind(Kind::Refused), |left| left.refused -= 1);
        }
    }

    /// Writes the item as a program that ignores the rules of revisions.
    fn overwrite(&mut self, state: &State, key: usize, old: Leaf) {
        let content = state.left.writes;
        if state.left.same > 0 {
            self.put(state, key, "write with the same rev", Some(Leaf { content, ..old }), |left| left.same -= 1);
        }
        if state.left.lower > 0 && old.rev > 4 {
            let leaf = Leaf { rev: old.rev - 4, content, ..old };
            self.put(state, key, "write with a lower rev", Some(leaf), |left| left.lower -= 1);
        }
        if state.left.unrevised > 0 && old.rev > 0 {
            let leaf = |rev| Some(Leaf { rev, content, ..old });
            self.put(state, key, "write without rev", leaf(0), |left| left.unrevised -= 1);
            self.put(state, key, "write with an odd rev", leaf(old.rev | 1), |left| left.unrevised -= 1);
        }
    }

    fn put(&mut self, state: &State, key: usize, what: &str, new: Option<Leaf>, pay: impl FnOnce(&mut Budget)) {
        let step = self.text(|| format!("a writer: {what} k{key}: {:?} -> {new:?}", state.world.table[key]));
        let mut next = state.clone();
        next.left.writes -= 1;
        let frozen = next.left.frozen;
        pay(&mut next.left);
        // A delete needs no time.
        next.world.tick += u8::from(new.is_some() && next.left.frozen == frozen);
        next.world.put(key, new);
        self.emit(step, next);
    }
}

fn hands(left: Budget) -> impl Iterator<Item = Hand> {
    let slow = (left.slow > 0).then_some(Hand::Slow);
    let frozen = (left.frozen > 0).then_some(Hand::Frozen);
    [Hand::Right].into_iter().chain(slow).chain(frozen)
}

fn pay(hand: Hand) -> impl FnOnce(&mut Budget) {
    move |left| match hand {
        Hand::Right => {}
        Hand::Slow => left.slow -= 1,
        Hand::Frozen => left.frozen -= 1,
    }
}

/// Returns the revision that the platform gives to an item.
fn revision(state: &State, hand: Hand, old: Option<Leaf>) -> u64 {
    let tick = match hand {
        Hand::Right => state.world.tick + 1,
        Hand::Slow => state.world.tick + 1 - SLOWNESS,
        Hand::Frozen => state.world.tick,
    };
    let clock = 2 * state.world.time(tick).unsigned_abs();
    let grown = old.and_then(Leaf::valid_rev).map_or(0, |rev| rev + 2);
    clock.max(grown)
}
