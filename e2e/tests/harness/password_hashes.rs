//! The runs of argon2, by request.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Arc, LazyLock, Mutex};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use super::Answer;

/// The target of the log lines of runs.
pub const TARGET: &str = "chat::passwords";

/// The number of runs by `request.id`.
#[derive(Clone, Default)]
pub struct Hashes(Arc<Mutex<HashMap<String, usize>>>);

/// The runs on all platforms of the run.
pub static OF_THE_RUN: LazyLock<Hashes> = LazyLock::new(Hashes::default);

impl Hashes {
    /// Returns the number of runs for the request of a response.
    pub fn of(&self, answer: &Answer) -> usize {
        self.0.lock().unwrap().get(answer.header("apigw-requestid")).copied().unwrap_or_default()
    }
}

impl<S: Subscriber> Layer<S> for Hashes {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut request = Request::default();
        event.record(&mut request);
        *self.0.lock().unwrap().entry(request.0).or_default() += 1;
    }
}

#[derive(Default)]
struct Request(String);

impl Visit for Request {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "request.id" {
            value.clone_into(&mut self.0);
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}
