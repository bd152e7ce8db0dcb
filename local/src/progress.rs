//! What a start is doing, told to whoever shows it: the command draws bars or lines, tests stay silent.

use std::sync::Arc;

/// One thing that takes time, named for people: `OpenSearch's jars`, `tables`.
pub type Stage = &'static str;

/// News of a start.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Started(Stage),
    /// `done` of `total` units; without a total nobody knows how many there will be.
    Advanced {
        stage: Stage,
        done: u64,
        total: Option<u64>,
    },
    /// With what came of it, such as an address.
    Finished {
        stage: Stage,
        outcome: String,
    },
    /// A line that the user should see whatever happens next.
    Note(String),
}

/// Where news goes. Clones tell the same listener.
#[derive(Clone)]
pub struct Progress(Arc<dyn Fn(Event) + Send + Sync>);

impl Progress {
    pub fn new(listener: impl Fn(Event) + Send + Sync + 'static) -> Self {
        Self(Arc::new(listener))
    }

    /// Tells nobody.
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
