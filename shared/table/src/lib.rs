//! DynamoDB as Cairn uses it: key templates, declared tables, revisions, and the client through which handlers
//! reach engines only by declared access patterns.

pub mod access;
pub mod clock;
pub mod config;
pub mod key;
pub mod rev;
pub mod schema;

pub use access::{Access, AccessPattern, Call, Engines};
pub use clock::Clock;
pub use config::Config;
pub use key::Key;
pub use rev::Rev;
