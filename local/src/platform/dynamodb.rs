//! The engine for DynamoDB: the user's choice and its start.

use std::sync::Arc;

use table::Config;
use table::schema::System;

use crate::engine::dynamodb_local;
use crate::engine::dynoxide::Dynoxide;
use crate::error::StartError;
use crate::install::maven::Unavailable;
use crate::install::{Cache, Tools};
use crate::process::Process;
use crate::progress::Progress;
use crate::state::State;

/// The engine for DynamoDB that the user has chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Dynamodb {
    /// dynoxide in this process, with a file in the state folder.
    #[default]
    Dynoxide,
    /// dynoxide in this process, in memory.
    InMemory,
    /// Amazon's DynamoDB Local.
    Local,
    /// A running engine.
    Url(String),
}

impl Dynamodb {
    /// Returns the name of the engine with the tables.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Dynoxide => "dynoxide",
            Self::InMemory => "memory",
            Self::Local => "DynamoDB Local",
            Self::Url(url) => url,
        }
    }
}

#[derive(Debug)]
pub(super) struct Running {
    /// The endpoint for the platform itself.
    pub(super) endpoint: String,
    /// The endpoint for other programs.
    pub(super) front: String,
    pub(super) process: Option<Process>,
    dynoxide: Option<Arc<Dynoxide>>,
}

pub(super) async fn start(
    choice: &Dynamodb,
    tools: &Tools,
    cache: &Cache,
    state: &State,
    progress: &Progress,
) -> Result<Running, StartError> {
    match choice {
        Dynamodb::Url(url) => Ok(Running { endpoint: url.clone(), front: url.clone(), process: None, dynoxide: None }),
        Dynamodb::Dynoxide | Dynamodb::InMemory => {
            let file = state.path("dynamodb.sqlite");
            let dynoxide = Dynoxide::start((*choice == Dynamodb::Dynoxide).then_some(file.as_path())).await?;
            let (endpoint, front) = (dynoxide.endpoint.clone(), dynoxide.front.clone());
            Ok(Running { endpoint, front, process: None, dynoxide: Some(Arc::new(dynoxide)) })
        }
        Dynamodb::Local => {
            let installed = dynamodb_local::RECIPE.install(tools, cache, progress).await;
            let installed = installed.map_err(|unavailable| match unavailable {
                Unavailable::Missing(what) => StartError::new(
                    format!("DynamoDB Local cannot run, because {what}"),
                    "Install Java 17 or newer and Maven, or omit `--dynamodb`",
                ),
                Unavailable::Failed(error) => error,
            })?;
            progress.started("DynamoDB Local");
            let (folder, log) = (state.path("dynamodb-local"), state.log("dynamodb-local")?);
            let (process, endpoint) = dynamodb_local::start(&installed, Some(&folder), &log).await?;
            progress.finished("DynamoDB Local", endpoint.clone());
            progress.note("DynamoDB Local listens on every address of this machine, not only on 127.0.0.1.");
            Ok(Running { front: endpoint.clone(), endpoint, process: Some(process), dynoxide: None })
        }
    }
}

impl Running {
    /// Returns dynoxide, if it is the engine. It deletes expired items only on request, and tells when stream records arrive.
    pub(super) fn dynoxide(&self) -> Option<Arc<Dynoxide>> {
        self.dynoxide.clone()
    }

    /// Creates the missing indexes for scans of a system's tables.
    pub(super) async fn index_scans(&self, config: &Config, system: &System) -> Result<(), StartError> {
        let Some(dynoxide) = &self.dynoxide else { return Ok(()) };
        for table in system.tables {
            let table = config.table(table.name);
            dynoxide.index_scans(&table).await.map_err(|error| {
                StartError::new(
                    format!("Indexing table `{table}` failed: {error}"),
                    "If the disk is full, free some space and start again; `cairn local reset` starts over",
                )
            })?;
        }
        Ok(())
    }

    pub(super) async fn stop(self) {
        if let Some(dynoxide) = self.dynoxide.and_then(Arc::into_inner) {
            dynoxide.stop().await;
        }
        if let Some(process) = self.process {
            process.stop().await;
        }
    }
}
