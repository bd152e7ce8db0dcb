//! The proof is itself tested: each of these breaks one rule, and the simulator must find it out.

use std::time::Duration;

use serde_json::json;

use super::first_broken;
use super::schedule::Schedule;
use crate::classify::{Answer, Class, classify};
use crate::fold::{Change, Decision, Fold, Presence, decide, fold};
use crate::lines::{Identity, Tombstone, Versioning};
use crate::report::Unhandled;
use crate::rules::{AsWritten, Rules};
use crate::settle::{Resolution, settle};

/// Some schedule breaks this invariant.
#[track_caller]
fn caught<R: Rules>(invariant: &str, prepare: fn(&Schedule<R>)) {
    let broken =
        (0..10_000).find_map(|seed| first_broken::<R>([seed], prepare).filter(|(_, how)| how.starts_with(invariant)));
    let (seed, how) = broken.expect("no schedule of ten thousand finds this mutant");
    println!("seed {seed}: {how}");
}

/// Deletes documents instead of writing tombstones.
struct RealDeletes;

impl Rules for RealDeletes {
    fn write_tombstone(lines: &mut String, identity: &Identity, version: u64, _: Versioning, _: i64) {
        let id = &identity.id;
        *lines += &format!(r#"{{"delete":{{"_id":"{id}","version":{version},"version_type":"external"}}}}"#);
        lines.push('\n');
    }
}

#[test]
fn real_deletes_are_caught() {
    caught::<RealDeletes>("I2", |_| ());
}

/// Writes a tombstone at the revision that was deleted.
struct TombstoneAtTheOldRev;

impl Rules for TombstoneAtTheOldRev {
    fn decide(fold: Fold) -> Decision {
        match decide(fold) {
            Decision::Tombstone(version) => Decision::Tombstone(version & !1),
            other => other,
        }
    }
}

#[test]
fn a_tombstone_at_the_old_rev_is_caught() {
    caught::<TombstoneAtTheOldRev>("I1", |_| ());
}

/// Takes a higher version in the index as the last word.
struct NoSettle;

impl Rules for NoSettle {
    fn settle(_: Option<u64>, _: Presence) -> Resolution {
        Resolution::Done
    }
}

#[test]
fn no_settle_is_caught() {
    caught::<NoSettle>("I1", |_| ());
}

/// Settles by `if_seq_no`, which OpenSearch answers by raising the stored version by one.
struct IfSeqNo;

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
    caught::<IfSeqNo>("I1", |_| ());
}

/// Indexes an item whose revision failed to grow as if it had grown.
struct NoStamp;

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
fn no_stamp_is_caught() {
    caught::<NoStamp>("I1", |_| ());
}

#[test]
fn an_unconditional_stamp_is_caught() {
    caught::<AsWritten>("I3", |schedule| schedule.shared.world().stamps_blindly = true);
}

/// Looks at the last record only.
struct FoldForgetsTheHighestRev;

impl Rules for FoldForgetsTheHighestRev {
    fn fold(_: Option<Fold>, change: Change) -> Fold {
        fold(None, change)
    }
}

#[test]
fn a_fold_that_forgets_the_highest_rev_is_caught() {
    caught::<FoldForgetsTheHighestRev>("I1", |_| ());
}

/// Reports a group by its last record.
struct LastRecordReported;

impl Rules for LastRecordReported {
    fn report(unhandled: impl Iterator<Item = Unhandled>) -> Option<usize> {
        unhandled.map(|group| group.last).min()
    }
}

#[test]
fn the_last_record_reported_is_caught() {
    caught::<LastRecordReported>("I5", |_| ());
}

/// Takes an operation that failed as done.
struct SwallowedError;

impl Rules for SwallowedError {
    fn classify(answer: &Answer<'_>) -> Class {
        match classify(answer) {
            Class::Retry | Class::Report => Class::Done,
            class => class,
        }
    }
}

#[test]
fn a_swallowed_error_is_caught() {
    caught::<SwallowedError>("I1", |_| ());
}

/// Forgets deletes while records from before them may come.
struct SweepsYoungTombstones;

impl Rules for SweepsYoungTombstones {
    fn horizon(now_micros: i64, _: Duration) -> i64 {
        now_micros
    }
}

#[test]
fn sweeping_young_tombstones_is_caught() {
    caught::<SweepsYoungTombstones>("I1", |_| ());
}

/// Deletes what is in the place of a tombstone, whatever it is by then.
struct UnguardedSweep;

impl Rules for UnguardedSweep {
    fn write_forget(lines: &mut String, tombstone: &Tombstone) {
        let forever = json!({ "_id": tombstone.id, "version": 1_u64 << 60, "version_type": "external_gte" });
        lines.push_str(&format!("{}\n", json!({ "delete": forever })));
    }
}

#[test]
fn an_unguarded_sweep_is_caught() {
    caught::<UnguardedSweep>("I1", |_| ());
}

#[test]
fn readers_that_keep_what_they_read_are_caught() {
    caught::<AsWritten>("I1", |schedule| schedule.shared.world().ageless = true);
}

/// Takes any conflict as the work of a version that is at least as good.
struct EveryConflictDone;

impl Rules for EveryConflictDone {
    fn classify(answer: &Answer<'_>) -> Class {
        match classify(answer) {
            Class::Conflict => Class::Done,
            class => class,
        }
    }
}

#[test]
fn every_409_taken_as_done_is_caught() {
    caught::<EveryConflictDone>("I1", |_| ());
}
