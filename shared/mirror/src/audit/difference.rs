//! A difference that two looks have confirmed, and its repair.

use futures::stream::{self, StreamExt, TryStreamExt};

use super::findings::DifferenceKind;
use super::look::Candidate;
use crate::documents::Documents;
use crate::generation::Generation;
use crate::group::Group;
use crate::ports::{Fault, Ports, State};
use crate::quarantine::{OpenMarker, Subject};
use crate::repair::{item_to_repair, repair_documents};
use crate::report::RepairOutcome;
use crate::requests::CONCURRENCY;
use crate::retry::retry_passing;

/// A difference between a table and an index.
#[derive(Debug)]
pub(super) struct Difference {
    pub(super) candidate: Candidate,
    pub(super) kind: DifferenceKind,
    /// The open marker.
    pub(super) marker: Option<OpenMarker>,
}

/// The number of keys that one batch repairs.
const BATCH_KEYS: usize = 100;

/// The number of batches that run concurrently.
const BATCH_CONCURRENCY: usize = 4;

/// How the repair of a difference has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RepairEnd {
    Repaired,
    /// Nothing repairs a document that fits no table.
    Impossible,
    /// It failed, and may succeed later.
    Failed {
        reason: String,
    },
}

/// Repairs differences in one generation. Returns for each, in their order, how its repair has ended.
pub(super) async fn repair<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    generation: &Generation,
    differences: &[Difference],
) -> Result<Vec<RepairEnd>, Fault> {
    let batches = differences.chunks(BATCH_KEYS).map(|some| repair_batch(ports, documents, generation, some));
    let repaired = stream::iter(batches.collect::<Vec<_>>()).buffered(BATCH_CONCURRENCY);
    Ok(repaired.try_collect::<Vec<_>>().await?.concat())
}

async fn repair_batch<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    generation: &Generation,
    differences: &[Difference],
) -> Result<Vec<RepairEnd>, Fault> {
    let groups = differences.iter().filter_map(Difference::group).collect();
    // The batch retries what may pass.
    let repaired = repair_documents(ports, documents, std::slice::from_ref(generation), groups).await;
    let mut repaired = repaired.into_iter();
    let outcomes = differences.iter().map(|difference| match difference.kind {
        DifferenceKind::StaleMarker => Some(Ok(RepairOutcome::Nothing)),
        _ => difference.group().and_then(|_| repaired.next()),
    });
    let ended =
        differences.iter().zip(outcomes).map(|(difference, outcome)| difference.end(ports, generation, outcome));
    stream::iter(ended.collect::<Vec<_>>()).buffered(CONCURRENCY).try_collect().await
}

impl Difference {
    /// Returns the group that repairs its document.
    fn group(&self) -> Option<Group<'static>> {
        match &self.candidate {
            Candidate::Item { table, key } if self.kind != DifferenceKind::StaleMarker => item_to_repair(table, key),
            Candidate::Item { .. } | Candidate::Document { .. } => None,
        }
    }

    /// Clears its marker if the marker is stale or the item does not exist any more.
    async fn end<P: Ports>(
        &self,
        ports: &P,
        generation: &Generation,
        outcome: Option<Result<RepairOutcome, String>>,
    ) -> Result<RepairEnd, Fault> {
        match (outcome, &self.candidate) {
            (Some(Ok(RepairOutcome::Deleted(_) | RepairOutcome::Nothing)), Candidate::Item { table, key }) => {
                // The marker was read before the item.
                if let Some(seen) = self.marker {
                    let (state, name) = (ports.state(), Subject::item(table, key).name());
                    retry_passing(ports.time(), || state.clear_seen(&generation.index, &name, seen)).await?;
                }
                Ok(RepairEnd::Repaired)
            }
            (Some(Ok(_)), _) => Ok(RepairEnd::Repaired),
            (Some(Err(reason)), candidate) => {
                let (generation, id) = (&generation.index, candidate.id());
                tracing::error!(generation, id, reason, "a document could not be repaired");
                Ok(RepairEnd::Failed { reason })
            }
            (None, _) => Ok(RepairEnd::Impossible),
        }
    }
}
