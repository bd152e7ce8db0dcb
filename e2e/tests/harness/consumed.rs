//! What requests and events consumed of DynamoDB's capacity, as their log lines say.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::sync::{Arc, LazyLock, Mutex};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// Where a platform logs a line for each request and event.
pub const TARGET: &str = "web::log";

/// Read and write units by the name of the access pattern.
pub type Units = BTreeMap<String, (f64, f64)>;

/// `consumed.patterns` of each line, by `request.id`; of an event by `operation`.
#[derive(Clone, Default)]
pub struct Consumed(Arc<Mutex<HashMap<String, String>>>);

/// The requests of all platforms of the run.
pub static OF_REQUESTS: LazyLock<Consumed> = LazyLock::new(Consumed::default);

impl Consumed {
    pub fn of(&self, line: &str) -> Units {
        let lines = self.0.lock().unwrap();
        let patterns = lines.get(line).unwrap_or_else(|| panic!("no line tells what {line} consumed"));
        patterns.split(", ").filter(|told| !told.is_empty()).map(units).collect()
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

impl<S: Subscriber> Layer<S> for Consumed {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut line = Line::default();
        event.record(&mut line);
        let key = line.request.unwrap_or(line.operation);
        self.0.lock().unwrap().insert(key, line.patterns);
    }
}

#[derive(Default)]
struct Line {
    request: Option<String>,
    operation: String,
    patterns: String,
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "request.id" => self.request = Some(value.to_owned()),
            "operation" => value.clone_into(&mut self.operation),
            "consumed.patterns" => value.clone_into(&mut self.patterns),
            _ => {}
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}
