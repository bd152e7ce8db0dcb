//! What a kind of job is: batches, each with the checkpoint that says that it was done.

use serde::Serialize;
use serde_json::Value;
use table::{Access, Action};
use web::Problem;

use super::{Counts, Held};

/// One kind of job. What a batch finds to do it reads anew, so that a batch which was done in part, or twice, is as
/// good as one that was done once.
pub trait Work: Sized + Send {
    /// Ready to go on from the job's checkpoint: called at the begin of every run, and again after a batch that could
    /// not be written because others had changed what it read.
    fn resume(access: &Access, held: &Held) -> impl Future<Output = Result<Self, Problem>> + Send;

    /// The next batch. What it does past the table it does before it returns, so that doing it again changes nothing.
    fn step(&mut self, access: &Access, held: &Held) -> impl Future<Output = Result<Step, Problem>> + Send;
}

/// A batch: what it writes, and where the job is once that is written. Both are one transaction.
#[derive(Debug)]
pub struct Step {
    /// At most 99, under the patterns of the routes and handlers that work on jobs; none may name the job.
    pub actions: Vec<Action>,
    pub checkpoint: Value,
    pub counts: Counts,
    pub then: Then,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Then {
    More,
    Done,
    /// It ends here, for this reason.
    Failed(String),
}

impl Step {
    /// A batch after which there are more.
    pub fn more(actions: Vec<Action>, checkpoint: &impl Serialize, counts: Counts) -> Result<Self, Problem> {
        let checkpoint = serde_json::to_value(checkpoint).map_err(Problem::internal)?;
        Ok(Self { actions, checkpoint, counts, then: Then::More })
    }

    /// The last batch. The checkpoint stays as it was.
    pub fn last(actions: Vec<Action>, held: &Held, counts: Counts) -> Self {
        Self { actions, checkpoint: held.job.checkpoint.clone(), counts, then: Then::Done }
    }

    /// An end without having been done.
    pub fn failed(held: &Held, reason: impl Into<String>) -> Self {
        Self { then: Then::Failed(reason.into()), ..Self::last(Vec::new(), held, held.job.counts) }
    }
}
