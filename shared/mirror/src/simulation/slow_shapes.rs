//! Shapes that take long to read. What is written before the time is up counts, in each delivery and in each page.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use super::executor::{TABLES, drive};
use super::scenarios::{key, leaf, put, serving, visible};
use super::toy::{Areas, LabelledLeaves};
use super::versions::raised;
use super::world::Shared;
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
    assert_eq!(deliveries(&shared), 2);
    assert_eq!(visible(&shared).len(), 1000);
}

#[test]
fn batch_that_takes_longer_than_an_invocation_reaches_both_indexes_in_parts() {
    let shared = raised();
    put_areas(&shared, 1000);
    assert_eq!(deliveries(&shared), 4);
    let documents = |number| {
        let index = crate::generation::index_name("toy", number);
        let world = shared.world();
        (0..1000)
            .filter(|tree| world.search.document(&index, &key(&format!("{tree:03}")).document_id()).is_some())
            .count()
    };
    assert_eq!([documents(1), documents(2)], [1000, 1000]);
}

#[test]
fn page_that_takes_longer_than_it_may_be_used_is_written_in_parts() {
    let shared = raised();
    put_areas(&shared, 100);
    shared.world().scan_page = Some(100);
    let generation: Generation = shared.world().generations.as_ref().unwrap().written[1].clone();
    let ports = Slowly::command(&shared, Duration::from_secs(20));
    let scanned = std::sync::Mutex::new(Vec::new());
    let note = |_, items| scanned.lock().unwrap().push(items);
    drive(&shared, scan_tables(&ports, &LabelledLeaves, &generation, Share::WHOLE, &note)).unwrap();
    let scanned = scanned.into_inner().unwrap();
    assert_eq!(scanned.iter().sum::<usize>(), 100);
    assert!(scanned.iter().all(|items| *items < 10), "{scanned:?}");
    let world = shared.world();
    let found: BTreeSet<usize> = (0..100)
        .filter(|tree| world.search.document(&generation.index, &key(&format!("{tree:03}")).document_id()).is_some())
        .collect();
    assert_eq!(found.len(), 100);
}
