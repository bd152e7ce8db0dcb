//! Forgetting deletes: a tombstone goes once nothing can need it any more. Records older than the delete have left the
//! stream by then, and whatever was read before is used by nobody.

use std::time::Duration;

use bytes::Bytes;
use table::Engines;
use tokio::time::Instant;
use web::{Event, EventFailure, EventHandler};

use crate::classify::{Answer, Class, answers, classify, failure};
use crate::context::fresh;
use crate::documents::NoShapes;
use crate::engines::Production;
use crate::lines::WANTS_ALIAS;
use crate::mirrored::{ENGINES, Mirrored};
use crate::ports::{Fault, Index, Ports, Reply, State, Time};
use crate::rules::{AsWritten, Rules};
use crate::work::in_time;

/// The name of the handler, in every system.
pub const SWEEP: &str = "sweepTombstones";

/// How many tombstones are found, and deleted, by one request.
const PAGE: usize = 1000;

/// What a sweep has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Tombstones that it deleted.
    pub gone: usize,
    /// Tombstones that were not there any more: another sweep was faster, or the item is back and its document stays.
    pub outlived: usize,
}

/// The event handler that sweeps, to be called by a schedule.
pub fn sweep<M: Mirrored>() -> EventHandler {
    EventHandler::new(SWEEP, on_schedule::<M>).engines(ENGINES).timeout(Duration::from_secs(300))
}

async fn on_schedule<M: Mirrored>(event: Event) -> Result<Bytes, EventFailure> {
    let swept = sweep_tombstones(&M::default(), event.engines(), event.deadline).await.map_err(EventFailure::new)?;
    match swept {
        Swept { gone: 0, outlived: 0 } => event.found_nothing(),
        Swept { gone, outlived } => tracing::info!(gone, outlived, "tombstones were swept"),
    }
    Ok(Bytes::from_static(b"{}"))
}

/// Deletes the tombstones that were written longer ago than the deployment keeps them, in every generation. What does
/// not fit the time is left to the next sweep.
async fn sweep_tombstones(documents: &impl Mirrored, engines: &Engines, deadline: Instant) -> Result<Swept, Fault> {
    let ports = Production::new(engines, documents.tables(), &NoShapes, Some(deadline))?;
    let mut swept = Swept::default();
    let ended = in_time(&ports, sweep_generations::<AsWritten, _>(&ports, engines.config.tombstones, &mut swept)).await;
    ended.unwrap_or(Ok(()))?;
    Ok(swept)
}

pub(crate) async fn sweep_generations<R: Rules, P: Ports>(
    ports: &P,
    retention: Duration,
    swept: &mut Swept,
) -> Result<(), Fault> {
    let generations = ports.state().generations().await?;
    for generation in generations.into_iter().flat_map(|generations| generations.written) {
        let alias = generation.write_alias();
        while sweep_page::<R, P>(ports, &alias, retention, swept).await? {}
    }
    Ok(())
}

/// Whether there may be more to sweep.
async fn sweep_page<R: Rules, P: Ports>(
    ports: &P,
    alias: &str,
    retention: Duration,
    swept: &mut Swept,
) -> Result<bool, Fault> {
    let read = ports.time().micros();
    let found = ports.index().tombstones(alias, R::horizon(read, retention), PAGE).await?;
    if found.is_empty() {
        return Ok(false);
    }
    let mut lines = WANTS_ALIAS.to_owned();
    found.iter().for_each(|tombstone| R::write_forget(&mut lines, tombstone));
    fresh(ports.time(), read)?;
    let reply = ports.index().forget(alias, &lines).await?;
    let gone = gone(&reply, found.len())?;
    swept.gone += gone;
    swept.outlived += found.len() - gone;
    Ok(found.len() == PAGE && gone > 0)
}

/// How many of the tombstones are gone; the others were not there any more.
fn gone(reply: &Reply, asked: usize) -> Result<usize, Fault> {
    let answers = Some(reply).filter(|reply| reply.status == 200).and_then(|reply| answers(&reply.body));
    let Some([first, deletes @ ..]) = answers.as_deref().filter(|answers| answers.len() == asked + 1) else {
        return Err(Fault::passing("search", format_args!("a sweep was answered {}", reply.status)));
    };
    if failure(first.error).kind != "document_missing_exception" {
        return Err(refusal(first));
    }
    let mut gone = 0;
    for answer in deletes {
        match (classify(answer), answer) {
            (Class::Done, _) => gone += 1,
            (Class::Conflict, _) => {}
            (_, answer) => return Err(refusal(answer)),
        }
    }
    Ok(gone)
}

fn refusal(answer: &Answer<'_>) -> Fault {
    let reason = format!("a tombstone stays: {} {}", answer.status, failure(answer.error).reason());
    Fault { passing: classify(answer) == Class::Retry, ..Fault::lasting("search", reason) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read from an answer about two tombstones; of a fault, whether it may pass.
    fn counted(items: &str) -> Result<usize, bool> {
        let first = r#"{"update":{"status":404,"error":{"type":"document_missing_exception"}}}"#;
        whole(&format!(r#"{{"items":[{first},{items}]}}"#))
    }

    fn whole(body: &str) -> Result<usize, bool> {
        gone(&Reply { status: 200, body: body.to_owned().into() }, 2).map_err(|fault| fault.passing)
    }

    #[test]
    fn what_is_not_there_any_more_is_not_counted() {
        assert_eq!(counted(r#"{"delete":{"status":200}},{"delete":{"status":200}}"#), Ok(2));
        assert_eq!(counted(r#"{"delete":{"status":409,"error":{}}},{"delete":{"status":200}}"#), Ok(1));
    }

    #[test]
    fn no_other_answer_is_success() {
        assert_eq!(counted(r#"{"delete":{"status":200}},{"delete":{"status":429,"error":{}}}"#), Err(true));
        assert_eq!(counted(r#"{"delete":{"status":200}},{"delete":{"status":403,"error":{}}}"#), Err(false));
        assert_eq!(counted(r#"{"delete":{"status":200}}"#), Err(true));
        let missing = r#"{"update":{"status":404,"error":{"type":"index_not_found_exception"}}}"#;
        let deletes = r#"{"delete":{"status":404}},{"delete":{"status":404}}"#;
        assert_eq!(whole(&format!(r#"{{"items":[{missing},{deletes}]}}"#)), Err(false));
        assert_eq!(whole("{}"), Err(true));
    }
}
