//! DynamoDB as Cairn uses it: key templates, declared tables, revisions, and the client through which handlers
//! reach engines only by declared access patterns.

pub mod access;
pub mod clock;
pub mod config;
pub mod engines;
pub mod key;
pub mod ordered;
pub mod part;
pub mod rev;
pub mod schema;
pub mod template;

pub use access::{Access, AccessPattern, Call};
pub use clock::Clock;
pub use config::Config;
pub use engines::Engines;
pub use key::{EntityKey, Key};
pub use part::{Escaped, KeyPart, Number};
pub use rev::Rev;
