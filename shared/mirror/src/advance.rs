//! A rebuild by short calls of a function, each of which resumes from the config item. No call waits for the end of
//! invocations, and none moves searches from one index to another, since no policy could limit that to one system.

use std::pin::pin;
use std::time::Duration;

use futures::future::{Either, select};

use crate::documents::Documents;
use crate::fill::{Share, check_wanted, is_scanned, scan_tables};
use crate::generation::{Generation, Phase};
use crate::ports::{Fault, Ports, State, Time};
use crate::rebuild::{Course, Decided, Progress, Rebuild, Step, compare, decide, explained, refused, take_step};

/// What is next after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Advanced {
    /// The index is published since this epoch of the config item, or earlier. Once that has lasted longer than an
    /// invocation can live, the next call fills it.
    Published { epoch: u64 },
    /// The index is to be filled, from all shares at once.
    Filling,
    /// The time of the call was up.
    Stopped,
    /// The index has every document. An operator moves searches to it.
    Audited,
    /// The index serves, or no rebuild is under way.
    Reached,
}

/// The bounds of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The epoch after which the caller has waited. An earlier call has returned it.
    pub(crate) waited: Option<u64>,
    /// The time at which the comparison with the tables stops, in microseconds.
    pub(crate) until: Option<i64>,
    /// The number of shares from which the index is filled.
    pub(crate) shares: u32,
}

/// Carries out an order as far as one call can.
pub(crate) async fn advance<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    alias: &str,
    (order, bounds): (Rebuild, Bounds),
    progress: &(impl Fn(Progress) + Sync),
) -> Result<Advanced, Fault> {
    let mut course = Course::of(order);
    loop {
        let (step, config) = match decide(ports, documents, alias, order, &mut course).await? {
            Decided::Reached(_) => return Ok(Advanced::Reached),
            Decided::Step(step, config) => (step, config),
        };
        let replaces = config.replaces;
        match step {
            Step::AwaitBatches if bounds.waited != Some(config.epoch) => {
                return Ok(Advanced::Published { epoch: config.epoch });
            }
            // The wait counts only for the epoch that was returned.
            Step::AwaitBatches => {
                let order = Rebuild { wait: Duration::ZERO, ..order };
                take_step(ports, documents, config, (step, order), progress).await?;
            }
            Step::Fill => {
                let Some(generation) = config.of(Phase::Filling) else { continue };
                if !is_filled(ports, documents, generation, bounds.shares).await? {
                    return Ok(Advanced::Filling);
                }
                let compared = compare(ports, documents, &config, (order, bounds.until), progress).await;
                if !explained(ports, &config, compared).await? {
                    return Ok(Advanced::Stopped);
                }
            }
            Step::Swap if !config.has_one_index() => return Ok(Advanced::Audited),
            Step::Drop if course.begins => {
                let reason = "an index of an earlier rebuild must be deleted first: `cairn rebuild start` deletes it";
                return Err(refused(reason));
            }
            Step::Drop => return Ok(Advanced::Reached),
            step => take_step(ports, documents, config, (step, order), progress).await?,
        }
        course.took(step, replaces);
    }
}

/// Fills the index from a share of the tables, until the time of the call is up. Returns whether it has ended. Calls for
/// the same share do no harm.
pub(crate) async fn fill_share<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    share: Share,
    progress: &(impl Fn(Progress) + Sync),
) -> Result<bool, Fault> {
    let config = ports.state().generations().await?.unwrap_or_default();
    let Some(generation) = config.of(Phase::Filling) else {
        return Err(refused("the rebuild was cancelled, or another call has finished it"));
    };
    check_wanted(ports, generation).await?;
    generation.check_mapping(documents).map_err(refused)?;
    let scanned = |table, items| progress(Progress::Scanned { table, items });
    let filled = pin!(scan_tables(ports, documents, generation, share, &scanned));
    match select(filled, pin!(ports.time().expired())).await {
        Either::Left((filled, _)) => explained(ports, &config, filled).await.map(|()| true),
        // The pages that are being written are written again.
        Either::Right(_) => Ok(false),
    }
}

/// Whether a generation has every item, from all shares or from the segments of a rebuild by one call.
async fn is_filled<P: Ports>(
    ports: &P,
    documents: &impl Documents,
    generation: &Generation,
    shares: u32,
) -> Result<bool, Fault> {
    let system = documents.tables();
    let mut is_filled = true;
    for number in 0..shares {
        is_filled = is_filled && is_scanned(ports, system, generation, Share { number, of: shares }).await?;
    }
    Ok(is_filled || is_scanned(ports, system, generation, Share::WHOLE).await?)
}
