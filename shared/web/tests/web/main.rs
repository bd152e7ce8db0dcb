//! A made-up system, `zoo`, through everything that a system goes through.

// Clippy knows tests by their attribute, and not what they share.
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
