//! The simulator. It runs the functions that Lambda calls in a world whose faults are drawn from a seed. The world has
//! its own table, stream and index, and uses the real fold, settle and classify.

mod audit_outages;
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
mod slow_shapes;
mod stopped_audits;
mod sweeps;
pub(crate) mod toy;
mod versions;
pub(crate) mod world;
mod writers;

/// The tier, which `CAIRN_TIER` sets at compile time.
const TIER: &[u8] = match option_env!("CAIRN_TIER") {
    Some(tier) => tier.as_bytes(),
    None => b"ordinary",
};

/// Whether the tests have their full size.
pub(crate) const NIGHTLY: bool = matches!(TIER, b"nightly");

/// Whether the tests have the size of `cargo test`.
pub(crate) const ORDINARY: bool = matches!(TIER, b"ordinary");

/// Returns the number of schedules of a run.
fn schedules() -> u64 {
    seeds::schedules()
}
