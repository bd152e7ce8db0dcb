//! The platform on one machine: engines, gateway and event sources.

pub mod aws;
mod chat_client;
pub mod engine;
pub mod error;
pub mod failpoint;
pub mod gateway;
pub mod gazetteer;
pub mod identity;
mod index_page;
pub mod install;
pub mod listen;
pub mod log_file;
mod missing_file;
pub mod platform;
mod private_file;
pub mod process;
pub mod progress;
pub mod runtime_api;
pub mod sample;
pub mod search;
pub mod socket;
pub mod source;
pub mod state;
pub mod systems;

pub use error::StartError;
pub use platform::{Dynamodb, Options, Platform, Served};
pub use progress::Progress;
