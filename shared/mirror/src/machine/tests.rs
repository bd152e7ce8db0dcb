//! The transitions of a group as tables, with a short text for each task.

use table::{Key, Rev};

use super::*;
use crate::fold::{Change, fold};
use crate::generation::{Generation, Phase};
use crate::group::GroupId;
use crate::group::group_key;
use crate::record::{RecordError, Side};
use crate::simulation::toy::TREES;

fn targets(count: usize) -> Targets {
    let generation = |n| Generation { index: format!("toy-{n}"), mapping: 1, phase: Phase::Serving };
    Targets::new(&(0..count).map(generation).collect::<Vec<_>>())
}

fn presence_of(rev: u64) -> Presence {
    if rev == 0 { Presence::Unrevised } else { Presence::At(Rev::new(rev).unwrap()) }
}

/// Creates a group whose last image has this revision: 0 for an invalid one, `None` for a removal.
fn group(old: Option<u64>, new: Option<u64>) -> Group<'static> {
    let at = group_key(&TREES, Key::new("TREE#a", "LEAF#1")).unwrap();
    let side = |rev: Option<u64>| rev.map_or(Presence::Absent, presence_of);
    let image = new.map(|_| Side { text: "{}", rev: None });
    Group { fold: Some(fold(None, Change { old: side(old), new: side(new) })), image, ..Group::new(at, "record", 0) }
}

fn item(rev: u64) -> Option<Item> {
    Some(Item::new(format!(r#"{{"rev":{{"N":"{rev}"}}}}"#)))
}

fn poison(rev: u64, code: Code, of_content: bool) -> Poison {
    Poison { rev, code, reason: "reason".to_owned(), evidence: "record".to_owned(), of_content }
}

/// Describes each task in a few words.
fn describe(tasks: &[Task<'_>]) -> Vec<String> {
    let versioning = |versioning| if versioning == Versioning::ExternalGte { " or over an equal one" } else { "" };
    let hides = |hides: Option<u64>| hides.map_or(String::new(), |rev| format!(", hides {rev}"));
    let number = |number: Option<u64>| number.map_or("nothing".to_owned(), |number| number.to_string());
    let describe = |task: &Task<'_>| match task {
        Task::Write(Write { version, content: Content::Item(_, how), .. }) => {
            format!("index {version}{}", versioning(*how))
        }
        Task::Write(Write { version, content: Content::Tombstone(how), hides: hidden, .. }) => {
            format!("tombstone {version}{}{}", versioning(*how), hides(*hidden))
        }
        Task::Settle(Settle { own, repair, hides: hidden, .. }) => {
            let own = own.map_or(String::new(), |own| format!(" own {own}"));
            format!("{}{own}{}", if *repair { "repair" } else { "settle" }, hides(*hidden))
        }
        Task::Compare(Compare { version, .. }) => format!("compare with {}", number(*version)),
        Task::Stamp(Stamp { above, settle, .. }) => {
            format!("stamp above {}{}", number(*above), if *settle { ", then settle" } else { "" })
        }
        Task::FindMarker(_) => "find marker".to_owned(),
        Task::Examine(Quarantine { poison, .. }) => format!("examine {}", poison.code.name()),
        Task::Quarantine(Quarantine { poison, .. }) => format!("quarantine {} {}", poison.code.name(), poison.rev),
        Task::Clear(Clear { upto, .. }) => format!("clear {upto}"),
    };
    tasks.iter().map(describe).collect()
}

/// Checks the tasks that follow when the only task of a group ends.
#[track_caller]
fn check(mut group: Group<'static>, event: Event<'static>, expected: &[&str]) -> Group<'static> {
    let story = format!("{event:?}");
    group.open = 1;
    let tasks = group.on(event, &targets(1));
    assert_eq!(describe(&tasks), expected, "{story}");
    assert_eq!(group.open, tasks.len(), "each task that follows is open: {story}");
    group
}

fn write(version: u64) -> Write<'static> {
    let content = Content::Item(Cow::Borrowed("{}"), Versioning::External);
    Write::index(GroupId::default(), TargetId::FIRST, version, content)
}

fn tombstone(version: u64, hides: Option<u64>) -> Write<'static> {
    Write { hides, ..Write::tombstone(GroupId::default(), TargetId::FIRST, version, Versioning::External) }
}

fn settle(own: Option<u64>, hides: Option<u64>) -> Settle {
    Settle { own, hides, ..Settle::new(GroupId::default(), TargetId::FIRST) }
}

fn live() -> Group<'static> {
    group(None, Some(14))
}

#[test]
fn group_starts_with_the_tasks_that_its_images_require() {
    for (old, new, expected) in [
        (None, Some(14), &["index 14"][..]),
        (Some(14), None, &["tombstone 15"]),
        (Some(0), None, &["settle"]),
        (Some(14), Some(14), &["stamp above 14"]),
        (None, Some(0), &["stamp above nothing"]),
        (Some(14), Some(10), &["stamp above 14", "tombstone 15"]),
    ] {
        let mut group = group(old, new);
        let tasks = group.start(TargetId::FIRST, &targets(1));
        assert_eq!(describe(&tasks), expected, "{old:?} {new:?}");
        assert_eq!(group.open, tasks.len());
    }
}

/// An item that was deleted before would rise in it. Tombstones and stamps raise none.
#[test]
fn generation_that_was_just_published_gets_the_item_instead_of_an_image() {
    let generation = |phase| Generation { index: String::new(), mapping: 1, phase };
    let targets = Targets::new(&[Phase::Serving, Phase::Published].map(generation));
    for (old, new, expected) in [
        (None, Some(14), [&["index 14"][..], &["settle"]]),
        (Some(10), Some(14), [&["index 14"], &["settle"]]),
        (Some(14), None, [&["tombstone 15"], &["tombstone 15"]]),
        (Some(14), Some(14), [&["stamp above 14"], &[]]),
        (Some(14), Some(10), [&["stamp above 14", "tombstone 15"], &["tombstone 15"]]),
    ] {
        let mut group = group(old, new);
        let started: Vec<_> = targets.ids().map(|target| describe(&group.start(target, &targets))).collect();
        assert_eq!(started, expected, "{old:?} {new:?}");
    }
}

#[test]
fn item_is_stamped_once_for_all_generations() {
    let mut group = group(Some(14), Some(10));
    let started: Vec<_> = targets(2).ids().map(|target| describe(&group.start(target, &targets(2)))).collect();
    assert_eq!(started, [vec!["stamp above 14", "tombstone 15"], vec!["tombstone 15"]]);
    assert_eq!(group.open, 3);
}

#[test]
fn key_that_cannot_have_a_document_only_goes_to_quarantine() {
    for (key, code) in [
        (group_key(&TREES, Key::new("SHRUB#a", "LEAF#1")).unwrap(), "unknown-key"),
        (group_key(&TREES, Key::new(format!("TREE#{}", "a".repeat(600)), "LEAF#1")).unwrap(), "key-too-long"),
    ] {
        let mut group = Group { key, ..live() };
        let tasks = group.start(TargetId::FIRST, &targets(1));
        assert_eq!(describe(&tasks), [format!("quarantine {code} 14")]);
        let Some(Task::Quarantine(quarantine)) = tasks.into_iter().next() else { panic!("no quarantine") };
        let group = check(group, Event::Quarantined(quarantine), &[]);
        assert!(group.handled());
    }
}

/// Its marker must have the revision of the item, and none is needed without an item.
#[test]
fn repair_of_a_key_that_cannot_have_a_document_reads_the_item_first() {
    for (key, code) in [
        (Key::new("SHRUB#a", "LEAF#1"), "unknown-key"),
        (Key::new(format!("TREE#{}", "a".repeat(600)), "LEAF#1"), "key-too-long"),
    ] {
        let unrevised = || Some(Item::new("{}".to_owned()));
        for (item, expected) in [(item(14), Some("14")), (unrevised(), Some("0")), (None, None)] {
            let at = group_key(&TREES, key.clone()).unwrap();
            let mut group = Group { repaired: Some(RepairOutcome::Nothing), ..Group::new(at, "key", 0) };
            let tasks = group.start_repair(TargetId::FIRST);
            assert_eq!(describe(&tasks), [format!("examine {code}")]);
            let Some(Task::Examine(quarantine)) = tasks.into_iter().next() else { panic!("the item is read") };
            let expected = expected.map(|rev| format!("quarantine {code} {rev}"));
            let expected: Vec<&str> = expected.as_deref().into_iter().collect();
            let group = check(group, Event::Examined(quarantine, item), &expected);
            assert_eq!((group.handled(), group.repaired), (expected.is_empty(), Some(RepairOutcome::Nothing)));
        }
    }
    let mut record = Group { record_error: Some(RecordError::Keys), ..Group::new(GroupKey::Record, "record", 0) };
    assert_eq!(describe(&record.start_repair(TargetId::FIRST)), ["quarantine unknown-record 0"]);
}

#[test]
fn delete_of_a_key_that_cannot_have_a_document_clears_its_marker() {
    for key in [Key::new("SHRUB#a", "LEAF#1"), Key::new(format!("TREE#{}", "a".repeat(600)), "LEAF#1")] {
        for (old, expected) in [(Some(14), "clear 14"), (Some(0), "clear 0")] {
            let key = group_key(&TREES, key.clone()).unwrap();
            let mut removed = Group { key, ..group(old, None) };
            assert_eq!(describe(&removed.start(TargetId::FIRST, &targets(1))), [expected]);
            let removed = check(removed, Event::Cleared, &[]);
            assert!(removed.handled() && removed.outcome == Outcome::Ignored);
        }
    }
    // A record that cannot be read is kept.
    let key = group_key(&TREES, Key::new("SHRUB#a", "LEAF#1")).unwrap();
    let mut unreadable = Group { key, record_error: Some(RecordError::Name), ..group(Some(14), None) };
    assert_eq!(describe(&unreadable.start(TargetId::FIRST, &targets(1))), ["quarantine unknown-key 14"]);
}

#[test]
fn unknown_event_of_a_known_key_is_quarantined_and_its_image_is_indexed() {
    let quarantine = Quarantine {
        group: GroupId::default(),
        target: TargetId::FIRST,
        poison: poison(14, Code::UnknownRecord, true),
    };
    let group = check(live(), Event::Quarantined(quarantine), &["index 14"]);
    assert_eq!(group.outcome, Outcome::Quarantined);
}

#[test]
fn stored_write_clears_the_marker_unless_it_hides_poison() {
    check(live(), Event::Written(write(14)), &["clear 14"]);
    check(live(), Event::Written(tombstone(13, Some(14))), &[]);
}

#[test]
fn conflict_is_settled() {
    let group = check(live(), Event::Conflict(write(14)), &["settle own 14"]);
    assert_eq!(group.outcome, Outcome::Superseded);
    check(live(), Event::Conflict(tombstone(13, Some(14))), &["settle own 13, hides 14"]);
}

#[test]
fn own_version_or_that_of_the_poison_decides_without_the_item() {
    for (own, hides, version, expected) in [
        (Some(14), None, Some(14), "clear 14"),
        (Some(14), None, Some(20), "compare with 20"),
        (Some(14), None, None, "compare with nothing"),
        (None, None, Some(14), "compare with 14"),
        (Some(13), Some(14), Some(14), "stamp above 14"),
        (Some(13), Some(14), Some(20), "compare with 20"),
    ] {
        check(live(), Event::Version(settle(own, hides), version), &[expected]);
    }
    // The marker of the poison is kept.
    check(live(), Event::Version(settle(Some(13), Some(14)), Some(13)), &[]);
}

#[test]
fn any_other_version_is_compared_with_the_item() {
    for (version, item, expected) in [
        (Some(20), item(24), "index 24"),
        (Some(20), item(20), "clear 20"),
        (Some(20), item(14), "stamp above 20"),
        (Some(20), item(15), "stamp above 20"),
        (Some(20), None, "tombstone 21 or over an equal one"),
        (None, item(14), "index 14"),
        (None, None, "tombstone 15 or over an equal one"),
    ] {
        let compare = Compare { settle: settle(Some(14), None), version };
        check(live(), Event::Item(compare, item), &[expected]);
    }
}

#[test]
fn repair_overwrites_an_equal_version_and_reports_its_outcome() {
    let repairing = || Group { repaired: Some(RepairOutcome::Nothing), ..live() };
    for (version, item, expected, outcome) in [
        (Some(20), item(20), "index 20 or over an equal one", RepairOutcome::Written(20)),
        (Some(21), item(20), "stamp above 21", RepairOutcome::Stamped),
        (Some(21), None, "tombstone 21 or over an equal one", RepairOutcome::Deleted(21)),
        (None, None, "clear 0", RepairOutcome::Nothing),
    ] {
        let compare = Compare { settle: Settle { repair: true, ..settle(None, None) }, version };
        let group = check(repairing(), Event::Item(compare, item), &[expected]);
        assert_eq!(group.repaired, Some(outcome));
    }
}

#[test]
fn key_that_keeps_changing_fails_after_the_last_round() {
    let compare = Compare { settle: settle(Some(14), None), version: Some(20) };
    let last = check(Group { rounds: MAX_ROUNDS - 1, ..live() }, Event::Item(compare, item(24)), &["index 24"]);
    let group = check(last, Event::Item(compare, item(24)), &[]);
    let reason = "the key did not settle: it keeps changing, or OpenSearch still remembers a deleted document; try again \
                  in a minute";
    assert_eq!(group.failed.as_deref(), Some(reason));
}

#[test]
fn stamp_is_settled_only_for_a_scanned_item() {
    let stamp = |settle| Stamp { group: GroupId::default(), seen: None, above: None, settle };
    let group = check(live(), Event::Stamped { stamp: stamp(false), written: true }, &[]);
    assert!(group.handled());
    let mut scanned = Group { open: 1, ..live() };
    let tasks = scanned.on(Event::Stamped { stamp: stamp(true), written: false }, &targets(2));
    assert_eq!(describe(&tasks), ["settle", "settle"]);
}

/// Its marker may have been set after the item's delete was handled. Settling clears it.
#[test]
fn unknown_record_whose_stamp_is_refused_is_settled() {
    for (open, written, expected) in [(1, true, &[][..]), (1, false, &["settle", "settle"]), (2, false, &[])] {
        let mut group = Group { open, record_error: Some(RecordError::Name), ..live() };
        let stamp = Stamp { group: GroupId::default(), seen: None, above: None, settle: false };
        assert_eq!(describe(&group.on(Event::Stamped { stamp, written }, &targets(2))), expected);
    }
}

#[test]
fn item_that_cannot_be_stamped_goes_to_quarantine_in_every_generation() {
    let mut group = Group { open: 1, ..live() };
    let event = Event::Unstampable { rev: 22, code: Code::Unstampable, reason: "reason".to_owned() };
    let tasks = group.on(event, &targets(2));
    assert_eq!(describe(&tasks), ["quarantine unstampable 22", "quarantine unstampable 22"]);
    assert_eq!(group.open, 2);
}

#[test]
fn rejected_document_goes_to_quarantine_and_older_states_are_hidden() {
    let rejected =
        |blame| Event::Rejected { write: write(14), code: Code::Refused, reason: "reason".to_owned(), blame };
    check(live(), rejected(Blame::Content), &["quarantine refused 14"]);
    check(live(), rejected(Blame::Request), &["quarantine refused 14"]);
    for (of_content, expected) in [(true, "tombstone 13, hides 14"), (false, "tombstone 13")] {
        let poison = poison(14, Code::Refused, of_content);
        let kept = Quarantine { group: GroupId::default(), target: TargetId::FIRST, poison };
        check(live(), Event::Quarantined(kept), &[expected]);
    }
}

#[test]
fn refused_shape_is_retried_until_its_deadline_unless_its_item_is_in_quarantine() {
    let refused = || Refused { write: write(14), reason: "access denied".to_owned() };
    let waiting = || Group { refusal_deadline: Some(100), ..live() };
    check(waiting(), Event::ShapeRefused { refused: refused(), now: 99 }, &["find marker"]);
    check(waiting(), Event::ShapeRefused { refused: refused(), now: 100 }, &["quarantine unfit 14"]);
    check(waiting(), Event::Marker { refused: refused(), is_open: true }, &["quarantine unfit 14"]);
    let group = check(waiting(), Event::Marker { refused: refused(), is_open: false }, &[]);
    assert_eq!(group.failed.as_deref(), Some("access denied"));
}

#[test]
fn group_that_cannot_continue_fails_as_a_whole() {
    let refused = Event::Rejected {
        write: tombstone(15, None),
        code: Code::Refused,
        reason: "reason".to_owned(),
        blame: Blame::Content,
    };
    let group = check(live(), refused, &[]);
    assert_eq!(group.failed.as_deref(), Some("a tombstone was refused: reason"));

    let repair = || Group { repaired: Some(RepairOutcome::Nothing), ..live() };
    let answered = |code, reason: &str| Event::Rejected {
        write: write(14),
        code,
        reason: reason.to_owned(),
        blame: Blame::Request,
    };
    let group = check(repair(), answered(Code::Refused, "answered 400"), &[]);
    assert_eq!(group.failed.as_deref(), Some("the bulk request was answered 400"));
    // Each repair of the document would be refused again.
    check(repair(), answered(Code::TooLarge, "answered 413"), &["quarantine too-large 14"]);

    let group = check(live(), Event::Failed("search does not answer".to_owned()), &[]);
    assert!(!group.handled());
}

#[test]
#[should_panic(expected = "a task has ended of a group without open tasks")]
fn task_that_ends_twice_panics() {
    live().on(Event::Cleared, &targets(1));
}
