//! Invocations: futures that continue only when the schedule carries out the requests that they wait for.

use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::task::noop_waker_ref;
use table::{Config, Key, TOMBSTONES};

use super::toy::{TOY, TREES};
use super::world::{Fate, Kind, Shared};
use crate::first_index;
use crate::generation::Generations;
use crate::ports::Fault;
use crate::rebuild::{Rebuild, pause, rebuild};
use crate::record::Tables;
use crate::redrive::{Redrive, Redriven, Run};
use crate::repair::repair_generations;
use crate::sweep::{Swept, sweep_generations};
use crate::work::Failure;
use crate::work::{ProcessedBatch, process_batch};

/// A run of the mirror that was started and may never end.
pub(crate) struct Invocation {
    future: Pin<Box<dyn Future<Output = Ended>>>,
    /// The records of its batch, by their positions in the stream.
    pub(crate) records: std::ops::Range<usize>,
}

pub(crate) enum Ended {
    Batch(Result<ProcessedBatch, Failure>),
    FirstIndex(Result<(), Fault>),
    Repair(Result<(), Fault>),
    Sweep(Result<Swept, Fault>),
    Redrive(Result<Redriven, Fault>),
    Order(Result<Generations, Fault>),
}

/// The function whose records are redriven.
pub(crate) const FUNCTION: &str = "toy-mirror";

pub(crate) static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let config = Config::new("", "");
    Tables::new(&TOY, &config)
});

/// Each run has the code of the release that is deployed at its start.
impl Invocation {
    fn new(future: impl Future<Output = Ended> + 'static) -> Self {
        Self { future: Box::pin(future), records: 0..0 }
    }

    pub(crate) fn batch(shared: &Shared, records: std::ops::Range<usize>) -> Self {
        let payload = shared.world().event(records.start, records.end);
        let (ports, release) = (shared.clone(), shared.world().release);
        let batch = async move { Ended::Batch(process_batch(&ports, &release, &TABLES, &payload).await) };
        Self { records, ..Self::new(batch) }
    }

    pub(crate) fn first_index(shared: &Shared) -> Self {
        let (ports, release) = (shared.clone(), shared.world().release);
        Self::new(async move {
            let made = first_index::create(&ports, &release, "toy", Duration::ZERO, &|_| ()).await;
            Ended::FirstIndex(made.map(drop))
        })
    }

    pub(crate) fn repair(shared: &Shared, key: Key) -> Self {
        let (ports, release) = (shared.clone(), shared.world().release);
        Self::new(async move {
            let repaired = repair_generations(&ports, &release, &TREES, &key).await;
            Ended::Repair(repaired.map(drop))
        })
    }

    pub(crate) fn sweep(shared: &Shared) -> Self {
        let ports = shared.clone();
        Self::new(async move {
            let mut swept = Swept::default();
            Ended::Sweep(sweep_generations(&ports, TOMBSTONES, &mut swept).await.map(|()| swept))
        })
    }

    pub(crate) fn redrive(shared: &Shared) -> Self {
        let (ports, release) = (shared.clone(), shared.world().release);
        Self::new(async move {
            let redrive = Redrive { dry_run: false, on_batch: &|_| () };
            let (failures, documents, tables) = (&ports, &release, &*TABLES);
            let run = Run { ports: &ports, failures, documents, tables, function: FUNCTION, redrive };
            Ended::Redrive(run.all().await)
        })
    }

    /// Carries out an order about a rebuild.
    pub(crate) fn order(shared: &Shared, order: Rebuild) -> Self {
        let (ports, release) = (shared.clone(), shared.world().release);
        Self::new(async move { Ended::Order(rebuild(&ports, &release, "toy", order, &|_| ()).await) })
    }

    /// Pauses the rebuild that is under way.
    pub(crate) fn pause_rebuild(shared: &Shared) -> Self {
        let ports = shared.clone();
        Self::new(async move { Ended::Order(pause(&ports).await) })
    }

    /// Continues the run as far as possible. Its requests belong to the invocation `number`.
    pub(crate) fn poll(&mut self, shared: &Shared, number: usize) -> Option<Ended> {
        {
            let mut world = shared.world();
            let now = world.now;
            world.polled = number;
            world.started.entry(number).or_insert(now);
        }
        match self.future.as_mut().poll(&mut Context::from_waker(noop_waker_ref())) {
            Poll::Ready(ended) => Some(ended),
            Poll::Pending => None,
        }
    }
}

/// Runs a future to its end in a world without faults.
pub(crate) fn drive<T>(shared: &Shared, future: impl Future<Output = T>) -> T {
    drive_for(shared, usize::MAX, future).expect("it ends")
}

/// Runs a future in a world without faults, and stops it after this number of requests, the last of which was carried
/// out. Returns `None` if it was stopped.
pub(crate) fn drive_for<T>(shared: &Shared, requests: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    for carried in 0_usize.. {
        if let Poll::Ready(done) = future.as_mut().poll(&mut Context::from_waker(noop_waker_ref())) {
            return Some(done);
        }
        let mut world = shared.world();
        if carried == requests {
            world.requests.clear();
            break;
        }
        let place = world.requests.iter().position(|request| request.kind != Kind::Expired);
        world.carry(place.expect("something to wait for"), Fate::Answered);
    }
    None
}
