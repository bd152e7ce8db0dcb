//! The explorer. It runs the functions that Lambda calls through every schedule of a small world, breadth first. Each
//! call through a port is one step, and each may be answered in every way that the scenario's budget allows.
//!
//! An invocation is its arguments and the answers so far (`histories.rs`), so a state can be hashed and copied although
//! the code is a future.

mod breadth_first;
mod calls;
mod explorer;
mod failures;
mod histories;
mod invariants;
mod leaf;
mod operators;
mod orders;
mod ports;
mod scenarios;
mod source;
mod state;
mod world;
mod writers;
