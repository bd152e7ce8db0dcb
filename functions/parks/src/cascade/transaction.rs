//! The actions of a transaction while they are collected. A transaction may not name an item twice.

use std::collections::{BTreeMap, BTreeSet};

use table::{Action, Condition, Key, item};

use super::counters::{self, Counter};
use crate::item::Item;
use crate::items::is_live;
use crate::relationships::Pair;
use crate::schema::PARKS;

/// DynamoDB's limit of actions in a transaction.
pub const MAX_ACTIONS: usize = 100;

/// Fails if the item has been shown, hidden, deleted or restored since it was read.
pub fn check_visibility(item: &Item) -> Action {
    Action::check(&PARKS, item.key()).when_all(visibility_as_read(item))
}

fn visibility_as_read(item: &Item) -> [Condition; 2] {
    let flag = |name, value| {
        let condition = if value { Condition::Equals } else { Condition::Differs };
        condition(name, item::flag(true))
    };
    [flag("isDeleted", item.deleted()), flag("isVisible", item.visible())]
}

#[derive(Debug, Default)]
pub struct TransactionBuilder {
    actions: Vec<Action>,
    /// The conditions on each item that is only checked.
    checks: BTreeMap<Key, Vec<Condition>>,
    counters: BTreeMap<Key, (Option<Counter>, i64)>,
    relationships: BTreeSet<Pair>,
}

impl TransactionBuilder {
    pub fn push(&mut self, action: Action) {
        self.actions.push(action);
    }

    /// Adds [`check_visibility`].
    pub fn check_visibility(&mut self, item: &Item) {
        self.check(item.key(), visibility_as_read(item));
    }

    /// Fails unless the item exists and is not deleted.
    pub fn check_live(&mut self, item: Key) {
        self.check(item, [is_live()]);
    }

    /// Adds conditions to the one check of the item. It fails if the item was read in different states.
    fn check(&mut self, item: Key, conditions: impl IntoIterator<Item = Condition>) {
        let of_item = self.checks.entry(item).or_default();
        for condition in conditions {
            if !of_item.contains(&condition) {
                of_item.push(condition);
            }
        }
    }

    /// Notes that the transaction writes this relationship. Returns whether it did not before.
    pub fn note_relationship(&mut self, pair: Pair) -> bool {
        self.relationships.insert(pair)
    }

    /// Whether both write the same relationship, so that they cannot be one transaction.
    pub fn overlaps(&self, other: &Self) -> bool {
        !self.relationships.is_disjoint(&other.relationships)
    }

    /// Fails if the counter has changed since it was loaded. Additions of this transaction are allowed.
    pub fn assert_count(&mut self, counter: Counter) {
        let key = counter.key().clone();
        self.counters.entry(key).or_default().0 = Some(counter);
    }

    pub fn add_count(&mut self, counter: Key, by: i64) {
        self.counters.entry(counter).or_default().1 += by;
    }

    /// The number of actions.
    pub fn size(&self) -> usize {
        self.actions.len() + self.checks.len() + self.counters.len()
    }

    /// The actions. Pushed ones come first, in their order.
    pub fn into_actions(self) -> Vec<Action> {
        let count = |(key, (loaded, by)): (Key, (Option<Counter>, i64))| match loaded {
            Some(counter) => counter.add(by),
            None => counters::add(key, by),
        };
        let check = |(key, conditions)| Action::check(&PARKS, key).when_all(conditions);
        let checks = self.checks.into_iter().map(check);
        self.actions.into_iter().chain(checks).chain(self.counters.into_iter().map(count)).collect()
    }
}
