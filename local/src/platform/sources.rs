//! The event sources of all systems: made from what the systems declare.

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
use crate::error::StartError;
use crate::source::checkpoint::Checkpoints;
use crate::source::expiry::{self, Expiring};
use crate::source::filter::Filter;
use crate::source::given_up::GivenUp;
use crate::source::objects::{self, Notification, Pending};
use crate::source::schedule::{self, Schedule};
use crate::source::stream::{Reach, Stream};
use crate::source::{Function, Settings};
use crate::state::State;

/// The longest that Lambda lets a function run; handlers declare less.
const LONGEST: Duration = Duration::from_secs(900);

/// How often what has expired is deleted.
const EXPIRY: Duration = Duration::from_secs(60);

impl Function for App {
    async fn invoke(&self, handler: &'static str, payload: Bytes) -> Result<Bytes, String> {
        self.event(handler, payload, Instant::now() + LONGEST).await.map_err(|failure| failure.to_string())
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
        sweeper: Option<Arc<Dynoxide>>,
    ) -> Result<Self, StartError> {
        let (stop, stopped) = watch::channel(false);
        let mut running = JoinSet::new();
        let mut reaches = Vec::new();
        let mut notifications = Vec::new();
        let mut expiring = Vec::new();
        let mut read = Vec::new();
        for app in apps {
            for source in app.system().sources {
                match *source {
                    EventSource::Streams { handler, filtered } => {
                        for stream in streams(app, engines, settings, handler, filtered).await? {
                            read.push((stream.table.clone(), stream.stream_arn.clone()));
                            let started = stream.start(&state.path("checkpoints"), stopped.clone());
                            let (reach, run) = started.map_err(|error| {
                                StartError::new(
                                    format!("A checkpoint in the state folder cannot be read: {error}"),
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
                    EventSource::Schedule { every_minutes, handler } => {
                        let schedule = Schedule { every_minutes, function: Arc::clone(app), handler };
                        running.spawn(schedule::run(schedule, Arc::clone(engines), stopped.clone()));
                    }
                    // The platform's start is its deployment, and makes the indexes itself, with a progress bar.
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
        objects::tell_again(engines.s3(), &notifications, &tell).await.map_err(|error| {
            StartError::new(format!("The stored objects cannot be listed: {error}"), "`cairn local reset` starts over")
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

/// One event source for each table of the system that has a stream.
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
                format!("The stream of `{table}` cannot be read: {error}"),
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

/// Deletes expired items, which dynoxide does only when asked, and stream records that were handled, which it never does.
async fn sweep(
    dynoxide: Arc<Dynoxide>,
    checkpoints: PathBuf,
    streams: Vec<(String, String)>,
    mut stopped: watch::Receiver<bool>,
) {
    loop {
        if let Err(error) = dynoxide.sweep_expired().await {
            tracing::warn!(%error, "expired items were not deleted");
        }
        for (table, stream_arn) in &streams {
            let kept = Checkpoints::open(&checkpoints, table, stream_arn);
            let Some(before) = kept.ok().and_then(|kept| kept.handled_before()) else { continue };
            if let Err(error) = dynoxide.trim(table, before).await {
                tracing::warn!(table, %error, "stream records were not trimmed");
            }
        }
        tokio::select! {
            () = tokio::time::sleep(EXPIRY) => {}
            _ = stopped.changed() => break,
        }
    }
}

/// Deletes expired objects, which the local S3 never does.
async fn expire(engines: Arc<Engines>, expiring: Vec<Expiring>, mut stopped: watch::Receiver<bool>) {
    loop {
        for rule in &expiring {
            if let Err(error) = expiry::delete_expired(engines.s3(), rule, engines.clock.now()).await {
                tracing::warn!(prefix = rule.prefix, error, "expired objects were not deleted");
            }
        }
        tokio::select! {
            () = tokio::time::sleep(EXPIRY) => {}
            _ = stopped.changed() => break,
        }
    }
}
