//! Work in the hands of a run: done batch by batch, for as long as it is its turn.

use std::time::Duration;

use table::{Access, Error};
use tokio::time::Instant;
use web::Problem;

use super::{Held, Kind, Step, Then, build, delete_project, delete_tenant, drain, retype};
use crate::{exports, imports, issues};

/// What must be left of a run's time for one more batch.
const FOR_A_BATCH: Duration = Duration::from_secs(3);

/// How long a turn is, where a batch does not take longer.
const TURN: Duration = Duration::from_secs(1);

/// How often a batch is made anew, because others had changed what it read, before the work is left to the next run.
const TRIES: u64 = 10;

/// Work with what its run knows of it.
#[derive(Debug)]
pub struct Job {
    held: Held,
    ahead: Ahead,
    /// How often in a row its batch could not be written.
    vain: u64,
}

/// How a turn ended.
#[derive(Debug)]
pub enum Turn {
    /// There is more to do.
    Again(Box<Job>),
    /// It waits for a later time, or is somebody else's now.
    Left,
    Ended,
}

/// What a run knows beyond the checkpoint, so that it need not read again what it has read. A run that knows nothing
/// comes to the same.
#[derive(Debug, Default)]
struct Ahead {
    import: imports::Ahead,
    export: exports::Ahead,
}

/// Whether a run that may last until then has time for one more batch.
pub fn has_time(access: &Access, until: Instant) -> bool {
    until.saturating_duration_since(Instant::now()) >= FOR_A_BATCH && !access.engines().is_winding_down()
}

/// Works until the work has ended or waits for a later time, or until this time. Returns whether it has ended.
pub async fn carry_on(access: &Access, held: Held, until: Instant) -> Result<bool, Problem> {
    let mut job = Job::new(held);
    loop {
        match job.turn(access, until).await? {
            Turn::Again(more) => job = *more,
            Turn::Left => return Ok(false),
            Turn::Ended => return Ok(true),
        }
    }
}

impl Job {
    pub fn new(held: Held) -> Self {
        Self { held, ahead: Ahead::default(), vain: 0 }
    }

    /// Works for about a second, or lets go of it where there is no time until then.
    pub async fn turn(mut self, access: &Access, until: Instant) -> Result<Turn, Problem> {
        let began = Instant::now();
        while self.held.work.state.is_open() {
            if self.vain == TRIES || !has_time(access, until) {
                self.let_go(access).await?;
                return Ok(Turn::Left);
            }
            if began.elapsed() >= TURN {
                return Ok(Turn::Again(Box::new(self)));
            }
            let step = match self.step(access).await {
                Ok(step) => step,
                Err(problem) => {
                    // The next run may have more luck, and need not wait for the lease's end.
                    self.held.release(access).await?;
                    return Err(problem);
                }
            };
            let waits = matches!(step.then, Then::Wait(_));
            match self.held.carry_out(access, step).await {
                Ok(true) if waits => return Ok(Turn::Left),
                Ok(true) => {
                    self.vain = 0;
                    if self.held.work.kind == Kind::Import && self.held.work.state.is_open() {
                        self.held.look(access).await?;
                    }
                }
                Ok(false) => return Ok(Turn::Left),
                Err(Error::ConditionFailed(_) | Error::Conflict) => {
                    self.vain += 1;
                    tokio::time::sleep(Duration::from_millis(fastrand::u64(0..50 * self.vain))).await;
                }
                Err(error) => {
                    self.held.release(access).await?;
                    return Err(error.into());
                }
            }
        }
        Ok(Turn::Ended)
    }

    /// Leaves it to another run, with what was read ahead of the checkpoint.
    pub async fn let_go(mut self, access: &Access) -> Result<(), Error> {
        let kept = match self.held.work.kind {
            Kind::Export => self.ahead.export.keep(access, &self.held).await,
            _ => Ok(None),
        };
        match kept {
            Ok(Some(step)) => match self.held.carry_out(access, step).await {
                Ok(_) => return Ok(()),
                Err(error) => tracing::warn!(%error, "what was read ahead is read again"),
            },
            Ok(None) => {}
            Err(problem) => tracing::warn!(%problem, "what was read ahead is read again"),
        }
        self.held.release(access).await
    }

    async fn step(&mut self, access: &Access) -> Result<Step, Problem> {
        let (held, ahead) = (&self.held, &mut self.ahead);
        match held.work.kind {
            Kind::BuildAttribute => build::step(access, held).await,
            Kind::RetypeAttribute => retype::step(access, held).await,
            Kind::DeleteAttribute => drain::step(access, held).await,
            Kind::DeleteProject => delete_project::step(access, held).await,
            Kind::DeleteTenant => delete_tenant::step(access, held).await,
            Kind::LowerNumbers => issues::next_number::step(access, held).await,
            Kind::Import => imports::step(access, held, &mut ahead.import).await,
            Kind::Export => exports::step(access, held, &mut ahead.export).await,
        }
    }
}
