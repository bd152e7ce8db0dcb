//! The event handlers of a system's mirror.

use web::EventHandler;

use crate::{Mirrored, audit_index, create_index, handler, sweep};

/// Creates the event handlers of the mirror: for stream records, for deployments, for the sweep of tombstones, and
/// for the audit.
pub fn handlers<M: Mirrored>() -> [EventHandler; 4] {
    [handler::<M>(), create_index::<M>(), sweep::<M>(), audit_index::<M>()]
}
