//! Templates for AWS, generated from the systems' declarations: `infra/{system}.yaml`, `infra/shared.yaml`.

// Declared first for its macros.
#[macro_use]
pub mod node;

pub mod alarms;
pub mod api;
pub mod declaration;
pub mod function;
pub mod names;
pub mod parameters;
pub mod policy;
pub mod queues;
pub mod routes;
pub mod samconfig;
pub mod secrets;
pub mod shared;
pub mod socket;
pub mod sources;
pub mod state_machine;
pub mod storage;
pub mod system;
