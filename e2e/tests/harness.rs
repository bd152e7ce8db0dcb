//! The harness of the tests: a platform for each test, its users and the responses to them.

mod answer;
mod cairn;
pub mod conflicts;
pub mod delay;
pub mod description;
pub mod differences;
mod durations;
pub mod engines;
mod front;
pub mod generator;
pub mod issuer;
pub mod lines;
pub mod measured;
pub mod metrics;
pub mod process;
pub mod proxy;
pub mod recorder;
pub mod relay;
pub mod runtime_api;
pub mod seed;
pub mod server;
pub mod stopper;
mod suite;
pub mod table;
pub mod throttle;
mod tier;
mod user;
pub mod warnings;

pub use answer::{Answer, Found};
pub use cairn::{Cairn, Setup};
pub use description::Description;
pub use engines::Set;
pub use front::Front;
pub use suite::{Test, run};
pub use tier::sized;
pub use user::{Call, User, fetch, plain, send_file, send_file_or_gone, send_to};
