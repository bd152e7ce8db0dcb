//! The client against a DynamoDB engine in process.

mod batches;
mod canned;
mod faults;
mod idempotency;
mod objects;
mod proxy;
mod queries;
mod reads;
mod search;
mod shop;
mod tables;
mod transactions;
mod writes;
