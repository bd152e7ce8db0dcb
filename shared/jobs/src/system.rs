//! What a system declares of its jobs.

use std::fmt::{self, Debug};
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use table::part::NotAPart;
use table::schema::Table;
use table::{AccessPattern, EntityKey, Key, KeyPart};
use utoipa::ToSchema;

use crate::{Job, JobDueKey, JobId, JobKey};

/// The jobs of a system: where they are stored. [`crate::Workers`] says what each kind does.
pub trait Jobs: Debug + Send + Sync + Sized + 'static {
    /// What a job belongs to, such as its tenant. A run gives each group turns of about a second, so that a group with many
    /// jobs does not delay the others.
    type Group: KeyPart + Clone + Debug + Ord + Send + Sync;
    type Kind: Copy + Debug + PartialEq + Serialize + DeserializeOwned + ToSchema + Send + Sync;
    /// What the item of a job has besides, with the names of its fields beside those of [`Job`].
    type Details: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync;

    const TABLE: &'static Table;
    const DUE: DueIndex;
    /// Reads jobs and due rows, and moves due rows: `GetItem` and `UpdateItem`. By default it serves for the next two, too.
    const LEASE: &'static AccessPattern;
    /// Reads a job for a response: `GetItem`.
    const READ: &'static AccessPattern = Self::LEASE;
    /// Lists due rows, which only the scheduled run does: `Query` of their index.
    const LIST_DUE: &'static AccessPattern = Self::LEASE;
    /// The files that jobs wait for, if any do.
    const UPLOADS: Option<Uploads> = None;
    /// The queue by which jobs begin at once, if they do.
    const QUEUE: Option<JobQueue> = None;

    /// The group as a text of letters, digits, `-` and `_`, and back.
    fn group_name(group: &Self::Group) -> String {
        group.to_string()
    }

    fn parse_group(name: &str) -> Option<Self::Group> {
        name.parse().ok()
    }

    /// The keys of a job and of its due row. By default they are in a partition of the job. A system that overrides one of
    /// the next three functions overrides all of them.
    fn key(_: &Self::Group, id: JobId) -> Key {
        JobKey { job: id }.key()
    }

    fn due_key(id: JobId) -> Key {
        JobDueKey { job: id }.key()
    }

    fn parse_due_key(key: &Key) -> Option<JobId> {
        JobDueKey::parse(key).map(|key| key.job)
    }

    /// The path at which a job is served.
    fn href(group: &Self::Group, id: JobId) -> String;

    /// Whether a worker also ends a queued job of this kind that is cancelled, because the request that created the job has
    /// marked what it works on, or because a worker that has just begun may be changing it.
    fn is_ended_by_worker(_: Self::Kind) -> bool {
        false
    }

    /// The access pattern of the transactions of a kind's steps: they update the job and update or delete its due row.
    fn step_pattern(kind: Self::Kind) -> &'static AccessPattern;
}

/// The details of jobs that have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NoDetails {}

/// The group of all jobs of a system without tenants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OneGroup;

impl fmt::Display for OneGroup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("all")
    }
}

impl FromStr for OneGroup {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        if text == "all" { Ok(Self) } else { Err(NotAPart("`all`")) }
    }
}

impl KeyPart for OneGroup {}

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
    /// Seconds between two looks for the file: the validity of its link, and some for its event.
    pub wait: u64,
    /// The number of looks after which the job fails. An upload that began while its link was valid may take long.
    pub max_looks: u32,
}
