//! Mutation tests of the simulator. Each mutant breaks one rule, and some schedule must break an invariant.

use std::time::Duration;

use serde_json::json;

use super::reached::Reached;
use super::schedule::Schedule;
use super::seeds::{Prepare, run_seed};
use crate::classify::{Answer, Class, classify};
use crate::fold::{Change, Decision, Fold, Presence, decide, fold};
use crate::lines::{Identity, Tombstone, Versioning};
use crate::report::Unhandled;
use crate::rules::{ProductionRules, Rules};
use crate::settle::{Resolution, settle};

/// The first seed. It is the same in each run, since some mutants are found by one schedule of many thousands.
const FIRST_SEED: u64 = 1;

/// The number of schedules that must find a mutant.
const MOST: u64 = 20_000;

/// Asserts that some schedule breaks this invariant, and prints which one.
#[track_caller]
fn caught<R: Rules>(invariant: &str, prepare: Prepare<R>) {
    let broken = (0..MOST).find_map(|number| {
        let broken = run_seed(FIRST_SEED + number, prepare, &mut Reached::default()).err()?;
        broken.invariant.starts_with(invariant).then_some((number + 1, broken))
    });
    let (run, broken) = broken.expect("no schedule finds this mutant");
    println!("found by schedule {run}: {}", broken.invariant);
}

#[test]
fn failure_of_a_mutant_shrinks_to_a_short_story() {
    let prepare: Prepare<NoSettle> = |_| ();
    let broken = (0..MOST).find_map(|number| run_seed(FIRST_SEED + number, prepare, &mut Reached::default()).err());
    let story = broken.expect("no schedule finds this mutant").story(prepare);
    println!("{story}");
    assert!(story.lines().count() <= SHORT_STORY, "{} lines", story.lines().count());
}

/// The highest number of lines of the story that shows this mutant: of several writes, of late invocations and of the
/// calls of their batches. Before, the story has some hundreds.
const SHORT_STORY: usize = 150;

/// Deletes documents instead of writing tombstones.
pub(crate) struct RealDeletes;

impl Rules for RealDeletes {
    fn write_tombstone(lines: &mut String, identity: &Identity, version: u64, _: Versioning, _: i64) {
        let id = &identity.id;
        *lines += &format!(r#"{{"delete":{{"_id":"{id}","version":{version},"version_type":"external"}}}}"#);
        lines.push('\n');
    }
}

#[test]
fn real_deletes_are_caught() {
    caught::<RealDeletes>("versions", |_| ());
}

/// Writes a tombstone at the revision that was deleted.
pub(crate) struct TombstoneAtTheOldRev;

impl Rules for TombstoneAtTheOldRev {
    fn decide(fold: Fold) -> Decision {
        match decide(fold) {
            Decision::Tombstone(version) => Decision::Tombstone(version & !1),
            other => other,
        }
    }
}

#[test]
fn tombstone_at_the_old_rev_is_caught() {
    caught::<TombstoneAtTheOldRev>("content", |_| ());
}

/// Accepts a higher version in the index without settling.
pub(crate) struct NoSettle;

impl Rules for NoSettle {
    fn settle(_: Option<u64>, _: Presence) -> Resolution {
        Resolution::Done
    }
}

#[test]
fn missing_settle_is_caught() {
    caught::<NoSettle>("content", |_| ());
}

/// Settles by `if_seq_no`, for which OpenSearch raises the stored version by one.
pub(crate) struct IfSeqNo;

impl Rules for IfSeqNo {
    fn settle(version: Option<u64>, item: Presence) -> Resolution {
        match (version, item) {
            (Some(version), Presence::At(_)) => Resolution::Index(version + 1),
            (version, item) => settle(version, item),
        }
    }
}

#[test]
fn if_seq_no_is_caught() {
    caught::<IfSeqNo>("content", |_| ());
}

/// Indexes an item whose revision did not grow, instead of stamping it.
pub(crate) struct NoStamp;

impl Rules for NoStamp {
    fn decide(fold: Fold) -> Decision {
        match decide(fold) {
            Decision::Stamp { .. } | Decision::TombstoneAndStamp { .. } => {
                Decision::Index(fold.last.number().unwrap_or_default())
            }
            other => other,
        }
    }
}

#[test]
fn missing_stamp_is_caught() {
    caught::<NoStamp>("content", |_| ());
}

#[test]
fn unconditional_stamp_is_caught() {
    caught::<ProductionRules>("writes", |schedule: &mut Schedule<_>| schedule.shared.world().stamps_blindly = true);
}

/// Folds only the last record.
pub(crate) struct FoldForgetsTheHighestRev;

impl Rules for FoldForgetsTheHighestRev {
    fn fold(_: Option<Fold>, change: Change) -> Fold {
        fold(None, change)
    }
}

#[test]
fn fold_without_the_highest_rev_is_caught() {
    caught::<FoldForgetsTheHighestRev>("content", |_| ());
}

/// Reports the last record of a group instead of the first.
pub(crate) struct LastRecordReported;

impl Rules for LastRecordReported {
    fn report(unhandled: impl Iterator<Item = Unhandled>) -> Option<usize> {
        unhandled.map(|group| group.last).min()
    }
}

#[test]
fn reporting_the_last_record_is_caught() {
    caught::<LastRecordReported>("report", |_| ());
}

/// Classifies a failed operation as done.
pub(crate) struct SwallowedError;

impl Rules for SwallowedError {
    fn classify(answer: &Answer<'_>) -> Class {
        match classify(answer) {
            Class::Retry | Class::Report => Class::Done,
            class => class,
        }
    }
}

#[test]
fn swallowed_error_is_caught() {
    caught::<SwallowedError>("content", |_| ());
}

/// Deletes tombstones while older records may still arrive.
pub(crate) struct SweepsYoungTombstones;

impl Rules for SweepsYoungTombstones {
    fn horizon(now_micros: i64, _: Duration) -> i64 {
        now_micros
    }
}

#[test]
fn sweep_of_young_tombstones_is_caught() {
    caught::<SweepsYoungTombstones>("content", |_| ());
}

/// Deletes the document even if it was written after the tombstone was found.
pub(crate) struct UnguardedSweep;

impl Rules for UnguardedSweep {
    fn write_tombstone_delete(lines: &mut String, tombstone: &Tombstone) {
        let forever = json!({ "_id": tombstone.id, "version": 1_u64 << 60, "version_type": "external_gte" });
        lines.push_str(&format!("{}\n", json!({ "delete": forever })));
    }
}

#[test]
fn unconditional_sweep_is_caught() {
    caught::<UnguardedSweep>("content", |_| ());
}

#[test]
fn use_of_data_of_any_age_is_caught() {
    caught::<ProductionRules>("content", |schedule: &mut Schedule<_>| schedule.shared.world().never_ages = true);
}

/// Classifies every conflict as done.
pub(crate) struct EveryConflictDone;

impl Rules for EveryConflictDone {
    fn classify(answer: &Answer<'_>) -> Class {
        match classify(answer) {
            Class::Conflict => Class::Done,
            class => class,
        }
    }
}

#[test]
fn every_conflict_classified_as_done_is_caught() {
    caught::<EveryConflictDone>("content", |_| ());
}
