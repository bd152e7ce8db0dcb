//! The client against a DynamoDB engine in process.

mod batches;
mod proxy;
mod queries;
mod reads;
mod shop;
mod tables;
mod transactions;
mod writes;
