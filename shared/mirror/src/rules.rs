//! The rules by which the index follows the table, one function each. Production uses the default implementations. The
//! mutation tests replace one rule at a time and require the simulator to report a broken invariant.

use std::time::Duration;

use crate::classify::{Answer, Class, classify};
use crate::fold::Presence;
use crate::fold::{Change, Decision, Fold, decide, fold};
use crate::given_up::may_redrive;
use crate::lines::{Identity, Tombstone, Versioning, horizon, write_tombstone, write_tombstone_delete};
use crate::report::{Unhandled, report};
use crate::settle::{Resolution, repair, settle};

pub trait Rules: Send + Sync + 'static {
    fn fold(before: Option<Fold>, change: Change) -> Fold {
        fold(before, change)
    }

    fn decide(fold: Fold) -> Decision {
        decide(fold)
    }

    fn write_tombstone(lines: &mut String, identity: &Identity, version: u64, versioning: Versioning, now_micros: i64) {
        write_tombstone(lines, identity, version, versioning, now_micros);
    }

    fn classify(answer: &Answer<'_>) -> Class {
        classify(answer)
    }

    fn settle(version: Option<u64>, item: Presence) -> Resolution {
        settle(version, item)
    }

    fn repair(version: Option<u64>, item: Presence) -> Resolution {
        repair(version, item)
    }

    fn horizon(now_micros: i64, retention: Duration) -> i64 {
        horizon(now_micros, retention)
    }

    fn write_tombstone_delete(lines: &mut String, tombstone: &Tombstone) {
        write_tombstone_delete(lines, tombstone);
    }

    fn may_redrive(since: i64, now_micros: i64) -> bool {
        may_redrive(since, now_micros)
    }

    fn report(unhandled: impl Iterator<Item = Unhandled>) -> Option<usize> {
        report(unhandled)
    }
}

/// The rules of production: every default implementation, unchanged.
#[derive(Clone, Copy, Debug)]
pub struct ProductionRules;

impl Rules for ProductionRules {}
