//! The warnings of handlers, by request.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::sync::{Arc, LazyLock, Mutex};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// The warnings by `request.id`. Warnings without one are discarded.
#[derive(Clone, Default)]
pub struct Warnings(Arc<Mutex<HashMap<String, Vec<Warning>>>>);

/// The fields of a warning as text, its message among them.
#[derive(Clone, Debug, Default)]
pub struct Warning(BTreeMap<&'static str, String>);

/// The warnings of tracker on all platforms of the run.
pub static OF_THE_RUN: LazyLock<Warnings> = LazyLock::new(Warnings::default);

impl Warnings {
    /// Returns the warnings of a request, in order.
    pub fn of(&self, request: &str) -> Vec<Warning> {
        self.0.lock().unwrap().get(request).cloned().unwrap_or_default()
    }
}

impl Warning {
    /// Returns the value of a numeric field.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.parse().ok()
    }
}

impl<S: Subscriber> Layer<S> for Warnings {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut warning = Warning::default();
        event.record(&mut warning);
        if let Some(request) = warning.0.get("request.id").cloned() {
            self.0.lock().unwrap().entry(request).or_default().push(warning);
        }
    }
}

impl Visit for Warning {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}
