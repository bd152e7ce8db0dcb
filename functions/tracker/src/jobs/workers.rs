//! What works on jobs: a worker for each kind, and the scheduled run.

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use jobs::{AnyWorker, Workers};
use table::{Access, EntityKey, Key};
use web::{Event, EventFailure, Problem};

use super::build_attribute::BuildAttribute;
use super::delete_attribute::DeleteAttribute;
use super::delete_project::DeleteProject;
use super::delete_tenant::DeleteTenant;
use super::retype_attribute::RetypeAttribute;
use super::{Kind, TrackerJobs};
use crate::exports::Export;
use crate::imports::{Import, UndoImport};
use crate::issues;
use crate::issues::next_number::LowerNumbers;
use crate::keys::IssueDueKey;

impl Workers for TrackerJobs {
    fn worker(kind: Kind) -> Box<dyn AnyWorker<Self>> {
        match kind {
            Kind::BuildAttribute => Box::new(BuildAttribute),
            Kind::RetypeAttribute => Box::new(RetypeAttribute),
            Kind::DeleteAttribute => Box::new(DeleteAttribute),
            Kind::DeleteProject => Box::new(DeleteProject),
            Kind::DeleteTenant => Box::new(DeleteTenant),
            Kind::LowerNumbers => Box::new(LowerNumbers),
            Kind::Import => Box::new(Import::default()),
            Kind::UndoImport => Box::new(UndoImport),
            Kind::Export => Box::new(Export::default()),
        }
    }

    /// Completes the rows of an unsettled issue.
    fn settle<'a>(access: &'a Access, due: &'a Key) -> BoxFuture<'a, Result<(), Problem>> {
        async {
            match IssueDueKey::parse(due) {
                Some(IssueDueKey { issue }) => issues::settle_due(access, issue).await,
                None => Ok(()),
            }
        }
        .boxed()
    }
}

/// The handler `runJob`: works on the job of a message.
pub async fn run_job(event: Event) -> Result<Bytes, EventFailure> {
    jobs::run_message::<TrackerJobs>(event).await
}

/// The handler `startImport`: starts the imports whose files have arrived.
pub async fn start_import(event: Event) -> Result<Bytes, EventFailure> {
    jobs::start_uploaded::<TrackerJobs>(event).await
}
