//! Events: stream records, objects, messages, schedules, deployments and sockets.

use std::fmt;
use std::future::Future;
use std::ops::Add;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use table::connect::Engine;
use table::{Access, AccessPattern, Engines};
use tokio::time::Instant;

use crate::message;
use crate::metrics::{Audit, Batch};
use crate::route::DEFAULT_MEMORY;

/// A handler of events, declared like a route. Its name is the function's `_HANDLER`.
#[derive(Clone)]
pub struct EventHandler {
    pub(crate) name: &'static str,
    pub(crate) handler: Arc<dyn Fn(Event) -> Handling + Send + Sync>,
    pub(crate) patterns: &'static [&'static AccessPattern],
    pub(crate) engines: &'static [Engine],
    pub(crate) timeout: Duration,
    pub(crate) memory: u64,
    pub(crate) sample_message: &'static str,
}

pub(crate) type Handling = Pin<Box<dyn Future<Output = Result<Bytes, EventFailure>> + Send>>;

/// One invocation. Payload and response are Lambda's JSON for the source.
#[derive(Clone, Debug)]
pub struct Event {
    pub payload: Bytes,
    /// The time when the function is killed. The handler is stopped 500 ms before.
    pub deadline: Instant,
    engines: Arc<Engines>,
    access: Access,
    batch: Arc<Mutex<Option<Batch>>>,
    audit: Arc<Mutex<Option<Audit>>>,
    idle: Arc<AtomicBool>,
}

/// The work that was due when a scheduled event ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunSummary {
    /// The number of due jobs and other pieces of work.
    pub found: usize,
    /// The number of those that failed, each with its reason in the log.
    pub failed: usize,
}

/// The failure of an invocation, which the source retries as its settings say. The text goes to the log and to the source,
/// so it must not contain secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EventFailure(pub String);

impl EventHandler {
    pub fn new<F, Fut>(name: &'static str, handler: F) -> Self
    where
        F: Fn(Event) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Bytes, EventFailure>> + Send + 'static,
    {
        let handler = Arc::new(move |event| -> Handling { Box::pin(handler(event)) });
        Self {
            name,
            handler,
            patterns: &[],
            engines: &[],
            timeout: Duration::from_secs(60),
            memory: DEFAULT_MEMORY,
            sample_message: "",
        }
    }

    /// Declares the access patterns of [`Event::access`].
    pub fn patterns(mut self, patterns: &'static [&'static AccessPattern]) -> Self {
        self.patterns = patterns;
        self
    }

    /// Declares the engines that the handler uses without access patterns, as the mirror does.
    pub fn engines(mut self, engines: &'static [Engine]) -> Self {
        self.engines = engines;
        self
    }

    /// Sets the function's timeout, at most Lambda's 15 minutes. The default is 60 s.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout.min(Duration::from_secs(900));
        self
    }

    /// Sets the function's memory in MB. The default is 512.
    pub fn memory(mut self, megabytes: u64) -> Self {
        self.memory = megabytes;
        self
    }

    /// Sets the body of the message in the sample event of a queue's handler.
    pub fn sample_message(mut self, body: &'static str) -> Self {
        self.sample_message = body;
        self
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn declared_patterns(&self) -> &'static [&'static AccessPattern] {
        self.patterns
    }

    pub fn declared_timeout(&self) -> Duration {
        self.timeout
    }

    pub fn declared_memory(&self) -> u64 {
        self.memory
    }

    pub fn declared_message(&self) -> &'static str {
        self.sample_message
    }
}

impl Event {
    pub(crate) fn new(engines: &Arc<Engines>, declared: &EventHandler, payload: Bytes, deadline: Instant) -> Self {
        let access = Access::new(Arc::clone(engines), declared.patterns);
        Self {
            payload,
            deadline,
            engines: Arc::clone(engines),
            access,
            batch: Arc::default(),
            audit: Arc::default(),
            idle: Arc::default(),
        }
    }

    pub fn engines(&self) -> &Arc<Engines> {
        &self.engines
    }

    /// Returns the access to the engines, through the handler's access patterns only.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Returns the bodies of the messages of a queue.
    pub fn messages<T: DeserializeOwned>(&self) -> Result<Vec<T>, EventFailure> {
        message::messages(&self.payload)
            .map_err(|error| EventFailure::new(format_args!("a message does not have the form of its queue: {error}")))
    }

    /// Reports the results of a stream batch for its metrics line.
    pub fn report(&self, batch: Batch) {
        *self.batch.lock().unwrap_or_else(PoisonError::into_inner) = Some(batch);
    }

    /// Reports the results of a finished audit for its metrics line.
    pub fn report_audit(&self, audit: Audit) {
        *self.audit.lock().unwrap_or_else(PoisonError::into_inner) = Some(audit);
    }

    /// Reports that there was nothing to do. Such an event has no metrics line unless it fails, since CloudWatch bills a
    /// metric by the hours in which it is written, and its log line has the level debug.
    pub fn found_nothing(&self) {
        self.idle.store(true, Ordering::Relaxed);
    }

    /// Finishes a scheduled run. The run fails if any due work failed, after the rest is done, so that work that keeps
    /// failing raises an alarm. The next run retries it.
    pub fn finish(&self, RunSummary { found, failed }: RunSummary) -> Result<Bytes, EventFailure> {
        if found == 0 {
            self.found_nothing();
        }
        match failed {
            0 => Ok(Bytes::from_static(b"{}")),
            _ => Err(EventFailure(format!("{failed} of {found} due jobs failed; the next run retries them"))),
        }
    }

    pub(crate) fn was_idle(&self) -> bool {
        self.idle.load(Ordering::Relaxed)
    }

    pub(crate) fn reported(&self) -> Option<Batch> {
        self.batch.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn reported_audit(&self) -> Option<Audit> {
        self.audit.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl RunSummary {
    /// Counts a piece of due work that succeeded or failed.
    pub fn count(&mut self, failed: bool) {
        self.found += 1;
        self.failed += usize::from(failed);
    }
}

impl Add for RunSummary {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { found: self.found + other.found, failed: self.failed + other.failed }
    }
}

impl EventFailure {
    pub fn new(message: impl fmt::Display) -> Self {
        Self(message.to_string())
    }
}

impl fmt::Debug for EventHandler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}
