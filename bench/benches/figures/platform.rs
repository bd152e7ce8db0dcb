//! The whole platform with a real OpenSearch, in a folder that is gone afterwards.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use local::install::{Cache, Tools, maven::Unavailable};
use local::progress::Event;
use local::search::Choice;
use local::{Options, Progress, systems};
use table::Engines;
use tempfile::TempDir;
use web::lambda::{Function, Scope};

use crate::Failure;
use crate::gateway::Gateway;

#[derive(Debug)]
pub struct Platform {
    platform: local::Platform,
    gateway: Gateway,
    _state: TempDir,
}

/// Fetches what a real OpenSearch needs. The error says what is missing.
pub async fn engines() -> Result<(), Failure> {
    let recipe = local::engine::opensearch::RECIPE;
    match recipe.install(&Tools::from_env(), &Cache::from_env(), &progress()).await {
        Ok(_) => Ok(()),
        Err(Unavailable::Missing(what)) => Err(what.into()),
        Err(Unavailable::Failed(error)) => Err(error.to_string().into()),
    }
}

impl Platform {
    pub async fn start() -> Result<Self, Failure> {
        Self::searching(Choice::OpenSearch, "").await
    }

    /// Another one with tables of its own, and under this prefix an index of its own in the same OpenSearch.
    pub async fn beside(&self, prefix: &str) -> Result<Self, Failure> {
        Self::searching(Choice::Url(self.engines().config.search.clone()), prefix).await
    }

    async fn searching(search: Choice, prefix: &str) -> Result<Self, Failure> {
        let state = tempfile::tempdir()?;
        let platform = local::Platform::start(options("parks", state.path(), search, prefix), &progress()).await?;
        let token = platform.identity.token("bench", &["parks-admin"], &platform.engines.clock)?;
        let gateway = Gateway::open(&platform.url, token).await?;
        Ok(Self { platform, gateway, _state: state })
    }

    pub async fn stop(self) {
        self.platform.stop().await;
    }

    pub fn engines(&self) -> &Arc<Engines> {
        &self.platform.engines
    }

    pub fn gateway(&self) -> &Gateway {
        &self.gateway
    }

    /// Waits until search has been written what the table has.
    pub async fn caught_up(&self) {
        self.platform.caught_up().await;
    }

    /// A function of the system as it is deployed under this name.
    pub fn function(&self, handler: &str) -> Result<Function, Failure> {
        let app = parks::app(Arc::clone(self.engines())).metrics_to(|line| _ = std::hint::black_box(line));
        Ok(Function::new(app, Scope::Only(handler.to_owned()))?)
    }

    /// Hands an event to the mirror, and fails unless all of it was handled.
    pub async fn mirror(&self, function: &Function, event: &str) -> Result<(), Failure> {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
        let answer = function.invoke(event, deadline).await.map_err(|failure| failure.error_message)?;
        match answer.get() {
            r#"{"batchItemFailures":[]}"# => Ok(()),
            failures => Err(format!("the mirror did not handle all records: {failures}").into()),
        }
    }

    /// The write alias of the index.
    pub async fn write_alias(&self) -> Result<String, Failure> {
        let generations = mirror::generations(&parks::SYSTEM, self.engines()).await?;
        let generation = generations.and_then(|generations| generations.written.into_iter().next());
        Ok(generation.ok_or("parks has no index")?.write_alias())
    }
}

/// The platform with one system and everything in this folder.
pub fn options(system: &str, state: &Path, search: Choice, prefix: &str) -> Options {
    let served = systems::named(system).copied().into_iter().collect();
    Options { search, prefix: prefix.to_owned(), ..Options::new(served, state) }
}

/// Says on standard error what takes time.
pub fn progress() -> Progress {
    let begun = Instant::now();
    Progress::new(move |event| match event {
        Event::Finished { stage, outcome } => eprintln!("{stage}: {outcome} ({:.1?})", begun.elapsed()),
        Event::Note(line) => eprintln!("{line}"),
        Event::Started(_) | Event::Advanced { .. } => {}
    })
}
