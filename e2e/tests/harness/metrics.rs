//! The metrics lines of the platforms of a run.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// The target of metrics lines.
pub const TARGET: &str = "metrics";

/// Counts the shapes of each line.
pub struct Counted;

static DEGRADED: AtomicU64 = AtomicU64::new(0);

/// Returns the number of shapes that search refused and that were indexed at a coarser detail level, on all platforms
/// of the run so far.
pub fn shapes_degraded() -> u64 {
    DEGRADED.load(Ordering::SeqCst)
}

impl<S: Subscriber> Layer<S> for Counted {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        event.record(&mut Line);
    }
}

struct Line;

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            let line: Value = serde_json::from_str(&format!("{value:?}")).unwrap_or_default();
            DEGRADED.fetch_add(line["ShapesDegraded"].as_u64().unwrap_or_default(), Ordering::SeqCst);
        }
    }
}
