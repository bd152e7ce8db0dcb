//! Which DynamoDB the platform runs with.

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

/// The user's choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Dynamodb {
    /// In this process, in a file of the state folder.
    #[default]
    Dynoxide,
    /// In this process, gone with it.
    InMemory,
    /// Amazon's DynamoDB Local.
    Local,
    /// One that runs already.
    Url(String),
}

#[derive(Debug)]
pub(super) struct Running {
    /// For the platform itself.
    pub(super) endpoint: String,
    /// For other programs.
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
                    format!("DynamoDB Local cannot be run, because {what}"),
                    "Install Java 17 or newer and Maven, or leave `--dynamodb` out",
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
    /// The engine whose expired items are deleted only when it is asked to.
    pub(super) fn sweeper(&self) -> Option<Arc<Dynoxide>> {
        self.dynoxide.clone()
    }

    /// Prepares new tables, and those of a state folder from before, for scans.
    pub(super) async fn index_scans(&self, config: &Config, system: &System) -> Result<(), StartError> {
        let Some(dynoxide) = &self.dynoxide else { return Ok(()) };
        for table in system.tables {
            let table = config.table(table.name);
            dynoxide.index_scans(&table).await.map_err(|error| {
                StartError::new(
                    format!("Table `{table}` could not be indexed: {error}"),
                    "If the disk is full, make room and start again; `cairn local reset` starts over",
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
