//! Going on with what is due: work by work, batch by batch, for as long as there is time.

use std::time::Duration;

use bytes::Bytes;
use futures::future::ready;
use futures::{StreamExt, stream};
use table::{Access, EntityKey, Error};
use tokio::time::Instant;
use web::{Due, Event, EventFailure, Problem};

use super::begin::in_seconds;
use super::{Held, Kind, Step, build, delete_project, delete_tenant, drain, retype};
use crate::access::DUE;
use crate::keys::{IssueDueKey, WorkDueKey};
use crate::names::WorkId;
use crate::schema::{INDEX, TRACKER};
use crate::{exports, imports, issues};

/// How much is gone on with at once, and taken at once.
const AT_ONCE: usize = 4;
const TAKEN: u32 = 10;

/// What must be left of a run's time for one more batch.
const FOR_A_BATCH: Duration = Duration::from_secs(3);

/// How often a batch is made anew, because others had changed what it read, before the work is left to the next run.
const TRIES: u64 = 10;

/// Every minute: goes on with what was begun and is nobody's now.
pub async fn run_work(event: Event) -> Result<Bytes, EventFailure> {
    let (access, until) = (event.access(), event.deadline);
    let listed = access.table(&DUE, &TRACKER).query("due").index(INDEX).below(in_seconds(access, 0));
    let listed = listed.page(TAKEN).await.map_err(EventFailure::new)?;
    let went = stream::iter(listed.items).map(|listed| async move {
        // What is not taken keeps its place in line.
        let went = if until.saturating_duration_since(Instant::now()) < FOR_A_BATCH {
            Ok(())
        } else if let Some(WorkDueKey { work }) = WorkDueKey::parse(&listed.key) {
            go_on(access, work, until).await
        } else if let Some(IssueDueKey { issue }) = IssueDueKey::parse(&listed.key) {
            issues::settle_due(access, issue).await
        } else {
            Ok(())
        };
        if let Err(problem) = &went {
            tracing::error!(due.key = ?listed.key, %problem, "work was left where it is; the next run goes on");
        }
        went.is_err()
    });
    let due = went.buffer_unordered(AT_ONCE).fold(Due::default(), |mut due, failed| {
        due.count(failed);
        ready(due)
    });
    let due = due.await;
    event.went_on(due)
}

async fn go_on(access: &Access, id: WorkId, until: Instant) -> Result<(), Problem> {
    match Held::take(access, id).await? {
        Some(held) => carry_on(access, held, until).await.map(|_| ()),
        None => Ok(()),
    }
}

/// Works until the work has ended or waits for a later time, or until this time. Returns whether it has ended.
pub async fn carry_on(access: &Access, mut held: Held, until: Instant) -> Result<bool, Problem> {
    let mut vain = 0;
    let mut ahead = Ahead::default();
    while held.work.state.is_open() {
        let over = until.saturating_duration_since(Instant::now()) < FOR_A_BATCH;
        if over || vain == TRIES || access.engines().is_winding_down() {
            let kept = match held.work.kind {
                Kind::Export => ahead.export.keep(access, &held).await,
                _ => Ok(None),
            };
            match kept {
                Ok(Some(step)) => match held.carry_out(access, step).await {
                    Ok(_) => return Ok(false),
                    Err(error) => tracing::warn!(%error, "what was read ahead is read again"),
                },
                Ok(None) => {}
                Err(problem) => tracing::warn!(%problem, "what was read ahead is read again"),
            }
            held.release(access).await?;
            return Ok(false);
        }
        let step = match step(access, &held, &mut ahead).await {
            Ok(step) => step,
            Err(problem) => {
                // The next run may have more luck, and need not wait for the lease's end.
                held.release(access).await?;
                return Err(problem);
            }
        };
        let waits = matches!(step.then, super::Then::Wait(_));
        match held.carry_out(access, step).await {
            Ok(true) if waits => return Ok(false),
            Ok(true) => {
                vain = 0;
                if held.work.kind == Kind::Import && held.work.state.is_open() {
                    held.look(access).await?;
                }
            }
            Ok(false) => return Ok(false),
            Err(Error::ConditionFailed(_) | Error::Conflict) => {
                vain += 1;
                tokio::time::sleep(Duration::from_millis(fastrand::u64(0..50 * vain))).await;
            }
            Err(error) => {
                held.release(access).await?;
                return Err(error.into());
            }
        }
    }
    Ok(true)
}

/// What a run knows beyond the checkpoint, so that it need not read again what it has read. A run that knows nothing
/// comes to the same.
#[derive(Debug, Default)]
struct Ahead {
    import: imports::Ahead,
    export: exports::Ahead,
}

async fn step(access: &Access, held: &Held, ahead: &mut Ahead) -> Result<Step, Problem> {
    match held.work.kind {
        Kind::BuildAttribute => build::step(access, held).await,
        Kind::RetypeAttribute => retype::step(access, held).await,
        Kind::DeleteAttribute => drain::step(access, held).await,
        Kind::DeleteProject => delete_project::step(access, held).await,
        Kind::DeleteTenant => delete_tenant::step(access, held).await,
        Kind::Import => imports::step(access, held, &mut ahead.import).await,
        Kind::Export => exports::step(access, held, &mut ahead.export).await,
    }
}
