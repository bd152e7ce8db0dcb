//! The client against engines in process: dynoxide for DynamoDB, s3s-fs for S3.

// Clippy knows tests by their attribute, and not what they share.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod batches;
mod canned;
mod event_bus;
mod faults;
mod idempotency;
mod objects;
mod proxy;
mod queries;
mod queue;
mod reads;
mod search;
mod secret;
mod shop;
mod socket;
mod tables;
mod transactions;
mod writes;
