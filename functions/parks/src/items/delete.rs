//! `DELETE` of an item: it stays in the table, marked, and can be restored. What depends on it keeps it, or goes along.

use std::time::Duration;

use serde::Deserialize;
use table::{Action, Backoff, Error, Rev};
use tokio::time::Instant;
use utoipa::ToSchema;
use web::{Answer, Problem, Request};

use super::{Read, again, lost, read, stamp};
use crate::entity::{Entity, ItemPath};
use crate::jobs::{self, Held, Job, JobKind, JobStatus};
use crate::names::JobId;
use crate::schema::PARKS;
use crate::structure::{self, BUSY, work};
use crate::view::View;
use crate::{access, dependents};

/// How long a request works on what a deletion takes along, before it leaves the rest to the job.
const AT_ONCE: Duration = Duration::from_secs(20);

#[derive(Debug, Deserialize, ToSchema)]
pub struct DeleteQuery {
    /// Takes along what depends on it: its relationships and what lies below it. A restore brings them back. After an
    /// answer of 204 visitors see none of it. After 202 it is gone itself, and of what lies below it visitors see less and
    /// less, the deepest going first, and nothing once the job has ended.
    #[serde(default)]
    pub cascade: bool,
}

pub async fn delete<E: Entity>(request: Request) -> Result<Answer, Problem> {
    let path: ItemPath<E> = request.path()?;
    let cascade = request.query::<DeleteQuery>()?.cascade;
    let mut backoff = Backoff::new();
    loop {
        let read = read(&request, &access::ITEM, E::key(&path.parts).map(|key| key.key()), View::Administrator).await?;
        if read.item.deleted() {
            return Err(Problem::not_found());
        }
        if read.item.busy() {
            return Err(BUSY.because("It is still being restored, shown or hidden."));
        }
        request.if_match().check(read.tag())?;
        let error = match if cascade { with_all(&request, read).await } else { alone(&request, read).await }? {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        if lost(&error) {
            again(&request)?;
        }
        if !matches!(error, Error::ConditionFailed(_)) || !backoff.wait().await {
            return Err(structure::unsettled(error));
        }
    }
}

/// Deletes an item that nothing depends on.
async fn alone(request: &Request, read: Read) -> Result<Result<Answer, Error>, Problem> {
    let after = structure::deleted(&read.item, &stamp(request));
    let dependents = dependents::of(&read.item);
    let changes = after.changes_of(&read.stored)?;
    let mut actions = vec![Action::update(&PARKS, read.stored.key.clone(), changes).if_unchanged(&read.stored)];
    actions.extend(dependents.iter().map(dependents::Dependents::none));
    actions.extend(dependents::count(&after, -1));
    let Err(error) = request.access().transact(&access::DELETE_OR_RESTORE, &actions).await else {
        return Ok(Ok(Answer::no_content()));
    };
    let counts = if lost(&error) { Vec::new() } else { dependents::found(&dependents, 1, &error) };
    if counts.is_empty() { Ok(Err(error)) } else { Err(Problem::has_dependents(&counts)) }
}

/// Deletes an item with all that depends on it; by a job where that is more than one transaction can do.
async fn with_all(request: &Request, read: Read) -> Result<Result<Answer, Error>, Problem> {
    let (access, stamp) = (request.access(), stamp(request));
    let id = JobId::new();
    let mut after = structure::deleted(&read.item, &stamp);
    (after.deletion, after.took, after.busy) = (Some(id.to_string()), Some(0), Some(true));
    let changes = after.changes_of(&read.stored)?;
    let gone = Action::update(&PARKS, read.stored.key.clone(), changes).if_unchanged(&read.stored);
    if let Some(plan) = structure::deletion(access, read, &stamp).await? {
        let done = access.transact(&access::DELETE_OR_RESTORE, &plan.into_actions()).await;
        return Ok(done.map(|_| Answer::no_content()));
    }
    // First of all it is gone, and closed to what would be made below it or related to it.
    let (job, made) =
        work::begin(access, JobKind::Delete, id, &after, work::dependents(access, &after).await?, stamp.1)?;
    let actions: Vec<Action> = [gone, made].into_iter().chain(dependents::count(&after, -1)).collect();
    let rev = match access.transact(&access::DELETE_OR_RESTORE, &actions).await {
        Ok(rev) => rev,
        Err(error) => return Ok(Err(error)),
    };
    let job = if job.lease_until.is_some() { at_once(request, id, job, rev).await? } else { job };
    Ok(Ok(if job.status == JobStatus::Done { Answer::no_content() } else { jobs::accepted(id, job) }))
}

/// Works on the job for as long as the request may. What fails here is `runWork`'s to go on with: the job was begun.
async fn at_once(request: &Request, id: JobId, job: Job, rev: Rev) -> Result<Job, Error> {
    let until = request.deadline().min(Instant::now() + AT_ONCE);
    let held = Held::made(id, job.clone(), rev)?;
    Ok(jobs::carry_on(request.access(), held, until).await.unwrap_or_else(|problem| {
        tracing::warn!(job.id = %id, %problem, "job left to the next run");
        job
    }))
}
