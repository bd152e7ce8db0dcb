//! Going on with what is due, for as long as a run has time: tenants take turns, and what falls due meanwhile has its own.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::{FuturesUnordered, StreamExt};
use table::{Access, EntityKey, Error, Key};
use tokio::time::Instant;
use web::{Event, EventFailure, Problem, RunSummary};

use super::Held;
use super::job::{Job, Turn, has_time};
use super::line::{Found, look};
use super::turns::Turns;
use crate::issues;
use crate::keys::{IssueDueKey, WorkDueKey};
use crate::names::TenantId;

/// How much is gone on with at once.
const AT_ONCE: usize = 4;

/// How much is held at once, with what was read of it, by work that makes way for others' included. What is more goes back
/// into the line.
const IN_HAND: usize = 8;

/// How often a run looks for what has fallen due.
const LOOK: Duration = Duration::from_millis(500);

/// Whose turn it is. Of some the index does not tell the tenant; they take turns as one more.
type Whose = Option<TenantId>;

enum Waiting {
    /// What a due row waits for.
    Named(Key),
    /// Work that has made way for another tenant's.
    Held(Key, Box<Job>),
}

/// What has come to its end, for now.
enum Went {
    Looked(Result<Found, Error>),
    Turned(Whose, Key, Result<Turn, Problem>),
    LetGo(Key, Result<(), Error>),
}

struct Run<'a> {
    access: &'a Access,
    until: Instant,
    turns: Turns<Whose, Waiting>,
    /// What waits for its turn, has it, or has failed.
    known: BTreeSet<Key>,
    under_way: FuturesUnordered<BoxFuture<'a, Went>>,
    working: usize,
    in_hand: usize,
    /// When it has looked last; nothing while it does.
    looked: Option<Instant>,
    looking: bool,
    /// Whether something is due that waits for no turn yet.
    more: bool,
    blind: Option<Error>,
    due: RunSummary,
}

/// Every minute: goes on with what was begun and is nobody's now.
pub async fn run_work(event: Event) -> Result<Bytes, EventFailure> {
    let mut run = Run {
        access: event.access(),
        until: event.deadline,
        turns: Turns::default(),
        known: BTreeSet::new(),
        under_way: FuturesUnordered::new(),
        working: 0,
        in_hand: 0,
        looked: None,
        looking: false,
        more: false,
        blind: None,
        due: RunSummary::default(),
    };
    run.last().await;
    match run.blind {
        Some(error) => Err(EventFailure::new(error)),
        None => event.finish(run.due),
    }
}

impl Run<'_> {
    /// Until nothing is due, or its time is over.
    async fn last(&mut self) {
        loop {
            let goes_on = self.goes_on();
            if goes_on {
                self.look();
                self.fill();
            } else {
                self.let_all_go();
            }
            let next_look = self.looked.map_or_else(Instant::now, |looked| looked + LOOK);
            tokio::select! {
                Some(went) = self.under_way.next() => self.after(went),
                () = tokio::time::sleep_until(next_look),
                    if goes_on && !self.looking && (self.more || !self.under_way.is_empty()) => {}
                else => return,
            }
        }
    }

    fn goes_on(&self) -> bool {
        self.blind.is_none() && has_time(self.access, self.until)
    }

    /// Looks for what is due, if it is time.
    fn look(&mut self) {
        if !self.looking && self.looked.is_none_or(|looked| looked.elapsed() >= LOOK) {
            let access = self.access;
            (self.looking, self.more) = (true, false);
            self.under_way.push(async move { Went::Looked(look(access).await) }.boxed());
        }
    }

    /// Gives turns for as long as there is room.
    fn fill(&mut self) {
        while self.working < AT_ONCE
            && let Some((whose, waiting)) = self.turns.next()
        {
            self.working += 1;
            match waiting {
                Waiting::Held(key, job) => self.turn(whose, key, job),
                Waiting::Named(key) => {
                    self.in_hand += 1;
                    self.due.found += 1;
                    let (access, until) = (self.access, self.until);
                    let turn = async move {
                        let turned = begin(access, &key, until).await;
                        Went::Turned(whose, key, turned)
                    };
                    self.under_way.push(turn.boxed());
                }
            }
        }
    }

    fn turn(&mut self, whose: Whose, key: Key, job: Box<Job>) {
        let (access, until) = (self.access, self.until);
        self.under_way.push(async move { Went::Turned(whose, key, job.turn(access, until).await) }.boxed());
    }

    fn let_go(&mut self, key: Key, job: Box<Job>) {
        let access = self.access;
        self.under_way.push(async move { Went::LetGo(key, job.let_go(access).await) }.boxed());
    }

    /// What is not taken keeps its place in line.
    fn let_all_go(&mut self) {
        for (_, waiting) in self.turns.take_all() {
            if let Waiting::Held(key, job) = waiting {
                self.let_go(key, job);
            }
        }
    }

    fn after(&mut self, went: Went) {
        match went {
            Went::Looked(found) => {
                (self.looking, self.looked) = (false, Some(Instant::now()));
                match found {
                    Ok(Found { due, more }) => {
                        self.more |= more;
                        for (whose, keys) in due {
                            for key in keys.into_iter().filter(|key| self.known.insert(key.clone())) {
                                self.turns.add(&whose, Waiting::Named(key));
                            }
                        }
                    }
                    Err(error) => self.blind = Some(error),
                }
            }
            Went::Turned(whose, key, Ok(Turn::Again(job))) => {
                // Whose it is is known by now, so it can stand in that tenant's line.
                let makes_way = whose.is_none() || self.turns.is_awaited(&whose);
                if !makes_way && self.goes_on() {
                    return self.turn(whose, key, job);
                }
                self.working -= 1;
                self.turns.done(&whose);
                if whose.is_none() || self.in_hand > IN_HAND || !self.goes_on() {
                    self.more = true;
                    self.let_go(key, job);
                } else {
                    self.turns.put_back(&whose, Waiting::Held(key, job));
                }
            }
            Went::Turned(whose, key, turned) => {
                self.working -= 1;
                self.turns.done(&whose);
                self.over(key, turned.map(|_| ()));
            }
            Went::LetGo(key, let_go) => self.over(key, let_go.map_err(Problem::from)),
        }
    }

    /// What has failed stays known, so that only the next run goes on with it.
    fn over(&mut self, key: Key, ended: Result<(), Problem>) {
        self.in_hand -= 1;
        match ended {
            Ok(()) => drop(self.known.remove(&key)),
            Err(problem) => {
                self.due.failed += 1;
                tracing::error!(due.key = ?key, %problem, "a job failed in this run; the next run resumes it");
            }
        }
    }
}

/// Takes what a due row waits for, and gives it its first turn.
async fn begin(access: &Access, due: &Key, until: Instant) -> Result<Turn, Problem> {
    if let Some(WorkDueKey { work }) = WorkDueKey::parse(due) {
        return match Held::take(access, work).await? {
            Some(held) => Job::new(held).turn(access, until).await,
            None => Ok(Turn::Left),
        };
    }
    if let Some(IssueDueKey { issue }) = IssueDueKey::parse(due) {
        issues::settle_due(access, issue).await?;
    }
    Ok(Turn::Ended)
}
