//! The stream function that keeps OpenSearch equal to DynamoDB, and its library: documents, versions, bulk requests,
//! tombstones, generations and quarantine.

mod batch;
mod build;
mod classify;
mod context;
#[doc(hidden)]
pub mod contract;
mod create_index;
mod document;
mod documents;
mod engines;
#[cfg(test)]
mod exploration;
mod first_index;
mod fold;
mod generation;
mod grants;
mod group;
mod handle;
mod handlers;
mod image;
mod item;
mod json;
mod lines;
mod machine;
mod mapping;
mod mirrored;
mod number;
mod operate;
mod ports;
mod quarantine;
mod record;
mod redrive;
mod repair;
mod report;
mod requests;
mod rules;
pub mod schema;
mod settle;
#[cfg(test)]
mod simulation;
mod stamp;
mod sweep;
mod task;
mod transform;
mod work;

pub use create_index::{CREATE_INDEX, create_index};
pub use document::{Document, Found, KEYWORD_BYTES, ShapeSource, StoredShape};
pub use documents::{
    DetailLevel, Documents, Mapping, NoShapes, Obstacle, Shape, ShapeStatus, ShapeUnavailable, Shapes,
};
pub use first_index::{Progress, create_first_index};
pub use generation::{Generation, Generations};
pub use grants::{grants, index_grants, sweep_grants};
pub use handle::{Handled, handle};
pub use handlers::handlers;
pub use image::{Image, NotAnItem, Unfit};
pub use item::Item;
pub use mirrored::{HANDLER, Mirrored, Repairing, Scanned, WithoutShapes, first_index, handler, repair};
pub use number::Number;
pub use operate::{Staleness, dismiss, generations, quarantined, stale};
pub use ports::Fault;
pub use quarantine::{Code, Marker, Subject};
pub use record::NotAnEvent;
pub use redrive::{Redrive, Redriven, Repairs, count_given_up, redrive_records};
pub use repair::{Repaired, repair_key};
pub use report::{Ledger, RepairOutcome};
pub use sweep::{SWEEP, sweep};
#[doc(hidden)]
pub use transform::transform;
pub use work::Failure;
