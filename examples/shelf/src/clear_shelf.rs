//! The job that deletes all books, and the routes that start and show it.

use jobs::{Counts, DueIndex, JobId, JobView, Jobs, Lease, NoDetails, OneGroup, Step, Then, Worker, Workers};
use serde::{Deserialize, Serialize};
use table::schema::Table;
use table::{Access, AccessPattern, EntityKey, Key};
use utoipa::ToSchema;
use web::{Accepted, Context, Problem, Route, Who};

use crate::schema::{BookKey, CLEAR, CREATE, DUE, GET, LEASE, SHELF};

/// The role in tokens of callers who may clear the shelf.
pub const LIBRARIAN: &str = "librarian";

pub fn routes() -> [Route; 2] {
    [
        Route::delete("clearShelf", "/shelf/books", Who::Role(LIBRARIAN), clear)
            .summary("Delete all books; a job does it within minutes")
            .patterns(&[&CREATE]),
        jobs::get_route::<ShelfJobs>("/shelf/jobs/{jobId}", Who::Role(LIBRARIAN)),
    ]
}

async fn clear(cx: Context) -> Result<Accepted<JobView<Kind, NoDetails>>, Problem> {
    jobs::accept::<ShelfJobs>(&cx, &CREATE, OneGroup, (Kind::ClearShelf, NoDetails {})).await
}

#[derive(Debug)]
pub struct ShelfJobs;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    ClearShelf,
}

impl Jobs for ShelfJobs {
    type Group = OneGroup;
    type Kind = Kind;
    type Details = NoDetails;

    const TABLE: &'static Table = &SHELF;
    const DUE: DueIndex = DueIndex { index: DUE, partition: "due" };
    const LEASE: &'static AccessPattern = &LEASE;
    const READ: &'static AccessPattern = &GET;

    fn href(_: &OneGroup, job: JobId) -> String {
        format!("/shelf/jobs/{job}")
    }

    fn step_pattern(_: Kind) -> &'static AccessPattern {
        &CLEAR
    }
}

impl Workers for ShelfJobs {
    const PATTERNS: &'static [&'static AccessPattern] = &[&LEASE, &CLEAR];

    fn worker(kind: Kind) -> Box<dyn jobs::AnyWorker<Self>> {
        match kind {
            Kind::ClearShelf => Box::new(ClearShelf),
        }
    }
}

struct ClearShelf;

impl Worker<ShelfJobs> for ClearShelf {
    /// Deletes a batch of the books whose ids are lower than the job's.
    async fn step(&mut self, access: &Access, lease: &Lease<ShelfJobs>) -> Result<Step, Problem> {
        let shelf = access.table(&CLEAR, &SHELF);
        let batch = shelf.query(BookKey::PK).below(lease.id.to_string()).consistent().page(100).await?;
        let keys: Vec<Key> = batch.items.into_iter().map(|stored| stored.key).collect();
        shelf.batch_delete(&keys).await?;
        // After a crash between the deletion and the write of this step, the count lacks the books of this batch.
        let done = lease.job.counts.done + keys.len() as u64;
        let then = if batch.next.is_some() { Then::Continue } else { Then::Succeed };
        Step::new(Vec::new(), &(), Counts::new(done, done), then)
    }
}
