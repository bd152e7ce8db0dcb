//! Whose turn it is: tenants that have something to do take turns, however much each of them has.

use std::collections::VecDeque;

/// How much of one tenant is done at once. There is always room for another's.
const OF_ONE: usize = 3;

/// What waits for its turn, by whose it is.
#[derive(Debug)]
pub struct Turns<W, T> {
    /// Who was served longest ago comes first.
    all: VecDeque<Side<W, T>>,
}

#[derive(Debug)]
struct Side<W, T> {
    whose: W,
    waiting: VecDeque<T>,
    /// How much of it is being done.
    working: usize,
}

impl<W, T> Default for Turns<W, T> {
    fn default() -> Self {
        Self { all: VecDeque::new() }
    }
}

impl<W: PartialEq + Clone, T> Turns<W, T> {
    /// After what of it waits already.
    pub fn add(&mut self, whose: &W, what: T) {
        self.with(whose, |side| side.waiting.push_back(what));
    }

    /// What was begun and has not ended is done before what of it was not begun.
    pub fn put_back(&mut self, whose: &W, what: T) {
        self.with(whose, |side| side.waiting.push_front(what));
    }

    /// What is next: of those of whom the least is being done, whoever was served longest ago. It is being done until
    /// [`Turns::done`].
    pub fn next(&mut self) -> Option<(W, T)> {
        let waits = |side: &&Side<W, T>| !side.waiting.is_empty() && side.working < OF_ONE;
        let whose = self.all.iter().filter(waits).min_by_key(|side| side.working)?.whose.clone();
        let place = self.all.iter().position(|side| side.whose == whose)?;
        let mut side = self.all.remove(place)?;
        let what = side.waiting.pop_front()?;
        side.working += 1;
        self.all.push_back(side);
        Some((whose, what))
    }

    /// Something of it is no longer being done.
    pub fn done(&mut self, whose: &W) {
        self.with(whose, |side| side.working = side.working.saturating_sub(1));
        self.all.retain(|side| side.working > 0 || !side.waiting.is_empty());
    }

    /// Whether somebody waits of whom less is being done.
    pub fn is_awaited(&self, whose: &W) -> bool {
        let working = self.all.iter().find(|side| side.whose == *whose).map_or(0, |side| side.working);
        self.all.iter().any(|side| side.whose != *whose && !side.waiting.is_empty() && side.working < working)
    }

    /// All that waits.
    pub fn take_all(&mut self) -> Vec<(W, T)> {
        let each = |side: &mut Side<W, T>| {
            let whose = side.whose.clone();
            side.waiting.drain(..).map(|what| (whose.clone(), what)).collect::<Vec<_>>()
        };
        self.all.iter_mut().flat_map(each).collect()
    }

    fn with(&mut self, whose: &W, change: impl FnOnce(&mut Side<W, T>)) {
        match self.all.iter_mut().find(|side| side.whose == *whose) {
            Some(side) => change(side),
            None => {
                let mut side = Side { whose: whose.clone(), waiting: VecDeque::new(), working: 0 };
                change(&mut side);
                self.all.push_back(side);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(all: &[(char, usize)]) -> Turns<char, usize> {
        let mut turns = Turns::default();
        all.iter().for_each(|(whose, what)| turns.add(whose, *what));
        turns
    }

    #[test]
    fn however_much_one_has_the_next_has_its_turn() {
        let mut turns = turns(&[('a', 1), ('a', 2), ('a', 3), ('a', 4), ('a', 5)]);
        let first: Vec<_> = std::iter::from_fn(|| turns.next()).collect();
        assert_eq!(first, [('a', 1), ('a', 2), ('a', 3)], "there is room for others");
        assert!(!turns.is_awaited(&'a'));
        turns.add(&'b', 1);
        assert!(turns.is_awaited(&'a'));
        assert_eq!(turns.next(), Some(('b', 1)));
        turns.add(&'c', 1);
        assert!(turns.is_awaited(&'a') && turns.is_awaited(&'b'));
        turns.done(&'a');
        turns.put_back(&'a', 1);
        assert_eq!(turns.next(), Some(('c', 1)));
        assert!(!turns.is_awaited(&'b') && !turns.is_awaited(&'a'));
        assert_eq!(turns.next(), Some(('a', 1)), "what was begun comes first");
    }

    #[test]
    fn who_was_served_longest_ago_is_next() {
        let mut turns = turns(&[('a', 1), ('b', 1), ('c', 1), ('a', 2), ('b', 2), ('c', 2)]);
        let mut served = Vec::new();
        while let Some((whose, what)) = turns.next() {
            turns.done(&whose);
            served.push((whose, what));
        }
        assert_eq!(served, [('a', 1), ('b', 1), ('c', 1), ('a', 2), ('b', 2), ('c', 2)]);
        turns.add(&'d', 1);
        assert_eq!(turns.take_all(), [('d', 1)]);
        assert_eq!(turns.next(), None);
    }
}
