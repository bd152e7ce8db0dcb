//! Turns: groups that have something to do take turns, however much each of them has.

use std::collections::VecDeque;

/// The limit of one group's jobs in progress, so that there is room for another group's.
const MAX_OF_GROUP: usize = 3;

/// What waits for its turn, by group.
#[derive(Debug)]
pub struct Turns<G, T> {
    /// The group that was served longest ago comes first.
    groups: VecDeque<Group<G, T>>,
}

#[derive(Debug)]
struct Group<G, T> {
    name: G,
    waiting: VecDeque<T>,
    /// The number of its jobs in progress.
    working: usize,
}

impl<G, T> Default for Turns<G, T> {
    fn default() -> Self {
        Self { groups: VecDeque::new() }
    }
}

impl<G: PartialEq + Clone, T> Turns<G, T> {
    /// Adds something behind all that waits of its group.
    pub fn add(&mut self, name: &G, what: T) {
        self.with(name, |group| group.waiting.push_back(what));
    }

    /// Adds something that was begun: it comes before all that waits of its group.
    pub fn put_back(&mut self, name: &G, what: T) {
        self.with(name, |group| group.waiting.push_front(what));
    }

    /// Returns what is next: of the groups with the fewest jobs in progress, the group that was served longest ago. It is in
    /// progress until [`Turns::done`].
    pub fn next(&mut self) -> Option<(G, T)> {
        let waits = |group: &&Group<G, T>| !group.waiting.is_empty() && group.working < MAX_OF_GROUP;
        let name = self.groups.iter().filter(waits).min_by_key(|group| group.working)?.name.clone();
        let position = self.groups.iter().position(|group| group.name == name)?;
        let mut group = self.groups.remove(position)?;
        let what = group.waiting.pop_front()?;
        group.working += 1;
        self.groups.push_back(group);
        Some((name, what))
    }

    /// Ends the progress of one of a group's jobs.
    pub fn done(&mut self, name: &G) {
        self.with(name, |group| group.working = group.working.saturating_sub(1));
        self.groups.retain(|group| group.working > 0 || !group.waiting.is_empty());
    }

    /// Whether a group with fewer jobs in progress waits.
    pub fn is_awaited(&self, name: &G) -> bool {
        let working = self.groups.iter().find(|group| group.name == *name).map_or(0, |group| group.working);
        let waits = |group: &Group<G, T>| group.name != *name && !group.waiting.is_empty() && group.working < working;
        self.groups.iter().any(waits)
    }

    /// Removes and returns all that waits.
    pub fn take_all(&mut self) -> Vec<(G, T)> {
        let each = |group: &mut Group<G, T>| {
            let name = group.name.clone();
            group.waiting.drain(..).map(|what| (name.clone(), what)).collect::<Vec<_>>()
        };
        self.groups.iter_mut().flat_map(each).collect()
    }

    fn with(&mut self, name: &G, change: impl FnOnce(&mut Group<G, T>)) {
        match self.groups.iter_mut().find(|group| group.name == *name) {
            Some(group) => change(group),
            None => {
                let mut group = Group { name: name.clone(), waiting: VecDeque::new(), working: 0 };
                change(&mut group);
                self.groups.push_back(group);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(all: &[(char, usize)]) -> Turns<char, usize> {
        let mut turns = Turns::default();
        all.iter().for_each(|(group, what)| turns.add(group, *what));
        turns
    }

    #[test]
    fn a_group_leaves_room_for_the_next_group() {
        let mut turns = turns(&[('a', 1), ('a', 2), ('a', 3), ('a', 4), ('a', 5)]);
        let first: Vec<_> = std::iter::from_fn(|| turns.next()).collect();
        assert_eq!(first, [('a', 1), ('a', 2), ('a', 3)], "room is left for other groups");
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
    fn the_group_that_was_served_longest_ago_is_next() {
        let mut turns = turns(&[('a', 1), ('b', 1), ('c', 1), ('a', 2), ('b', 2), ('c', 2)]);
        let mut served = Vec::new();
        while let Some((group, what)) = turns.next() {
            turns.done(&group);
            served.push((group, what));
        }
        assert_eq!(served, [('a', 1), ('b', 1), ('c', 1), ('a', 2), ('b', 2), ('c', 2)]);
        turns.add(&'d', 1);
        assert_eq!(turns.take_all(), [('d', 1)]);
        assert_eq!(turns.next(), None);
    }
}
