//! The scheduled run: works on due jobs for as long as it has time, by turns, also on those that fall due meanwhile.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::{FuturesUnordered, StreamExt};
use table::{Access, Error, Key};
use tokio::time::Instant;
use web::{EventFailure, EventHandler, Problem, RunSummary};

use crate::due::{Found, look};
use crate::turn::{Active, Turned, has_time};
use crate::turns::Turns;
use crate::{Jobs, Lease, Workers};

/// The limit of jobs in progress.
const CONCURRENCY: usize = 4;

/// Above this number of leased jobs, a job that makes way for another group is given back. Each keeps in memory what its
/// worker has read.
const MAX_LEASED: usize = 8;

/// How often a run looks for jobs that have fallen due.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// The group whose turn it is. Jobs whose group the index does not say are one more group.
type Group<J> = Option<<J as Jobs>::Group>;

enum Waiting<J: Jobs> {
    /// The key of a due row.
    Due(Key),
    /// A leased job that has made way for another group's.
    Leased(Key, Box<Active<J>>),
}

/// The end of something that a run does.
enum Event<J: Jobs> {
    Looked(Result<Found<J::Group>, Error>),
    Turned(Group<J>, Key, Result<Option<Box<Active<J>>>, Problem>),
    Released(Key, Result<(), Error>),
}

struct Run<'a, J: Jobs> {
    access: &'a Access,
    until: Instant,
    turns: Turns<Group<J>, Waiting<J>>,
    /// The due rows that wait, are in progress, or have failed.
    known: BTreeSet<Key>,
    in_progress: FuturesUnordered<BoxFuture<'a, Event<J>>>,
    working: usize,
    leased: usize,
    /// When it has last looked for due rows.
    looked: Option<Instant>,
    looking: bool,
    /// Whether there are due rows that are not among `turns`.
    more: bool,
    look_error: Option<Error>,
    summary: RunSummary,
}

/// The name of the handler of the scheduled run in every system.
pub const RUN_JOBS: &str = "runJobs";

/// Creates the handler of the scheduled run, which works on due jobs until none is due, for at most a minute.
pub fn handler<J: Workers>() -> EventHandler {
    EventHandler::new(RUN_JOBS, on_schedule::<J>).patterns(J::PATTERNS).timeout(Duration::from_secs(60)).memory(1024)
}

async fn on_schedule<J: Workers>(event: web::Event) -> Result<Bytes, EventFailure> {
    let summary = run::<J>(event.access(), event.deadline).await?;
    event.finish(summary)
}

/// Works on due jobs until none is due, or until this time. A job that fails stops no other job.
pub async fn run<J: Workers>(access: &Access, until: Instant) -> Result<RunSummary, EventFailure> {
    let mut run = Run::<J> {
        access,
        until,
        turns: Turns::default(),
        known: BTreeSet::new(),
        in_progress: FuturesUnordered::new(),
        working: 0,
        leased: 0,
        looked: None,
        looking: false,
        more: false,
        look_error: None,
        summary: RunSummary::default(),
    };
    run.work().await;
    match run.look_error {
        Some(error) => Err(EventFailure::new(error)),
        None => Ok(run.summary),
    }
}

impl<J: Workers> Run<'_, J> {
    async fn work(&mut self) {
        loop {
            let has_time = self.has_time();
            if has_time {
                self.look();
                self.fill();
            } else {
                self.release_all();
            }
            let next_look = self.looked.map_or_else(Instant::now, |looked| looked + LOOK_INTERVAL);
            tokio::select! {
                Some(event) = self.in_progress.next() => self.on(event),
                () = tokio::time::sleep_until(next_look),
                    if has_time && !self.looking && (self.more || !self.in_progress.is_empty()) => {}
                else => return,
            }
        }
    }

    fn has_time(&self) -> bool {
        self.look_error.is_none() && has_time(self.access, self.until)
    }

    /// Looks for due rows at the interval.
    fn look(&mut self) {
        if !self.looking && self.looked.is_none_or(|looked| looked.elapsed() >= LOOK_INTERVAL) {
            let access = self.access;
            (self.looking, self.more) = (true, false);
            self.in_progress.push(async move { Event::Looked(look::<J>(access).await) }.boxed());
        }
    }

    /// Gives turns until the limit of jobs in progress.
    fn fill(&mut self) {
        while self.working < CONCURRENCY
            && let Some((group, waiting)) = self.turns.next()
        {
            self.working += 1;
            match waiting {
                Waiting::Leased(key, active) => self.turn(group, key, active),
                Waiting::Due(key) => {
                    self.leased += 1;
                    self.summary.found += 1;
                    let (access, until) = (self.access, self.until);
                    let turn = async move {
                        let turned = begin::<J>(access, &key, until).await;
                        Event::Turned(group, key, turned)
                    };
                    self.in_progress.push(turn.boxed());
                }
            }
        }
    }

    fn turn(&mut self, group: Group<J>, key: Key, active: Box<Active<J>>) {
        let (access, until) = (self.access, self.until);
        let turn = async move { Event::Turned(group, key, active.turn(access, until).await.map(more)) };
        self.in_progress.push(turn.boxed());
    }

    fn release(&mut self, key: Key, active: Box<Active<J>>) {
        let access = self.access;
        let release = async move { Event::Released(key, active.suspend(access).await.map(drop)) };
        self.in_progress.push(release.boxed());
    }

    /// Gives all leased jobs back. Those that only wait keep their place in the index.
    fn release_all(&mut self) {
        for (_, waiting) in self.turns.take_all() {
            if let Waiting::Leased(key, active) = waiting {
                self.release(key, active);
            }
        }
    }

    fn on(&mut self, event: Event<J>) {
        match event {
            Event::Looked(found) => {
                (self.looking, self.looked) = (false, Some(Instant::now()));
                match found {
                    Ok(Found { due, more }) => {
                        self.more |= more;
                        for (group, keys) in due {
                            for key in keys.into_iter().filter(|key| self.known.insert(key.clone())) {
                                self.turns.add(&group, Waiting::Due(key));
                            }
                        }
                    }
                    Err(error) => self.look_error = Some(error),
                }
            }
            Event::Turned(group, key, Ok(Some(active))) => {
                // A job whose group the index did not say is given back once: then the index says it.
                let makes_way = group.is_none() || self.turns.is_awaited(&group);
                if !makes_way && self.has_time() {
                    return self.turn(group, key, active);
                }
                self.working -= 1;
                self.turns.done(&group);
                if group.is_none() || self.leased > MAX_LEASED || !self.has_time() {
                    self.more = true;
                    self.release(key, active);
                } else {
                    self.turns.put_back(&group, Waiting::Leased(key, active));
                }
            }
            Event::Turned(group, key, Ok(None)) => {
                self.working -= 1;
                self.turns.done(&group);
                self.end(key, Ok(()));
            }
            Event::Turned(group, key, Err(problem)) => {
                self.working -= 1;
                self.turns.done(&group);
                self.end(key, Err(problem));
            }
            Event::Released(key, released) => self.end(key, released.map_err(Problem::from)),
        }
    }

    /// Ends the work on a due row in this run. One that has failed stays known, so that only the next run tries again.
    fn end(&mut self, key: Key, ended: Result<(), Problem>) {
        self.leased -= 1;
        match ended {
            Ok(()) => drop(self.known.remove(&key)),
            Err(problem) => {
                self.summary.failed += 1;
                tracing::error!(due.key = ?key, %problem, "a job failed in this run; the next run resumes it");
            }
        }
    }
}

/// Leases the job of a due row, and gives it its first turn.
async fn begin<J: Workers>(access: &Access, due: &Key, until: Instant) -> Result<Option<Box<Active<J>>>, Problem> {
    let Some(id) = J::parse_due_key(due) else {
        J::settle(access, due).await?;
        return Ok(None);
    };
    match Lease::acquire(access, id).await? {
        Some(lease) => Ok(more(Active::new(lease).turn(access, until).await?)),
        None => Ok(None),
    }
}

fn more<J: Jobs>(turned: Turned<J>) -> Option<Box<Active<J>>> {
    match turned {
        Turned::More(active) => Some(active),
        Turned::Over(_) => None,
    }
}
