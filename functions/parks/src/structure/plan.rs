//! One transaction in the making, in which no item may be named twice.

use std::collections::{BTreeMap, BTreeSet};

use table::{Action, Condition, Key, item};

use super::counters::{self, Counter};
use crate::item::Item;
use crate::relationships::Pair;
use crate::schema::PARKS;

/// The most actions that DynamoDB takes in a transaction.
pub const MOST: usize = 100;

/// Fails unless the item is as visible, and as deleted, as it was read.
pub fn as_read(item: &Item) -> Action {
    let same = |flag: bool| if flag { Condition::Equals } else { Condition::Differs };
    Action::check(&PARKS, item.key()).when(same(item.deleted())("isDeleted", item::flag(true))).when(same(
        item.visible(),
    )(
        "isVisible",
        item::flag(true),
    ))
}

#[derive(Debug, Default)]
pub struct Plan {
    actions: Vec<Action>,
    checks: BTreeMap<Key, Action>,
    counters: BTreeMap<Key, (Option<Counter>, i64)>,
    moved: BTreeSet<Pair>,
}

impl Plan {
    pub fn push(&mut self, action: Action) {
        self.actions.push(action);
    }

    /// The item has to be as visible, and as deleted, as it was read.
    pub fn as_read(&mut self, item: &Item) {
        self.checks.insert(item.key(), as_read(item));
    }

    /// Whether the relationship is moved here for the first time.
    pub fn moves(&mut self, pair: Pair) -> bool {
        self.moved.insert(pair)
    }

    /// Whether both move one relationship, so that they cannot be one transaction.
    pub fn meets(&self, other: &Self) -> bool {
        !self.moved.is_disjoint(&other.moved)
    }

    /// The counter has to be as it was read, but for what is counted here.
    pub fn proves(&mut self, counter: Counter) {
        let key = counter.key().clone();
        self.counters.entry(key).or_default().0 = Some(counter);
    }

    pub fn count(&mut self, counter: Key, by: i64) {
        self.counters.entry(counter).or_default().1 += by;
    }

    /// How many actions it takes.
    pub fn size(&self) -> usize {
        self.actions.len() + self.checks.len() + self.counters.len()
    }

    /// What was pushed comes first, in its order.
    pub fn into_actions(self) -> Vec<Action> {
        let count = |(key, (read, by)): (Key, (Option<Counter>, i64))| match read {
            Some(counter) => counter.add(by),
            None => counters::add(key, by),
        };
        let checks = self.checks.into_values();
        self.actions.into_iter().chain(checks).chain(self.counters.into_iter().map(count)).collect()
    }
}
