//! The HTTP layer of a system: routes with one declaration each, checks of requests against it, problem details,
//! principals, and the adapter for Lambda.
//!
//! A system builds one [`App`] from its [`Route`]s and [`EventHandler`]s. Lambda and the local gateway call
//! [`App::handle`] with the same requests and [`App::event`] with the same events.

pub mod answer;
pub mod app;
mod built_in;
mod check;
mod compiled;
mod context;
pub mod cors;
mod creation;
mod cursor;
pub mod deployment;
mod endpoint;
pub mod entity_tag;
pub mod event;
pub mod extract;
pub mod fault;
pub mod format;
mod guard;
pub mod handler;
#[doc(hidden)]
pub mod id;
mod idempotency;
pub mod integers;
pub mod issuer;
pub mod lambda;
pub mod log;
mod media;
pub mod message;
pub mod metrics;
mod network;
pub mod notification;
pub mod openapi;
pub mod operation;
pub mod order;
pub mod page;
mod parameters;
pub mod patch;
pub mod principal;
pub mod problem;
pub mod record;
pub mod respond;
mod retry;
pub mod route;
pub mod rules;
pub mod schema;
pub mod search;
mod shape;
pub mod socket;
pub mod token;
pub mod trust;
pub mod visible;
pub mod who;

pub use answer::{Answer, response_bytes, string_bytes};
pub use app::{App, Deadline, RequestId};
pub use built_in::Health;
pub use context::Context;
pub use deployment::respond_to_deployment;
pub use entity_tag::{Condition, EntityTag};
pub use event::{Event, EventFailure, EventHandler, RunSummary};
pub use extract::{IdempotencyKey, IfMatch, IfNoneMatch, Json, MergePatch, Path, Query, Valid};
pub use fault::Fault;
pub use format::Format;
pub use issuer::OwnIssuer;
pub use metrics::{Audit, Batch};
pub use order::Order;
pub use page::{Limit, Page, PageQuery};
pub use parameters::MAX_QUERY;
pub use patch::Patch;
pub use principal::{Known, Principal};
pub use problem::{Kind, Problem};
pub use record::{Record, records, respond_to_records};
pub use respond::{Accepted, Created, Either, NoContent, Respond, Tagged};
pub use route::{Route, Sample};
pub use rules::Rules;
pub use schema::Schema;
pub use socket::{SocketEvent, SocketEventKind};
pub use who::Who;
