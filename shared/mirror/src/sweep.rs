//! The sweep of tombstones. A tombstone is deleted after its retention: by then every record from before the delete has
//! left the stream, and no run uses data that it read before the delete.

use std::time::Duration;

use bytes::Bytes;
use table::Engines;
use table::schema::System;
use tokio::time::Instant;
use web::{Event, EventFailure, EventHandler};

use crate::classify::{Answer, Class, answers, classify, failure};
use crate::context::fresh;
use crate::documents::NoShapes;
use crate::engines::Production;
use crate::generation::Generation;
use crate::lines::{REQUIRE_ALIAS, Tombstone, horizon, write_tombstone_delete};
use crate::mirrored::{ENGINES, Mirrored};
use crate::ports::{Fault, Index, Ports, Reply, State, Time};
use crate::retry::retry_passing;
use crate::work::with_deadline;

/// The handler's name in every system.
pub const SWEEP: &str = "sweepTombstones";

/// The number of tombstones that one request finds, and that one request deletes.
const PAGE: usize = 1000;

/// The result of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// The number of tombstones that the sweep deleted, without those of a request whose response was lost.
    pub deleted: usize,
    /// The number of tombstones that had changed since they were found: another sweep deleted them, or the item was
    /// created again and its document is kept.
    pub skipped: usize,
}

/// Creates the event handler that sweeps tombstones on a schedule.
pub fn sweep<M: Mirrored>() -> EventHandler {
    EventHandler::new(SWEEP, on_schedule::<M>).engines(ENGINES).timeout(Duration::from_secs(300))
}

async fn on_schedule<M: Mirrored>(event: Event) -> Result<Bytes, EventFailure> {
    let swept = sweep_tombstones(&M::default(), event.engines(), event.deadline).await.map_err(EventFailure::new)?;
    match swept {
        Swept { deleted: 0, skipped: 0 } => event.found_nothing(),
        Swept { deleted, skipped } => tracing::info!(deleted, skipped, "tombstones swept"),
    }
    Ok(Bytes::from_static(b"{}"))
}

/// Deletes the tombstones of every generation that are older than the deployment's retention. If the time is up first,
/// the next sweep deletes the rest.
async fn sweep_tombstones(documents: &impl Mirrored, engines: &Engines, deadline: Instant) -> Result<Swept, Fault> {
    let ports = Production::new(engines, documents.tables(), &NoShapes, Some(deadline))?;
    let mut swept = Swept::default();
    let ended = with_deadline(&ports, sweep_generations(&ports, engines.config.tombstones, &mut swept)).await;
    ended.unwrap_or(Ok(()))?;
    Ok(swept)
}

/// Deletes the tombstones that are older than the deployment's retention, without a time limit. A dry run only counts
/// them, to at most [`MAX_SWEEP_COUNT`].
pub async fn sweep_by_hand(system: &'static System, engines: &Engines, dry_run: bool) -> Result<Swept, Fault> {
    let ports = Production::new(engines, system, &NoShapes, None)?;
    let retention = engines.config.tombstones;
    let mut swept = Swept::default();
    if !dry_run {
        sweep_generations(&ports, retention, &mut swept).await?;
        return Ok(swept);
    }
    let before = horizon(ports.time().micros(), retention);
    for generation in ports.state().generations().await?.into_iter().flat_map(|generations| generations.written) {
        let find = || find(&ports, &generation, before, MAX_SWEEP_COUNT);
        swept.deleted += retry_passing(ports.time(), find).await?.len();
    }
    Ok(swept)
}

/// The number of tombstones up to which a dry run counts in each generation: as many as OpenSearch returns at once.
pub const MAX_SWEEP_COUNT: usize = 10_000;

pub(crate) async fn sweep_generations<P: Ports>(
    ports: &P,
    retention: Duration,
    swept: &mut Swept,
) -> Result<(), Fault> {
    let generations = ports.state().generations().await?;
    for generation in generations.into_iter().flat_map(|generations| generations.written) {
        loop {
            // Each attempt finds the tombstones again, since a request that failed may have been carried out.
            let sweep = || sweep_page(ports, &generation, retention);
            let Swept { deleted, skipped } = retry_passing(ports.time(), sweep).await?;
            swept.deleted += deleted;
            swept.skipped += skipped;
            if deleted + skipped < PAGE || deleted == 0 {
                break;
            }
        }
    }
    Ok(())
}

/// Sweeps one page of tombstones.
async fn sweep_page<P: Ports>(ports: &P, generation: &Generation, retention: Duration) -> Result<Swept, Fault> {
    let read = ports.time().micros();
    let found = find(ports, generation, horizon(read, retention), PAGE).await?;
    if found.is_empty() {
        return Ok(Swept::default());
    }
    let mut lines = REQUIRE_ALIAS.to_owned();
    found.iter().for_each(|tombstone| write_tombstone_delete(&mut lines, tombstone));
    fresh(ports.time(), read)?;
    let reply = ports.index().bulk(&generation.write_alias(), &lines).await?;
    let deleted = count_deleted(&reply, found.len())?;
    Ok(Swept { deleted, skipped: found.len() - deleted })
}

/// Finds at most so many tombstones that were written before this time, in milliseconds.
async fn find<P: Ports>(
    ports: &P,
    generation: &Generation,
    before: i64,
    limit: usize,
) -> Result<Vec<Tombstone>, Fault> {
    // Otherwise the search finds what was just deleted. The delete cannot ask for it: AWS documents that it ignores the
    // URL parameters of signed POST requests.
    ports.index().refresh(&generation.index).await?;
    ports.index().tombstones(&generation.write_alias(), before, limit).await
}

/// Counts the tombstones that were deleted. The others had changed since they were found.
fn count_deleted(reply: &Reply, asked: usize) -> Result<usize, Fault> {
    let answers = Some(reply).filter(|reply| reply.status == 200).and_then(|reply| answers(&reply.body));
    let Some([first, deletes @ ..]) = answers.as_deref().filter(|answers| answers.len() == asked + 1) else {
        return Err(Fault::passing(
            "search",
            format_args!("the request that deletes tombstones was answered {}", reply.status),
        ));
    };
    if failure(first.error).kind != "document_missing_exception" {
        return Err(refusal(first));
    }
    let mut deleted = 0;
    for answer in deletes {
        match (classify(answer), answer) {
            (Class::Done, _) => deleted += 1,
            (Class::Conflict, _) => {}
            (_, answer) => return Err(refusal(answer)),
        }
    }
    Ok(deleted)
}

fn refusal(answer: &Answer<'_>) -> Fault {
    let reason = format!("a tombstone could not be deleted: {} {}", answer.status, failure(answer.error).reason());
    Fault { passing: classify(answer) == Class::Retry, ..Fault::lasting("search", reason) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the deleted tombstones of a response to two deletes. The error says whether a retry may help.
    fn counted(items: &str) -> Result<usize, bool> {
        let first = r#"{"update":{"status":404,"error":{"type":"document_missing_exception"}}}"#;
        whole(&format!(r#"{{"items":[{first},{items}]}}"#))
    }

    fn whole(body: &str) -> Result<usize, bool> {
        count_deleted(&Reply { status: 200, body: body.to_owned().into() }, 2).map_err(|fault| fault.passing)
    }

    #[test]
    fn tombstone_changed_since_it_was_found_is_not_counted() {
        assert_eq!(counted(r#"{"delete":{"status":200}},{"delete":{"status":200}}"#), Ok(2));
        assert_eq!(counted(r#"{"delete":{"status":409,"error":{}}},{"delete":{"status":200}}"#), Ok(1));
    }

    #[test]
    fn any_other_response_is_a_fault() {
        assert_eq!(counted(r#"{"delete":{"status":200}},{"delete":{"status":429,"error":{}}}"#), Err(true));
        assert_eq!(counted(r#"{"delete":{"status":200}},{"delete":{"status":403,"error":{}}}"#), Err(false));
        assert_eq!(counted(r#"{"delete":{"status":200}}"#), Err(true));
        let missing = r#"{"update":{"status":404,"error":{"type":"index_not_found_exception"}}}"#;
        let deletes = r#"{"delete":{"status":404}},{"delete":{"status":404}}"#;
        assert_eq!(whole(&format!(r#"{{"items":[{missing},{deletes}]}}"#)), Err(false));
        assert_eq!(whole("{}"), Err(true));
    }
}
