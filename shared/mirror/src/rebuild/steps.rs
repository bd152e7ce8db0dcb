//! The steps of a rebuild. Each changes the config item only if nothing else has changed it since.

use super::next_step::Step;
use super::order::{Progress, Rebuild, refused};
use crate::audit::{AuditEnd, AuditOptions, AuditPurpose, GenerationAudit, audit_one, end_rebuild_audit};
use crate::documents::Documents;
use crate::fill::{Share, scan_tables};
use crate::generation::{Generation, Generations, Phase, index_name, write_alias};
use crate::mapping::index_body;
use crate::operate::staleness;
use crate::ports::{Fault, Index, Ports, State, Time};

/// Takes a step of an order. If another call was faster, it has no effect.
pub(crate) async fn take_step<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    config: Generations,
    (step, order): (Step, Rebuild),
    progress: &(impl Fn(Progress) + Sync),
) -> Result<(), Fault> {
    match step {
        Step::Begin => begin(ports, documents, config, order, progress).await,
        Step::AwaitBatches => await_batches(ports, &config, order).await,
        Step::Fill => {
            let filled = fill(ports, documents, &config, order, progress).await;
            explained(ports, &config, filled).await
        }
        Step::Swap => {
            let swapped = swap(ports, &config, progress).await;
            explained(ports, &config, swapped).await
        }
        Step::Drop => drop_index(ports, config, progress).await,
        Step::RefillKept | Step::PrepareRollback | Step::Release | Step::Abandon => {
            if ports.state().publish(&config.after(step)).await? && step == Step::Release {
                progress(Progress::Released);
            }
            Ok(())
        }
    }
}

/// Returns the result of a step that fills an index or lets it serve. If it failed since the index was deleted by hand,
/// the fault says so.
pub(crate) async fn explained<P: Ports, T>(
    ports: &P,
    config: &Generations,
    taken: Result<T, Fault>,
) -> Result<T, Fault> {
    match taken {
        Ok(taken) => Ok(taken),
        Err(fault) => Err(deletion(ports, config).await.unwrap_or(fault)),
    }
}

/// Returns the fault that says that the index which is filled, or is about to serve, was deleted by hand. Returns `None`
/// if it exists, or if that cannot be known.
async fn deletion<P: Ports>(ports: &P, config: &Generations) -> Option<Fault> {
    let wanted = config.unfinished()?;
    if ports.index().exists(&wanted.index).await.ok()? {
        return None;
    }
    // Another command may have cancelled the rebuild, and deleted it.
    let present = ports.state().generations().await.ok()??;
    let is_wanted = present.has(&wanted.index);
    let what_to_do = match present.is_rolling_back() {
        true => "start a rebuild with `--replace`",
        false => "cancel the rebuild and start it again",
    };
    is_wanted.then(|| refused(format_args!("{} was deleted: {what_to_do}", wanted.index)))
}

/// Creates an index under a name that was never used, and publishes it.
async fn begin<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    config: Generations,
    order: Rebuild,
    progress: &impl Fn(Progress),
) -> Result<(), Fault> {
    let mapping = documents.mapping();
    // No config item lists an index whose publication has failed, and the next attempt creates another one. So before the
    // very first index is created, the config item must be writable.
    let config = if config.epoch == 0 {
        let claimed = config.next();
        if !ports.state().publish(&claimed).await? {
            return Ok(());
        }
        claimed
    } else {
        config
    };
    let mut number = config.last;
    let mut unpublished = Vec::new();
    let index = loop {
        number += 1;
        let index = index_name(&config.alias, number);
        // An index that exists already, even one without a config item, may have any content.
        if ports.index().create(&index, &index_body(mapping, &write_alias(&index))?).await? {
            break index;
        }
        unpublished.push(index);
    };
    // Before the very first index no batch was handled. After a cancelled rebuild nothing is written either, but earlier
    // batches were handled in an index that is dropped.
    let is_first = config.written.is_empty() && config.dropping.is_empty();
    let replaces = order.replaces && !config.written.is_empty();
    let mut next = Generations { last: number, rebuild_paused: false, replaces, ..config.next() };
    if replaces {
        next.dropping.extend(next.written.drain(..).map(|generation| generation.index));
    }
    if !is_first {
        // Orders that created them have not published them, and cannot any more. Before the first index, they may be of
        // an earlier deployment.
        next.dropping.extend(unpublished);
    }
    let phase = if is_first { Phase::Filling } else { Phase::Published };
    next.written.push(Generation { index, mapping: mapping.version, phase });
    // If another order was faster, the next step continues that one. The next rebuild deletes this index.
    if ports.state().publish(&next).await? {
        progress(Progress::Published);
    }
    Ok(())
}

/// Waits until no invocation from before the publication lives. Such an invocation may write what only the old index
/// knows to be outdated. It writes no image, and a tombstone over a newer item is found when the index is filled.
async fn await_batches<P: Ports>(ports: &P, config: &Generations, order: Rebuild) -> Result<(), Fault> {
    if !order.wait.is_zero() {
        ports.time().wait(order.wait).await;
    }
    ports.state().publish(&config.after(Step::AwaitBatches)).await.map(drop)
}

/// Writes every item of the tables to the new index, and compares it with them.
async fn fill<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    config: &Generations,
    order: Rebuild,
    progress: &(impl Fn(Progress) + Sync),
) -> Result<(), Fault> {
    let Some(generation) = config.of(Phase::Filling) else { return Ok(()) };
    generation.check_mapping(documents).map_err(refused)?;
    let scanned = |table, items| progress(Progress::Scanned { table, items });
    scan_tables(ports, documents, generation, Share::WHOLE, &scanned).await?;
    compare(ports, documents, config, (order, None), progress).await.map(drop)
}

/// Compares the filled index with the tables, and publishes that it has every document. `until` is the time at which the
/// comparison stops, in microseconds. Returns whether it has ended.
pub(crate) async fn compare<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    config: &Generations,
    (order, until): (Rebuild, Option<i64>),
    progress: &(impl Fn(Progress) + Sync),
) -> Result<bool, Fault> {
    let Some(generation) = config.of(Phase::Filling) else { return Ok(true) };
    ports.index().refresh(&generation.index).await?;
    if order.audit.is_some() {
        check_items_in_quarantine(ports, documents, generation, order).await?;
    }
    progress(Progress::Filled);
    if let Some(wait) = order.audit {
        let options = AuditOptions { purpose: AuditPurpose::Rebuild, wait, ..AuditOptions::DAILY };
        let step = |step| progress(Progress::Auditing(step));
        let audited = audit_one(ports, documents, generation, options, until, &step).await?;
        if audited.ended == AuditEnd::Stopped {
            return Ok(false);
        }
        check_audit(&audited)?;
    } else {
        end_rebuild_audit(ports, &generation.index).await?;
    }
    check_quarantine(ports, generation, order).await?;
    if ports.state().publish(&config.after(Step::Fill)).await? {
        progress(Progress::Audited);
    }
    Ok(true)
}

/// Checks that the audit of a filled index has left no difference.
fn check_audit(audited: &GenerationAudit) -> Result<(), Fault> {
    let findings = || audited.tables.iter().flat_map(|table| &table.findings);
    let left = || findings().filter(|(kind, finding)| kind.is_difference() && finding.left > 0);
    match left().next() {
        None => Ok(()),
        Some((kind, finding)) => Err(refused(format_args!(
            "{} does not serve yet: {} documents still differ from their items ({}, such as {}). Remove the cause and \
             start the rebuild again, or cancel it",
            audited.generation,
            left().map(|(_, finding)| finding.left).sum::<u64>(),
            kind.name(),
            finding.examples.join(", "),
        ))),
    }
}

/// Checks that no item of a filled index is in quarantine.
async fn check_quarantine<P: Ports>(ports: &P, generation: &Generation, order: Rebuild) -> Result<(), Fault> {
    if order.accepts_quarantine {
        return Ok(());
    }
    // One page, since there may be any number.
    match ports.state().markers_after(&generation.index, None).await?.len() {
        0 => Ok(()),
        number => Err(in_quarantine(generation, number)),
    }
}

/// Refuses an index with items in quarantine before the long comparison. Stale markers do not count, since the comparison
/// clears them.
async fn check_items_in_quarantine<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    generation: &Generation,
    order: Rebuild,
) -> Result<(), Fault> {
    if order.accepts_quarantine {
        return Ok(());
    }
    let mut number = 0;
    for marker in ports.state().markers_after(&generation.index, None).await? {
        let stale = staleness(ports.items(), documents.tables(), &marker).await?;
        number += usize::from(stale.is_none());
    }
    if number == 0 { Ok(()) } else { Err(in_quarantine(generation, number)) }
}

fn in_quarantine(generation: &Generation, number: usize) -> Fault {
    refused(format_args!(
        "{} does not serve yet: at least {number} of its items are in quarantine. Fix them, or accept this with \
         `--accept-quarantine`.",
        generation.index
    ))
}

/// Moves the readers' alias. The config item says so afterwards. Until then each order makes this step again.
async fn swap<P: Ports>(ports: &P, config: &Generations, progress: &impl Fn(Progress)) -> Result<(), Fault> {
    let Some(generation) = config.of(Phase::Audited) else { return Ok(()) };
    if config.has_one_index() {
        ports.index().serve(&config.alias, &generation.index).await?;
    } else {
        ports.index().swap(&config.alias, &generation.index).await?;
    }
    if ports.state().publish(&config.after(Step::Swap)).await? {
        progress(Progress::Serving);
        return Ok(());
    }
    correct_readers(ports, &generation.index).await
}

/// Moves the readers' alias to the index that serves, after it was moved to this one although another order has changed
/// the config item. Otherwise readers could stay on an index that is not written any more.
async fn correct_readers<P: Ports>(ports: &P, moved_to: &str) -> Result<(), Fault> {
    let mut named = moved_to.to_owned();
    while let Some(config) = ports.state().generations().await? {
        // An order that moves the alias makes this step itself.
        let Some(serving) = config.of(Phase::Serving).filter(|_| config.of(Phase::Audited).is_none()) else { break };
        if serving.index == named {
            break;
        }
        ports.index().swap(&config.alias, &serving.index).await?;
        named.clone_from(&serving.index);
    }
    Ok(())
}

/// Deletes an index, and what the state table has about it.
async fn drop_index<P: Ports>(ports: &P, config: Generations, progress: &impl Fn(Progress)) -> Result<(), Fault> {
    let mut next = config.next();
    let (Some(index), Some(serving)) = (next.dropping.pop(), config.of(Phase::Serving)) else {
        return Err(refused("no index serves, so none can be deleted"));
    };
    ports.index().delete(&config.alias, &serving.index, &index).await?;
    ports.state().forget(&index).await?;
    // A rebuild that replaces an index ends with its deletion.
    next.replaces &= !next.dropping.is_empty();
    if ports.state().publish(&next).await? {
        progress(Progress::Dropped);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::audit::{DifferenceKind, Finding, TableAudit};
    use crate::simulation::executor::drive;
    use crate::simulation::toy::Leaves;
    use crate::simulation::world::Shared;

    fn audited(kind: DifferenceKind, left: u64) -> GenerationAudit {
        let finding = Finding { found: 2, repaired: 2 - left, left, reason: None, examples: vec!["a#1".to_owned()] };
        let table = TableAudit {
            table: "trees".to_owned(),
            started: 0,
            ended: Some(1),
            full: true,
            repairs: true,
            rebuild: true,
            items: 2,
            documents: 2,
            busy: 0,
            findings: BTreeMap::from([(kind, finding)]),
        };
        GenerationAudit { generation: "toy-000002".to_owned(), ended: AuditEnd::Finished, tables: vec![table] }
    }

    #[test]
    fn readers_stay_on_the_serving_index_if_the_rebuild_was_cancelled_before_the_swap() {
        let shared = Shared::default();
        let generations = [(1, Phase::Serving), (2, Phase::Audited)].map(|(number, phase)| {
            let index = index_name("toy", number);
            let body = index_body(Leaves.mapping(), &write_alias(&index)).unwrap();
            assert!(shared.world().search.create(&index, &body));
            Generation { index, mapping: 1, phase }
        });
        let line = "{\"index\":{\"_id\":\"a\",\"version\":2,\"version_type\":\"external\"}}\n{\"name\":\"oak\"}\n";
        drive(&shared, shared.bulk(&generations[0].write_alias(), line)).unwrap();
        let audited = Generations { epoch: 5, written: generations.into(), last: 2, ..Generations::none("toy") };
        shared.world().generations = Some(audited.after(Step::Abandon));

        drive(&shared, swap(&shared, &audited, &|_| ())).unwrap();
        assert_eq!(shared.world().search.visible("toy").len(), 1);
    }

    #[test]
    fn index_with_any_difference_that_is_left_does_not_serve() {
        for kind in DifferenceKind::ALL {
            assert!(check_audit(&audited(kind, 0)).is_ok());
            assert_eq!(check_audit(&audited(kind, 1)).is_err(), kind.is_difference(), "{kind:?}");
        }
        let refused = check_audit(&audited(DifferenceKind::Unmarked, 1)).unwrap_err();
        let expected = "toy-000002 does not serve yet: 1 documents still differ from their items (not in quarantine, \
                        such as a#1). Remove the cause and start the rebuild again, or cancel it";
        assert_eq!(refused.reason, expected);
    }
}
