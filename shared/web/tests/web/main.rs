//! A sample system, `zoo`, in the tests of the crate.

// Clippy recognizes tests by their attribute, but not their shared functions.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

mod deployment;
mod description;
mod hostile;
mod identity;
mod lambda;
mod observability;
mod providers;
mod requests;
mod zoo;
