//! Authorization and confidentiality: every operation of every system with every kind of principal.
//!
//! The operations are read from the route declarations, and the expected responses from `e2e/tenancy.md`. A system's
//! stage defines its principals and the values of path parameters.

mod expectations;
mod foreign;
mod lists;
mod of_agencies;
mod of_archive;
mod of_chat;
mod of_parks;
mod of_shelf;
mod of_tracker;
mod operations;
mod random;
mod replays;
mod searches;
mod stage;
mod statuses;

use local::Served;
use local::systems;

use crate::harness::Test;
use expectations::Expectations;
use stage::Stage;

pub fn tests() -> Vec<Test> {
    let of_all = [Test::new("tenancy::each_operation_has_a_row", each_operation_has_a_row)];
    let of_each = systems::ALL.iter().flat_map(|served| {
        let of_parts = Part::all(served).into_iter().flat_map(move |part| {
            [
                Test::new(part.named(served, "answers_each_principal_as_stated"), move || async move {
                    statuses::as_stated(&of(served).await, part).await;
                }),
                Test::new(part.named(served, "tells_nothing_of_foreign_things"), move || async move {
                    foreign::as_if_absent(&of(served).await, part).await;
                }),
            ]
        });
        let of_whole = [
            Test::new(named(served, "hides_foreign_things_from_bodies_searches_and_replays"), || async {
                let stage = of(served).await;
                foreign::named_in_bodies(&stage).await;
                searches::find_nothing(&stage).await;
                replays::of_others(&stage).await;
            }),
            Test::new(named(served, "keeps_cursors_to_their_callers"), || async {
                lists::keep_cursors(&of(served).await).await;
            }),
        ];
        let is_long = operations::names(served).len() > ORDINARY;
        let of_both = of_parts.chain(of_whole).map(move |test| if is_long { test.long() } else { test });
        let name = named(served, "answers_no_random_request_5xx");
        // Those of the other systems are among the tests of `generated` and `chat_generated`.
        let random = (!["parks", "chat"].contains(&served.system.name)).then(|| {
            Test::new(name, move || async move { random::requests_to_each_operation(&of(served).await).await }).long()
        });
        of_both.chain(random)
    });
    of_all.into_iter().chain(of_each).collect()
}

fn named(served: &Served, what: &str) -> String {
    format!("tenancy::{}_{what}", served.system.name)
}

/// The most operations of a system whose tests are part of `cargo test`.
const ORDINARY: usize = 40;

/// The most operations of a test, so that a large system's tests take no longer than the others.
const OPERATIONS: usize = 60;

/// A share of a system's operations.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    place: usize,
    of: usize,
}

impl Part {
    fn all(served: &Served) -> Vec<Self> {
        let of = operations::names(served).len().div_ceil(OPERATIONS);
        (0..of).map(|place| Self { place, of }).collect()
    }

    fn named(self, served: &Served, what: &str) -> String {
        let whole = named(served, what);
        if self.of == 1 { whole } else { format!("{whole}_part_{}_of_{}", self.place + 1, self.of) }
    }

    /// The operations of the part: neighbours are in different ones.
    pub fn of(self, stage: &Stage) -> impl Iterator<Item = &operations::Operation> {
        stage.operations.iter().skip(self.place).step_by(self.of)
    }
}

/// A system with items of each kind, their owners and other principals.
async fn of(served: &'static Served) -> Stage {
    match served.system.name {
        "parks" => of_parks::stage(served).await,
        "agencies" => of_agencies::stage(served).await,
        "tracker" => of_tracker::stage(served).await,
        "archive" => of_archive::stage(served).await,
        "chat" => of_chat::stage(served).await,
        "shelf" => of_shelf::stage(served).await,
        other => panic!("write a stage for {other}: who its principals are, and what is theirs"),
    }
}

async fn each_operation_has_a_row() {
    let expectations = Expectations::read();
    for served in systems::ALL {
        let (declared, stated) = (operations::names(served), expectations.operations(served.system.name));
        let missing: Vec<_> = declared.iter().filter(|name| !stated.contains(*name)).collect();
        let stale: Vec<_> = stated.iter().filter(|name| !declared.contains(name)).collect();
        let system = served.system.name;
        assert!(missing.is_empty(), "e2e/tenancy.md does not say whom these operations of {system} serve: {missing:?}");
        assert!(stale.is_empty(), "e2e/tenancy.md names operations that {system} does not have: {stale:?}");
    }
}
