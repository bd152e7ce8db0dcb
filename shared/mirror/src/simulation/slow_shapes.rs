//! Shapes that take long to read, and bulk requests that take long. What is written before the time is up counts, in each delivery and in each page.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::task::noop_waker_ref;

use super::executor::{TABLES, drive};
use super::scenarios::{codes, key, leaf, poison, put, serving, visible};
use super::toy::{Areas, LabelledLeaves};
use super::versions::raised;
use super::world::{Call, Fate, Kind, Shared};
use crate::document::ShapeSource;
use crate::documents::{DetailLevel, Shape, ShapeUnavailable, Shapes};
use crate::fill::{Share, scan_tables};
use crate::generation::Generation;
use crate::ports::{Ports, Time};
use crate::work::process_batch;

/// The time that one shape takes.
const SLOW: Duration = Duration::from_millis(100);

/// The time of an invocation.
const INVOCATION: i64 = 59_000_000;

/// The world with slow shapes, for one invocation.
struct Slowly {
    shared: Shared,
    shapes: SlowAreas,
    until: Option<i64>,
}

struct SlowAreas {
    shared: Shared,
    takes: Duration,
}

impl Slowly {
    fn invocation(shared: &Shared) -> Self {
        let until = Some(shared.world().now + INVOCATION);
        Self { until, ..Self::command(shared, SLOW) }
    }

    fn command(shared: &Shared, takes: Duration) -> Self {
        Self { shared: shared.clone(), shapes: SlowAreas { shared: shared.clone(), takes }, until: None }
    }
}

impl Ports for Slowly {
    type Index = Shared;
    type Items = Shared;
    type State = Shared;
    type Quarantine = Shared;
    type Shapes = SlowAreas;
    type Time = Self;

    fn index(&self) -> &Shared {
        &self.shared
    }

    fn items(&self) -> &Shared {
        &self.shared
    }

    fn state(&self) -> &Shared {
        &self.shared
    }

    fn quarantine(&self) -> &Shared {
        &self.shared
    }

    fn shapes(&self) -> &SlowAreas {
        &self.shapes
    }

    fn time(&self) -> &Self {
        self
    }
}

impl Shapes for SlowAreas {
    async fn shape(&self, source: &ShapeSource, level: DetailLevel) -> Result<Shape, ShapeUnavailable> {
        self.shared.wait(self.takes).await;
        Areas.shape(source, level).await
    }
}

impl Time for Slowly {
    fn micros(&self) -> i64 {
        self.shared.micros()
    }

    async fn pause(&self, up_to: Duration) {
        self.shared.pause(up_to).await;
    }

    async fn wait(&self, exactly: Duration) {
        self.shared.wait(exactly).await;
    }

    async fn expired(&self) {
        poll_fn(|_| match self.until {
            Some(until) if until <= self.micros() => Poll::Ready(()),
            _ => Poll::Pending,
        })
        .await;
    }
}

fn put_areas(shared: &Shared, number: usize) {
    for tree in 0..number {
        let mut leaf = leaf("oak", 10);
        leaf.insert("area".to_owned(), serde_json::json!({ "S": "aaaa" }));
        put(shared, &format!("{tree:03}"), Some(leaf));
    }
}

/// Puts a leaf that goes to quarantine, whose tombstone is written after that.
fn put_poison(shared: &Shared, tree: &str) {
    put(shared, tree, Some(poison(10)));
}

/// Delivers the records again from the first that was not handled. Returns the number of deliveries.
fn deliveries(shared: &Shared) -> usize {
    let end = shared.world_len();
    let (mut from, mut deliveries) = (0, 0);
    while from < end {
        let payload = shared.world().event(from, end);
        let processed = drive(shared, process_batch(&Slowly::invocation(shared), &LabelledLeaves, &TABLES, &payload));
        let reported = processed.unwrap().ledger.reported;
        assert!(end - reported > from, "a delivery has handled no record from {from} on");
        (from, deliveries) = (end - reported, deliveries + 1);
    }
    deliveries
}

#[test]
fn batch_that_takes_longer_than_an_invocation_is_handled_in_parts() {
    let shared = serving();
    put_areas(&shared, 1000);
    assert!((2..5).contains(&deliveries(&shared)));
    assert_eq!(visible(&shared).len(), 1000);
}

#[test]
fn batch_whose_bulk_requests_take_long_is_handled_in_parts() {
    let shared = serving();
    let name = "x".repeat(2_500);
    (0..1000).for_each(|tree| put(&shared, &format!("{tree:03}"), Some(leaf(&name, 10))));
    let (end, mut from, mut deliveries) = (shared.world_len(), 0, 0);
    while from < end {
        let payload = shared.world().event(from, end);
        let ports = Slowly::invocation(&shared);
        let processed = drive_slowly(&shared, process_batch(&ports, &LabelledLeaves, &TABLES, &payload));
        let reported = processed.unwrap().ledger.reported;
        assert!(end - reported > from, "a delivery has handled no record from {from} on");
        (from, deliveries) = (end - reported, deliveries + 1);
    }
    assert!((2..5).contains(&deliveries), "{deliveries}");
    assert_eq!(visible(&shared).len(), 1000);
}

/// Runs a future to its end in a world in which each bulk request takes 31 s.
fn drive_slowly<T>(shared: &Shared, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut Context::from_waker(noop_waker_ref())) {
            return done;
        }
        let mut world = shared.world();
        let place = world.requests.iter().position(|request| request.kind != Kind::Expired).unwrap();
        if world.requests[place].call == Call::Bulk {
            world.now += 31_000_000;
        }
        world.carry(place, Fate::Answered);
    }
}

#[test]
fn poison_before_a_batch_that_takes_long_is_handled_first() {
    let shared = raised();
    put_poison(&shared, "!");
    put_areas(&shared, 1000);
    assert!((2..8).contains(&deliveries(&shared)));
    assert_eq!((visible(&shared).len(), codes(&shared).len()), (1000, 2));
}

#[test]
fn batch_that_takes_longer_than_an_invocation_reaches_both_indexes_in_parts() {
    let shared = raised();
    put_areas(&shared, 1000);
    assert!((3..8).contains(&deliveries(&shared)));
    let documents = |number| {
        let index = crate::generation::index_name("toy", number);
        let world = shared.world();
        (0..1000)
            .filter(|tree| world.search.document(&index, &key(&format!("{tree:03}")).document_id()).is_some())
            .count()
    };
    assert_eq!([documents(1), documents(2)], [1000, 1000]);
}

/// Fills the second index from one page of items whose shapes take long. Returns the numbers of items that were scanned
/// at a time, and the number of documents.
fn filled(shared: &Shared) -> (Vec<usize>, usize) {
    shared.world().scan_page = Some(1000);
    let generation: Generation = shared.world().generations.as_ref().unwrap().written[1].clone();
    let ports = Slowly::command(shared, Duration::from_secs(20));
    let scanned = Mutex::new(Vec::new());
    let note = |_, items| scanned.lock().unwrap().push(items);
    drive(shared, scan_tables(&ports, &LabelledLeaves, &generation, Share::WHOLE, &note)).unwrap();
    let world = shared.world();
    let ids = (0..100).map(|tree| key(&format!("{tree:03}")).document_id());
    (scanned.into_inner().unwrap(), ids.filter(|id| world.search.document(&generation.index, id).is_some()).count())
}

#[test]
fn page_that_takes_longer_than_it_may_be_used_is_written_in_parts() {
    let shared = raised();
    put_areas(&shared, 100);
    let (scanned, documents) = filled(&shared);
    assert_eq!((scanned.iter().sum::<usize>(), documents), (100, 100));
    assert!(scanned.iter().all(|items| *items < 10), "{scanned:?}");
}

#[test]
fn poison_before_a_page_that_takes_long_is_handled_first() {
    let shared = raised();
    put_poison(&shared, "!!!");
    put_areas(&shared, 100);
    let (scanned, documents) = filled(&shared);
    assert_eq!((scanned.iter().sum::<usize>(), documents), (101, 100));
    assert_eq!(codes(&shared).len(), 1);
}
