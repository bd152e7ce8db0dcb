//! The consumed DynamoDB capacity and the trace ids in the log lines of requests and events.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::sync::{Arc, LazyLock, Mutex};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// The targets of the log lines of requests and events.
pub const TARGET: &str = "web::log";

/// The read and write units by the name of the access pattern.
pub type Units = BTreeMap<String, (f64, f64)>;

/// The lines by `request.id` and by `trace.id`. The last line of an event is also stored by `operation`.
#[derive(Clone, Default)]
pub struct Lines(Arc<Mutex<HashMap<String, Line>>>);

#[derive(Clone, Debug, Default)]
pub struct Line {
    request: Option<String>,
    system: String,
    pub operation: String,
    /// `trace.id`
    pub trace: String,
    /// `consumed.patterns`
    patterns: String,
}

/// The lines of all platforms of the run.
pub static OF_THE_RUN: LazyLock<Lines> = LazyLock::new(Lines::default);

impl Lines {
    pub fn of(&self, key: &str) -> Line {
        self.0.lock().unwrap().get(key).cloned().unwrap_or_else(|| panic!("{key} has no log line"))
    }

    /// Returns the function that logged this `request.id` or `trace.id`: `{system}-{operation}`.
    pub fn function_of(&self, key: &str) -> Option<String> {
        self.0.lock().unwrap().get(key).map(|line| format!("{}-{}", line.system, line.operation))
    }
}

impl Line {
    pub fn consumed(&self) -> Units {
        self.patterns.split(", ").filter(|told| !told.is_empty()).map(units).collect()
    }
}

/// `item 0.5 R` or `changeItem 1 R 4 W`
fn units(told: &str) -> (String, (f64, f64)) {
    let mut words = told.split(' ');
    let pattern = words.next().unwrap().to_owned();
    let (mut read, mut write) = (0.0, 0.0);
    while let (Some(units), Some(unit)) = (words.next(), words.next()) {
        *(if unit == "R" { &mut read } else { &mut write }) = units.parse().unwrap();
    }
    (pattern, (read, write))
}

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut line = Line::default();
        event.record(&mut line);
        let key = line.request.clone().unwrap_or_else(|| line.operation.clone());
        let mut lines = self.0.lock().unwrap();
        lines.insert(line.trace.clone(), line.clone());
        lines.insert(key, line);
    }
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "request.id" => self.request = Some(value.to_owned()),
            "system" => value.clone_into(&mut self.system),
            "operation" => value.clone_into(&mut self.operation),
            "trace.id" => value.clone_into(&mut self.trace),
            "consumed.patterns" => value.clone_into(&mut self.patterns),
            _ => {}
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}
