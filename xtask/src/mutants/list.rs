//! The mutants. `SCHEDULES` are the random schedules of the simulator, and `exploration` is the explorer.
//!
//! These faults that were thought of have no mutant:
//! - a cached config item: the schedules of a test share the process, so any cache would break them for that reason;
//! - a bulk operation without a version, or an update that merges (`doc_as_upsert`): the simulated index refuses both;
//! - deletes that are sent before writes, searchability by the last record alone, and updates of hidden items that are
//!   skipped: no code decides any of it. Tombstones are writes, and a document or a tombstone is created from the last
//!   image;
//! - a counter of versions that starts again at zero: revisions are times, and are in the table;
//! - a repair that reads the item first: it settles by the same code as a batch (`item-before-version`).

use super::Mutant;
use super::Tests::{Engines, Library};

const SCHEDULES: &str = "simulation::seeds::schedules_keep_the_invariants_and_reach_everything";

pub(super) const MUTANTS: &[Mutant] = &[
    // A delete is sent instead of a tombstone.
    Mutant {
        name: "real-deletes",
        file: "lines.rs",
        text: r##"    write_action(lines, identity, version, versioning);
    write_identity(lines, identity, version);
    // Writing to a string cannot fail.
    let _ = writeln!(lines, r#","deleted":true,"deletedAt":{}}}"#, now_micros.div_euclid(1000));
"##,
        replacement: r##"    let _ = (versioning, now_micros);
    lines.push_str(r#"{"delete":{"_id":"#);
    write_text(lines, &identity.id);
    let _ = writeln!(lines, r#","version":{version},"version_type":"external"}}}}"#);
"##,
        tests: Library(&["exploration::scenarios::slow_clocks_break_no_invariant", SCHEDULES]),
    },
    // A tombstone has the revision of the item that was deleted.
    Mutant {
        name: "tombstone-at-the-old-revision",
        file: "fold.rs",
        text: "Decision::Tombstone(top | 1)",
        replacement: "Decision::Tombstone(top & !1)",
        tests: Library(&["exploration::scenarios::slow_clocks_break_no_invariant", SCHEDULES]),
    },
    // A higher version in the index is always right.
    Mutant {
        name: "no-settle",
        file: "settle.rs",
        text: r"pub fn settle(version: Option<u64>, item: Presence) -> Resolution {
",
        replacement: r"pub fn settle(version: Option<u64>, item: Presence) -> Resolution {
    if true {
        return Resolution::Done;
    }
",
        tests: Library(&["exploration::scenarios::slow_clocks_break_no_invariant", SCHEDULES]),
    },
    // A tombstone that the index refuses needs no settling.
    Mutant {
        name: "settle-for-items-only",
        file: "machine.rs",
        text: r"        let own = Some(write.version);
",
        replacement: r"        if matches!(write.content, Content::Tombstone(_)) {
            return Vec::new();
        }
        let own = Some(write.version);
",
        tests: Library(&[SCHEDULES]),
    },
    // Settling writes with `if_seq_no`, for which OpenSearch raises the version by one.
    Mutant {
        name: "if-seq-no",
        file: "settle.rs",
        text: r"        (Presence::At(rev), Some(version)) if rev.number() == version => Resolution::Done,
",
        replacement: r"        (Presence::At(_), Some(version)) => Resolution::Index(version + 1),
",
        tests: Library(&["exploration::scenarios::slow_clocks_break_no_invariant", SCHEDULES]),
    },
    // An item whose revision did not grow is indexed and not stamped.
    Mutant {
        name: "no-stamp",
        file: "fold.rs",
        text: r"        (Presence::At(rev), Some(top)) if rev.number() == top => Decision::Stamp { above: Some(top) },
        (Presence::At(_) | Presence::Unrevised, Some(top)) => {
            Decision::TombstoneAndStamp { version: top | 1, above: top }
        }
",
        replacement: r"        (Presence::At(rev), Some(_)) => Decision::Index(rev.number()),
        (Presence::Unrevised, Some(_)) => Decision::Index(0),
",
        tests: Library(&[
            "exploration::scenarios::writes_that_keep_the_revision_break_no_invariant",
            "exploration::scenarios::writes_that_lower_the_revision_break_no_invariant",
            SCHEDULES,
        ]),
    },
    // A stamp is written whatever the item's revision is now.
    Mutant {
        name: "unconditional-stamp",
        file: "engines/items.rs",
        text: r#"format!("attribute_exists(#pk) AND {still}")"#,
        replacement: r#"format!("attribute_exists(#pk) AND ({still} OR attribute_exists(#pk))")"#,
        tests: Engines(&["tables_keep_the_contract"]),
    },
    // A stamp is above the item and the clock, and not above the index. No schedule shows it: in small worlds the stamps of
    // a key rise by two until they are above. With an index that is an hour ahead they would not.
    Mutant {
        name: "stamp-not-above-the-index",
        file: "stamp.rs",
        text: "above.map_or(2, |seen| (seen | 1).saturating_add(1))",
        replacement: "above.map_or(2, |_| 2)",
        tests: Library(&["stamp::tests::stamp_is_above_the_clock_the_item_and_the_index"]),
    },
    // The tombstone of a settled key does not replace a document at its own version.
    Mutant {
        name: "settled-tombstone-yields",
        file: "machine.rs",
        text: "Write::tombstone(self.id, settle.target, version, Versioning::ExternalGte)",
        replacement: "Write::tombstone(self.id, settle.target, version, Versioning::External)",
        tests: Library(&["exploration::scenarios::repairs_break_no_invariant"]),
    },
    // A deleted item gets no tombstone while OpenSearch remembers a later one that was swept.
    Mutant {
        name: "no-tombstone-below-a-swept-one",
        file: "machine.rs",
        text: "if item.is_some() { version } else { version.or(settle.own) }",
        replacement: "version",
        tests: Library(&["exploration::scenarios::items_below_a_swept_tombstone_break_no_invariant"]),
    },
    // A batch that takes long is written to its end before any of it counts.
    Mutant {
        name: "batch-in-one-round",
        file: "batch.rs",
        text: r"const ROUND_TIME: Duration = Duration::from_secs(5);
",
        replacement: r"const ROUND_TIME: Duration = Duration::from_mins(20);
",
        tests: Library(&["simulation::slow_shapes::batch_that_takes_longer_than_an_invocation_is_handled_in_parts"]),
    },
    // The second index is written after all of the first.
    Mutant {
        name: "index-after-index",
        file: "batch.rs",
        text: r"const CHUNK: usize = 100;
",
        replacement: r"const CHUNK: usize = 10_000;
",
        tests: Library(&[
            "simulation::slow_shapes::batch_that_takes_longer_than_an_invocation_reaches_both_indexes_in_parts",
        ]),
    },
    // What follows from a task waits for the rest of the batch.
    Mutant {
        name: "follow-ups-last",
        file: "task.rs",
        text: r"            Task::Write(write) => self.first_writes.push(write),
",
        replacement: r"            Task::Write(write) => self.writes.push_back(write),
",
        tests: Library(&[
            "simulation::slow_shapes::poison_before_a_batch_that_takes_long_is_handled_first",
            "simulation::slow_shapes::poison_before_a_page_that_takes_long_is_handled_first",
        ]),
    },
    // A page that took too long is read again from its first item.
    Mutant {
        name: "page-as-a-whole",
        file: "fill.rs",
        text: r"    let keys = items.iter().take(written).enumerate().rev();
",
        replacement: r"    let keys = items.iter().take(written.min(0)).enumerate().rev();
",
        tests: Library(&["simulation::slow_shapes::page_that_takes_longer_than_it_may_be_used_is_written_in_parts"]),
    },
    // Settling reads the item before the document's version.
    Mutant {
        name: "item-before-version",
        file: "batch.rs",
        text: r"            self.read_versions(of_target).await;
            self.compare().await;
",
        replacement: r"            let mut early = Vec::new();
            for settle in of_target {
                early.push((settle.group, read_item(&self.context, &self.groups[settle.group]).await.ok()));
            }
            self.read_versions(of_target).await;
            for compare in std::mem::take(&mut self.tasks.compares) {
                let group = compare.settle.group;
                let place = early.iter().position(|(of, _)| *of == group);
                match place.and_then(|place| early.swap_remove(place).1) {
                    Some(item) => self.end(group, Event::Item(compare, item)),
                    None => self.tasks.settles.push(compare.settle),
                }
            }
            if false {
                self.compare().await;
            }
",
        tests: Library(&["exploration::scenarios::writes_that_keep_the_revision_break_no_invariant", SCHEDULES]),
    },
    // Only the last record of a key counts.
    Mutant {
        name: "fold-forgets-the-highest-revision",
        file: "group.rs",
        text: "self.fold = Some(fold(self.fold, Change { old, new }));",
        replacement: "self.fold = Some(fold(None, Change { old, new }));",
        tests: Library(&["exploration::scenarios::slow_clocks_break_no_invariant", SCHEDULES]),
    },
    // A deleted item gets a tombstone only where the index has a document of it.
    Mutant {
        name: "no-tombstone-without-a-document",
        file: "machine.rs",
        text: "(Decision::Tombstone(version), _) => vec![tombstone(version)],",
        replacement: "(Decision::Tombstone(_), _) => vec![Task::Settle(Settle::new(self.id, target))],",
        tests: Library(&["exploration::scenarios::slow_clocks_break_no_invariant", SCHEDULES]),
    },
    // The checkpoint is the last record of a group.
    Mutant {
        name: "last-record-reported",
        file: "report.rs",
        text: "unhandled.map(|group| group.first).min()",
        replacement: "unhandled.map(|group| group.last).min()",
        tests: Library(&["exploration::scenarios::failed_requests_and_late_writes_break_no_invariant", SCHEDULES]),
    },
    // An operation that is refused for a while is done.
    Mutant {
        name: "error-swallowed",
        file: "classify.rs",
        text: "429 | 500..=599 => Class::Retry",
        replacement: "429 | 500..=599 => Class::Done",
        tests: Library(&["exploration::scenarios::failed_requests_and_late_writes_break_no_invariant", SCHEDULES]),
    },
    // An operation that is refused by a version is done.
    Mutant {
        name: "every-conflict-done",
        file: "classify.rs",
        text: "409 => Class::Conflict",
        replacement: "409 => Class::Done",
        tests: Library(&["exploration::scenarios::slow_clocks_break_no_invariant", SCHEDULES]),
    },
    // An operation on an index that does not exist is done.
    Mutant {
        name: "missing-is-done",
        file: "classify.rs",
        text: "        409 => Class::Conflict",
        replacement: r"        404 => Class::Done,
        409 => Class::Conflict",
        tests: Library(&["classify::tests::status_decides_the_class"]),
    },
    // Tombstones are deleted while older records may still arrive.
    Mutant {
        name: "young-tombstones-swept",
        file: "lines.rs",
        text: "now_micros.div_euclid(1000).saturating_sub(retention)",
        replacement: "now_micros.div_euclid(1000).saturating_sub(retention.min(0))",
        tests: Library(&["exploration::scenarios::sweeps_break_no_invariant", SCHEDULES]),
    },
    // The age of a tombstone is that of its revision. It may be written long after that.
    Mutant {
        name: "tombstone-aged-by-its-revision",
        file: "lines.rs",
        text: r##"    let _ = writeln!(lines, r#","deleted":true,"deletedAt":{}}}"#, now_micros.div_euclid(1000));
"##,
        replacement: r##"    let written = now_micros.min(i64::try_from(version / 2).unwrap_or_default());
    let _ = writeln!(lines, r#","deleted":true,"deletedAt":{}}}"#, written.div_euclid(1000));
"##,
        tests: Library(&["lines::tests::tombstone_contains_the_time_of_its_write"]),
    },
    // A document is deleted although it was written after its tombstone was found.
    Mutant {
        name: "sweep-without-condition",
        file: "lines.rs",
        text: r##"    let _ = writeln!(lines, r#","if_seq_no":{sequence},"if_primary_term":{term}}}}}"#);
"##,
        replacement: r##"    let _ = (sequence, term);
    let _ = writeln!(lines, r#","version":{},"version_type":"external_gte"}}}}"#, 1_u64 << 60);
"##,
        tests: Library(&["exploration::scenarios::sweeps_break_no_invariant"]),
    },
    // Data that was read at any time is used.
    Mutant {
        name: "old-data-used",
        file: "context.rs",
        text: "< MAX_READ_AGE.as_micros() {",
        replacement: "< MAX_READ_AGE.as_micros() || age > 0 {",
        tests: Library(&["exploration::scenarios::sweeps_break_no_invariant"]),
    },
    // A redrive does not wait until no invocation uses what it has received.
    Mutant {
        name: "redrive-without-waiting",
        file: "given_up.rs",
        text: "u128::try_from(age).unwrap_or_default() >= REDRIVE_AGE.as_micros()",
        replacement: "age >= 0 || REDRIVE_AGE.is_zero()",
        tests: Library(&["exploration::scenarios::redrives_that_start_too_early_break_no_invariant"]),
    },
    // A redrive applies the images of the records again.
    Mutant {
        name: "redrive-replays-images",
        file: "redrive.rs",
        text: r"        let mut failed = 0;
        for some in lost.chunks(BATCH_KEYS) {
            failed += self.repair(some, None, redriven).await?;
        }
",
        replacement: r"        let (ports, documents) = (self.ports, self.documents);
        let replayed = crate::work::process_batch(ports, documents, self.tables, &event).await;
        let failed = usize::from(replayed.is_ok_and(|processed| processed.ledger.reported > 0));
",
        tests: Library(&["exploration::scenarios::redrives_with_sweeps_break_no_invariant"]),
    },
    // A new index is filled while invocations from before may live.
    Mutant {
        name: "rebuild-without-wait",
        file: "rebuild/steps.rs",
        text: "ports.time().wait(order.wait).await;",
        replacement: "let _ = order.wait;",
        tests: Library(&[
            "exploration::scenarios::rebuild_breaks_no_invariant",
            "exploration::scenarios::rebuild_that_replaces_the_older_index_breaks_no_invariant",
        ]),
    },
    // A rebuild after a cancelled one waits for no batches from before the cancel.
    Mutant {
        name: "rebuild-after-cancel-without-wait",
        file: "rebuild/steps.rs",
        text: "config.written.is_empty() && config.dropping.is_empty()",
        replacement: "config.written.is_empty()",
        tests: Library(&["exploration::scenarios::rebuild_after_a_cancelled_one_breaks_no_invariant"]),
    },
    // A stamp may create an item that was deleted.
    Mutant {
        name: "stamp-creates-items",
        file: "engines/items.rs",
        text: r#"format!("attribute_exists(#pk) AND {still}")"#,
        replacement: r#"format!("(attribute_exists(#pk) OR attribute_not_exists(#pk)) AND {still}")"#,
        tests: Engines(&["tables_keep_the_contract"]),
    },
    // Records that could not be redriven are deleted.
    Mutant {
        name: "failed-redrive-forgotten",
        file: "redrive.rs",
        text: r"        if failed == 0 {
            if",
        replacement: r"        if failed < usize::MAX {
            if",
        tests: Library(&[SCHEDULES]),
    },
    // A repair does not replace a document at the item's own version.
    Mutant {
        name: "repair-yields",
        file: "machine.rs",
        text: "(settle::repair(version, present), Versioning::ExternalGte)",
        replacement: "(settle::repair(version, present), Versioning::External)",
        tests: Library(&["exploration::scenarios::repairs_break_no_invariant"]),
    },
    // A repair does not consider the document.
    Mutant {
        name: "repair-without-the-version",
        file: "machine.rs",
        text: "(settle::repair(version, present), Versioning::ExternalGte)",
        replacement: "(settle::repair(None, present), Versioning::ExternalGte)",
        tests: Library(&["exploration::scenarios::repairs_break_no_invariant"]),
    },
    // Images of records from before a new index was published are written to it.
    Mutant {
        name: "older-images-written",
        file: "generation.rs",
        text: "takes_images: generation.phase != Phase::Published,",
        replacement: "takes_images: !generation.index.is_empty(),",
        tests: Library(&["exploration::scenarios::rebuild_breaks_no_invariant"]),
    },
    // A batch is written to the oldest index alone.
    Mutant {
        name: "first-index-written-only",
        file: "work.rs",
        text: "Ok(Targets::new(&written))",
        replacement: "Ok(Targets::new(written.get(..1).unwrap_or_default()))",
        tests: Library(&["exploration::scenarios::rebuild_breaks_no_invariant", SCHEDULES]),
    },
    // The older index is not written any more once the newer one serves.
    Mutant {
        name: "kept-index-not-written",
        file: "work.rs",
        text: r"    let written = generations.map(|generations| generations.written).unwrap_or_default();
",
        replacement: r"    let mut written = generations.map(|generations| generations.written).unwrap_or_default();
    written.retain(|generation| generation.phase != crate::generation::Phase::Kept);
",
        tests: Library(&["exploration::scenarios::rebuild_that_is_rolled_back_breaks_no_invariant", SCHEDULES]),
    },
    // Readers search a new index before it is filled.
    Mutant {
        name: "swap-before-fill",
        file: "rebuild/steps.rs",
        text: "if is_first { Phase::Filling } else { Phase::Published }",
        replacement: "if is_first { Phase::Filling } else { Phase::Audited }",
        tests: Library(&["exploration::scenarios::rebuild_breaks_no_invariant", SCHEDULES]),
    },
    // Readers search a new index before searches find all of its documents.
    Mutant {
        name: "swap-without-refresh",
        file: "rebuild/steps.rs",
        text: r"    ports.index().refresh(&generation.index).await?;
    if order.audit.is_some() {
",
        replacement: r"    if order.audit.is_some() {
",
        tests: Library(&["simulation::rebuilds::new_index_serves_once_searches_find_its_documents"]),
    },
    // A segment continues after a page that is not written yet.
    Mutant {
        name: "checkpoint-before-its-page",
        file: "fill.rs",
        text: r"        let refusal_deadline = after(",
        replacement: r"        ports.state().save(&generation.index, table, segment, next.as_ref()).await?;
        let refusal_deadline = after(",
        tests: Library(&["exploration::scenarios::rebuild_that_is_stopped_breaks_no_invariant", SCHEDULES]),
    },
    // The tables are read eventually consistent.
    Mutant {
        name: "eventually-consistent-scan",
        file: "engines/items.rs",
        text: ".segment(number(segment.number)?)",
        replacement: ".segment(number(segment.number)?).consistent_read(false)",
        tests: Engines(&["every_read_of_a_table_is_consistent"]),
    },
    // The config item is read eventually consistent.
    Mutant {
        name: "eventually-consistent-config",
        file: "engines/state.rs",
        text: "self.client.get_item().table_name(&self.table).consistent_read(true)",
        replacement: "self.client.get_item().table_name(&self.table)",
        tests: Engines(&["every_read_of_a_table_is_consistent"]),
    },
    // An order publishes its config item although another order has published one.
    Mutant {
        name: "unconditional-publish",
        file: "engines/state.rs",
        text: r#"before => (before, "epoch = :value"),"#,
        replacement: r#"before => (before, "epoch >= :value"),"#,
        tests: Engines(&["tables_keep_the_contract"]),
    },
    // An audit lists the documents that searches happen to find.
    Mutant {
        name: "audit-without-refresh",
        file: "audit/run.rs",
        text: "retry_passing(ports.time(), || ports.index().refresh(index)).await",
        replacement: r"let _ = (ports, index);
        Ok(())",
        tests: Library(&["simulation::audits::difference_of_a_moment_ago_is_found"]),
    },
    // An audit takes a key for a difference that changes between its looks.
    Mutant {
        name: "audit-confirms-what-changes",
        file: "audit/run.rs",
        text: "if look == suspect.look =>",
        replacement: "if look == suspect.look || suspect.looks < MAX_LOOKS =>",
        tests: Library(&[
            "simulation::audits::item_that_changes_all_the_time_is_skipped",
            "simulation::audits::audit_among_writes_and_faults_repairs_every_damage_and_raises_no_false_alarm",
        ]),
    },
    // An audit clears a marker that was opened after its look.
    Mutant {
        name: "audit-clears-by-revision",
        file: "audit/difference.rs",
        text: "state.clear_seen(&generation.index, &name, seen)",
        replacement: "state.clear(&generation.index, &name, seen.rev)",
        tests: Library(&["simulation::audits::marker_that_is_opened_again_before_the_audit_clears_it_is_kept"]),
    },
    // A write clears the marker of a later revision.
    Mutant {
        name: "marker-cleared-at-any-revision",
        file: "requests.rs",
        text: r"    upto.retain(|name, upto| open.get(name).is_some_and(|marker| marker.rev <= *upto));
    let cleared: Vec<_> = upto.iter().map(|(name, upto)| state.clear(index, name, *upto)).collect();
",
        replacement: r"    upto.retain(|name, _| open.contains_key(name));
    let cleared: Vec<_> = upto.keys().map(|name| state.clear(index, name, u64::MAX)).collect();
",
        tests: Library(&["exploration::scenarios::poison_breaks_no_invariant", SCHEDULES]),
    },
    // The document of an item that went to quarantine stays.
    Mutant {
        name: "old-document-left-visible",
        file: "machine.rs",
        text: r"                vec![Task::Write(Write { hides: poison.of_content.then_some(poison.rev), ..tombstone })]
",
        replacement: r"                let _ = tombstone;
                Vec::new()
",
        tests: Library(&["exploration::scenarios::poison_breaks_no_invariant", SCHEDULES]),
    },
    // The marker of an item is set for the oldest index alone.
    Mutant {
        name: "one-marker-for-all-indexes",
        file: "requests.rs",
        text: "ports.state().mark(&target.index, &marker)",
        replacement: "ports.state().mark(&context.targets[TargetId::FIRST].index, &marker)",
        tests: Library(&[
            "exploration::scenarios::rebuild_with_poison_breaks_no_invariant",
            "exploration::scenarios::rebuild_with_poison_and_zombies_breaks_no_invariant",
            SCHEDULES,
        ]),
    },
    // A revision that no clock of the platform gives is valid.
    Mutant {
        name: "invalid-revision-accepted",
        file: "item.rs",
        text: r#""N" => rev = Rev::parse(&reader.string()?),"#,
        replacement: r#""N" => rev = reader.string()?.parse::<f64>().ok().and_then(|rev| Rev::new((rev as u64 | 1) + 1)),"#,
        tests: Library(&[
            "exploration::scenarios::items_without_a_revision_break_no_invariant",
            "item::tests::invalid_revision_is_unrevised",
        ]),
    },
    // An item whose shape S3 does not give now is indexed without it.
    Mutant {
        name: "no-shape-after-a-timeout",
        file: "build.rs",
        text: r"        Ok(Err(unavailable)) => Err(Unwritten::Unavailable(unavailable)),
",
        replacement: r"        Ok(Err(_)) => Ok(Shape::NONE),
",
        tests: Library(&[SCHEDULES]),
    },
    // A number is converted to a binary one.
    Mutant {
        name: "numbers-through-floats",
        file: "document.rs",
        text: r"pub fn number<'v>(&mut self, field: &str, value: impl Into<Option<Number<'v>>>) -> &mut Self {
        self.member(field, value, |out, value| out.push_str(value.as_str()))
",
        replacement: r"pub fn number<'v>(&mut self, field: &str, value: impl Into<Option<Number<'v>>>) -> &mut Self {
        self.member(field, value, |out, value| {
            out.push_str(&value.as_str().parse::<f64>().unwrap_or_default().to_string());
        })
",
        tests: Library(&["document::tests::fields_are_written_in_order_and_absent_values_are_omitted"]),
    },
    // An id is written as it is.
    Mutant {
        name: "ids-not-escaped",
        file: "lines.rs",
        text: r#"    write_text(lines, &identity.id);
    let _ = writeln!(lines, r#","version""#,
        replacement: r#"    let _ = write!(lines, "\"{}\"", identity.id);
    let _ = writeln!(lines, r#","version""#,
        tests: Library(&["lines::tests::document_contains_its_identity_its_fields_and_its_shapes"]),
    },
];
