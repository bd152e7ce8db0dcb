//! Rebuilds by calls of a function, as their state machine makes them, against rebuilds by a command.

use std::collections::BTreeMap;
use std::time::Duration;

use super::executor::{drive, drive_for};
use super::rebuilds::{carry_out, deliver, found, names, order, phases, raised};
use super::scenarios::{leaf, put};
use super::search::Document;
use super::toy::LabelledLeaves;
use super::world::Shared;
use crate::advance::{Advanced, Bounds, advance, fill_share};
use crate::fill::Share;
use crate::generation::index_name;
use crate::ports::Fault;
use crate::rebuild::{Goal, Rebuild, pause};

const SHARES: u32 = 3;
const AUDIT: Duration = Duration::from_secs(1);

fn call(order: Rebuild, waited: Option<u64>, until: Option<i64>) -> (Rebuild, Bounds) {
    (order, Bounds { waited, until, shares: SHARES })
}

/// Makes one call, and stops it after this number of requests. Returns `None` if it was stopped.
fn advance_for(
    shared: &Shared,
    requests: usize,
    (order, bounds): (Rebuild, Bounds),
) -> Option<Result<Advanced, Fault>> {
    // Each step takes a second of the time that a call has.
    let step = |_| shared.world().now += 1_000_000;
    let call = advance(shared, &LabelledLeaves, "toy", (order, bounds), &step);
    drive_for(shared, requests, call)
}

fn fill_for(shared: &Shared, requests: usize, number: u32) -> Option<Result<bool, Fault>> {
    let share = Share { number, of: SHARES };
    drive_for(shared, requests, fill_share(shared, &LabelledLeaves, share, &|_| ()))
}

/// Makes calls as the state machine does. The first attempt of each is stopped after this number of requests, and each
/// has this time for the comparison. Returns the number of calls that were stopped.
fn by_functions(shared: &Shared, order: Rebuild, requests: usize, time: Option<Duration>) -> usize {
    let (mut order, mut waited, mut stopped) = (order, None, 0);
    for _ in 0..1000 {
        let until = time.map(|time| shared.world().now + i64::try_from(time.as_micros()).unwrap());
        let first = advance_for(shared, requests, call(order, waited, until));
        let advanced = first.unwrap_or_else(|| {
            stopped += 1;
            advance_for(shared, usize::MAX, call(order, waited, until)).unwrap()
        });
        order.begins = false;
        match advanced.unwrap() {
            Advanced::Published { epoch } => {
                shared.world().now += 90_000_000;
                waited = Some(epoch);
            }
            Advanced::Filling => {
                for number in 0..SHARES {
                    let first = fill_for(shared, requests, number);
                    let ended = first.unwrap_or_else(|| {
                        stopped += 1;
                        fill_for(shared, usize::MAX, number).unwrap()
                    });
                    assert!(ended.unwrap());
                }
            }
            Advanced::Stopped => {}
            Advanced::Audited | Advanced::Reached => return stopped,
        }
    }
    panic!("the rebuild does not end");
}

fn documents(shared: &Shared, number: u32) -> BTreeMap<String, Document> {
    shared.world().search.documents_of(&index_name("toy", number))
}

fn audited() -> Rebuild {
    Rebuild { audit: Some(AUDIT), ..order(Goal::Serve) }
}

#[test]
fn functions_stopped_after_each_request_make_the_index_that_a_command_makes() {
    let by_command = raised();
    carry_out(&by_command, audited()).unwrap();
    let expected = documents(&by_command, 2);
    for requests in 1.. {
        let shared = raised();
        let stopped = by_functions(&shared, audited(), requests, None);
        // An index that was created and not published is not used.
        let number = if shared.world().search.exists(&index_name("toy", 3)) { 3 } else { 2 };
        assert_eq!((phases(&shared), found(&shared)), (vec![(1, "serving"), (number, "audited")], names(false)));
        // The operator moves searches.
        carry_out(&shared, Rebuild { begins: false, ..audited() }).unwrap();
        assert_eq!((phases(&shared), found(&shared)), (vec![(1, "kept"), (number, "serving")], names(true)));
        assert_eq!(documents(&shared, number), expected, "stopped after {requests} requests");
        if stopped == 0 {
            assert!(requests > 10, "{requests}");
            break;
        }
    }
}

/// Each call saves its position and ends after two steps.
#[test]
fn functions_without_time_make_the_index_that_a_command_makes() {
    let (by_command, shared) = (raised(), raised());
    carry_out(&by_command, audited()).unwrap();
    by_functions(&shared, audited(), usize::MAX, Some(Duration::from_secs(2)));
    assert_eq!(phases(&shared), [(1, "serving"), (2, "audited")]);
    assert_eq!(documents(&shared, 2), documents(&by_command, 2));
}

#[test]
fn command_and_functions_resume_each_other() {
    for requests in [3, 5, 8, 12, 20] {
        let shared = raised();
        let run = crate::rebuild::rebuild(&shared, &LabelledLeaves, "toy", audited(), &|_| ());
        assert!(drive_for(&shared, requests, run).is_none());
        by_functions(&shared, Rebuild { begins: false, ..audited() }, usize::MAX, None);
        carry_out(&shared, Rebuild { begins: false, ..audited() }).unwrap();
        assert_eq!((phases(&shared), found(&shared)), (vec![(1, "kept"), (2, "serving")], names(true)), "{requests}");
    }
}

/// Another rebuild, or one that an operator had paused, has an epoch of its own.
#[test]
fn wait_counts_only_for_the_epoch_that_was_returned() {
    let shared = raised();
    let advanced = |waited| advance_for(&shared, usize::MAX, call(order(Goal::Serve), waited, None)).unwrap().unwrap();
    let Advanced::Published { epoch } = advanced(None) else { panic!("the rebuild waits") };
    // A second execution has begun nothing, and has not waited.
    assert_eq!(advanced(None), Advanced::Published { epoch });
    drive(&shared, pause(&shared)).unwrap();
    let refused = advance_for(&shared, usize::MAX, call(order(Goal::Serve), Some(epoch), None)).unwrap().unwrap_err();
    assert!(refused.reason.contains("is paused: resume or cancel it"), "{refused}");
    assert!(!refused.passing);
    // Meanwhile the mirror writes.
    put(&shared, "a", Some(leaf("oak", 40)));
    assert_eq!(deliver(&shared), 0);
    shared.world().generations.as_mut().unwrap().rebuild_paused = false;
    let Advanced::Published { epoch: second } = advanced(Some(epoch)) else { panic!("the rebuild waits again") };
    assert!(second > epoch);
    assert_eq!(advanced(Some(epoch)), Advanced::Published { epoch: second });
    assert_eq!(advanced(Some(second)), Advanced::Filling);
    assert_eq!(phases(&shared), [(1, "serving"), (2, "filling")]);
}

#[test]
fn first_index_serves_without_an_operator() {
    let shared = raised();
    shared.world().generations = None;
    by_functions(&shared, order(Goal::Serve), usize::MAX, None);
    assert_eq!((phases(&shared), found(&shared)), (vec![(2, "serving")], names(true)));
}

#[test]
fn share_of_a_cancelled_rebuild_is_refused() {
    let shared = raised();
    let Advanced::Published { epoch } =
        advance_for(&shared, usize::MAX, call(order(Goal::Serve), None, None)).unwrap().unwrap()
    else {
        panic!("the rebuild waits");
    };
    advance_for(&shared, usize::MAX, call(order(Goal::Serve), Some(epoch), None)).unwrap().unwrap();
    carry_out(&shared, order(Goal::Cancel)).unwrap();
    let refused = fill_for(&shared, usize::MAX, 0).unwrap().unwrap_err();
    assert!(refused.reason.contains("was cancelled") && !refused.passing, "{refused}");
    // The loop ends, and begins no other rebuild.
    let next = Rebuild { begins: false, ..order(Goal::Serve) };
    assert_eq!(advance_for(&shared, usize::MAX, call(next, Some(epoch), None)).unwrap().unwrap(), Advanced::Reached);
    assert_eq!(phases(&shared), [(1, "serving")]);
}

#[test]
fn index_that_only_an_operator_can_delete_is_left_to_the_operator() {
    let shared = raised();
    carry_out(&shared, order(Goal::Serve)).unwrap();
    let rebuilding = crate::rebuild::rebuild(&shared, &LabelledLeaves, "toy", order(Goal::Finish), &|_| ());
    assert!(drive_for(&shared, 2, rebuilding).is_none());
    let refused = advance_for(&shared, usize::MAX, call(order(Goal::Serve), None, None)).unwrap().unwrap_err();
    assert!(refused.reason.contains("`cairn rebuild start` deletes it"), "{refused}");
}
