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
        [
            Test::new(named(served, "answers_each_principal_as_stated"), || async {
                statuses::as_stated(&of(served).await).await;
            }),
            Test::new(named(served, "tells_nothing_of_foreign_things"), || async {
                let stage = of(served).await;
                foreign::as_if_absent(&stage).await;
                searches::find_nothing(&stage).await;
                replays::of_others(&stage).await;
            }),
            Test::new(named(served, "keeps_cursors_to_their_callers"), || async {
                let stage = of(served).await;
                lists::keep_cursors(&stage).await;
            }),
        ]
    });
    of_all.into_iter().chain(of_each).collect()
}

fn named(served: &Served, what: &str) -> String {
    format!("tenancy::{}_{what}", served.system.name)
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
