//! The event sources of all systems, created from the systems' declarations.

use std::collections::BTreeMap;
use std::error::Error;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodbstreams::Client;
use bytes::Bytes;
use table::Engines;
use table::schema::{EventSource, RECORDS_BATCH, Table, failures_bucket};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use web::App;

use crate::aws;
use crate::engine::dynoxide::Dynoxide;
use crate::engine::objects::Stored;
use crate::engine::queues::messages::Messages;
use crate::error::StartError;
use crate::source::checkpoint::Checkpoints;
use crate::source::expiry::{self, Expiring};
use crate::source::filter::Filter;
use crate::source::given_up::GivenUp;
use crate::source::objects::{self, Notification, Pending};
use crate::source::queue::{self, Queue};
use crate::source::schedule::{self, Schedule};
use crate::source::stream::{Reach, Stream};
use crate::source::{Function, Settings};
use crate::state::State;

/// The interval at which expired items and objects are deleted.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

impl Function for App {
    async fn invoke(&self, handler: &'static str, payload: Bytes, timeout: Duration) -> Result<Bytes, String> {
        let answer = self.event(handler, payload.clone(), Instant::now() + timeout).await;
        let answer = answer.map_err(|failure| failure.to_string());
        if let (mirror::HANDLER, Err(reason)) = (handler, &answer) {
            mirror::save_failure(self.engines(), self.system(), &payload, reason).await;
        }
        answer
    }
}

#[derive(Debug)]
pub(super) struct Sources {
    /// The progress of the mirrors.
    mirrors: Vec<Reach>,
    /// The progress of the readers beside them.
    readers: Vec<Reach>,
    pending: Pending,
    stop: watch::Sender<bool>,
    running: JoinSet<()>,
}

impl Sources {
    pub(super) async fn start(
        apps: &[Arc<App>],
        engines: &Arc<Engines>,
        settings: &Settings,
        state: &State,
        (tell, stored): (mpsc::UnboundedSender<Stored>, mpsc::UnboundedReceiver<Stored>),
        messages: &Arc<Messages>,
        dynoxide: Option<Arc<Dynoxide>>,
    ) -> Result<Self, StartError> {
        let (stop, stopped) = watch::channel(false);
        let mut running = JoinSet::new();
        let mut mirrors = Vec::new();
        let mut readers = Vec::new();
        let mut notifications = Vec::new();
        let mut expiring = Vec::new();
        let mut read = Vec::new();
        // All readers share a client, since creating one reads the machine's certificates.
        let client = aws::streams(&engines.config);
        for app in apps {
            let is_called = |source: &&EventSource| !source.handlers().any(|name| settings.without.contains(&name));
            for source in app.system().sources.iter().filter(is_called) {
                match *source {
                    EventSource::Streams { handler, filtered } => {
                        let folder = state.path("checkpoints");
                        for table in app.system().mirrored() {
                            let filter = filtered.then(|| Filter::new(table));
                            let reader = Reader { handler, filter, client: client.clone(), settings: settings.clone() };
                            let stream = reader.of_table(app, engines, table, dynoxide.as_deref()).await?;
                            read.push(ReadStream::of(&stream, &folder));
                            let (reach, run) = start(stream, &folder, &stopped)?;
                            mirrors.push(reach);
                            running.spawn(run);
                        }
                    }
                    EventSource::Records { handler, filtered } => {
                        let folder = state.path("checkpoints").join(handler);
                        let batch_records = settings.batch_records.min(RECORDS_BATCH as usize);
                        for table in app.system().streams() {
                            let filter = filtered.then(|| Filter::new(table));
                            let settings = Settings { batch_records, ..settings.clone() };
                            let reader = Reader { handler, filter, client: client.clone(), settings };
                            let stream = reader.of_table(app, engines, table, dynoxide.as_deref()).await?;
                            read.push(ReadStream::of(&stream, &folder));
                            let (reach, run) = start(stream, &folder, &stopped)?;
                            readers.push(reach);
                            running.spawn(run);
                        }
                    }
                    EventSource::Objects { bucket, prefix, handler } => notifications.push(Notification {
                        bucket: engines.config.bucket(bucket),
                        prefix,
                        function: Arc::clone(app),
                        handler,
                    }),
                    EventSource::Queue { name, handler } => {
                        let queue = Queue {
                            messages: Arc::clone(messages),
                            name: engines.config.queue(name),
                            function: Arc::clone(app),
                            handler,
                        };
                        running.spawn(queue::run(queue, Arc::clone(engines), stopped.clone()));
                    }
                    EventSource::Schedule { every_minutes, handler } => {
                        let schedule = Schedule { every_minutes, function: Arc::clone(app), handler };
                        running.spawn(schedule::run(schedule, Arc::clone(engines), stopped.clone()));
                    }
                    // The platform's start creates the indexes itself, with a progress bar.
                    EventSource::Deployment { .. } => {}
                    // A rebuild by an operator's command needs no state machine.
                    EventSource::StateMachine { .. } => {}
                    // The gateway calls the handlers of the socket.
                    EventSource::Socket { .. } => {}
                }
            }
            for bucket in app.system().buckets {
                expiring.extend(bucket.expiring.iter().map(|(prefix, days)| Expiring {
                    bucket: engines.config.bucket(bucket.name),
                    prefix,
                    days: *days,
                }));
            }
        }
        objects::resend(engines.s3(), &notifications, &tell).await.map_err(|error| {
            StartError::new(format!("Listing the stored objects failed: {error}"), "`cairn local reset` starts over")
        })?;
        let (pending, run) = objects::start(notifications, stored, engines.clock.clone(), stopped.clone());
        running.spawn(run);
        if let Some(dynoxide) = dynoxide {
            running.spawn(sweep(dynoxide, read, stopped.clone()));
        }
        running.spawn(expire(Arc::clone(engines), expiring, stopped));
        Ok(Self { mirrors, readers, pending, stop, running })
    }

    pub(super) async fn caught_up(&self) {
        self.mirrored().await;
        super::all(self.readers.iter().map(Reach::caught_up)).await;
    }

    /// Waits until the mirrors have handled all records, whatever the readers beside them do.
    pub(super) async fn mirrored(&self) {
        self.pending.settled().await;
        super::all(self.mirrors.iter().map(Reach::caught_up)).await;
    }

    pub(super) async fn stop(mut self) {
        let _ = self.stop.send(true);
        while self.running.join_next().await.is_some() {}
    }
}

/// A handler that reads streams.
struct Reader {
    handler: &'static str,
    filter: Option<Filter>,
    client: Client,
    settings: Settings,
}

impl Reader {
    /// Returns the event source of a table's stream.
    async fn of_table(
        self,
        app: &Arc<App>,
        engines: &Engines,
        table: &Table,
        dynoxide: Option<&Dynoxide>,
    ) -> Result<Stream<App>, StartError> {
        let table = engines.config.table(table.name);
        let stream_arn = aws::stream_arn(engines.dynamodb(), &table).await.map_err(|error| {
            StartError::new(
                format!("Reading the stream of `{table}` failed: {error}"),
                "`cairn local reset` starts over",
            )
        })?;
        let arrivals = dynoxide.and_then(|dynoxide| dynoxide.arrivals(&table));
        Ok(Stream {
            client: self.client,
            table,
            stream_arn,
            function: Arc::clone(app),
            handler: self.handler,
            filter: self.filter,
            given_up: GivenUp {
                client: engines.s3().clone(),
                bucket: engines.config.bucket(&failures_bucket(app.system().name)),
                function: engines.config.function(app.system().name, self.handler),
            },
            settings: self.settings,
            clock: engines.clock.clone(),
            arrivals,
        })
    }
}

fn start(
    stream: Stream<App>,
    folder: &Path,
    stopped: &watch::Receiver<bool>,
) -> Result<(Reach, impl Future<Output = ()> + Send + use<>), StartError> {
    stream.start(folder, stopped.clone()).map_err(|error| {
        StartError::new(
            format!("Reading a checkpoint in `{}` failed: {error}", folder.display()),
            "Check that you may read and write the folder",
        )
    })
}

/// The stream of a table as one reader reads it, with the folder of the reader's checkpoints.
struct ReadStream {
    table: String,
    stream_arn: String,
    checkpoints: PathBuf,
}

impl ReadStream {
    fn of(stream: &Stream<App>, checkpoints: &Path) -> Self {
        Self { table: stream.table.clone(), stream_arn: stream.stream_arn.clone(), checkpoints: checkpoints.to_owned() }
    }

    /// Returns the sequence number before which the reader has handled every record, or 0 if it has handled none.
    fn handled_before(&self) -> std::io::Result<u128> {
        let checkpoints = Checkpoints::open(&self.checkpoints, &self.table, &self.stream_arn)?;
        Ok(checkpoints.handled_before().unwrap_or(0))
    }
}

/// Deletes expired items and handled stream records periodically, since dynoxide does neither by itself.
async fn sweep(dynoxide: Arc<Dynoxide>, read: Vec<ReadStream>, mut stopped: watch::Receiver<bool>) {
    let mut readers: BTreeMap<&str, Vec<&ReadStream>> = BTreeMap::new();
    for stream in &read {
        readers.entry(&stream.table).or_default().push(stream);
    }
    loop {
        if let Err(error) = dynoxide.sweep_expired().await {
            tracing::warn!(%error, "deleting expired items failed");
        }
        for (table, readers) in &readers {
            if let Err(error) = trim(&dynoxide, table, readers).await {
                tracing::warn!(table, %error, "trimming a stream failed");
            }
        }
        tokio::select! {
            () = tokio::time::sleep(SWEEP_INTERVAL) => {}
            _ = stopped.changed() => break,
        }
    }
}

/// Deletes the records of a stream that all its readers have handled.
async fn trim(dynoxide: &Dynoxide, table: &str, readers: &[&ReadStream]) -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut before = u128::MAX;
    for reader in readers {
        before = before.min(reader.handled_before()?);
    }
    if before > 0 {
        dynoxide.trim(table, before).await?;
    }
    Ok(())
}

/// Deletes expired objects periodically, since the local S3 does not.
async fn expire(engines: Arc<Engines>, expiring: Vec<Expiring>, mut stopped: watch::Receiver<bool>) {
    loop {
        for rule in &expiring {
            if let Err(error) = expiry::delete_expired(engines.s3(), rule, engines.clock.now()).await {
                tracing::warn!(prefix = rule.prefix, error, "deleting expired objects failed");
            }
        }
        tokio::select! {
            () = tokio::time::sleep(SWEEP_INTERVAL) => {}
            _ = stopped.changed() => break,
        }
    }
}
