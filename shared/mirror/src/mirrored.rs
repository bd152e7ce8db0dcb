//! The mirror of a system as one type, with its event handler, its first index and the commands for operators.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use table::connect::Engine;
use table::schema::Table;
use table::{Access, AccessPattern, Engines, Key, never};
use web::{Batch, Event, EventFailure, EventHandler};

use crate::audit::{AuditOptions, AuditStep, Audited, audit_system};
use crate::context::TIMEOUT;
use crate::documents::{Documents, NoShapes, Shapes};
use crate::first_index::create_first_index;
use crate::generation::{Generation, Generations};
use crate::handle::{Handled, handle};
use crate::inspect::{Inspected, inspect_key};
use crate::ports::Fault;
use crate::rebuild::{PATIENCE, Progress, Rebuild, rebuild_index};
use crate::redrive::{Redrive, Redriven, redrive_records};
use crate::repair::{Repaired, repair_key};
use crate::repair_entity::{RepairedEntity, repair_entity_items};

/// A system's documents and the source of their shapes.
pub trait Mirrored: Documents + Default + Send + 'static {
    type Shapes: Shapes + Send;

    /// The access patterns that read shapes.
    const PATTERNS: &'static [&'static AccessPattern] = &[];

    fn shapes(access: Access) -> Self::Shapes;
}

/// The name of the handler of stream records in every system.
pub const HANDLER: &str = "mirror";

/// A callback that is called after every step of creating or rebuilding an index.
pub type OnRebuildStep = Box<dyn Fn(Progress) + Send + Sync>;

/// The documents of a system without shapes.
pub trait WithoutShapes: Documents + Default + Send + 'static {}

impl<M: WithoutShapes> Mirrored for M {
    type Shapes = NoShapes;

    fn shapes(_: Access) -> NoShapes {
        NoShapes
    }
}

/// Creates the event handler that applies a batch of stream records to search.
pub fn handler<M: Mirrored>() -> EventHandler {
    EventHandler::new(HANDLER, on_event::<M>).patterns(M::PATTERNS).engines(ENGINES).timeout(TIMEOUT).memory(1024)
}

/// The engines that the mirror uses in each batch, in addition to the access patterns of shapes.
pub(crate) const ENGINES: &[Engine] = &[Engine::Dynamodb, Engine::Search];

/// The memory in MB at which Lambda allocates one vCPU ("Configure Lambda function memory").
pub(crate) const ONE_VCPU_MEMORY: u64 = 1769;

/// Creates the system's first index and fills it from its tables. Does nothing if an index serves already.
pub fn first_index<M: Mirrored>(
    engines: Arc<Engines>,
    on_step: OnRebuildStep,
) -> BoxFuture<'static, Result<Generation, Fault>> {
    async move { create_first_index(&M::default(), &shapes::<M>(&engines), &engines, PATIENCE, on_step).await }.boxed()
}

/// The future of a rebuild. Its output is the config item after it.
pub type Rebuilding = BoxFuture<'static, Result<Generations, Fault>>;

/// Carries out an operator's order about the rebuild of the system's index.
pub fn rebuild<M: Mirrored>(engines: Arc<Engines>, order: Rebuild, on_step: OnRebuildStep) -> Rebuilding {
    async move { rebuild_index(&M::default(), &shapes::<M>(&engines), &engines, order, on_step).await }.boxed()
}

/// The future of a repair. Its output is `None` if the key's items have no documents.
pub type Repairing = BoxFuture<'static, Result<Option<Vec<Repaired>>, Fault>>;

/// Repairs the documents of one key in every generation.
pub fn repair<M: Mirrored>(engines: Arc<Engines>, table: &'static Table, key: Key) -> Repairing {
    async move { repair_key(&M::default(), &shapes::<M>(&engines), &engines, table, &key).await }.boxed()
}

/// The future of an inspection.
pub type Inspecting = BoxFuture<'static, Result<Inspected, Fault>>;

/// Reads one key in its table and in every generation.
pub fn inspect<M: Mirrored>(engines: Arc<Engines>, table: &'static Table, key: Key) -> Inspecting {
    async move { inspect_key(&M::default(), &engines, table, &key).await }.boxed()
}

/// A callback that is called after every page of a scan, with the number of its items.
pub type OnPageScanned = Box<dyn Fn(usize) + Send + Sync>;

/// The future of the repair of an entity. Its output is `None` if the system has no searchable entity with this name.
pub type RepairingEntity = BoxFuture<'static, Result<Option<RepairedEntity>, Fault>>;

/// Repairs the documents of every item of an entity in every generation.
pub fn repair_entity<M: Mirrored>(engines: Arc<Engines>, entity: String, on_page: OnPageScanned) -> RepairingEntity {
    async move { repair_entity_items(&M::default(), &shapes::<M>(&engines), &engines, &entity, on_page).await }.boxed()
}

/// A callback that is called after every step of an audit.
pub type OnAuditStep = Box<dyn Fn(AuditStep) + Send + Sync>;

/// The future of an audit. Its output is the result in each generation.
pub type Auditing = BoxFuture<'static, Result<Audited, Fault>>;

/// Audits every generation of a system, or resumes an audit that was stopped.
pub fn audit<M: Mirrored>(engines: Arc<Engines>, options: AuditOptions, on_step: OnAuditStep) -> Auditing {
    async move { audit_system(&M::default(), &shapes::<M>(&engines), &engines, options, on_step).await }.boxed()
}

/// The future of a redrive.
pub type Redriving = BoxFuture<'static, Result<Redriven, Fault>>;

/// A callback that is called after every batch of a redrive, with the result so far.
pub type OnBatchRedriven = Box<dyn Fn(&Redriven) + Send + Sync>;

/// Redrives the records that were given up and the items in quarantine. A dry run only counts them.
pub fn redrive<M: Mirrored>(engines: Arc<Engines>, dry_run: bool, on_batch: OnBatchRedriven) -> Redriving {
    async move {
        let redrive = Redrive { dry_run, on_batch: &*on_batch };
        redrive_records(&M::default(), &shapes::<M>(&engines), &engines, HANDLER, redrive).await
    }
    .boxed()
}

fn shapes<M: Mirrored>(engines: &Arc<Engines>) -> M::Shapes {
    M::shapes(Access::new(Arc::clone(engines), M::PATTERNS))
}

async fn on_event<M: Mirrored>(event: Event) -> Result<Bytes, EventFailure> {
    let shapes = M::shapes(event.access().clone());
    let handled = handle(&M::default(), &shapes, event.engines(), &event.payload, event.deadline).await;
    let handled = handled.map_err(EventFailure::new)?;
    event.report(Batch::from(&handled));
    Ok(handled.answer)
}

impl From<&Handled> for Batch {
    fn from(handled: &Handled) -> Self {
        let ledger = &handled.ledger;
        Self {
            records: ledger.records as u64,
            applied: ledger.applied as u64,
            superseded: ledger.superseded as u64,
            stamped: ledger.stamped as u64,
            ignored: ledger.ignored as u64,
            quarantined: ledger.quarantined as u64,
            retried: ledger.reported as u64,
            bytes: handled.bytes as u64,
            degraded: handled.degraded as u64,
            missing: handled.missing as u64,
            lag: Duration::from_millis(u64::try_from(handled.lag).unwrap_or_else(|_| {
                never!("the oldest record of a batch has a negative age: {} ms", handled.lag);
                0
            })),
        }
    }
}
