//! The event handlers of a system's mirror.

use web::EventHandler;

use crate::{Mirrored, create_index, handler, sweep};

/// Creates the event handlers of the mirror: for stream records, for deployments, and for the sweep of tombstones.
pub fn handlers<M: Mirrored>() -> [EventHandler; 3] {
    [handler::<M>(), create_index::<M>(), sweep::<M>()]
}
