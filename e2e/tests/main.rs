//! End-to-end tests of Cairn, over HTTP and by its events, on real engines.
//!
//! `cargo test -p e2e` runs on dynoxide and one OpenSearch. `CAIRN_ENGINES=real` uses DynamoDB Local instead of
//! dynoxide, and `CAIRN_ENGINES=without-java` uses osmem instead of OpenSearch. `differences.md` lists the tests that a
//! set cannot pass.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "tests say what they expect by unwrapping it"
)]

mod agencies;
mod archive;
mod audit;
mod chat;
mod contract;
mod deployments;
mod depot;
mod faults;
mod functions;
mod generated;
mod harness;
mod issuers;
mod kill;
mod mirror;
mod operators;
mod parks;
mod privilege;
mod quarantine;
mod rebuild;
mod samples;
mod schedules;
mod shelf;
mod sockets;
mod tenancy;
mod tombstones;
mod traces;
mod tracker;

use std::process::ExitCode;

fn main() -> ExitCode {
    harness::run(
        [
            parks::tests(),
            agencies::tests(),
            tracker::tests(),
            archive::tests(),
            chat::tests(),
            shelf::tests(),
            shelf::costs::tests(),
            tenancy::tests(),
            contract::tests(),
            generated::tests(),
            mirror::tests(),
            mirror::each_system::tests(),
            operators::tests(),
            quarantine::tests(),
            rebuild::tests(),
            rebuild::by_functions::tests(),
            rebuild::search_faults::tests(),
            tombstones::tests(),
            audit::tests(),
            faults::tests(),
            depot::tests(),
            deployments::tests(),
            kill::tests(),
            issuers::tests(),
            functions::tests(),
            samples::tests(),
            schedules::tests(),
            sockets::tests(),
            traces::tests(),
            privilege::tests(),
        ]
        .into_iter()
        .flatten()
        .collect(),
    )
}
