//! The requests that carry out the tasks of a batch.

use std::collections::{BTreeMap, HashMap};

use futures::stream::{self, StreamExt};

use crate::build::Bulk;
use crate::context::Context;
use crate::documents::Documents;
use crate::fold::Presence;
use crate::generation::TargetId;
use crate::group::{Group, Groups};
use crate::item::{Item, presence};
use crate::ports::{Fault, Index, Items, Ports, Quarantine as _, Reply, State, Time};
use crate::quarantine::{Code, Marker, OpenMarker};
use crate::stamp::stamp;
use crate::task::{Clear, Quarantine, Settle, Stamp};

/// The number of concurrent requests of one kind.
pub(crate) const CONCURRENCY: usize = 8;

/// The result of a stamp.
pub(crate) enum StampResult {
    /// The stamp was sent. It is not written if the item has changed since it was read.
    Sent { written: bool },
    /// The item cannot be stamped.
    Impossible { rev: u64, code: Code, reason: String },
}

pub(crate) async fn send<P: Ports, D: Documents>(context: &Context<'_, P, D>, bulk: &Bulk<'_>) -> Result<Reply, Fault> {
    context.fresh()?;
    context.ports.index().bulk(&context.targets[bulk.target].alias, &bulk.lines).await
}

/// Reads the versions of documents of one generation, in the order of the tasks.
pub(crate) async fn read_versions<P: Ports, D: Documents>(
    context: &Context<'_, P, D>,
    groups: &Groups<'_>,
    settles: &[Settle],
) -> Result<Vec<Option<u64>>, Fault> {
    context.fresh()?;
    let Some(first) = settles.first() else { return Ok(Vec::new()) };
    let identity = |settle: &Settle| groups[settle.group].identity();
    let ids: Vec<&str> = settles.iter().filter_map(identity).map(|identity| &*identity.id).collect();
    let versions = context.ports.index().versions(&context.targets[first.target].alias, &ids).await?;
    if versions.len() == settles.len() {
        Ok(versions)
    } else {
        Err(Fault::lasting("search", "the response does not have one version for each document"))
    }
}

pub(crate) async fn read_item<P: Ports, D: Documents>(
    context: &Context<'_, P, D>,
    group: &Group<'_>,
) -> Result<Option<Item>, Fault> {
    let (table, key) = group.item().ok_or_else(no_item)?;
    context.ports.items().read(table, key).await
}

/// Reads the item of a key that can have no document.
pub(crate) async fn examine_item<P: Ports, D: Documents>(
    context: &Context<'_, P, D>,
    group: &Group<'_>,
) -> Result<Option<Item>, Fault> {
    context.fresh()?;
    read_item(context, group).await
}

/// Gives the item a revision above its own and above all that were seen, and not below the clock.
pub(crate) async fn stamp_item<P: Ports, D: Documents>(
    context: &Context<'_, P, D>,
    group: &Group<'_>,
    task: &Stamp<'_>,
) -> Result<StampResult, Fault> {
    context.fresh()?;
    let (table, key) = group.item().ok_or_else(no_item)?;
    let seen = task.seen.as_deref();
    let old = match presence(seen) {
        Presence::At(rev) => Some(rev),
        Presence::Absent | Presence::Unrevised => None,
    };
    let Some(rev) = stamp(context.ports.time().micros(), old, task.above) else {
        let rev = (task.above.max(old.map(|old| old.number())).unwrap_or_default() | 1).saturating_add(1);
        let reason = "no valid revision is left above those that were seen".to_owned();
        return Ok(StampResult::Impossible { rev, code: Code::RevisionsExhausted, reason });
    };
    match context.ports.items().stamp(table, key, seen, rev).await {
        Ok(written) => Ok(StampResult::Sent { written }),
        // The marker has the revision of the stamp, which is above every state that was seen.
        Err(fault) if fault.poison => {
            let reason = format!("no revision can be set: {fault}");
            Ok(StampResult::Impossible { rev: rev.number(), code: Code::Unstampable, reason })
        }
        Err(fault) => Err(fault),
    }
}

/// Keeps the record with its reason, then marks its subject.
pub(crate) async fn keep_and_mark<P: Ports, D: Documents>(
    context: &Context<'_, P, D>,
    group: &Group<'_>,
    task: &Quarantine,
) -> Result<(), Fault> {
    context.fresh()?;
    let Quarantine { target, poison, .. } = task;
    let target = &context.targets[*target];
    let subject = group.subject();
    let object = poison.object(&target.index);
    context.ports.quarantine().keep(&object, poison.body(&target.index, &subject)).await?;
    let since = context.ports.time().micros();
    let marker = Marker { subject, rev: poison.rev, code: poison.code, reason: poison.reason.clone(), object, since };
    context.ports.state().mark(&target.index, &marker).await
}

/// Returns the open markers of these subjects in one generation, by the subject's name.
pub(crate) async fn open_markers<P: Ports, D: Documents>(
    context: &Context<'_, P, D>,
    target: TargetId,
    names: &[String],
) -> Result<HashMap<String, OpenMarker>, Fault> {
    context.fresh()?;
    let mut names = names.to_vec();
    names.sort_unstable();
    names.dedup();
    context.ports.state().open(&context.targets[target].index, &names).await
}

/// Clears the markers of one generation that are at or below the written versions. Only the markers of these groups are
/// looked up, so that the number of other markers does not slow down a batch.
pub(crate) async fn clear_markers<P: Ports, D: Documents>(
    context: &Context<'_, P, D>,
    groups: &Groups<'_>,
    clears: &[Clear],
) -> Result<(), Fault> {
    context.fresh()?;
    let Some(first) = clears.first() else { return Ok(()) };
    let index = &context.targets[first.target].index;
    let state = context.ports.state();
    // The highest of several versions of a key counts.
    let mut upto: BTreeMap<String, u64> = BTreeMap::new();
    for clear in clears {
        let highest = upto.entry(groups[clear.group].subject().name()).or_default();
        *highest = clear.upto.max(*highest);
    }
    let names: Vec<String> = upto.keys().cloned().collect();
    let open = state.open(index, &names).await?;
    upto.retain(|name, upto| open.get(name).is_some_and(|marker| marker.rev <= *upto));
    let cleared: Vec<_> = upto.iter().map(|(name, upto)| state.clear(index, name, *upto)).collect();
    let cleared: Vec<_> = stream::iter(cleared).buffered(CONCURRENCY).collect().await;
    cleared.into_iter().collect()
}

fn no_item() -> Fault {
    Fault::lasting("mirror", "the group has no item")
}
