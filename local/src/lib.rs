//! The whole platform on one machine: engines, gateway and event sources.

pub mod aws;
pub mod engine;
pub mod error;
pub mod failpoint;
pub mod gateway;
pub mod install;
pub mod listen;
pub mod process;
pub mod progress;
pub mod sample;
pub mod source;

pub use error::StartError;
pub use progress::Progress;
