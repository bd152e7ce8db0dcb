//! The histories of invocations. Between its ports the mirror is deterministic, so an invocation is its arguments and
//! the answers so far. Each history is run once: the calls that it then waits for are kept.

use std::collections::HashMap;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::task::noop_waker_ref;
use table::TOMBSTONES;

use super::calls::{ALIAS, Answer, Call};
use super::failures::{FUNCTION, event};
use super::leaf::{Change, Release, key};
use super::ports::Recorded;
use crate::advance::{Advanced, Bounds, advance, fill_share};
use crate::fill::Share;
use crate::ports::{Fault, Time};
use crate::rebuild::{self, Rebuild};
use crate::redrive::{Redrive, Run};
use crate::repair::repair_generations;
use crate::simulation::executor::TABLES;
use crate::simulation::toy::TREES;
use crate::simulation::world::sequence;
use crate::sweep::{Swept, sweep_generations};
use crate::work::process_batch;

/// The arguments of an invocation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Start {
    pub(super) task: Task,
    /// Whether its code creates documents of poison.
    pub(super) cured: bool,
    /// Its clock in microseconds.
    pub(super) now: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Task {
    Batch(Vec<Change>),
    Repair {
        key: usize,
    },
    Redrive,
    Sweep,
    /// Carries out an order about a rebuild.
    Rebuild(Rebuild),
    /// Carries out an order by the calls of functions, and then the rest of it.
    RebuildByFunctions(Rebuild),
}

/// The end of an invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The records before this position were handled.
    Batch {
        handled: usize,
    },
    Done,
    Failed,
    /// It broke an invariant.
    Broken(String),
}

/// The number of a history.
pub(super) type Id = u32;

/// A history, by what the invocation does after it.
#[derive(Debug)]
pub(super) struct History {
    start: usize,
    /// The history before the last answer, and that answer.
    last: Option<(Id, Given)>,
    /// The calls that it waits for, with their positions among all its calls.
    pub(super) waiting: Vec<(usize, Call)>,
    pub(super) end: Option<End>,
}

/// An answer that was given to a call, at this time of the invocation's clock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Given {
    call: usize,
    answer: Answer,
    now: i64,
}

/// Every history that was met.
pub(super) struct Histories {
    starts: Vec<Start>,
    histories: Vec<History>,
    first: HashMap<Start, Id>,
    next: HashMap<(Id, Given), Id>,
}

impl Histories {
    pub(super) fn new() -> Self {
        Self { starts: Vec::new(), histories: Vec::new(), first: HashMap::new(), next: HashMap::new() }
    }

    pub(super) fn count(&self) -> usize {
        self.histories.len()
    }

    pub(super) fn get(&self, id: Id) -> &History {
        &self.histories[id as usize]
    }

    /// Starts an invocation, and runs it until it waits.
    pub(super) fn start(&mut self, start: Start) -> Id {
        if let Some(id) = self.first.get(&start) {
            return *id;
        }
        self.starts.push(start.clone());
        let id = self.run(self.starts.len() - 1, None);
        self.first.insert(start, id);
        id
    }

    /// Answers a call of an invocation, and runs it until it waits.
    pub(super) fn answer(&mut self, id: Id, call: usize, answer: Answer, now: i64) -> Id {
        let given = (id, Given { call, answer, now });
        if let Some(next) = self.next.get(&given) {
            return *next;
        }
        let next = self.run(self.get(id).start, Some(given.clone()));
        self.next.insert(given, next);
        next
    }

    /// Runs an invocation anew with all its answers.
    fn run(&mut self, start: usize, last: Option<(Id, Given)>) -> Id {
        let mut answers = Vec::new();
        let mut before = last.as_ref();
        while let Some((id, given)) = before {
            answers.push(given);
            before = self.get(*id).last.as_ref();
        }
        answers.reverse();
        let (waiting, end) = replay(&self.starts[start], &answers);
        self.histories.push(History { start, last, waiting, end });
        Id::try_from(self.histories.len() - 1).unwrap()
    }
}

fn replay(start: &Start, answers: &[&Given]) -> (Vec<(usize, Call)>, Option<End>) {
    let ports = Recorded::default();
    let mut future = invocation(start, ports.clone());
    ports.script().now = start.now;
    let mut context = Context::from_waker(noop_waker_ref());
    let mut polled = future.as_mut().poll(&mut context);
    for given in answers {
        ports.script().now = given.now;
        ports.answer(given.call, given.answer.clone());
        polled = future.as_mut().poll(&mut context);
    }
    if let Poll::Ready(end) = polled {
        return (Vec::new(), Some(end));
    }
    let script = ports.script();
    let waiting = script.calls.iter().enumerate().filter(|(_, made)| !made.ended);
    let waiting: Vec<_> = waiting.map(|(place, made)| (place, made.call.clone())).collect();
    let is_stuck = waiting.iter().all(|(_, call)| *call == Call::Expired);
    let stuck = || End::Broken("I7: the invocation waits for nothing but the end of its time".to_owned());
    (waiting, is_stuck.then(stuck))
}

fn invocation(start: &Start, ports: Recorded) -> Pin<Box<dyn Future<Output = End>>> {
    let release = Release { cured: start.cured };
    let finished = |done: bool| if done { End::Done } else { End::Failed };
    match start.task.clone() {
        Task::Batch(records) => Box::pin(async move { batch(&ports, release, &records).await }),
        Task::Repair { key: number } => {
            Box::pin(async move { finished(repair_generations(&ports, &release, &TREES, &key(number)).await.is_ok()) })
        }
        Task::Redrive => Box::pin(async move {
            let redrive = Redrive { dry_run: false, on_batch: &|_| () };
            let (failures, documents, tables) = (&ports, &release, &*TABLES);
            let run = Run { ports: &ports, failures, documents, tables, function: FUNCTION, redrive };
            finished(run.all().await.is_ok_and(|redriven| redriven.repairs.failed == 0))
        }),
        Task::Sweep => {
            Box::pin(
                async move { finished(sweep_generations(&ports, TOMBSTONES, &mut Swept::default()).await.is_ok()) },
            )
        }
        Task::Rebuild(order) => {
            Box::pin(async move { finished(rebuild::rebuild(&ports, &release, ALIAS, order, &|_| ()).await.is_ok()) })
        }
        Task::RebuildByFunctions(order) => Box::pin(async move {
            if functions(&ports, release, order).await.is_err() {
                return End::Failed;
            }
            let rest = Rebuild { begins: false, ..order };
            finished(rebuild::rebuild(&ports, &release, ALIAS, rest, &|_| ()).await.is_ok())
        }),
    }
}

/// Calls the functions of a rebuild as their state machine does, until an operator's step is next. The only share has
/// several segments, which are scanned concurrently, as several shares would be.
async fn functions(ports: &Recorded, release: Release, order: Rebuild) -> Result<(), Fault> {
    let (mut order, mut waited) = (order, None);
    loop {
        let bounds = Bounds { waited, until: None, shares: 1 };
        let advanced = advance(ports, &release, ALIAS, (order, bounds), &|_| ()).await?;
        order.begins = false;
        match advanced {
            Advanced::Published { epoch } => {
                ports.wait(order.wait).await;
                waited = Some(epoch);
            }
            Advanced::Filling => {
                fill_share(ports, &release, Share::WHOLE, &|_| ()).await?;
            }
            Advanced::Stopped => {}
            Advanced::Audited | Advanced::Reached => return Ok(()),
        }
    }
}

async fn batch(ports: &Recorded, release: Release, records: &[Change]) -> End {
    let processed = match process_batch(ports, &release, &TABLES, &event(records)).await {
        Ok(processed) => processed,
        Err(failure) => return End::Broken(format!("I5: the invocation fails: {failure}")),
    };
    let reported = (0..records.len()).find(|place| processed.answer.contains(&format!("\"{}\"", sequence(*place))));
    let handled = reported.unwrap_or(records.len());
    let ledger = processed.ledger;
    if !ledger.adds_up() || ledger.reported != records.len() - handled {
        return End::Broken(format!("I5: {ledger:?} of {records:?}, of which {reported:?} is reported"));
    }
    End::Batch { handled }
}
