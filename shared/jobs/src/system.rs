//! What a system declares of its jobs.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use table::schema::Table;
use table::{AccessPattern, Key};
use utoipa::ToSchema;

use crate::{Job, JobId};

/// The jobs of a system: where they are stored. [`crate::Workers`] says what each kind does.
pub trait Jobs: Debug + Send + Sync + Sized + 'static {
    /// What a job belongs to, such as its tenant. Groups take turns.
    type Group: Clone + Debug + Ord + Send + Sync;
    type Kind: Copy + Debug + PartialEq + Serialize + DeserializeOwned + ToSchema + Send + Sync;
    /// What the item of a job has besides, with the names of its fields beside those of [`Job`].
    type Details: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync;

    const TABLE: &'static Table;
    const DUE: DueIndex;
    /// Reads jobs and due rows, and moves due rows.
    const LEASE: &'static AccessPattern;
    /// Lists due rows, which only the scheduled run does.
    const LIST_DUE: &'static AccessPattern;
    /// The files that jobs wait for, if any do.
    const UPLOADS: Option<Uploads> = None;
    /// The queue by which jobs begin at once, if they do.
    const QUEUE: Option<JobQueue> = None;

    /// The group as a text of letters, digits, `-` and `_`, and back.
    fn group_name(group: &Self::Group) -> String;
    fn parse_group(name: &str) -> Option<Self::Group>;

    fn key(group: &Self::Group, id: JobId) -> Key;
    fn due_key(id: JobId) -> Key;
    fn parse_due_key(key: &Key) -> Option<JobId>;

    /// The path at which a job is served.
    fn href(group: &Self::Group, id: JobId) -> String;

    /// The access pattern of the transactions of a kind's steps: they update the job and update or delete its due row.
    fn step_pattern(kind: Self::Kind) -> &'static AccessPattern;
}

/// The item of a system's job.
pub type JobOf<J> = Job<<J as Jobs>::Kind, <J as Jobs>::Details>;

/// The partition of an index that lists due rows by time.
#[derive(Clone, Copy, Debug)]
pub struct DueIndex {
    pub index: &'static str,
    /// The partition key of due rows in the index.
    pub partition: &'static str,
}

/// The queue of a system's jobs.
#[derive(Clone, Copy, Debug)]
pub struct JobQueue {
    pub name: &'static str,
    /// Sends a message.
    pub pattern: &'static AccessPattern,
}

/// The uploaded files of jobs. The name of a file is the job's id.
#[derive(Clone, Copy, Debug)]
pub struct Uploads {
    /// Looks for a file.
    pub pattern: &'static AccessPattern,
    pub bucket: &'static str,
    pub prefix: &'static str,
    /// Seconds for which the link accepts the file, and some for its event. A worker looks for the file at this
    /// interval.
    pub wait: u64,
    /// How often a worker looks. An upload that began while its link was valid may take long.
    pub max_looks: u32,
}
