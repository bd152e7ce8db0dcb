//! The whole platform on one machine: engines, gateway and event sources.

pub mod engine;
pub mod error;
pub mod install;
pub mod process;
pub mod progress;

pub use error::StartError;
pub use progress::Progress;
