//! The event source of a table's stream. It reads the shards, delivers their records and saves checkpoints.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use aws_sdk_dynamodbstreams::Client;
use bytes::Bytes;
use table::Clock;
use tokio::sync::{Notify, watch};

use super::batch::{self, Batches, Outcome};
use super::checkpoint::{Checkpoints, Position};
use super::filter::Filter;
use super::given_up::GivenUp;
use super::record::Record;
use super::shards::{self, Page, Shard};
use super::{Function, MAX_TIMEOUT, Settings};
use crate::failpoint;

/// The event source of a stream.
#[derive(Debug)]
pub struct Stream<F> {
    pub client: Client,
    /// The table's physical name.
    pub table: String,
    pub stream_arn: String,
    pub function: Arc<F>,
    pub handler: &'static str,
    /// The filter of records, if there is one.
    pub filter: Option<Filter>,
    pub given_up: GivenUp,
    pub settings: Settings,
    pub clock: Clock,
    /// Changes when records arrive, if the engine tells.
    pub arrivals: Option<watch::Receiver<Option<i64>>>,
}

/// The progress of a running event source.
#[derive(Clone, Debug)]
pub struct Reach {
    rounds: Arc<Rounds>,
    passed: watch::Receiver<u64>,
}

/// The rounds of reading all shards.
#[derive(Debug, Default)]
struct Rounds {
    begun: AtomicU64,
    look: Notify,
}

impl Reach {
    /// Waits until every record of a write made before this call has been handled.
    pub async fn caught_up(&self) {
        // A round in progress may have read before the write. The next one has not.
        let next = self.rounds.begun.load(Ordering::SeqCst) + 1;
        self.rounds.look.notify_one();
        let mut passed = self.passed.clone();
        // A stopped source ends the wait.
        let _ = passed.wait_for(|passed| *passed >= next).await;
    }
}

impl<F: Function> Stream<F> {
    /// Opens the checkpoints in `folder` and starts the source. After `stop` turns true, it finishes an invocation in
    /// progress, saves its checkpoint and ends.
    pub fn start(
        self,
        folder: &Path,
        stop: watch::Receiver<bool>,
    ) -> std::io::Result<(Reach, impl Future<Output = ()> + Send + use<F>)> {
        let checkpoints = Checkpoints::open(folder, &self.table, &self.stream_arn)?;
        let (pass, passed) = watch::channel(0);
        let rounds = Arc::<Rounds>::default();
        let reach = Reach { rounds: Arc::clone(&rounds), passed };
        Ok((reach, Running { stream: self, checkpoints, stop, rounds, pass }.run()))
    }
}

struct Running<F> {
    stream: Stream<F>,
    checkpoints: Checkpoints,
    stop: watch::Receiver<bool>,
    rounds: Arc<Rounds>,
    pass: watch::Sender<u64>,
}

/// How often a stream is read without a new record if the engine tells of arrivals.
const POLL: Duration = Duration::from_secs(5);

/// The wait after a failed read of the stream.
const READ_RETRY: Duration = Duration::from_millis(500);

impl<F: Function> Running<F> {
    async fn run(mut self) {
        let mut shards: Vec<Shard> = Vec::new();
        while !self.stopping() {
            if shards.is_empty() {
                match shards::open(&self.stream.client, &self.stream.stream_arn, &self.checkpoints).await {
                    Ok(open) => shards = open,
                    Err(error) => {
                        tracing::warn!(table = self.stream.table, %error, "listing shards failed; will retry");
                        self.rest(READ_RETRY).await;
                        continue;
                    }
                }
            }
            // What arrives from now on may not be on the pages of this round.
            if let Some(arrivals) = &mut self.stream.arrivals {
                arrivals.mark_unchanged();
            }
            let round = self.rounds.begun.fetch_add(1, Ordering::SeqCst) + 1;
            let mut at_end = true;
            let mut finished = false;
            for shard in &mut shards {
                let Some(page) = self.read(shard).await else {
                    at_end = false;
                    continue;
                };
                at_end &= page.at_end;
                finished |= page.finished;
                if !self.handle(shard, page).await {
                    return;
                }
            }
            if finished {
                // The children of the finished shard are next.
                shards.clear();
            } else if at_end {
                self.pass.send_replace(round);
                self.wait_for_records().await;
            }
        }
    }

    /// Whether the source is to stop, or the platform is gone.
    fn stopping(&self) -> bool {
        *self.stop.borrow() || self.stop.has_changed().is_err()
    }

    async fn read(&mut self, shard: &mut Shard) -> Option<Page> {
        let stream = &self.stream;
        let from = (&stream.client, stream.stream_arn.as_str());
        match shard.read(from, stream.filter.as_ref(), &self.checkpoints, stream.clock.now()).await {
            Ok(page) => Some(page),
            Err(error) => {
                tracing::warn!(table = stream.table, shard = shard.id, %error, "reading a shard failed; will retry");
                self.rest(READ_RETRY).await;
                None
            }
        }
    }

    /// Delivers all records of a page. Returns false if the source was stopped before the end.
    async fn handle(&mut self, shard: &Shard, page: Page) -> bool {
        if !page.records.is_empty() {
            failpoint::pass(failpoint::STREAM_UNREAD);
        }
        let mut batches = Batches::cut(page.records, &self.stream.settings);
        while let Some(batch) = batches.next() {
            if self.stopping() {
                return false;
            }
            let outcome = self.invoke(batch).await;
            let step = batches.settle(outcome, self.stream.clock.now(), &self.stream.settings);
            if !step.given_up.is_empty() && !self.give_up(&shard.id, &step.given_up).await {
                return false;
            }
            if let Some(done) = step.done {
                failpoint::pass(failpoint::MIRROR_APPLIED);
                self.save(&shard.id, Position::After(done)).await;
            }
            if batches.failures() > 0 {
                self.rest(self.stream.settings.wait_after(batches.failures())).await;
            }
        }
        if let Some(last) = page.last_filtered.filter(|_| !page.finished) {
            self.save(&shard.id, Position::After(last)).await;
        }
        if page.finished {
            self.save(&shard.id, Position::Finished).await;
        }
        true
    }

    async fn invoke(&self, batch: &[Record]) -> Outcome {
        let stream = &self.stream;
        let payload = Bytes::from(batch::payload(batch));
        // Only a rebuild waits for the end of invocations, and only for those of mirrors.
        let is_mirror = stream.handler == mirror::HANDLER;
        let timeout = if is_mirror { stream.settings.mirror_timeout } else { MAX_TIMEOUT };
        let outcome = match stream.function.invoke(stream.handler, payload, timeout).await {
            Ok(answer) => batch::read_response(&answer),
            Err(error) => Outcome::Failed(error),
        };
        if let Outcome::Failed(error) = &outcome {
            let (table, records) = (&stream.table, batch.len());
            tracing::warn!(
                table,
                records,
                handler = stream.handler,
                error,
                "handling stream records failed; will retry"
            );
        }
        outcome
    }

    /// Writes records to the on-failure destination, and retries until that succeeds or the source stops.
    async fn give_up(&mut self, shard: &str, records: &[Record]) -> bool {
        let mut failures = 0;
        while !self.stopping() {
            match self.stream.given_up.keep(&self.stream.stream_arn, shard, records, self.stream.clock.now()).await {
                Ok(key) => {
                    tracing::error!(
                        table = self.stream.table,
                        records = records.len(),
                        key,
                        "stream records were discarded"
                    );
                    return true;
                }
                Err(error) => tracing::warn!(
                    table = self.stream.table,
                    error,
                    "writing discarded stream records failed; will retry"
                ),
            }
            failures += 1;
            self.rest(self.stream.settings.wait_after(failures)).await;
        }
        false
    }

    /// Saves a checkpoint. If that fails, a restart delivers the records again, unless the next checkpoint is saved.
    async fn save(&mut self, shard: &str, position: Position) {
        if let Err(error) = self.checkpoints.save(shard, position) {
            tracing::warn!(table = self.stream.table, %error, "saving a checkpoint failed");
        }
    }

    /// Waits until the stream may have new records, or it is time to look for them.
    async fn wait_for_records(&mut self) {
        let Some(mut arrivals) = self.stream.arrivals.take() else {
            return self.rest(self.stream.settings.poll).await;
        };
        tokio::select! {
            () = self.rest(POLL) => {}
            Ok(()) = arrivals.changed() => {}
        }
        self.stream.arrivals = Some(arrivals);
    }

    /// Waits, unless the source is to stop or a caller waits for its progress.
    async fn rest(&mut self, time: Duration) {
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            () = self.rounds.look.notified() => {}
            _ = self.stop.changed() => {}
        }
    }
}
