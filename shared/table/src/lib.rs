//! DynamoDB as Cairn uses it: key templates, declared tables, revisions, and the client through which handlers
//! reach engines only by declared access patterns.

pub mod access;
mod action;
mod attempt;
mod backoff;
mod batch;
pub mod clock;
pub mod config;
pub mod cursor;
pub mod engines;
pub mod error;
mod expression;
pub mod idempotency;
pub mod item;
pub mod key;
pub mod objects;
pub mod ordered;
pub mod part;
mod provision;
mod query;
mod read;
pub mod rev;
pub mod schema;
pub mod search;
pub mod template;
mod write;

pub use access::{Access, AccessPattern, Call};
pub use action::{Action, Changes};
pub use clock::Clock;
pub use config::Config;
pub use engines::Engines;
pub use error::{Cause, Error, Failed};
pub use expression::Condition;
pub use idempotency::{FirstAnswer, Idempotency};
pub use item::{Item, Stored};
pub use key::{EntityKey, Key};
pub use objects::{Declared, Link, ObjectHead, Objects};
pub use part::{Escaped, KeyPart, Number};
pub use query::{Page, Position, Query};
pub use read::TableAccess;
pub use rev::Rev;
pub use search::SearchError;
