//! The records of a file that were written. A batch is several transactions, and its checkpoint is one more. Each of them
//! stores its records here, so that a run that repeats a batch writes only the other records, and counts all of them. The
//! issues themselves do not show it, since they may have been updated, moved or deleted meanwhile.

use std::collections::{BTreeSet, HashMap};

use jobs::{JobId, RETENTION_SECONDS};
use serde::{Deserialize, Serialize};
use table::{Access, Action, Backoff, Changes, EntityKey, Error, Rev, item};

use super::ImportParams;
use crate::access::IMPORT_ROWS;
use crate::keys::WrittenKey;
use crate::names::GateNumber;
use crate::schema::TRACKER;

/// Successive records of one worker: few, so that all workers share a small batch, but several, so that their transactions
/// are not small.
const IN_A_ROW: u64 = 4;

/// The records that the workers of an import have written since its checkpoint.
#[derive(Debug, Default)]
pub struct Written(HashMap<GateNumber, WorkerRecords>);

/// The records that one worker has written. No other worker writes its item.
#[derive(Clone, Debug, Default)]
pub struct WorkerRecords {
    /// The revision of the item, if it exists.
    rev: Option<Rev>,
    created: BTreeSet<u64>,
    updated: BTreeSet<u64>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct WrittenItem {
    #[serde(rename = "Records")]
    created: BTreeSet<u64>,
    /// An item of an earlier version does not have it.
    #[serde(default)]
    updated: BTreeSet<u64>,
    #[serde(rename = "expires")]
    expires: i64,
}

/// The worker of a record, which does not depend on batches.
pub fn worker_of(record: u64) -> GateNumber {
    GateNumber::of_worker((record / IN_A_ROW) as usize)
}

impl Written {
    pub async fn load(access: &Access, job: JobId, params: &ImportParams) -> Result<Self, Error> {
        let pk = WrittenKey { job, worker: worker_of(0) }.key().pk;
        let mut written = Self::default();
        for stored in access.table(&IMPORT_ROWS, &TRACKER).query(pk).consistent().all().await? {
            let Some(WrittenKey { worker, .. }) = WrittenKey::parse(&stored.key) else { continue };
            let WrittenItem { mut created, mut updated, .. } = stored.read()?;
            // Records before the checkpoint are never repeated.
            created.retain(|record| *record >= params.offset.records);
            updated.retain(|record| *record >= params.offset.records);
            written.0.insert(worker, WorkerRecords { rev: item::rev(&stored.item), created, updated });
        }
        Ok(written)
    }

    /// Loads the records at the end of an import. It writes each worker's item, so no other run writes anything any more.
    pub async fn close(access: &Access, job: JobId, params: &ImportParams) -> Result<Self, Error> {
        let mut backoff = Backoff::new();
        loop {
            let written = Self::load(access, job, params).await?;
            let close = |worker| written.of(worker).store(access, &WrittenKey { job, worker });
            let actions = GateNumber::all().map(close).collect::<Result<Vec<_>, _>>()?;
            match access.transact(&IMPORT_ROWS, &actions).await {
                Ok(_) => return Ok(written),
                Err(Error::ConditionFailed(_)) if backoff.wait().await => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether the record has created an issue.
    pub fn has_created(&self, record: u64) -> bool {
        self.0.values().any(|of| of.created.contains(&record))
    }

    /// Whether the record has updated an issue.
    pub fn has_updated(&self, record: u64) -> bool {
        self.0.values().any(|of| of.updated.contains(&record))
    }

    /// The number of issues that were created.
    pub fn created(&self) -> u64 {
        self.0.values().map(|of| of.created.len() as u64).sum()
    }

    /// The number of issues that were updated.
    pub fn updated(&self) -> u64 {
        self.0.values().map(|of| of.updated.len() as u64).sum()
    }

    /// The number of the last record that has created an issue.
    pub fn last_created(&self) -> Option<u64> {
        self.0.values().filter_map(|of| of.created.last().copied()).max()
    }

    pub fn of(&self, worker: GateNumber) -> WorkerRecords {
        self.0.get(&worker).cloned().unwrap_or_default()
    }
}

impl WorkerRecords {
    /// These records, and others that create issues.
    pub fn with_created(&self, records: impl Iterator<Item = u64>) -> Self {
        let mut more = self.clone();
        more.created.extend(records);
        more
    }

    /// These records, and another one that updates an issue.
    pub fn with_updated(&self, record: u64) -> Self {
        let mut more = self.clone();
        more.updated.insert(record);
        more
    }

    /// The action that stores these records, unless another run has written the item since.
    pub fn store(&self, access: &Access, key: &WrittenKey) -> Result<Action, Error> {
        let expires = access.engines().clock.seconds() + RETENTION_SECONDS;
        let written = WrittenItem { created: self.created.clone(), updated: self.updated.clone(), expires };
        let Some(rev) = self.rev else { return Action::create(&TRACKER, key, &written) };
        Ok(Action::update(&TRACKER, key, Changes::between(&WrittenItem::default(), &written)?).if_rev(rev))
    }

    /// These records, after a transaction has stored them with this revision.
    pub fn at(self, rev: Rev) -> Self {
        Self { rev: Some(rev), ..self }
    }
}
