//! The stream function that keeps OpenSearch equal to DynamoDB, and its library: documents, versions, bulk requests,
//! tombstones, generations and quarantine.

mod advance;
mod audit;
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
mod fill;
mod first_index;
mod fold;
mod generation;
mod given_up;
mod grants;
mod group;
mod handle;
mod handlers;
mod health;
mod heartbeat;
mod image;
mod inspect;
mod item;
mod json;
mod lag;
mod lines;
mod machine;
mod mapping;
mod mirrored;
mod number;
mod operate;
mod ports;
mod quarantine;
mod readers;
mod rebuild;
mod rebuild_function;
mod record;
mod redrive;
mod repair;
mod repair_entity;
mod report;
mod requests;
mod retry;
mod samples;
mod save_heartbeat;
pub mod schema;
mod settle;
#[cfg(test)]
mod simulation;
mod stamp;
mod status;
mod sweep;
mod task;
mod transform;
mod watch;
mod work;

pub use audit::{
    AUDIT, AUDIT_MINUTES, AuditEnd, AuditOptions, AuditPurpose, AuditStep, Audited, DifferenceKind, Finding,
    GenerationAudit, TableAudit, audit_index, last_audits,
};
pub use context::{AWAIT_BATCHES, TIMEOUT};
pub use create_index::{CREATE_INDEX, REBUILD_MACHINE, REBUILDS, create_index};
pub use document::{Document, Found, KEYWORD_BYTES, ShapeSource, StoredShape};
pub use documents::{
    DetailLevel, Documents, Mapping, NoShapes, Obstacle, Shape, ShapeStatus, ShapeUnavailable, Shapes,
};
pub use generation::{Generation, Generations, Phase};
pub use grants::{audit_grants, grants, index_grants, sweep_grants};
pub use handle::{Handled, handle, save_failure};
pub use handlers::handlers;
pub use health::health;
pub use heartbeat::Heartbeat;
pub use image::{Image, NotAnItem, Unfit};
pub use inspect::{InGeneration, Inspected};
pub use item::Item;
pub use lag::{Lag, Lags, lag};
pub use mirrored::{
    Auditing, HANDLER, Inspecting, Mirrored, OnAuditStep, OnBatchRedriven, OnPageScanned, OnRebuildStep, Rebuilding,
    Redriving, Repairing, RepairingEntity, WithoutShapes, audit, first_index, handler, inspect, rebuild, redrive,
    repair, repair_entity,
};
pub use number::Number;
pub use operate::{Staleness, check_dismissal, dismiss, generations, indexes_of, markers_of, quarantined, stale};
pub use ports::Fault;
pub use quarantine::{Code, Marker, OpenMarker, Subject};
pub use readers::is_readers_alias_right;
pub use rebuild::{
    Goal, PATIENCE, Preview, Progress, Rebuild, abandon_indexes, pause_rebuild, preview_rebuild, resume_rebuild,
};
pub use record::NotAnEvent;
pub use redrive::{Redriven, Repairs};
pub use repair::{Repaired, repair_key};
pub use repair_entity::RepairedEntity;
pub use report::{Ledger, RepairOutcome};
#[doc(hidden)]
pub use samples::sample_document;
pub use status::{MAX_STATUS_COUNT, Status, StatusWord, status, wrong_indexes};
pub use sweep::{MAX_SWEEP_COUNT, SWEEP, Swept, sweep, sweep_by_hand};
#[doc(hidden)]
pub use transform::transform;
pub use watch::{RebuildProgress, rebuild_progress};
pub use work::Failure;
