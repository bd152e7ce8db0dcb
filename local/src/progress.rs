//! Progress events of long operations. The command shows them as bars or lines, tests ignore them.

use std::sync::Arc;

/// The name of a step, for the user, such as `OpenSearch's jars`.
pub type Stage = &'static str;

/// An event of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Started(Stage),
    /// `done` of `total` units, if the total is known.
    Advanced {
        stage: Stage,
        done: u64,
        total: Option<u64>,
    },
    /// The outcome is for the user, such as an address.
    Finished {
        stage: Stage,
        outcome: String,
    },
    /// A message for the user.
    Note(String),
}

/// A sender of progress events. Clones have the same listener.
#[derive(Clone)]
pub struct Progress(Arc<dyn Fn(Event) + Send + Sync>);

impl Progress {
    pub fn new(listener: impl Fn(Event) + Send + Sync + 'static) -> Self {
        Self(Arc::new(listener))
    }

    /// Creates a sender without a listener.
    pub fn silent() -> Self {
        Self::new(|_| {})
    }

    pub fn started(&self, stage: Stage) {
        (self.0)(Event::Started(stage));
    }

    pub fn advanced(&self, stage: Stage, done: u64, total: Option<u64>) {
        (self.0)(Event::Advanced { stage, done, total });
    }

    pub fn finished(&self, stage: Stage, outcome: impl Into<String>) {
        (self.0)(Event::Finished { stage, outcome: outcome.into() });
    }

    pub fn note(&self, line: impl Into<String>) {
        (self.0)(Event::Note(line.into()));
    }
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Progress")
    }
}
