//! The event sources of all systems, created from the systems' declarations.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use table::Engines;
use table::schema::EventSource;
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

/// The maximum timeout of Lambda. Handlers declare shorter ones.
const MAX_TIMEOUT: Duration = Duration::from_secs(900);

/// The interval at which expired items and objects are deleted.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

impl Function for App {
    async fn invoke(&self, handler: &'static str, payload: Bytes) -> Result<Bytes, String> {
        self.event(handler, payload, Instant::now() + MAX_TIMEOUT).await.map_err(|failure| failure.to_string())
    }
}

#[derive(Debug)]
pub(super) struct Sources {
    reaches: Vec<Reach>,
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
        sweeper: Option<Arc<Dynoxide>>,
    ) -> Result<Self, StartError> {
        let (stop, stopped) = watch::channel(false);
        let mut running = JoinSet::new();
        let mut reaches = Vec::new();
        let mut notifications = Vec::new();
        let mut expiring = Vec::new();
        let mut read = Vec::new();
        for app in apps {
            for source in app.system().sources.iter().filter(|source| !settings.without.contains(&source.handler())) {
                match *source {
                    EventSource::Streams { handler, filtered } => {
                        for stream in streams(app, engines, settings, handler, filtered).await? {
                            read.push((stream.table.clone(), stream.stream_arn.clone()));
                            let started = stream.start(&state.path("checkpoints"), stopped.clone());
                            let (reach, run) = started.map_err(|error| {
                                StartError::new(
                                    format!("Reading a checkpoint in the state folder failed: {error}"),
                                    "`cairn local reset` starts over",
                                )
                            })?;
                            reaches.push(reach);
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
        if let Some(dynoxide) = sweeper {
            running.spawn(sweep(dynoxide, state.path("checkpoints"), read, stopped.clone()));
        }
        running.spawn(expire(Arc::clone(engines), expiring, stopped));
        Ok(Self { reaches, pending, stop, running })
    }

    pub(super) async fn caught_up(&self) {
        self.pending.settled().await;
        super::all(self.reaches.iter().map(Reach::caught_up)).await;
    }

    pub(super) async fn stop(mut self) {
        let _ = self.stop.send(true);
        while self.running.join_next().await.is_some() {}
    }
}

/// Returns an event source for each table of a system with a stream.
async fn streams(
    app: &Arc<App>,
    engines: &Engines,
    settings: &Settings,
    handler: &'static str,
    filtered: bool,
) -> Result<Vec<Stream<App>>, StartError> {
    let mut streams = Vec::new();
    for table in app.system().tables.iter().filter(|table| table.stream) {
        let filter = filtered.then(|| Filter::new(table));
        let table = engines.config.table(table.name);
        let stream_arn = aws::stream_arn(engines.dynamodb(), &table).await.map_err(|error| {
            StartError::new(
                format!("Reading the stream of `{table}` failed: {error}"),
                "`cairn local reset` starts over",
            )
        })?;
        streams.push(Stream {
            client: aws::streams(&engines.config),
            table,
            stream_arn,
            function: Arc::clone(app),
            handler,
            filter,
            given_up: GivenUp { client: engines.s3().clone(), bucket: engines.config.bucket(app.system().name) },
            settings: settings.clone(),
            clock: engines.clock.clone(),
        });
    }
    Ok(streams)
}

/// Deletes expired items and handled stream records periodically, since dynoxide does neither by itself.
async fn sweep(
    dynoxide: Arc<Dynoxide>,
    checkpoints: PathBuf,
    streams: Vec<(String, String)>,
    mut stopped: watch::Receiver<bool>,
) {
    loop {
        if let Err(error) = dynoxide.sweep_expired().await {
            tracing::warn!(%error, "deleting expired items failed");
        }
        for (table, stream_arn) in &streams {
            let trimmed = match Checkpoints::open(&checkpoints, table, stream_arn) {
                Ok(checkpoints) => match checkpoints.handled_before() {
                    Some(before) => dynoxide.trim(table, before).await.map(drop),
                    None => Ok(()),
                },
                Err(error) => Err(error.into()),
            };
            if let Err(error) = trimmed {
                tracing::warn!(table, %error, "trimming a stream failed");
            }
        }
        tokio::select! {
            () = tokio::time::sleep(SWEEP_INTERVAL) => {}
            _ = stopped.changed() => break,
        }
    }
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
