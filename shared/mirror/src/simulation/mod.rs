//! The simulator. It runs the functions that Lambda calls in a world whose faults are drawn from a seed. The world has
//! its own table, stream and index, and uses the real fold, settle and classify.

mod audits;
mod choices;
mod contract;
mod daily_audits;
pub(crate) mod executor;
mod faults;
mod hosts;
mod invariants;
mod lasting;
mod lost_indexes;
pub(crate) mod ports;
mod reached;
mod rebuild_audits;
mod rebuild_functions;
mod rebuild_retries;
mod rebuilds;
mod redrives;
mod repairs;
mod scenarios;
mod schedule;
mod search;
mod seeds;
mod stopped_audits;
mod sweeps;
pub(crate) mod toy;
mod versions;
pub(crate) mod world;
mod writers;

/// Whether the tests have their full size. `CAIRN_TIER=nightly` sets it at compile time.
pub(crate) const NIGHTLY: bool =
    matches!(option_env!("CAIRN_TIER"), Some(tier) if matches!(tier.as_bytes(), b"nightly"));

/// Whether the tests have the size of `cargo test`.
pub(crate) const ORDINARY: bool = option_env!("CAIRN_TIER").is_none();

/// Returns the number of schedules of a run.
fn schedules() -> u64 {
    seeds::schedules()
}
