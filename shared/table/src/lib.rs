//! DynamoDB as Cairn uses it: declared tables and keys, revisions, and the client through which handlers reach
//! engines only by declared access patterns.
//!
//! ```no_run
//! use table::access::{AccessPattern, Call, TableAction};
//! use table::schema::{Entity, Table};
//! use table::{Access, Action, Changes, Error, Escaped, Number};
//!
//! // A key reads like its template.
//! table::key! {
//!     pub struct BookKey { room: Escaped, number: Number }
//!     pk "book::{room}"
//!     sk "{number}"
//! }
//!
//! static LIBRARY: Table = Table {
//!     name: "library",
//!     pk: "pk",
//!     sk: Some("sk"),
//!     indexes: &[],
//!     entities: &[Entity::document::<BookKey>("book")],
//!     stream: true,
//! };
//!
//! // Policies are generated from patterns. `Access` refuses a call that its pattern does not declare.
//! static LEND: AccessPattern = AccessPattern {
//!     name: "lend",
//!     calls: &[
//!         Call::Table { table: "library", action: TableAction::GetItem },
//!         Call::Table { table: "library", action: TableAction::UpdateItem },
//!     ],
//! };
//!
//! # fn main() {}
//! // `access` permits the patterns of the request's route, and records each call.
//! async fn lend(access: &Access, key: BookKey, to: &str) -> Result<(), Error> {
//!     let book = access.table(&LEND, &LIBRARY).get_consistent(&key).await?.ok_or(Error::NotFound)?;
//!     let lent = Changes::new().set("lentTo", table::item::text(to));
//!     // Fails with `Error::Stale` if another write came first. The client sets the new revision.
//!     access.write(&LEND, Action::update(&LIBRARY, key, lent).if_unchanged(&book)).await?;
//!     Ok(())
//! }
//! ```
//!
//! | task | items |
//! |---|---|
//! | declare keys, tables, buckets | [`key!`], [`schema`], [`part`], [`ordered`] |
//! | read | [`TableAccess`], [`Query`] |
//! | write, alone or in a transaction | [`Action`], [`Changes`], [`Access::write`], [`Access::transact`] |
//! | retry after a conflict | [`Backoff`] |
//! | carry out a repeated request once | [`Access::transact_once`], [`Idempotency`] |
//! | encrypt the cursor of a page | [`cursor`] |
//! | read and write objects in S3, search | [`Objects`], [`Access::search`] |
//! | send a message to a queue | [`Queue`] |
//! | put events on the account's event bus | [`Access::put_events`] |
//! | send a frame to a connection of a socket, close a connection | [`Access::post`], [`Access::close`] |
//! | read a secret, derive a key | [`Access::secret`], [`Secret`] |
//! | configure engines | [`Config`], [`Engines`], [`Clock`] |
//! | compute the permissions of a role | [`grant`] |
//! | trace the calls of one request | [`Trace`] |
//! | name the cause of a request without an answer | [`no_answer`] |
//! | report an impossible state | [`never!`] |

pub mod access;
mod action;
mod attempt;
mod attribute;
mod backoff;
mod batch;
pub mod clock;
pub mod config;
pub mod connect;
pub mod cursor;
pub mod engines;
pub mod error;
mod event_bus;
mod expression;
pub mod filter;
pub mod grant;
pub mod idempotency;
pub mod item;
pub mod key;
mod limit;
pub mod no_answer;
#[doc(hidden)]
pub mod objects;
pub mod ordered;
pub mod part;
pub mod person;
mod provision;
mod query;
mod queue;
mod read;
mod read_secret;
pub mod rev;
pub mod schema;
pub mod search;
mod secret;
mod sequence;
pub mod socket;
pub mod template;
pub mod trace;
mod write;

pub use ::never::never;
pub use access::{Access, AccessPattern, Call};
pub use action::{Action, Changes};
pub use backoff::Backoff;
pub use clock::Clock;
pub use config::{Config, TOMBSTONES};
pub use engines::Engines;
pub use error::{Cause, Error, Failed};
pub use event_bus::{BusEvent, MAX_BUS_EVENTS};
pub use expression::Condition;
pub use grant::Grant;
pub use idempotency::{FirstAnswer, Idempotency};
pub use item::{Item, Stored};
pub use key::{EntityKey, Key};
pub use limit::Limit;
pub use objects::{Declared, Link, ObjectHead, Objects};
pub use part::{Escaped, KeyPart, Number};
pub use person::Idpid;
pub use provision::{create_tables, table_difference};
pub use query::{Page, Position, Query};
pub use queue::Queue;
pub use read::TableAccess;
pub use rev::Rev;
pub use search::SearchError;
pub use secret::Secret;
pub use sequence::Sequence;
pub use socket::Delivery;
pub use trace::Trace;
